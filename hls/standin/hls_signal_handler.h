// Crash handling of Vitis' own simulation.
#error "hls_signal_handler.h has no stand-in: leave it out, or name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
