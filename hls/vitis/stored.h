// A computed number as an element in memory.
#pragma once

static inline FT_E stored(FT_T x)
{
#pragma HLS INLINE
#if FT_E_HALF
    return ft_to_half(x);
#else
    return FT_STORED(x);
#endif
}
