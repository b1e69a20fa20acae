// Internal part of Vitis' headers.
#error "utils/x_hls_utils.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
