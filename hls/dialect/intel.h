// Kernel macros in Intel's OpenCL C for FPGAs: for aoc, and its emulator. A kernel is one work-item that iterates over
// its slab in a pipelined loop. Its last two arguments are the number of the compute unit and the number of units, as
// in vitis.h. There is no macro for a pipeline: the compiler pipelines every loop of a single work-item, and finds the
// smallest initiation interval by itself. Define before: the settings of opencl_lanes.h.

// A vector is aligned to its own width, so that one access is one beat of an aligned 512-bit port.
#define FT_MEMORY_LOAD(T, n, p) (*(const __global FT_CAT(T, n) *)(p))
#define FT_MEMORY_STORE(T, n, v, p) (*(__global FT_CAT(T, n) *)(p) = (v))
// An unrolled loop of constant length: hardware for all lanes.
#define FT_LANE_ARRAY(T, t, m, value) \
    T t[FT_LANES];                \
    for (int l = 0; l < FT_LANES; l++) t[l] = l < m ? value : (T)0;
#include "opencl_lanes.h"
#ifdef cl_intel_channels
#pragma OPENCL EXTENSION cl_intel_channels : enable
#endif

#define FT_KERNEL                                                                                \
    __attribute__((max_global_work_dim(0))) __attribute__((uses_global_work_offset(0))) __kernel
#define FT_UNIT_PARAMS , int ft_unit, int ft_units
#define FT_UNIT ft_unit
#define FT_UNITS ft_units
#define FT_STREAMED(count, in_place)
#define FT_VSTORE_NONTEMPORAL(T, v, p) FT_VSTORE(v, p)
#if FT_LANES == 1
#define FT_VLOAD(p) (*(p))
#define FT_VSTORE(v, p) (*(p) = (v))
#define FT_HALF_LOAD(p) vload_half(0, p)
#define FT_HALF_STORE(v, p) vstore_half_rte(v, 0, p)
#else
#define FT_VLOAD(p) ft_load(p)
#define FT_VSTORE(v, p) ft_store(v, p)
#define FT_HALF_LOAD(p) FT_CAT(vloada_half, FT_N)(0, p)
#define FT_HALF_STORE(v, p) FT_CAT(FT_CAT(vstorea_half, FT_N), _rte)(v, 0, p)
#define FT_DEFINE_ALIGNED(T)                                                                         \
    FT_FN FT_VEC(T) ft_load(const __global T *p) { return FT_MEMORY_LOAD(T, FT_N, p); }        \
    FT_FN void ft_store(FT_VEC(T) v, __global T *p) { FT_MEMORY_STORE(T, FT_N, v, p); }
FT_DEFINE_ALIGNED(uchar)
FT_DEFINE_ALIGNED(char)
FT_DEFINE_ALIGNED(short)
FT_DEFINE_ALIGNED(ushort)
FT_DEFINE_ALIGNED(int)
FT_DEFINE_ALIGNED(long)
FT_DEFINE_ALIGNED(float)
#if FT_WIDE_UNSIGNED
FT_DEFINE_ALIGNED(uint)
FT_DEFINE_ALIGNED(ulong)
#endif
#if FT_FP64
FT_DEFINE_ALIGNED(double)
#endif
#endif

// Converts the bits of a float16 port, for a kernel that serves several dtypes.
FT_FN_ONCE FT_VEC(float) ft_from_halves(FT_VEC(ushort) bits)
{
    ushort t[FT_LANES];
    float r[FT_LANES];
    FT_LANES_TO(bits, t);
    for (int l = 0; l < FT_LANES; l++) r[l] = vload_half(l, (const half *)t);
    return FT_LANES_FROM(r);
}
FT_FN_ONCE FT_VEC(ushort) ft_to_halves(FT_VEC(float) values)
{
    float r[FT_LANES];
    ushort t[FT_LANES];
    FT_LANES_TO(values, r);
    for (int l = 0; l < FT_LANES; l++) vstore_half_rte(r[l], l, (half *)t);
    return FT_LANES_FROM(t);
}
