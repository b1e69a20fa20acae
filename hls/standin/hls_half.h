// Stand-in for Vitis' hls_half.h, which ap_int.h and hls_math.h bring in: the name is taken.
#pragma once
class half;
