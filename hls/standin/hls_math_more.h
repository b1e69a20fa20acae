// Part of the stand-in for hls_math.h: C's names for float, functions of half, functions that C's library
// lacks, and a compile error for types whose results in Vitis differ from the C library's.
#pragma once
#include <type_traits>

namespace hls {
#define FT_HLS_EACH_1(of)                                                                                  \
    of(acos) of(acosh) of(asin) of(asinh) of(atan) of(atanh) of(cbrt) of(ceil) of(cos) of(cosh) of(erf)    \
    of(erfc) of(exp) of(exp2) of(expm1) of(fabs) of(floor) of(lgamma) of(log) of(log10) of(log1p) of(log2) \
    of(logb) of(nearbyint) of(rint) of(round) of(sin) of(sinh) of(sqrt) of(tan) of(tanh) of(tgamma) of(trunc)  \
    of(sinpi) of(cospi) of(tanpi) of(asinpi) of(acospi) of(atanpi)
#define FT_HLS_EACH_2(of)                                                                                     \
    of(atan2) of(copysign) of(fdim) of(fmax) of(fmin) of(fmod) of(hypot) of(pow) of(remainder) of(atan2pi)    \
    of(maxmag) of(minmag)

static inline float logb(float x) { return std::logb(x); }
static inline double logb(double x) { return std::logb(x); }
static inline float nearbyint(float x) { return std::nearbyint(x); }
static inline double nearbyint(double x) { return std::nearbyint(x); }
static inline float fdim(float x, float y) { return std::fdim(x, y); }
static inline double fdim(double x, double y) { return std::fdim(x, y); }

// Functions that C's library lacks. Float overloads compute in double.
static inline double recip(double x) { return 1 / x; }
static inline float recip(float x) { return 1 / x; }
static inline double rsqrt(double x) { return 1 / std::sqrt(x); }
static inline float rsqrt(float x) { return (float)rsqrt((double)x); }
static inline double exp10(double x) { return std::pow(10.0, x); }
static inline float exp10(float x) { return (float)exp10((double)x); }
// Of multiples of pi: exact where the angle is a multiple of pi / 2. The remainder of 2 is exact.
static inline double sinpi(double x)
{
    const double turn = std::remainder(x, 2.0);  // from -1 to 1
    if (std::fabs(turn) == 1 || turn == 0) return std::copysign(0.0, x);
    return std::sin(M_PI * (turn > 0.5 ? 1 - turn : turn < -0.5 ? -1 - turn : turn));
}
static inline double cospi(double x)
{
    const double turn = std::fabs(std::remainder(x, 2.0));
    return turn < 0.25 ? std::cos(M_PI * turn) : std::sin(M_PI * (0.5 - turn)) + 0.0;
}
static inline double tanpi(double x) { return sinpi(x) / cospi(x); }
static inline double asinpi(double x) { return std::asin(x) / M_PI; }
static inline double acospi(double x) { return std::acos(x) / M_PI; }
static inline double atanpi(double x) { return std::atan(x) / M_PI; }
static inline double atan2pi(double y, double x) { return std::atan2(y, x) / M_PI; }
#define FT_HLS_OF_DOUBLE(of) static inline float of(float x) { return (float)of((double)x); }
FT_HLS_OF_DOUBLE(sinpi) FT_HLS_OF_DOUBLE(cospi) FT_HLS_OF_DOUBLE(tanpi) FT_HLS_OF_DOUBLE(asinpi)
FT_HLS_OF_DOUBLE(acospi) FT_HLS_OF_DOUBLE(atanpi)
#undef FT_HLS_OF_DOUBLE
static inline float atan2pi(float y, float x) { return (float)atan2pi((double)y, (double)x); }

#define FT_HLS_BOTH(of) of(float) of(double)
// The operand of the larger magnitude, and of the smaller one.
#define FT_HLS_MAGNITUDE(T)                                                                                     \
    static inline T maxmag(T x, T y)                                                                            \
    {                                                                                                           \
        return std::fabs(x) > std::fabs(y) ? x : std::fabs(y) > std::fabs(x) ? y : std::fmax(x, y);             \
    }                                                                                                           \
    static inline T minmag(T x, T y)                                                                            \
    {                                                                                                           \
        return std::fabs(x) < std::fabs(y) ? x : std::fabs(y) < std::fabs(x) ? y : std::fmin(x, y);             \
    }
#define FT_HLS_ROUNDED(T)                                                    \
    static inline long lrint(T x) { return std::lrint(x); }                  \
    static inline long long llrint(T x) { return std::llrint(x); }           \
    static inline long lround(T x) { return std::lround(x); }                \
    static inline long long llround(T x) { return std::llround(x); }         \
    static inline T remquo(T x, T y, int *k) { return std::remquo(x, y, k); }
FT_HLS_BOTH(FT_HLS_MAGNITUDE) FT_HLS_BOTH(FT_HLS_ROUNDED)
#undef FT_HLS_BOTH
#undef FT_HLS_MAGNITUDE
#undef FT_HLS_ROUNDED
using std::fpclassify; using std::isnormal; using std::isgreater; using std::isgreaterequal; using std::isless;
using std::islessequal; using std::islessgreater; using std::isunordered;

static inline float divide(float x, float y) { return x / y; }
static inline double divide(double x, double y) { return x / y; }
static inline void sincos(float x, float *s, float *c) { *s = std::sin(x), *c = std::cos(x); }
static inline void sincos(double x, double *s, double *c) { *s = std::sin(x), *c = std::cos(x); }
static inline float modf(float x, float *whole) { return std::modf(x, whole); }
static inline double modf(double x, double *whole) { return std::modf(x, whole); }
static inline int ilogb(float x) { return std::ilogb(x); }
static inline int ilogb(double x) { return std::ilogb(x); }
static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long abs(long x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }

#define FT_HLS_FLOAT_1(of) static inline float of##f(float x) { return of(x); }
#define FT_HLS_FLOAT_2(of) static inline float of##f(float x, float y) { return of(x, y); }
FT_HLS_EACH_1(FT_HLS_FLOAT_1) FT_HLS_EACH_2(FT_HLS_FLOAT_2)
FT_HLS_FLOAT_1(recip) FT_HLS_FLOAT_1(rsqrt) FT_HLS_FLOAT_1(exp10) FT_HLS_FLOAT_2(divide) FT_HLS_FLOAT_2(nextafter)
static inline float fmaf(float x, float y, float z) { return fma(x, y, z); }
static inline float ldexpf(float x, int k) { return ldexp(x, k); }
static inline float frexpf(float x, int *k) { return frexp(x, k); }
static inline float modff(float x, float *whole) { return modf(x, whole); }
static inline void sincosf(float x, float *s, float *c) { sincos(x, s, c); }

// Functions of half: the float result, rounded.
#define FT_HLS_HALF_1(f)                                       \
    static inline half f(half x) { return half(f((float)x)); } \
    static inline half half_##f(half x) { return f(x); }
#define FT_HLS_HALF_2(f)                                                         \
    static inline half f(half x, half y) { return half(f((float)x, (float)y)); } \
    static inline half half_##f(half x, half y) { return f(x, y); }
FT_HLS_EACH_1(FT_HLS_HALF_1) FT_HLS_EACH_2(FT_HLS_HALF_2)
FT_HLS_HALF_1(recip) FT_HLS_HALF_1(rsqrt) FT_HLS_HALF_1(exp10) FT_HLS_HALF_1(abs) FT_HLS_HALF_2(divide)
// In double, where the product is exact and the sum accurate enough to be rounded to half once.
static inline half fma(half x, half y, half z) { return half((double)(float)x * (double)(float)y + (double)(float)z); }
static inline bool isnan(half x) { return std::isnan((float)x); }
static inline bool isinf(half x) { return std::isinf((float)x); }
static inline bool isfinite(half x) { return std::isfinite((float)x); }
static inline bool signbit(half x) { return std::signbit((float)x); }

// Vitis has functions of its own for fixed point, whose last bits differ from the C library's.
#define FT_HLS_UNKNOWN(f)                                                                                             \
    template <typename T, typename = typename std::enable_if<std::is_class<T>::value>::type>                          \
    T f(const T &x)                                                                                                   \
    {                                                                                                                 \
        static_assert(sizeof(T) == 0, "hls::" #f " of this type has no stand-in: write it of float or double, as in " \
                                      "hls::" #f "(x.to_float()), or name Vitis' headers in FTENSOR_VITIS_INCLUDE");  \
        return x;                                                                                                     \
    }
#define FT_HLS_UNKNOWN_2(f)                                                                                        \
    template <typename T, typename U, typename = typename std::enable_if<std::is_class<T>::value>::type>           \
    T f(const T &x, const U &)                                                                                     \
    {                                                                                                              \
        static_assert(sizeof(T) == 0, "hls::" #f " of this type has no stand-in: write it of float or double, or " \
                                      "name Vitis' headers in FTENSOR_VITIS_INCLUDE");                             \
        return x;                                                                                                  \
    }
FT_HLS_EACH_1(FT_HLS_UNKNOWN) FT_HLS_EACH_2(FT_HLS_UNKNOWN_2)
FT_HLS_UNKNOWN(abs) FT_HLS_UNKNOWN(recip) FT_HLS_UNKNOWN(rsqrt) FT_HLS_UNKNOWN(exp10)
}  // namespace hls
#undef FT_HLS_EACH_1
#undef FT_HLS_EACH_2
#undef FT_HLS_FLOAT_1
#undef FT_HLS_FLOAT_2
#undef FT_HLS_HALF_1
#undef FT_HLS_HALF_2
#undef FT_HLS_UNKNOWN
#undef FT_HLS_UNKNOWN_2
