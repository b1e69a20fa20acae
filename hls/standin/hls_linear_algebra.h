// Matrix functions, whose rounding is Xilinx's.
#error "hls_linear_algebra.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
