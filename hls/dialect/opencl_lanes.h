// Macros that the dialects of OpenCL C share: lanes, masks, slabs and states. A lane vector is a native vector type, so
// an expression is evaluated on all lanes at once.
// Define before: FT_LANES (1, 2, 4, 8, 16), FT_N (the same, empty for 1), FT_T (compute type), FT_MT (the integer type
// as wide as FT_T), FT_FP64. The dialect defines FT_MEMORY_LOAD(T, n, p) and FT_MEMORY_STORE(T, n, v, p), which access
// n > 1 neighbours of global memory at once, and FT_LANE_ARRAY(T, t, m, value), an array t of all lanes: `value` (of l)
// in the first m of them, else 0.
#pragma OPENCL FP_CONTRACT OFF
#if FT_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define FT_CAT_(a, b) a##b
#define FT_CAT(a, b) FT_CAT_(a, b)
#define FT_VEC(T) FT_CAT(T, FT_N)
#define FT_CONVERT(T, v) FT_CAT(convert_, FT_VEC(T))(v)
#define FT_BITS(T, v) FT_CAT(as_, FT_VEC(T))(v)
#define FT_OVERLOAD __attribute__((overloadable))
#define FT_FN static inline FT_OVERLOAD
#define FT_FN_ONCE static inline
#define FT_NOINLINE static __attribute__((noinline))  // compiled once, however often it is called

#define FT_GLOBAL __global
// What HLS C++ is told of loops and memories; here only unrolling.
#define FT_PIPELINE
#define FT_PIPELINE_EVERY(n)
#define FT_LOOP(name)
#define FT_BEATS(i)
#define FT_UNROLL _Pragma("unroll")
#define FT_ARRAY_PARTITION(name, dim)  // one memory per index of that dim
#define FT_NO_DEPENDENCE(name)  // no iteration reads an element that the iteration before wrote
#define FT_INDEPENDENT(name)  // nor one that the same iteration writes
#define FT_DEPENDENCE_DISTANCE(name, turns)  // a read follows the write by `turns` iterations or more
#define FT_NO_POINTER_DEPENDENCE  // the same for pointers

typedef half ft_half;  // float16 in memory

// One evaluation of an expression computes all lanes.
#define FT_NATIVE_LANES 1
// Arc functions and erf of float are computed by hls/inverse_trig.h.
#define FT_OWN_ARCS 1
#define FT_EACH_LANE
#define FT_LANE(v) v
#define FT_LANE_0
#define FT_WIDE(T) FT_VEC(T)
#define FT_WIDE_PAIR(T) FT_CAT(ft_c, T)

// Macros, not typedefs: a text may compute in several types, one part after the other.
#define FT_V FT_VEC(FT_T)     // values of the compute type
#define FT_M FT_VEC(FT_MT)    // masks: all bits set where true (1 where there is a single lane)
#define FT_I FT_VEC(int)      // positions
#define K(x) ((FT_V)(x))
#define FT_HALF_ONE(p) vload_half(0, p)
#define FT_PAIR(T, r, i) ((FT_CAT(ft_c, T)){r, i})

#if FT_LANES == 1
#define FT_LANES_FROM(p) (*(p))
#define FT_LANES_TO(v, p) (*(p) = (v))
#define FT_IOTA 0
#define FT_MASK_VALUE(T, m) ((T)((m) ? 1 : 0))
#define FT_VALUE_MASK(v) ((v) != 0)
#define FT_ANY(m) (m)
#define FT_MASK_AS(T, m) (m)
#define FT_2N 2
#else
#define FT_LANES_FROM(p) FT_CAT(vload, FT_N)(0, p)
#define FT_LANES_TO(v, p) FT_CAT(vstore, FT_N)(v, 0, p)
#define FT_MASK_VALUE(T, m) FT_CONVERT(T, -(m))
#define FT_VALUE_MASK(v) (FT_CONVERT(FT_MT, v) != (FT_M)(0))
#define FT_ANY(m) ft_any(m)
#define FT_MASK_AS(T, m) FT_CONVERT(T, m)
#if FT_LANES == 2
#define FT_IOTA (int2)(0, 1)
#define FT_2N 4
#elif FT_LANES == 4
#define FT_IOTA (int4)(0, 1, 2, 3)
#define FT_2N 8
#elif FT_LANES == 8
#define FT_IOTA (int8)(0, 1, 2, 3, 4, 5, 6, 7)
#define FT_2N 16
#else
#define FT_IOTA (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif
#endif
// Combines halves: PoCL's any() tests one lane after the other, which takes longer than a sine.
#define FT_DEFINE_ANY(T)                                                        \
    FT_FN int ft_any(FT_CAT(T, 2) m) { return (m.lo | m.hi) != 0; }       \
    FT_FN int ft_any(FT_CAT(T, 4) m) { return ft_any(m.lo | m.hi); }      \
    FT_FN int ft_any(FT_CAT(T, 8) m) { return ft_any(m.lo | m.hi); }      \
    FT_FN int ft_any(FT_CAT(T, 16) m) { return ft_any(m.lo | m.hi); }
FT_DEFINE_ANY(char)
FT_DEFINE_ANY(short)
FT_DEFINE_ANY(int)
FT_DEFINE_ANY(long)
#define FT_VLOAD_UNALIGNED(p) FT_LANES_FROM(p)  // neighbours that may begin off a vector's alignment
// Loads beat i of an array of vectors into `name`, and stores it, through a pointer to its elements.
#define FT_BEAT_SIZE(name) (int)(sizeof(name) / sizeof(name[0]))
#define FT_BEAT_LOAD(name, p, i)                                                                          \
    {                                                                                                     \
        FT_UNROLL                                                                                         \
        for (int l_ = 0; l_ < FT_BEAT_SIZE(name); l_++) name[l_] = (p)[(i) * FT_BEAT_SIZE(name) + l_];    \
    }
#define FT_BEAT_STORE(name, p, i)                                                                         \
    {                                                                                                     \
        FT_UNROLL                                                                                         \
        for (int l_ = 0; l_ < FT_BEAT_SIZE(name); l_++) (p)[(i) * FT_BEAT_SIZE(name) + l_] = name[l_];    \
    }
#define FT_SECOND_PORT(p, other) p
#define FT_INDEX(i) ((FT_I)(i) + FT_IOTA)
#define FT_LANES_BELOW(m) FT_MASK_AS(FT_MT, FT_IOTA < (FT_I)(m))
#define FT_INDEX_MASK(m) FT_MASK_AS(FT_MT, m)
#define FT_MASK_INDEX(m) FT_MASK_AS(int, m)

#if defined(FT_POW_BY_LANE) && FT_DOUBLE && FT_LANES > 1
// Computes lane by lane: PoCL 3.1's pow of eight doubles on AVX-512 uses one lane's exponent for another lane
// if an operand is near zero.
FT_FN_ONCE FT_V ft_pow_by_lane(FT_V x, FT_V y)
{
    FT_T base[FT_LANES], power[FT_LANES];
    FT_LANES_TO(x, base);
    FT_LANES_TO(y, power);
    for (int l = 0; l < FT_LANES; l++) base[l] = pow(base[l], power[l]);
    return FT_LANES_FROM(base);
}
#pragma push_macro("pow")  // PoCL defines a macro of this name
#undef pow
#define pow(x, y) ft_pow_by_lane(x, y)
#endif

// Loads and stores single lanes: of a strided operand, or the first m of a row's last, incomplete vector.
#define FT_DEFINE_STRIDED(T)                                                                   \
    static inline FT_OVERLOAD FT_VEC(T) ft_load_strided(const __global T *p, int stride, int m) \
    {                                                                                 \
        FT_LANE_ARRAY(T, t, m, p[l * stride])                                             \
        return FT_LANES_FROM(t);                                                      \
    }                                                                                 \
    static inline FT_OVERLOAD void ft_store_strided(FT_VEC(T) v, __global T *p, int stride, int m) \
    {                                                                                 \
        T t[FT_LANES];                                                                \
        FT_LANES_TO(v, t);                                                            \
        for (int l = 0; l < m; l++) p[l * stride] = t[l];                             \
    }                                                                                 \
    static inline FT_OVERLOAD FT_VEC(T) ft_rotate(FT_VEC(T) v, int step)              \
    {                                                                                 \
        T t[2 * FT_LANES];                                                            \
        FT_LANES_TO(v, t);                                                            \
        FT_LANES_TO(v, t + FT_LANES);                                                 \
        return FT_LANES_FROM(t + step);                                               \
    }
FT_DEFINE_STRIDED(uchar)
FT_DEFINE_STRIDED(char)
FT_DEFINE_STRIDED(short)
FT_DEFINE_STRIDED(ushort)
FT_DEFINE_STRIDED(int)
FT_DEFINE_STRIDED(long)
FT_DEFINE_STRIDED(float)
#if FT_WIDE_UNSIGNED
FT_DEFINE_STRIDED(uint)
FT_DEFINE_STRIDED(ulong)
#endif
#if FT_FP64
FT_DEFINE_STRIDED(double)
#endif

FT_FN_ONCE FT_VEC(float) ft_load_strided_half(const __global half *p, int stride, int m)
{
    FT_LANE_ARRAY(float, t, m, vload_half(l * stride, p))
    return FT_LANES_FROM(t);
}
FT_FN_ONCE void ft_store_strided_half(FT_VEC(float) v, __global half *p, int stride, int m)
{
    float t[FT_LANES];
    FT_LANES_TO(v, t);
    for (int l = 0; l < m; l++) vstore_half_rte(t[l], l * stride, p);
}
FT_FN_ONCE FT_VEC(float) ft_from_bfloat16(FT_VEC(ushort) v)
{
    return FT_BITS(float, FT_CONVERT(uint, v) << 16);
}
// Rounds to nearest, ties to even. A NaN keeps its upper bits and stays a NaN.
FT_FN_ONCE FT_VEC(ushort) ft_to_bfloat16(FT_VEC(float) v)
{
    const FT_VEC(uint) u = FT_BITS(uint, v);
    const FT_VEC(uint) r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    return FT_CONVERT(ushort, (v != v) ? ((u >> 16) | 0x40u) : r);
}

#include "../convert.h"
FT_TO_INTEGERS(float)
#if FT_FP64
FT_TO_INTEGERS(double)
#endif

// Complex numbers in memory are interleaved pairs; in a kernel a pair of lane vectors.
typedef struct { FT_VEC(float) re, im; } ft_cfloat;
#if FT_FP64
typedef struct { FT_VEC(double) re, im; } ft_cdouble;
#endif
#if FT_LANES < 16
#define FT_DEFINE_PAIRS(T)                                                                             \
    FT_FN FT_CAT(ft_c, T) ft_load_pair(const __global T *p)                                     \
    {                                                                                           \
        const FT_CAT(T, FT_2N) w = FT_MEMORY_LOAD(T, FT_2N, p);                                 \
        FT_CAT(ft_c, T) c;                                                                      \
        c.re = w.even;                                                                          \
        c.im = w.odd;                                                                           \
        return c;                                                                               \
    }                                                                                           \
    FT_FN void ft_store_pair(FT_CAT(ft_c, T) c, __global T *p)                                  \
    {                                                                                           \
        FT_CAT(T, FT_2N) w;                                                                     \
        w.even = c.re;                                                                          \
        w.odd = c.im;                                                                           \
        FT_MEMORY_STORE(T, FT_2N, w, p);                                                        \
    }                                                                                           \
    FT_FN FT_CAT(ft_c, T) ft_load_strided_pair(const __global T *p, int stride, int m)                  \
    {                                                                                           \
        FT_CAT(ft_c, T) c;                                                                      \
        c.re = ft_load_strided(p, 2 * stride, m);                                                       \
        c.im = ft_load_strided(p + 1, 2 * stride, m);                                                   \
        return c;                                                                               \
    }                                                                                           \
    FT_FN void ft_store_strided_pair(FT_CAT(ft_c, T) c, __global T *p, int stride, int m)                 \
    {                                                                                           \
        ft_store_strided(c.re, p, 2 * stride, m);                                                         \
        ft_store_strided(c.im, p + 1, 2 * stride, m);                                                     \
    }
FT_DEFINE_PAIRS(float)
#if FT_FP64
FT_DEFINE_PAIRS(double)
#endif
// Pairs of float16, which kernels hold as floats.
FT_FN ft_cfloat ft_load_pair(const __global half *p)
{
    const FT_CAT(float, FT_2N) w = FT_CAT(vload_half, FT_2N)(0, p);
    ft_cfloat c;
    c.re = w.even;
    c.im = w.odd;
    return c;
}
FT_FN ft_cfloat ft_load_strided_pair(const __global half *p, int stride, int m)
{
    ft_cfloat c;
    c.re = ft_load_strided_half(p, 2 * stride, m);
    c.im = ft_load_strided_half(p + 1, 2 * stride, m);
    return c;
}
FT_FN void ft_store_strided_pair(ft_cfloat c, __global half *p, int stride, int m)
{
    ft_store_strided_half(c.re, p, 2 * stride, m);
    ft_store_strided_half(c.im, p + 1, 2 * stride, m);
}
// Stores element by element: PoCL's store of vectors of halves expects 16-byte alignment.
FT_FN void ft_store_pair(ft_cfloat c, __global half *p) { ft_store_strided_pair(c, p, 1, FT_LANES); }
#endif

// The vectors (or rows) of [0, n) that this unit computes: a contiguous slab. A single unit takes all, without
// a division.
FT_FN_ONCE int ft_slab(int n, int unit, int units)
{
    return units == 1 ? n * unit : (int)((long)n * unit / units);
}
#define FT_FOR_SLAB(i, n)                                                                         \
    for (int i = ft_slab(n, FT_UNIT, FT_UNITS), i##_end = ft_slab(n, FT_UNIT + 1, FT_UNITS);      \
         i < i##_end; i++)

// A reduction's state, with the identity in all lanes. To combine the lanes, the vector is halved repeatedly.
#define FT_STATE(s) FT_S s = ft_identity();
#define FT_EACH_VECTOR _Pragma("unroll") for (int v = 0; v < FT_VECTORS; v++)
#define FT_STATES(s)    \
    FT_S s[FT_VECTORS]; \
    FT_EACH_VECTOR s[v] = ft_identity();
#define FT_ROTATES 1
#define FT_FOLD_LANES(s) \
    for (int turn = FT_LANES / 2; turn > 0; turn /= 2) s = ft_combine(s, ft_rotate_state(s, turn));
