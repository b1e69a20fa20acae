// Xilinx's video functions, which newer Vitis has as a library of its own.
#error "hls_video.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
