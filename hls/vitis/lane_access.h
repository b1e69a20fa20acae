// Conversions between port elements and lanes. If a port's type is not a vector, the compiler makes one wide
// access of neighbouring elements only if it can prove that they are contiguous.
#pragma once
#include <hls_vector.h>

#include "common.h"

// Returns element l of a beat, for both types of beat: hls::vector<T, LANES>, or T with one lane.
template <typename T, size_t N> static inline T ft_lane(const hls::vector<T, N> &v, int l) { return v[l]; }
template <typename T> static inline T ft_lane(const T &v, int) { return v; }

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
