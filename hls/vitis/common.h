// Macros that are the same in every Vitis HLS kernel: C types, conversions of stored elements, and pragmas. v++ and g++
// read the same text; g++ ignores the pragmas. A lane is a scalar, so expressions are plain C: FT_VEC(float) is float.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

// v++ synthesizes functions of its own library, and treats those of <cmath> as CPU functions. A using
// declaration would conflict with C's name at global scope, so it is in a namespace (compute.h).
#ifdef __SYNTHESIS__
#include <hls_math.h>
#define FT_MATH hls
#else
#define FT_MATH std
#include "functions.h"
#endif

#include "erf_rows.h"
#define FT_ERF_ROWS 1  // ft_erf reads tables

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define FT_CAT_(a, b) a##b
#define FT_CAT(a, b) FT_CAT_(a, b)
#define FT_FN static inline
#define FT_FN_ONCE static inline
#define FT_NOINLINE static
#define FT_GLOBAL

#define FT_PRAGMA_(x) _Pragma(#x)
#define FT_PRAGMA(x) FT_PRAGMA_(x)
#define FT_PIPELINE FT_PRAGMA(HLS PIPELINE II = 1)
#define FT_PIPELINE_EVERY(n) FT_PRAGMA(HLS PIPELINE II = n)
#define FT_LOOP(name)  // labels a loop in sources that `ftensor build` writes
#define FT_BEATS(i)  // the address of the vector at element i, in those sources
#define FT_UNROLL  // v++ unrolls loops of constant length inside a pipelined loop by itself
#define FT_ARRAY_PARTITION(name, dim)  // one memory per index of that dim
#define FT_NO_DEPENDENCE(name)  // no iteration reads an element that the iteration before wrote
#define FT_INDEPENDENT(name)  // nor one that the same iteration writes
#define FT_DEPENDENCE_DISTANCE(name, turns)  // a read follows the write by `turns` iterations or more
#define FT_NO_POINTER_DEPENDENCE FT_PRAGMA(HLS DEPENDENCE class = pointer inter false)  // the same for pointers
#define FT_VEC(T) T
#define K(x) ((FT_V)(x))  // a number in the compute type
#define FT_PAIR(T, r, i) (FT_CAT(ft_c, T){r, i})
#define FT_CONVERT(T, v) ((T)(v))
template <typename To, typename From> static inline To ft_bits(From v)
{
    static_assert(sizeof(To) == sizeof(From), "bits are kept, not converted");
    union {  // type punning as the HLS manual recommends it
        From from;
        To to;
    } r;
    r.from = v;
    return r.to;
}
#define FT_BITS(T, v) ft_bits<T>(v)
#define FT_MASK_VALUE(T, m) ((T)((m) ? 1 : 0))
#define FT_VALUE_MASK(v) ((v) != 0)
#define FT_ANY(m) (m)
#define FT_MASK_AS(T, m) (m)
#define FT_INDEX_MASK(m) (m)
#define FT_MASK_INDEX(m) (m)

#include "../convert.h"
FT_TO_INTEGERS(float)
FT_TO_INTEGERS(double)

// float16 by its bits. A subnormal is converted as an integer times 2^-24. As a scaled subnormal float32 it
// would be zero if the operators flush these to zero, as those of an FPGA do.
static inline float ft_from_half(uint16_t h)
{
    const uint sign = (uint)(h & 0x8000) << 16, rest = (uint)(h & 0x7fff) << 13;
    const float part = (float)(int)(h & 0x3ff);
    uint bits = ft_bits<uint>(part) - (24u << 23);
    if (part == 0.0f) bits = 0;
    if (rest >= 0x00800000u) bits = rest + 0x38000000u;
    if (rest >= 0x0f800000u) bits = rest + 0x70000000u;  // infinity, NaN
    return ft_bits<float>(sign | bits);
}
// Rounds to nearest, ties to even.
static inline uint16_t ft_to_half(float f)
{
    const uint u = ft_bits<uint>(f), sign = (u >> 16) & 0x8000, mag = u & 0x7fffffff;
    if (mag > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (mag >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
    if (mag < 0x38800000) {  // below the smallest normal number: the low bits of 0.5 + |f| are the rounded result
        const float tiny = ft_bits<float>(mag) + 0.5f;
        return (uint16_t)(sign | (ft_bits<uint>(tiny) - 0x3f000000u));
    }
    return (uint16_t)(sign | ((mag - 0x38000000u + 0xfff + ((mag >> 13) & 1)) >> 13));
}
static inline float ft_from_bfloat16(ushort v) { return ft_bits<float>((uint)v << 16); }
static inline ushort ft_to_bfloat16(float v)
{
    const uint u = ft_bits<uint>(v);
    return (ushort)(v != v ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

typedef struct { float re, im; } ft_cfloat;
typedef struct { double re, im; } ft_cdouble;

// A pair of halves in 32 bits: the storage of complex32.
static inline ft_cfloat ft_from_half_pair(uint32_t v)
{
    return ft_cfloat{ft_from_half((uint16_t)v), ft_from_half((uint16_t)(v >> 16))};
}
static inline uint32_t ft_to_half_pair(ft_cfloat v) { return (uint32_t)ft_to_half(v.im) << 16 | ft_to_half(v.re); }

// Selects one of two values, both of which are read. `c ? a : b` on objects of a class selects an address, and
// hardware cannot have a pointer to either of two memories.
template <typename T> static inline T ft_select(bool first, T a, T b)
{
#pragma HLS INLINE
    if (first) return a;
    return b;
}

// Loads beat i of an array of vectors into `name`, and stores it, through a pointer to elements. In sources
// that `ftensor build` writes, the port's type (V) is a vector, which is read and written whole. FT_SECOND_PORT
// is another port to the same memory.
#define FT_SECOND_PORT(p, other) p
#define FT_BEAT_LOAD(name, p, i) ft_beat_load(name, p, i);
#define FT_BEAT_STORE(name, p, i) ft_beat_store(name, p, i);
template <typename T, int N> static inline void ft_beat_load(T (&to)[N], const T *p, long i)
{
#pragma HLS INLINE
    for (int l = 0; l < N; l++) {
#pragma HLS UNROLL
        to[l] = p[i * N + l];
    }
}
template <typename T, int N, typename V> static inline void ft_beat_load(T (&to)[N], const V *p, long i)
{
#pragma HLS INLINE
    const V beat = p[i];
    for (int l = 0; l < N; l++) {
#pragma HLS UNROLL
        to[l] = beat[l];
    }
}
template <typename T, int N> static inline void ft_beat_store(const T (&from)[N], T *p, long i)
{
#pragma HLS INLINE
    for (int l = 0; l < N; l++) {
#pragma HLS UNROLL
        p[i * N + l] = from[l];
    }
}
template <typename T, int N, typename V> static inline void ft_beat_store(const T (&from)[N], V *p, long i)
{
#pragma HLS INLINE
    V beat;
    for (int l = 0; l < N; l++) {
#pragma HLS UNROLL
        beat[l] = from[l];
    }
    p[i] = beat;
}

// The vectors (or rows) of [0, n) that this compute unit takes.
static inline int ft_slab(int n, int unit, int units) { return (int)((long)n * unit / units); }

// Copies a geometry buffer, or a list in it, to local memory, in one burst.
template <typename To, int MAX, typename T> static void ft_read_geometry(To (&g)[MAX], const T *geometry, int size)
{
read_geometry:
    for (int k = 0; k < size; k++) {
#pragma HLS LOOP_TRIPCOUNT min=6 max=64
        g[k] = (To)geometry[k];
    }
}
