// What Vitis' own simulation does when a kernel crashes.
#error "hls_signal_handler.h has no stand-in: leave it out, or name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
