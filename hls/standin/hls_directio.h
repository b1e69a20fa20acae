// Ports without a handshake change while a kernel runs, so a kernel that is called once would behave
// differently.
#error "hls_directio.h has no stand-in: name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
