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

// Copies a value from or to memory; a float16 is its bits there.
template <typename T> static inline void ft_move(T &to, T from) { to = from; }
static inline void ft_move(float &to, ft_half from) { to = ft_from_half(from); }
static inline void ft_move(ft_half &to, float from) { to = ft_to_half(from); }
template <typename To, typename T> static inline ft_vec<To> ft_load_as(const T *p)
{
    ft_vec<To> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        ft_move(v[ft_lane], p[ft_lane]);
    }
    return v;
}
template <typename T, typename To> static inline void ft_store(const ft_vec<T> &v, To *p)
{
    FT_EACH_LANE
    {
        FT_PIPELINE
        ft_move(p[ft_lane], v[ft_lane]);
    }
}
template <typename T> static inline ft_vec<T> ft_load(const T *p) { return ft_load_as<T>(p); }
#define FT_VLOAD(p) ft_load(p)
#define FT_VLOAD_UNALIGNED(p) ft_load(p)
#define FT_VSTORE(v, p) ft_store(v, p)
#define FT_HALF_LOAD(p) ft_load_as<float>(p)
#define FT_HALF_STORE(v, p) ft_store(v, p)
#define FT_STREAMED(count, in_place)
#define FT_VSTORE_NONTEMPORAL(T, v, p) FT_VSTORE(v, p)
template <typename To, typename T> static inline ft_vec<To> ft_load_strided_as(const T *p, int stride, int m)
{
    ft_vec<To> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        To x;
        ft_move(x, p[ft_lane < m ? ft_lane * stride : 0]);  // an unconditional read
        v[ft_lane] = ft_lane < m ? x : To(0);
    }
    return v;
}
template <typename T, typename To> static inline void ft_store_strided(const ft_vec<T> &v, To *p, int stride, int m)
{
    FT_EACH_LANE
    {
        FT_PIPELINE
        if (ft_lane < m) ft_move(p[ft_lane * stride], v[ft_lane]);
    }
}
template <typename T> static inline ft_vec<T> ft_load_strided(const T *p, int stride, int m)
{
    return ft_load_strided_as<T>(p, stride, m);
}
#define ft_load_strided_half ft_load_strided_as<float>
#define ft_store_strided_half ft_store_strided
template <typename T> static inline ft_vec<T> ft_rotate(const ft_vec<T> &v, int step)
{
    ft_vec<T> r;
    FT_EACH_LANE r[ft_lane] = v[(ft_lane + step) % FT_LANES];
    return r;
}

// Complex numbers.
template <typename T> struct ft_pair_of_type { typedef ft_cfloat type; };
template <> struct ft_pair_of_type<double> { typedef ft_cdouble type; };
#define FT_PAIR_OF(T) typename ft_pair_of_type<T>::type
template <typename T> static inline ft_vec<FT_PAIR_OF(T)> ft_load_pair(const T *p)
{
    ft_vec<FT_PAIR_OF(T)> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        ft_move(v[ft_lane].re, p[2 * ft_lane]);
        ft_move(v[ft_lane].im, p[2 * ft_lane + 1]);
    }
    return v;
}
template <typename T> static inline void ft_store_pair(const ft_vec<FT_PAIR_OF(T)> &v, T *p)
{
    FT_EACH_LANE
    {
        FT_PIPELINE
        ft_move(p[2 * ft_lane], v[ft_lane].re);
        ft_move(p[2 * ft_lane + 1], v[ft_lane].im);
    }
}
template <typename T> static inline ft_vec<FT_PAIR_OF(T)> ft_load_strided_pair(const T *p, int stride, int m)
{
    ft_vec<FT_PAIR_OF(T)> v;
    FT_EACH_LANE
    {
        FT_PIPELINE
        const int at = ft_lane < m ? 2 * ft_lane * stride : 0;
        FT_PAIR_OF(T) x, none = {0, 0};
        ft_move(x.re, p[at]);
        ft_move(x.im, p[at + 1]);
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
            ft_move(p[2 * ft_lane * stride], v[ft_lane].re);
            ft_move(p[2 * ft_lane * stride + 1], v[ft_lane].im);
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
