// Elements of a port as lanes side by side, and back. Where a port is no vector by its type,
// neighbouring elements become one wide access only if the compiler can prove it.
#pragma once
#include <hls_vector.h>

#include "words.h"

// The first m lanes of one beat; the others are zero.
template <typename T, size_t LANES>
static inline void ft_unpack_lanes(T (&w)[LANES], const hls::vector<T, LANES> &beat, int m)
{
#pragma HLS INLINE
unpack_lanes:
    for (int l = 0; l < (int)LANES; l++) {
#pragma HLS UNROLL
        w[l] = l < m ? beat[l] : T();
    }
}

// The first m lanes from `from`, `stride` elements apart; the others are zero.
template <typename T, int LANES> static inline void ft_read_lanes(T (&w)[LANES], const T *from, int stride, int m)
{
read_lanes:
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        w[l] = l < m ? from[l * stride] : T();
    }
}
template <typename T, int LANES> static inline void ft_write_lanes(const T (&w)[LANES], T *to, int stride, int m)
{
write_lanes:
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        if (l < m) to[l * stride] = w[l];
    }
}
// The same as one beat, for a FIFO.
template <int LANES, typename T> static inline hls::vector<T, LANES> ft_gather(const T *from, int stride, int m)
{
#pragma HLS INLINE
    T w[LANES];
    ft_read_lanes(w, from, stride, m);
    hls::vector<T, LANES> beat;
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        beat[l] = w[l];
    }
    return beat;
}
