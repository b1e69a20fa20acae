// Xilinx's own header of this name comes first in g++'s path where it was fetched.
#error "ap_fixed.h is Xilinx's: fetch it by `ftensor headers --install`, and compile with `g++ $(ftensor headers)`"
