// Functions for radio, whose bits are Xilinx's.
#error "hls_dsp.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
