// A part of a plane in local memory, with one bank per lane, so that windows may begin at any element.
#pragma once

// LANES adjacent elements of a strip from element `at` on: each bank reads one, and they are rotated into
// place.
template <typename V, typename T, int LANES> static inline V ft_load_unaligned(const T (*strip)[LANES], int at)
{
#pragma HLS INLINE
    static_assert((LANES & (LANES - 1)) == 0, "a beat is turned by powers of two");
    const int line = at / LANES, first = at % LANES;
    T own[LANES];
    for (int l = 0; l < LANES; l++) own[l] = strip[line + (l < first ? 1 : 0)][l];
    for (int turn = 0; 1 << turn < LANES; turn++) {  // rotates by 1, 2, 4, ...
        T turned[LANES];
        for (int l = 0; l < LANES; l++) turned[l] = (first >> turn) & 1 ? own[(l + (1 << turn)) % LANES] : own[l];
        for (int l = 0; l < LANES; l++) own[l] = turned[l];
    }
    V found;
    for (int l = 0; l < LANES; l++) found[l] = own[l];
    return found;
}
