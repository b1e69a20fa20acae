// Conversions between port elements and lanes. If a port's type is not a vector, the compiler makes one wide
// access of neighbouring elements only if it can prove that they are contiguous.
#pragma once
#include <hls_vector.h>

#include "common.h"

// The first m lanes of a beat; the others are zero. The beat is passed by value: with a reference to the port,
// each lane would be a conditional access of its own.
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

// The first m lanes from `from`, `stride` elements apart; the others are zero. Lanes beyond m (at least 1) read
// the first element again, so that no access is conditional.
template <typename T, int LANES> static inline void ft_read_lanes(T (&w)[LANES], const T *from, int stride, int m)
{
read_lanes:
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        const T one = from[(l < m ? l : 0) * stride];
        w[l] = l < m ? one : T();
    }
}
// Repeats one element in all lanes.
template <typename T, int LANES> static inline void ft_splat_lanes(T (&w)[LANES], T one)
{
same_lanes:
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        w[l] = one;
    }
}
// Returns the elements from `first` on of a row of `width` as one beat. Lanes beyond the row repeat its first
// element.
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
