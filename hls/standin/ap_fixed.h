// If Xilinx's own header was fetched, it is earlier in g++'s include path than this file.
#error "ap_fixed.h is Xilinx's: fetch it by `ftensor headers --install`, and compile with `g++ $(ftensor headers)`"
