// Kernel macros in Vitis HLS C++: for boards, and for g++ in the C simulation. A lane vector is an array of scalars and
// the lanes are unrolled, so an expression is scalar. Define before: FT_LANES, FT_T (compute type), FT_MT.
#include "../vitis/common.h"

typedef uint16_t ft_half;  // float16 in memory; kernels compute in float
#define FT_KERNEL extern "C"
#define FT_UNIT_PARAMS , int ft_unit, int ft_units
#define FT_UNIT ft_unit
#define FT_UNITS ft_units

template <typename T, int LANES = FT_LANES> struct ft_vec {
    T lane[LANES];
    T &operator[](int l) { return lane[l]; }
    const T &operator[](int l) const { return lane[l]; }
};
#define FT_WIDE(T) ft_vec<T>
#define FT_WIDE_PAIR(T) ft_vec<FT_CAT(ft_c, T)>
#define FT_EACH_LANE for (int ft_lane = 0; ft_lane < FT_LANES; ft_lane++)
#define FT_LANE(v) v[ft_lane]
#define FT_LANE_0 [0]

typedef FT_T FT_V;
typedef bool FT_M;
typedef int FT_I;
#define FT_HALF_ONE(p) ft_from_half(*(p))
#define FT_INDEX(i) ((i) + ft_lane)
#define FT_LANES_BELOW(m) (ft_lane < (m))

template <typename T> static inline ft_vec<T> ft_load(const T *p)
{
    ft_vec<T> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        v[ft_lane] = p[ft_lane];
    }
    return v;
}
template <typename T> static inline void ft_store(const ft_vec<T> &v, T *p)
{
    FT_EACH_LANE
    {
        FT_PIPELINE
        p[ft_lane] = v[ft_lane];
    }
}
#define FT_VLOAD(p) ft_load(p)
#define FT_VLOAD_UNALIGNED(p) ft_load(p)
#define FT_VSTORE(v, p) ft_store(v, p)
#define FT_STREAMED(count, in_place)
#define FT_VSTORE_NONTEMPORAL(T, v, p) FT_VSTORE(v, p)
template <typename T> static inline ft_vec<T> ft_load_strided(const T *p, int stride, int m)
{
    ft_vec<T> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        const T x = p[ft_lane < m ? ft_lane * stride : 0];  // an unconditional read
        v[ft_lane] = ft_lane < m ? x : T(0);
    }
    return v;
}
template <typename T> static inline void ft_store_strided(const ft_vec<T> &v, T *p, int stride, int m)
{
    FT_EACH_LANE
    {
        FT_PIPELINE
        if (ft_lane < m) p[ft_lane * stride] = v[ft_lane];
    }
}
template <typename T> static inline ft_vec<T> ft_rotate(const ft_vec<T> &v, int step)
{
    ft_vec<T> r;
    FT_EACH_LANE r[ft_lane] = v[(ft_lane + step) % FT_LANES];
    return r;
}

static inline ft_vec<float> ft_load_half(const ft_half *p)
{
    ft_vec<float> v;
    FT_EACH_LANE v[ft_lane] = ft_from_half(p[ft_lane]);
    return v;
}
static inline void ft_store_half(const ft_vec<float> &v, ft_half *p)
{
    FT_EACH_LANE p[ft_lane] = ft_to_half(v[ft_lane]);
}
#define FT_HALF_LOAD(p) ft_load_half(p)
#define FT_HALF_STORE(v, p) ft_store_half(v, p)
static inline ft_vec<float> ft_load_strided_half(const ft_half *p, int stride, int m)
{
    ft_vec<float> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        const float x = ft_from_half(p[ft_lane < m ? ft_lane * stride : 0]);
        v[ft_lane] = ft_lane < m ? x : 0.0f;
    }
    return v;
}
static inline void ft_store_strided_half(const ft_vec<float> &v, ft_half *p, int stride, int m)
{
    FT_EACH_LANE
    {
        FT_PIPELINE
        if (ft_lane < m) p[ft_lane * stride] = ft_to_half(v[ft_lane]);
    }
}
// Loads of complex numbers: plain parts are copied, float16 parts become floats.
static inline float ft_load_value(float v) { return v; }
static inline double ft_load_value(double v) { return v; }
static inline float ft_load_value(ft_half v) { return ft_from_half(v); }
static inline void ft_store_value(float v, float *p) { *p = v; }
static inline void ft_store_value(double v, double *p) { *p = v; }
static inline void ft_store_value(float v, ft_half *p) { *p = ft_to_half(v); }
template <typename T> struct ft_pair_of_type { typedef ft_cfloat type; };
template <> struct ft_pair_of_type<double> { typedef ft_cdouble type; };
#define FT_PAIR_OF(T) typename ft_pair_of_type<T>::type
template <typename T> static inline ft_vec<FT_PAIR_OF(T)> ft_load_pair(const T *p)
{
    ft_vec<FT_PAIR_OF(T)> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        v[ft_lane] = {ft_load_value(p[2 * ft_lane]), ft_load_value(p[2 * ft_lane + 1])};
    }
    return v;
}
template <typename T> static inline void ft_store_pair(const ft_vec<FT_PAIR_OF(T)> &v, T *p)
{
    FT_EACH_LANE
    {
        FT_PIPELINE
        ft_store_value(v[ft_lane].re, p + 2 * ft_lane);
        ft_store_value(v[ft_lane].im, p + 2 * ft_lane + 1);
    }
}
template <typename T> static inline ft_vec<FT_PAIR_OF(T)> ft_load_strided_pair(const T *p, int stride, int m)
{
    ft_vec<FT_PAIR_OF(T)> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        const int at = ft_lane < m ? 2 * ft_lane * stride : 0;
        const FT_PAIR_OF(T) x = {ft_load_value(p[at]), ft_load_value(p[at + 1])}, none = {0, 0};
        v[ft_lane] = ft_select(ft_lane < m, x, none);
    }
    return v;
}
template <typename T> static inline void ft_store_strided_pair(const ft_vec<FT_PAIR_OF(T)> &v, T *p, int stride, int m)
{
    FT_EACH_LANE
    {
        FT_PIPELINE
        if (ft_lane < m) {
            ft_store_value(v[ft_lane].re, p + 2 * ft_lane * stride);
            ft_store_value(v[ft_lane].im, p + 2 * ft_lane * stride + 1);
        }
    }
}

#define FT_FOR_SLAB(i, n)                                                                         \
    for (int i = ft_slab(n, FT_UNIT, FT_UNITS), i##_end = ft_slab(n, FT_UNIT + 1, FT_UNITS);      \
         i < i##_end; i++)

// A reduction's state, with the identity in each lane. A tree combines the lanes into lane 0.
#define FT_STATE(s)   \
    FT_S s[FT_LANES]; \
    FT_EACH_LANE s[ft_lane] = ft_identity();
#define FT_EACH_VECTOR for (int v = 0; v < FT_VECTORS; v++)
#define FT_STATES(s)              \
    FT_S s[FT_VECTORS][FT_LANES]; \
    FT_EACH_VECTOR FT_EACH_LANE s[v][ft_lane] = ft_identity();
#define FT_FOLD_LANES(s)                                     \
    for (int half_ = FT_LANES / 2; half_ > 0; half_ /= 2) \
        for (int l = 0; l < half_; l++) s[l] = ft_combine(s[l], s[l + half_]);
