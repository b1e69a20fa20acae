// Xilinx's FIR core comes with a model of its bits.
#error "hls_fir.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
