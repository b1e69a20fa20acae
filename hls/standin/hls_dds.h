// Xilinx's DDS core comes with a model of its bits.
#error "hls_dds.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
