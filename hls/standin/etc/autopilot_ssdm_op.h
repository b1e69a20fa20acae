// Names that Vitis' compiler defines itself.
#error "etc/autopilot_ssdm_op.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
