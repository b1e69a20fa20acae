// Floating point of any width has a bit-accurate model of its own.
#error "ap_float.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
