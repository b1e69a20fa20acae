// Kernel macros in OpenCL C 1.2: CPUs and GPUs that compile at run time. Define before: FT_GRID_STRIDE, and the
// settings of opencl_lanes.h.

// vload and vstore need no alignment beyond an element's.
#define FT_MEMORY_LOAD(T, n, p) FT_CAT(vload, n)(0, p)
#define FT_MEMORY_STORE(T, n, v, p) FT_CAT(vstore, n)(v, 0, p)
// A loop over the m lanes: a choice in every lane would take compilers far longer.
#define FT_LANE_ARRAY(T, t, m, value) \
    T t[FT_LANES] = {0};          \
    for (int l = 0; l < m; l++) t[l] = value;
// Sines of float are computed by hls/math.h.
#define FT_OWN_SIN 1
#include "opencl_lanes.h"

// A unit has a slab of vectors of its own. Without this attribute Intel's compiler vectorizes over 16 units as
// well, which takes most of its time and makes nothing faster.
#define FT_KERNEL __kernel
#if !FT_GRID_STRIDE && defined(__has_attribute)
#if __has_attribute(intel_vec_len_hint)
#undef FT_KERNEL
#define FT_KERNEL __kernel __attribute__((intel_vec_len_hint(1)))
#endif
#endif
#define FT_UNIT_PARAMS
#define FT_UNIT ((int)get_global_id(0))
#define FT_UNITS ((int)get_global_size(0))
#if FT_MEMBER  // a function of a kernel with several members (hls/skeleton/series.h)
#undef FT_KERNEL
#undef FT_UNIT_PARAMS
#undef FT_UNIT
#undef FT_UNITS
#define FT_KERNEL FT_NOINLINE
#define FT_UNIT_PARAMS , int ft_unit, int ft_units
#define FT_UNIT ft_unit
#define FT_UNITS ft_units
#endif

#define FT_ANY_ALIGNMENT 1  // a vector may begin at any element
#define FT_VLOAD(p) FT_LANES_FROM(p)
#define FT_VSTORE(v, p) FT_LANES_TO(v, p)
// A result larger than every cache is stored past the caches, so that no cache line is fetched before it is
// overwritten. A smaller result stays in a cache for the next op, as do lines that were just read. The build
// sets FT_STREAMED_BYTES, the size from which results bypass the caches.
#define FT_STREAMED(count, in_place)
#define FT_VSTORE_NONTEMPORAL(T, v, p) FT_VSTORE(v, p);
#if FT_LANES > 1 && defined(FT_STREAMED_BYTES) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#undef FT_STREAMED
#undef FT_VSTORE_NONTEMPORAL
#define FT_STREAMED(count, in_place) \
    const int streamed = (long)(count) * (64 / FT_LANES) > FT_STREAMED_BYTES && !(in_place);
#define FT_VSTORE_NONTEMPORAL(T, v, p)                                        \
    if (streamed && sizeof(v) == 64 && (ulong)(p) % 64 == 0) {     \
        __builtin_nontemporal_store(v, (__global FT_VEC(T) *)(p)); \
    } else {                                                       \
        FT_VSTORE(v, p);                                           \
    }
#endif
#endif
#if FT_LANES == 1
#define FT_HALF_LOAD(p) vload_half(0, p)
#define FT_HALF_STORE(v, p) vstore_half_rte(v, 0, p)
#else
// Copies through a private array: PoCL's vload_half and vstore_half expect vectors aligned to 16 bytes.
#define FT_HALF_LOAD(p) ft_half_load(p)
#define FT_HALF_STORE(v, p) ft_half_store(v, p)
FT_FN FT_VEC(float) ft_half_load(__global const half *p)
{
    ushort t[FT_LANES] __attribute__((aligned(32)));
    FT_CAT(vstore, FT_N)(FT_CAT(vload, FT_N)(0, (__global const ushort *)p), 0, t);
    return FT_CAT(vloada_half, FT_N)(0, (const half *)t);
}
#define FT_DEFINE_HALF_STORE(T)                                                             \
    FT_FN void ft_half_store(FT_VEC(T) v, __global half *p)                             \
    {                                                                                   \
        ushort t[FT_LANES] __attribute__((aligned(32)));                                \
        FT_CAT(FT_CAT(vstorea_half, FT_N), _rte)(v, 0, (half *)t);                      \
        FT_CAT(vstore, FT_N)(FT_CAT(vload, FT_N)(0, t), 0, (__global ushort *)p);       \
    }
FT_DEFINE_HALF_STORE(float)
#if FT_FP64
FT_DEFINE_HALF_STORE(double)
#endif
#endif

#if FT_LANES > 1
// A rotation of lanes by a constant compiles to one instruction; through an array it would wait for the last
// store.
#if FT_LANES == 2
#define FT_ROTATE_CASES(v) FT_ROTATE_BY(1, v.s10)
#elif FT_LANES == 4
#define FT_ROTATE_CASES(v) FT_ROTATE_BY(1, v.s1230) FT_ROTATE_BY(2, v.s2301)
#elif FT_LANES == 8
#define FT_ROTATE_CASES(v) FT_ROTATE_BY(1, v.s12345670) FT_ROTATE_BY(2, v.s23456701) FT_ROTATE_BY(4, v.s45670123)
#else
#define FT_ROTATE_CASES(v) \
    FT_ROTATE_BY(1, v.s123456789abcdef0) FT_ROTATE_BY(2, v.s23456789abcdef01) FT_ROTATE_BY(4, v.s456789abcdef0123) \
    FT_ROTATE_BY(8, v.s89abcdef01234567)
#endif
#define FT_ROTATE_BY(by, turned) \
    if (step == by) return turned;
#define FT_DEFINE_ROTATE(T)                                         \
    FT_FN FT_VEC(T) ft_rotate_constant(FT_VEC(T) v, int step)        \
    {                                                       \
        FT_ROTATE_CASES(v) return ft_rotate(v, step);             \
    }
FT_DEFINE_ROTATE(uchar)
FT_DEFINE_ROTATE(char)
FT_DEFINE_ROTATE(short)
FT_DEFINE_ROTATE(ushort)
FT_DEFINE_ROTATE(int)
FT_DEFINE_ROTATE(long)
FT_DEFINE_ROTATE(float)
#if FT_WIDE_UNSIGNED
FT_DEFINE_ROTATE(uint)
FT_DEFINE_ROTATE(ulong)
#endif
#if FT_FP64
FT_DEFINE_ROTATE(double)
#endif
#define ft_rotate(v, step) ft_rotate_constant(v, step)
#endif

// Units of a GPU iterate in step, so that neighbouring units access neighbouring addresses.
#if FT_GRID_STRIDE
#undef FT_FOR_SLAB
#define FT_FOR_SLAB(i, n) for (int i = FT_UNIT; i < (n); i += FT_UNITS)
#endif
