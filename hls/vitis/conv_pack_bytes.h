// Elements of conv_pack.cpp that are bytes: the padding of planes is `zero`, and a panel's first step is unused. If the
// weights of a filter are contiguous, they are read in beats, WORD of them a cycle; else one a cycle.
#pragma once

static const int LANES = FT_BEAT, ROWS = FT_TILE_ROWS;
static const int WORD = 8;
static inline FT_T ft_element_value(FT_E e, int flip)
{
#pragma HLS INLINE
    return (FT_T)(e ^ (flip ? 0x80 : 0));
}
static inline FT_T ft_padding(int zero) { return (FT_T)zero; }
#include "conv_planes.h"

typedef hls::stream<in_beat> &ft_more_operands;  // the weights in beats
static inline FT_T ft_weight(FT_E e) { return e; }
static inline FT_T ft_weight_zero() { return 0; }
static inline step first_step(hls::stream<in_beat> &, const ft_panels &, int, int) { return step{}; }

// Reads the beats of each filter's weights, for some channels.
static void read_weights(const in_beat *weights, hls::stream<in_beat> &to, ft_panels p)
{
    int panel = p.count > 0 ? p.first % p.panels : 0, group = p.count > 0 ? p.first / p.panels : 0;
    const int count = p.line ? p.count : 0;
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
        const int left = p.filters - panel * ROWS, m = left < ROWS ? left : ROWS;
    chunks:
        for (int c0 = 0; c0 < p.channels; c0 += p.some) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
            const int n = (p.channels - c0 < p.some ? p.channels - c0 : p.some) * p.taps;
            long from = p.weight + group * p.group + panel * ROWS * p.filter + c0 * p.channel, b = from / LANES;
            int r = 0;
        weights:
            for (; r < m;) {  // one filter after another, so that memory latency occurs once
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
                to.write(weights[b]);
                if (++b >= (from + n + LANES - 1) / LANES) {
                    r++;
                    from += p.filter;
                    b = from / LANES;
                }
            }
        }
        if (++panel == p.panels) {
            panel = 0;
            group++;
        }
    }
}

// Reads `n` weights of filter `r` of a panel, which begin at `from`, if the filter is `there`; else zeros.
static inline void read_words(
    hls::stream<in_beat> &beats, FT_T (&local)[FT_DEPTH / WORD][ROWS][WORD], const ft_panels &p, long from, int r,
    bool there, int n)
{
#pragma HLS INLINE
    int lane = (int)((from + r * p.filter) % LANES);
    in_beat high{};
    if (there && lane != 0) high = beats.read();
words:
    for (int k = 0; k < n; k += WORD) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=2 max=24
        const int many = n - k < WORD ? n - k : WORD;
        const in_beat low = high;
        if (there && (lane == 0 || lane + many > LANES)) high = beats.read();
        const in_beat taken = ft_shift_lanes<in_beat, FT_E, LANES>(ft_select(lane == 0, high, low), high, lane);
        for (int b = 0; b < WORD; b++) {
            const FT_E e = taken[b];
            local[k / WORD][r][b] = there ? e : (FT_E)0;
        }
        lane = (lane + many) % LANES;
    }
}
