// Convolutions of numbers, with the sums of skeleton/conv.h in the same order: parts of FT_DEPTH steps, which begin with
// the bias.
#pragma once

#include "stored.h"
#include "conv_tiles.h"

typedef FT_T ft_sum;
typedef beat row_sums;
typedef FT_E result;
typedef hls::vector<FT_E, FT_LANES> out_beat;
static const int PART = FT_DEPTH;
// The sums of the parts before.
static const int HELD = FT_TILE_VECTORS * FT_TILE_ROWS, HELD_LANES = FT_LANES;

static inline void begin_item(ft_sum (&)[HELD][HELD_LANES]) {}
static inline void begin_step(ft_sum (&)[HELD][HELD_LANES], const step &) {}

static inline void add_products(
    ft_sum (&sum)[FT_TILE_VECTORS][FT_TILE_ROWS][FT_LANES], const step &w, const beat &y, int v, bool begins, bool stays)
{
#pragma HLS INLINE
    for (int r = 0; r < FT_TILE_ROWS; r++) {
        for (int l = 0; l < FT_LANES; l++) {
            const FT_T before = begins ? FT_ZERO_X : sum[v][r][l];
            const FT_T s = ft_xfma(w[r], y[l], before);
            if (stays) sum[v][r][l] = s;
        }
    }
}

// Adds a part of `steps` steps to the parts before, and writes the sums after the last part.
static inline void end_part(
    ft_sum (&sum)[FT_TILE_VECTORS][FT_TILE_ROWS][FT_LANES], ft_sum (&total)[HELD][HELD_LANES], hls::stream<row_sums> &to,
    const ft_tile &p, const step &bias, int steps, bool first, bool last, const ft_results &)
{
#pragma HLS INLINE
sum_parts:
    for (int t = 0, v = 0, r = 0; t < p.vectors * p.rows; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
        beat row;
        for (int l = 0; l < FT_LANES; l++) {
            const FT_T begun = bias[r], joined = total[t][l], before = first ? begun : joined;
            const FT_T s = steps > 0 ? ft_xadd(before, sum[v][r][l]) : before;
            total[t][l] = s;
            row[l] = s;
        }
        if (last) to.write(row);
        if (++r == p.rows) {
            r = 0;
            v++;
        }
    }
}

// Writes results as whole vectors if all of them begin on beats; in one line for each filter of the tile if a
// filter's results are contiguous; else one by one. Sums between results are skipped. Both pointers point to
// the same memory.
static void store(
    out_beat *out, FT_E *out_elements, hls::stream<ft_tile> &items, hls::stream<beat> &from, int count, ft_results g)
{
    FT_T kept[FT_TILE_VECTORS * FT_TILE_ROWS][FT_LANES];
#pragma HLS ARRAY_PARTITION variable=kept dim=2 complete
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        const int results = p.vectors * p.rows;
        if (g.whole && g.positions - p.begin >= p.vectors * FT_LANES) {
        vectors:
            for (int t = 0, v = 0, r = 0; t < results; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                const beat row = from.read();
                out_beat results_;
                for (int l = 0; l < FT_LANES; l++) results_[l] = stored(row[l]);
                out[(p.out + p.begin + r * g.filter) / FT_LANES + v] = results_;
                if (++r == p.rows) {
                    r = 0;
                    v++;
                }
            }
        } else if (g.lines) {
        buffer_rows:
            for (int t = 0; t < results; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                const beat row = from.read();
                for (int l = 0; l < FT_LANES; l++) kept[t][l] = row[l];
            }
            const ft_result_range of = result_range(p, g);
            const ft_first_result first = first_result(p, g);
        filters:
            for (int r = 0; r < p.rows; r++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
                FT_E *to = out_elements + (p.out + r * g.filter + of.done);
                int place = first.skipped, at = first.at, h = first.h;
            line:
                for (int k = 0; k < of.many; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                    to[k] = stored(kept[place / FT_LANES * p.rows + r][place % FT_LANES]);
                    next_result(place, at, h, 1, g);
                }
            }
        } else {
            store_elements<FT_LANES>(out_elements, from, p, g);
        }
    }
}
