// Ports without a handshake change while a kernel runs, so calling it once would be another program.
#error "hls_directio.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
