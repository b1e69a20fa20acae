// Channels between tasks; tasks have no stand-in either.
#error "hls_np_channel.h has no stand-in: call the stages one after the other (DATAFLOW), or name Vitis' headers in FTENSOR_VITIS_INCLUDE"
