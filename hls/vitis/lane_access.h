// Conversions between an element of a port and its lanes. If the port's type is no vector, the compiler makes one wide
// access of neighbouring elements only if it can prove that they are contiguous.
#pragma once
#include <hls_vector.h>

#include "common.h"

// The first m lanes of one beat; the others are zero. The beat comes by value: through a reference to the
// port each lane would be an access of its own, and one that hangs on a condition.
template <typename T, size_t LANES>
static inline void ft_unpack_lanes(T (&w)[LANES], hls::vector<T, LANES> beat, int m)
{
#pragma HLS INLINE
unpack_lanes:
    for (int l = 0; l < (int)LANES; l++) {
#pragma HLS UNROLL
        w[l] = l < m ? beat[l] : T();
    }
}

// The first m lanes from `from`, `stride` elements apart; the others are zero. Lanes beyond them read the
// first element again, so that no access hangs on a condition; m is 1 at least.
template <typename T, int LANES> static inline void ft_read_lanes(T (&w)[LANES], const T *from, int stride, int m)
{
read_lanes:
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        const T one = from[(l < m ? l : 0) * stride];
        w[l] = l < m ? one : T();
    }
}
// One element for all lanes.
template <typename T, int LANES> static inline void ft_splat_lanes(T (&w)[LANES], T one)
{
same_lanes:
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        w[l] = one;
    }
}
// Elements `first` and those behind it of a row of `width` as one beat, for a FIFO; beyond the row it is the
// row's first element.
template <int LANES, typename T>
static inline hls::vector<T, LANES> ft_gather_lanes(const T *row, int first, int stride, int width)
{
#pragma HLS INLINE
    hls::vector<T, LANES> beat;
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        beat[l] = row[(first + l < width ? first + l : 0) * stride];
    }
    return beat;
}
