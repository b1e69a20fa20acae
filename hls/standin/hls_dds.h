// Xilinx's DDS core has a bit-accurate model of its own.
#error "hls_dds.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
