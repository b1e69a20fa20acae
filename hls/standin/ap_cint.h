// Integers of any width in C, which newer versions of Vitis lack.
#error "ap_cint.h has no stand-in: use C++ and ap_int.h, or name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
