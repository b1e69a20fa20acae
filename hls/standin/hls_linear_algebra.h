// Matrix functions whose rounding only Xilinx's library reproduces.
#error "hls_linear_algebra.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
