// The DSP block's registers, one by one.
#error "hls_dsp_builtins.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
