// Elements of conv_pack.cpp that are numbers. A panel's first step has the biases.
#pragma once

static const int LANES = FT_TILE_ROWS, ROWS = FT_TILE_ROWS;
static const int WORD = 1;
static inline FT_X ft_element_value(FT_E e, int)
{
#pragma HLS INLINE
    return FT_ONE(&e);
}
static inline FT_X ft_padding(int) { return FT_ZERO_X; }
#include "conv_planes.h"

typedef const FT_E *ft_more_operands;  // the biases
static inline FT_T ft_weight(FT_E e) { return FT_ONE(&e); }
static inline FT_T ft_weight_zero() { return FT_ZERO_X; }

static inline step first_step(const FT_E *bias, const ft_panels &p, int filter, int m)
{
#pragma HLS INLINE
    const FT_E *biases = bias + (p.bias + (p.bias_step < 0 ? 0 : filter * p.bias_step));
    step first;
bias:
    for (int r = 0; r < ROWS; r++) {
#pragma HLS PIPELINE II=1
        const bool there = p.bias_step >= 0 && r < m;
        const FT_E e = biases[there ? r * p.bias_step : 0];
        const FT_T v = FT_ONE(&e);
        first[r] = there ? v : FT_ZERO_X;
    }
    return first;
}

static inline void read_words(
    const FT_E *, FT_T (&)[FT_DEPTH / WORD][ROWS][WORD], const ft_panels &, long, int, bool, int)
{
}
