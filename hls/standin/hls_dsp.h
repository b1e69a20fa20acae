// Radio functions whose results only Xilinx's library reproduces to the bit.
#error "hls_dsp.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
