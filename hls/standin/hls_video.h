// Xilinx's video functions; newer versions of Vitis have them in a separate library.
#error "hls_video.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
