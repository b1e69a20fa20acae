// Convolutions, and products of matrices, of signed bytes, summed in int32. A beat has 64 positions, and two products take
// one DSP block. Sums are exact, so their order is free. Integers represent numbers minus `zero`, and the padding of
// planes is `zero`: each result subtracts `zero` times the sum of its weights. If a filter's results are contiguous,
// `gather` joins them, 16 a cycle. If the results of a tile's filters are contiguous (`whole`), as in a product of
// matrices, a position's results are written as a beat.
#pragma once
#include "row_pieces.h"

static inline int stored(int x) { return x; }
#include "conv_tiles.h"

static const int OUT = 16;  // results in a beat
typedef int ft_sum;
typedef hls::vector<int, BEAT> row_sums;
typedef int result;
typedef hls::vector<int, OUT> out_beat;
static_assert(BEAT % OUT == 0 && FT_TILE_ROWS == OUT, "a position's results are a beat");
static const int PART = 0;  // all steps are one part
static const int HELD = 1, HELD_LANES = FT_TILE_ROWS;  // the sums of weights

// Two products in one DSP block of 27 x 18 bits: (second 2^18 + first) * w. The lower 18 bits are the first
// product, at most 2^14. If it is negative, it has borrowed one from the second product, which is in the upper
// bits.
static inline void two_products(FT_T first, FT_T second, FT_T w, int &low, int &high)
{
#pragma HLS INLINE
    const int pair = (int)second * (1 << 18) + (int)first;
    const long product = (long)pair * (long)w;
#pragma HLS BIND_OP variable=product op=mul impl=dsp
    const int lower = (int)(product & 0x3ffff);
    low = (lower ^ 0x20000) - 0x20000;
    high = (int)(product >> 18) + (lower >> 17);
}

static inline void begin_item(ft_sum (&weights)[HELD][HELD_LANES])
{
#pragma HLS INLINE
    for (int r = 0; r < FT_TILE_ROWS; r++) {
#pragma HLS UNROLL
        weights[0][r] = 0;
    }
}
static inline void begin_step(ft_sum (&weights)[HELD][HELD_LANES], const step &w)
{
#pragma HLS INLINE
    for (int r = 0; r < FT_TILE_ROWS; r++) weights[0][r] += w[r];
}

static inline void add_products(
    ft_sum (&sum)[FT_TILE_VECTORS][FT_TILE_ROWS][BEAT], const step &w, const beat &y, int v, bool begins, bool stays)
{
#pragma HLS INLINE
    for (int r = 0; r < FT_TILE_ROWS; r++) {
        for (int l = 0; l < BEAT; l += 2) {
            int low, high;
            two_products(y[l], y[l + 1], w[r], low, high);
            const int first = sum[v][r][l], second = sum[v][r][l + 1];
            const int before = begins ? 0 : first, beside = begins ? 0 : second;
            if (stays) {
                sum[v][r][l] = before + low;
                sum[v][r][l + 1] = beside + high;
            }
        }
    }
}

static inline void end_part(
    ft_sum (&sum)[FT_TILE_VECTORS][FT_TILE_ROWS][BEAT], ft_sum (&weights)[HELD][HELD_LANES], hls::stream<row_sums> &to,
    const ft_tile &p, const step &, int, bool, bool, const ft_results &g)
{
#pragma HLS INLINE
write_columns:
    for (int t = 0, v = 0, l = 0; t < (g.whole ? p.vectors * BEAT : 0); t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=64 max=1024
        row_sums row{};
        for (int r = 0; r < FT_TILE_ROWS; r++) row[r] = sum[v][r][l] - g.zero * weights[0][r];
        to.write(row);
        if (++l == BEAT) {
            l = 0;
            v++;
        }
    }
write_rows:
    for (int t = 0, v = 0, r = 0; t < (g.whole ? 0 : p.vectors * p.rows); t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
        row_sums row;
        const int more = g.zero * weights[0][r];
        for (int l = 0; l < BEAT; l++) row[l] = sum[v][r][l] - more;
        to.write(row);
        if (++r == p.rows) {
            r = 0;
            v++;
        }
    }
}

// In lines, drops the sums between results, and aligns a filter's results with the beats of memory. Otherwise
// passes every row of sums on unchanged, in beats.
static void gather(
    hls::stream<ft_tile> &items, hls::stream<row_sums> &from, hls::stream<ft_tile> &to_store, hls::stream<out_beat> &to, int count,
    ft_results g)
{
    int kept[FT_TILE_ROWS * FT_TILE_VECTORS + 1][BEAT];
#pragma HLS ARRAY_PARTITION variable=kept dim=2 complete
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        to_store.write(p);
        if (g.whole) {
        forward_columns:
            for (int t = 0; t < p.vectors * BEAT; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=64 max=1024
                const row_sums row = from.read();
                out_beat some;
                for (int l = 0; l < OUT; l++) some[l] = row[l];
                to.write(some);
            }
        } else if (g.lines) {
        buffer_rows:
            for (int t = 0, v = 0, r = 0; t < p.vectors * p.rows; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                const row_sums row = from.read();
                for (int l = 0; l < BEAT; l++) kept[r * FT_TILE_VECTORS + v][l] = row[l];
                if (++r == p.rows) {
                    r = 0;
                    v++;
                }
            }
            const ft_result_range line = result_range(p, g);
            const ft_first_result first = first_result(p, g);
        filters:
            for (int r = 0; r < p.rows; r++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
                int place = r * FT_TILE_VECTORS * BEAT + first.skipped, at = first.at, h = first.h, left = line.many;
                int filled = (int)((p.out + r * g.filter + line.done) % OUT);
                out_beat held{};
            pieces:
                for (; left > 0;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=128
                    const int row = g.width - at < left ? g.width - at : left, size = row < OUT ? row : OUT;
                    const row_sums near = ft_load_unaligned<row_sums>(kept, place);
                    out_beat piece, full_beat;
                    for (int l = 0; l < OUT; l++) piece[l] = near[l];
                    if (ft_append_piece<OUT>(held, filled, piece, size, full_beat)) to.write(full_beat);
                    left -= size;
                    next_result(place, at, h, size, g);
                }
                if (filled > 0 && line.many > 0) to.write(held);
            }
        } else {
            row_sums row{};
        rows:
            for (int t = 0, v = 0; t < p.vectors * p.rows * (BEAT / OUT); t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=1024
                if (v == 0) row = from.read();
                out_beat some;
                for (int l = 0; l < OUT; l++) some[l] = row[l];
                for (int l = 0; l < BEAT - OUT; l++) row[l] = row[l + OUT];
                to.write(some);
                v = v == BEAT / OUT - 1 ? 0 : v + 1;
            }
        }
    }
}

// Writes lines in beats, except for beats that hold other results, too; else writes results one by one, without
// the sums between them. Both pointers point to the same memory.
static void store(
    out_beat *out, int *out_elements, hls::stream<ft_tile> &items, hls::stream<out_beat> &from, int count, ft_results g)
{
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        if (g.whole) {
            ft_position now = position_of(p.begin, g);
        columns:
            for (int t = 0; t < p.vectors * BEAT; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=64 max=1024
                const out_beat some = from.read();
                if (is_result(now, g)) out[(p.out + offset_of(now, g)) / OUT] = some;
                now = next_position(now, g);
            }
        } else if (g.lines) {
            const ft_result_range line = result_range(p, g);
        filters:
            for (int r = 0; r < p.rows; r++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
                const long to = p.out + r * g.filter + line.done, end = to + line.many;
                const long first = (to + OUT - 1) / OUT, last = end / OUT;
                out_beat some{};
                if (line.many > 0 && to % OUT != 0) {
                    some = from.read();
                    const long stop = first * OUT < end ? first * OUT : end;
                store_head:
                    for (long k = to; k < stop; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=15
                        out_elements[k] = some[k % OUT];
                    }
                }
            beats:
                for (long b = first; b < last; b++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
                    out[b] = from.read();
                }
                if (first <= last && end % OUT != 0 && line.many > 0) {
                    some = from.read();
                store_tail:
                    for (long k = last * OUT; k < end; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=15
                        out_elements[k] = some[k % OUT];
                    }
                }
            }
        } else {
            store_elements<OUT>(out_elements, from, p, g);
        }
    }
}
