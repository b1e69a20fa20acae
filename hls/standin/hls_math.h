// Stand-in for Vitis' hls_math.h: the functions of the host's C library under their HLS names. Vitis' own
// results may differ by an ulp or a few; + - * / sqrt and fma are equal to the bit. As in Vitis, each function
// has a float and a double overload: a call with one argument of each type is ambiguous.
#pragma once
#include <cmath>

#include "hls_half.h"

#ifdef __SYNTHESIS__  // declarations only, for tools that read a kernel's compiled code
#define FT_HLS_NAMED(f, T, parameters, ...) T f parameters noexcept __asm__("hls_" #f "_" #T) __VA_ARGS__;
#define FT_HLS(f, T, parameters, passed) FT_HLS_NAMED(f, T, parameters, __attribute__((const)))
#define FT_HLS_WRITES(f, T, parameters, passed) FT_HLS_NAMED(f, T, parameters)
#else
#define FT_HLS(f, T, parameters, passed) \
    static inline T f parameters { return std::f passed; }
#define FT_HLS_WRITES FT_HLS
#endif
#define FT_HLS_1(f) FT_HLS(f, float, (float x), (x)) FT_HLS(f, double, (double x), (x))
#define FT_HLS_2(f) FT_HLS(f, float, (float x, float y), (x, y)) FT_HLS(f, double, (double x, double y), (x, y))
namespace hls {
FT_HLS_1(abs) FT_HLS_1(acos) FT_HLS_1(acosh) FT_HLS_1(asin) FT_HLS_1(asinh) FT_HLS_1(atan) FT_HLS_1(atanh)
FT_HLS_1(cbrt) FT_HLS_1(ceil) FT_HLS_1(cos) FT_HLS_1(cosh) FT_HLS_1(erf) FT_HLS_1(erfc) FT_HLS_1(exp)
FT_HLS_1(exp2) FT_HLS_1(expm1) FT_HLS_1(fabs) FT_HLS_1(floor) FT_HLS_1(lgamma) FT_HLS_1(log) FT_HLS_1(log10)
FT_HLS_1(log1p) FT_HLS_1(log2) FT_HLS_1(rint) FT_HLS_1(round) FT_HLS_1(sin) FT_HLS_1(sinh) FT_HLS_1(sqrt)
FT_HLS_1(tan) FT_HLS_1(tanh) FT_HLS_1(tgamma) FT_HLS_1(trunc)
FT_HLS_2(atan2) FT_HLS_2(copysign) FT_HLS_2(fmax) FT_HLS_2(fmin) FT_HLS_2(fmod) FT_HLS_2(hypot)
FT_HLS_2(nextafter) FT_HLS_2(pow) FT_HLS_2(remainder)
FT_HLS(fma, float, (float x, float y, float z), (x, y, z)) FT_HLS(fma, double, (double x, double y, double z), (x, y, z))
FT_HLS(ldexp, float, (float x, int k), (x, k)) FT_HLS(ldexp, double, (double x, int k), (x, k))
FT_HLS_WRITES(frexp, float, (float x, int *k), (x, k)) FT_HLS_WRITES(frexp, double, (double x, int *k), (x, k))
using std::isfinite; using std::isinf; using std::isnan; using std::signbit;
}  // namespace hls
#ifndef __SYNTHESIS__  // functions that ftensor's own kernels do not call
#include "hls_math_more.h"
#endif
#undef FT_HLS
#undef FT_HLS_NAMED
#undef FT_HLS_WRITES
#undef FT_HLS_1
#undef FT_HLS_2
