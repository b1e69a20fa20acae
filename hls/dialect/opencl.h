// The kernel words in OpenCL C 1.2: CPUs and GPUs that compile at run time.
// Set before this file: FT_GRID_STRIDE, and what opencl_lanes.h needs.

// Such memory knows no wider alignment than an element's.
#define FT_MEMORY_LOAD(T, n, p) FT_CAT(vload, n)(0, p)
#define FT_MEMORY_STORE(T, n, v, p) FT_CAT(vstore, n)(v, 0, p)
// As many turns as there are values: compilers take far longer over a choice in every lane.
#define FT_FILLED(T, t, m, value) \
    T t[FT_LANES] = {0};          \
    for (int l = 0; l < m; l++) t[l] = value;
#include "opencl_lanes.h"

// A unit that walks a slab has vectors of its own. Intel's compiler would put 16 units side by side as
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
#define FT_PORT(name, bundle)
#define FT_PIPELINE
#define FT_LOOP(name)
#define FT_BEATS(i)
#define FT_UNROLL _Pragma("unroll")

#define FT_VLOAD(p) FT_LANES_FROM(p)
#define FT_VSTORE(v, p) FT_LANES_TO(v, p)
#if FT_LANES == 1
#define FT_HALF_LOAD(p) vload_half(0, p)
#define FT_HALF_STORE(v, p) vstore_half_rte(v, 0, p)
#else
#define FT_HALF_LOAD(p) FT_CAT(vload_half, FT_N)(0, p)
#define FT_HALF_STORE(v, p) FT_CAT(FT_CAT(vstore_half, FT_N), _rte)(v, 0, p)
#endif

// On GPUs the units go through memory in step, so that neighbours touch neighbouring addresses.
#if FT_GRID_STRIDE
#undef FT_FOR_SLAB
#define FT_FOR_SLAB(i, n) for (int i = FT_UNIT; i < (n); i += FT_UNITS)
#endif
