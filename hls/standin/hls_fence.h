// In a simulation, memory accesses are in the order of the C++ text.
#error "hls_fence.h has no stand-in: leave out hls::fence where __SYNTHESIS__ is not defined, or name Vitis' headers in FTENSOR_VITIS_INCLUDE (<folder of Vitis_HLS>/include)"
