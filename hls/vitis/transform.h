// Parts of a stage that transforms rows (discrete Fourier transform), one beat of complex numbers per cycle
// (kernels/transform.py). A beat has LANES numbers, HALF is half of them, and a row has 2^BITS beats.
#pragma once
#include "common.h"

// Reverses the lowest BITS bits of a number.
template <int BITS> static inline int ft_reversed(int x)
{
#pragma HLS INLINE
    int y = 0;
    for (int bit = 0; bit < BITS; bit++) y |= ((x >> bit) & 1) << (BITS - 1 - bit);
    return y;
}

// Exchanges halves between a beat and the one DELAY later: their first halves become the earlier beat, which
// leaves DELAY beats after it entered; their second halves become the later beat.
template <int DELAY, int HALF, typename V, typename T>
static inline V ft_crossed(const V &x, T (&second)[DELAY][HALF], T (&first)[DELAY][HALF], int beat)
{
#pragma HLS INLINE
    const int at = beat % DELAY;
    const bool later = (beat & DELAY) != 0;
    V y;
    for (int l = 0; l < HALF; l++) {
        const T low = x[l], high = second[at][l], out = first[at][l];
        second[at][l] = x[HALF + l];
        first[at][l] = ft_select(later, high, low);
        y[l] = out;
        y[HALF + l] = ft_select(later, low, high);
    }
    return y;
}

// Butterflies between the halves of a beat, by one of COUNT rows of roots.
template <int COUNT, int HALF, typename V, typename T>
static inline V ft_butterflies(const V &x, const T (&roots)[COUNT][HALF], int row)
{
#pragma HLS INLINE
    V y;
    for (int l = 0; l < HALF; l++) {
        const T a = x[l], c = x[HALF + l], root = roots[row][l];
        const T sum = {a.re + c.re, a.im + c.im}, apart = {a.re - c.re, a.im - c.im};
        const T turned = {apart.re * root.re - apart.im * root.im, apart.re * root.im + apart.im * root.re};
        y[l] = sum;
        y[HALF + l] = turned;
    }
    return y;
}

// Butterflies of numbers 1 or 2 lanes apart, whose roots are 1 and -i.
template <int APART, int LANES, typename T, typename V> static inline V ft_lane_butterflies(const V &x)
{
#pragma HLS INLINE
    V y;
    for (int l = 0; l < LANES; l++) {
        const T a = x[l & ~APART], c = x[l | APART];
        const T sum = {a.re + c.re, a.im + c.im}, apart = {a.re - c.re, a.im - c.im}, turned = {apart.im, -apart.re};
        y[l] = ft_select((l & APART) == 0, sum, ft_select((l & (APART - 1)) != 0, turned, apart));
    }
    return y;
}

// Moves lane l ^ by to lane l.
template <int LANES, typename T, typename V> static inline V ft_exchanged(const V &x, int by)
{
#pragma HLS INLINE
    V y = x;
    for (int level = 0; level < 3; level++) {  // a beat has at most 8 lanes
        const int bit = 1 << level;
        if (bit >= LANES) continue;
        V z;
        for (int l = 0; l < LANES; l++) {
            const T other = y[l ^ bit], same = y[l];
            z[l] = ft_select((by & bit) != 0, other, same);
        }
        y = z;
    }
    return y;
}

// Returns the numbers of a row in order, one row later. After the last butterflies, a number's position is its
// index with the bits reversed, except that the lowest bit of the beat has become the highest. Each lane has a
// memory of its own. The numbers of one beat must come from, and go to, different memories, so numbers are
// stored in rotated lanes.
template <int BITS, int LANE_BITS, typename T, int BEATS, int LANES, typename V>
static inline V ft_sorted(const V &x, T (&kept)[2][BEATS][LANES], int beat, bool odd)
{
#pragma HLS INLINE
    const int at = BITS ? ((beat << 1) | (beat >> (BITS ? BITS - 1 : 0))) & (BEATS - 1) : 0;
    const V come = ft_exchanged<LANES, T>(x, ft_reversed<BITS>(at) & (LANES - 1));
    const int from = ft_reversed<BITS>(beat) & (LANES - 1);
    V gone, y;
    for (int l = 0; l < LANES; l++) {
        kept[odd][at][l] = come[l];
        gone[l] = kept[!odd][ft_reversed<BITS>(((beat << LANE_BITS) | (l ^ from)) & (BEATS - 1))][l];
    }
    const V turned = ft_exchanged<LANES, T>(gone, from);
    // In rows with fewer beats than lanes, some index bits select a lane both before and after the reordering.
    const int alone = LANE_BITS > BITS ? BITS : LANE_BITS;
    for (int l = 0; l < LANES; l++) {
        const int low = l & ((1 << alone) - 1), high = ft_reversed<LANE_BITS - alone>(l >> alone) << alone;
        const T out = turned[low | high];
        y[l] = out;
    }
    return y;
}

// Exchanges real and imaginary parts. Before and after a forward transform, this makes it the inverse one.
template <int LANES, typename T, typename V> static inline V ft_parts_exchanged(const V &x)
{
#pragma HLS INLINE
    V y;
    for (int l = 0; l < LANES; l++) {
        const T z = x[l], other = {z.im, z.re};
        y[l] = other;
    }
    return y;
}

template <int LANES, typename T, typename V, typename S> static inline V ft_scaled(const V &x, S by)
{
#pragma HLS INLINE
    V y;
    for (int l = 0; l < LANES; l++) {
        const T z = x[l], times = {z.re * by, z.im * by};
        y[l] = times;
    }
    return y;
}
