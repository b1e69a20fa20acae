// Xilinx's FFT core has a bit-accurate model of its own.
#error "hls_fft.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
