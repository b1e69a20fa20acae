// The kernel words in Vitis HLS C++: boards, and g++ for C simulation.
// A lane vector is an array of scalars and the lanes are unrolled, so an expression stays scalar.
// Set before this file: FT_LANES, FT_T (compute type), FT_MT.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

using std::acos; using std::acosh; using std::asin; using std::asinh; using std::atan; using std::atan2;
using std::atanh; using std::cbrt; using std::ceil; using std::copysign; using std::cos; using std::cosh;
using std::erf; using std::erfc; using std::exp; using std::exp2; using std::expm1; using std::fabs;
using std::floor; using std::fma; using std::fmax; using std::fmin; using std::fmod; using std::hypot;
using std::ldexp; using std::lgamma; using std::log; using std::log10; using std::log1p; using std::log2;
using std::nextafter; using std::pow; using std::rint; using std::sin; using std::sinh; using std::sqrt;
using std::tan; using std::tanh; using std::tgamma; using std::trunc; using std::remainder;

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef uint16_t half;  // in memory only; kernels compute in float

#define FT_CAT_(a, b) a##b
#define FT_CAT(a, b) FT_CAT_(a, b)
#define FT_FN static inline
#define FT_FN_ONCE static inline
#define FT_KERNEL extern "C"
#define FT_GLOBAL
#define FT_UNIT_PARAMS , int ft_unit, int ft_units
#define FT_UNIT ft_unit
#define FT_UNITS ft_units
#define FT_PRAGMA_(x) _Pragma(#x)
#define FT_PRAGMA(x) FT_PRAGMA_(x)
#ifdef __SYNTHESIS__
#define FT_PORT(name, bundle) FT_PRAGMA(HLS INTERFACE m_axi port = name bundle = bundle max_widen_bitwidth = 512)
#define FT_PIPELINE FT_PRAGMA(HLS PIPELINE II = 1)
#define FT_UNROLL FT_PRAGMA(HLS UNROLL)
#else
#define FT_PORT(name, bundle)
#define FT_PIPELINE
#define FT_UNROLL
#endif

template <typename T> struct ft_vec {
    T lane[FT_LANES];
    T &operator[](int l) { return lane[l]; }
    const T &operator[](int l) const { return lane[l]; }
};
#define FT_VEC(T) T
#define FT_WIDE(T) ft_vec<T>
#define FT_WIDE_PAIR(T) ft_vec<FT_CAT(ft_c, T)>
#define FT_EACH_LANE for (int ft_lane = 0; ft_lane < FT_LANES; ft_lane++)
#define FT_LANE(v) v[ft_lane]
#define FT_LANE_0 [0]

typedef FT_T FT_V;
typedef bool FT_M;
typedef int FT_I;
#define K(x) ((FT_V)(x))
#define FT_PAIR(T, r, i) (FT_CAT(ft_c, T){r, i})
#define FT_HALF_ONE(p) ft_from_half(*(p))
#define FT_CONVERT(T, v) ((T)(v))
template <typename To, typename From> static inline To ft_bits(From v)
{
    static_assert(sizeof(To) == sizeof(From), "bits are kept, not converted");
    To r;
    std::memcpy(&r, &v, sizeof r);
    return r;
}
#define FT_BITS(T, v) ft_bits<T>(v)
#define FT_MASK_VALUE(T, m) ((T)((m) ? 1 : 0))
#define FT_VALUE_MASK(v) ((v) != 0)
#define FT_ANY(m) (m)
#define FT_INDEX(i) ((i) + ft_lane)
#define FT_LANES_BELOW(m) (ft_lane < (m))
#define FT_INDEX_MASK(m) (m)
#define FT_MASK_INDEX(m) (m)

template <typename T> static inline ft_vec<T> ft_load(const T *p)
{
    ft_vec<T> v;
    FT_EACH_LANE v[ft_lane] = p[ft_lane];
    return v;
}
template <typename T> static inline void ft_store(const ft_vec<T> &v, T *p)
{
    FT_EACH_LANE p[ft_lane] = v[ft_lane];
}
#define FT_VLOAD(p) ft_load(p)
#define FT_VSTORE(v, p) ft_store(v, p)
template <typename T> static inline ft_vec<T> ft_pick(const T *p, int stride, int m)
{
    ft_vec<T> v;
    FT_EACH_LANE v[ft_lane] = ft_lane < m ? p[ft_lane * stride] : T(0);
    return v;
}
template <typename T> static inline void ft_put(const ft_vec<T> &v, T *p, int stride, int m)
{
    FT_EACH_LANE if (ft_lane < m) p[ft_lane * stride] = v[ft_lane];
}

// float16 by its bits: subnormals are scaled by 2^112 (the difference of the exponent biases).
static inline float ft_from_half(half h)
{
    const uint sign = (uint)(h & 0x8000) << 16, rest = (uint)(h & 0x7fff) << 13;
    if ((h & 0x7c00) == 0x7c00) return ft_bits<float>(sign | 0x7f800000u | rest);
    return ft_bits<float>(sign | ft_bits<uint>(ft_bits<float>(rest) * 0x1p112f));
}
// Round to nearest, ties to even.
static inline half ft_to_half(float f)
{
    const uint u = ft_bits<uint>(f), sign = (u >> 16) & 0x8000, mag = u & 0x7fffffff;
    if (mag > 0x7f800000) return (half)(sign | 0x7e00);
    if (mag >= 0x477ff000) return (half)(sign | 0x7c00);
    if (mag < 0x38800000) {  // below the smallest normal: the bits of 0.5 + f hold the rounded result
        const float tiny = ft_bits<float>(mag) + 0.5f;
        return (half)(sign | (ft_bits<uint>(tiny) - 0x3f000000u));
    }
    return (half)(sign | ((mag - 0x38000000u + 0xfff + ((mag >> 13) & 1)) >> 13));
}
static inline ft_vec<float> ft_load_half(const half *p)
{
    ft_vec<float> v;
    FT_EACH_LANE v[ft_lane] = ft_from_half(p[ft_lane]);
    return v;
}
static inline void ft_store_half(const ft_vec<float> &v, half *p)
{
    FT_EACH_LANE p[ft_lane] = ft_to_half(v[ft_lane]);
}
#define FT_HALF_LOAD(p) ft_load_half(p)
#define FT_HALF_STORE(v, p) ft_store_half(v, p)
static inline ft_vec<float> ft_pick_half(const half *p, int stride, int m)
{
    ft_vec<float> v;
    FT_EACH_LANE v[ft_lane] = ft_lane < m ? ft_from_half(p[ft_lane * stride]) : 0.0f;
    return v;
}
static inline void ft_put_half(const ft_vec<float> &v, half *p, int stride, int m)
{
    FT_EACH_LANE if (ft_lane < m) p[ft_lane * stride] = ft_to_half(v[ft_lane]);
}
static inline float ft_from_bfloat16(ushort v) { return ft_bits<float>((uint)v << 16); }
static inline ushort ft_to_bfloat16(float v)
{
    const uint u = ft_bits<uint>(v);
    return (ushort)(v != v ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

typedef struct { float re, im; } ft_cfloat;
typedef struct { double re, im; } ft_cdouble;
#define FT_PAIRS(T)                                                                               \
    static inline ft_vec<FT_CAT(ft_c, T)> ft_load_pair(const T *p)                                \
    {                                                                                             \
        ft_vec<FT_CAT(ft_c, T)> v;                                                                \
        FT_EACH_LANE v[ft_lane] = {p[2 * ft_lane], p[2 * ft_lane + 1]};                           \
        return v;                                                                                 \
    }                                                                                             \
    static inline void ft_store_pair(const ft_vec<FT_CAT(ft_c, T)> &v, T *p)                      \
    {                                                                                             \
        FT_EACH_LANE { p[2 * ft_lane] = v[ft_lane].re; p[2 * ft_lane + 1] = v[ft_lane].im; }      \
    }                                                                                             \
    static inline ft_vec<FT_CAT(ft_c, T)> ft_pick_pair(const T *p, int stride, int m)             \
    {                                                                                             \
        ft_vec<FT_CAT(ft_c, T)> v;                                                                \
        FT_EACH_LANE if (ft_lane < m)                                                             \
            v[ft_lane] = {p[2 * ft_lane * stride], p[2 * ft_lane * stride + 1]};                  \
        else v[ft_lane] = {0, 0};                                                                 \
        return v;                                                                                 \
    }                                                                                             \
    static inline void ft_put_pair(const ft_vec<FT_CAT(ft_c, T)> &v, T *p, int stride, int m)     \
    {                                                                                             \
        FT_EACH_LANE if (ft_lane < m) {                                                           \
            p[2 * ft_lane * stride] = v[ft_lane].re;                                              \
            p[2 * ft_lane * stride + 1] = v[ft_lane].im;                                          \
        }                                                                                         \
    }
FT_PAIRS(float)
FT_PAIRS(double)

// The vectors (or rows) of [0, n) that this compute unit takes.
static inline int ft_slab(int n, int unit, int units) { return (int)((long)n * unit / units); }
#define FT_FOR_SLAB(i, n)                                                                         \
    for (int i = ft_slab(n, FT_UNIT, FT_UNITS), i##_end = ft_slab(n, FT_UNIT + 1, FT_UNITS);      \
         i < i##_end; i++)

// A reduction's state, one for each lane, starting from the identity; a tree folds the lanes into lane 0.
#define FT_STATE(s)   \
    FT_S s[FT_LANES]; \
    FT_EACH_LANE s[ft_lane] = ft_identity();
#define FT_EACH_VECTOR for (int v = 0; v < FT_VECTORS; v++)
#define FT_STATES(s)              \
    FT_S s[FT_VECTORS][FT_LANES]; \
    FT_EACH_VECTOR FT_EACH_LANE s[v][ft_lane] = ft_identity();
#define FT_ACROSS(s)                                     \
    for (int half_ = FT_LANES / 2; half_ > 0; half_ /= 2) \
        for (int l = 0; l < half_; l++) s[l] = ft_combine(s[l], s[l + half_]);
