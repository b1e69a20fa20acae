$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes
#include "ftensor/vitis/strip.h"
#include "ftensor/vitis/row_pieces.h"

// Convolutions, and products of matrices, of signed bytes, summed in int32: like vitis/conv.cpp, by planes,
// strips and panels. A beat has 64 positions, and a cycle computes FT_TILE_ROWS x 64 products, two of them in
// one DSP block. Sums are exact, so their order is free. Integers represent numbers minus `zero`, and the
// padding of planes is `zero`: each result subtracts `zero` times the sum of its weights. If a filter's results
// are contiguous, `gather` joins them, 16 a cycle. If the results of a tile's filters are contiguous
// (`across`), as in a product of matrices, a position's results are written as a beat.
static const int STRIP = 1023;  // the longest strip, in beats
static const int TAPS = 64;  // the largest number of taps of a kernel
static const int DISTANCE = $distance;  // dependence distance of a sum in iterations
static const int OUT = 16;  // results in a beat
static const int BEAT = FT_BEAT;  // bytes in a beat
typedef hls::vector<FT_T, BEAT> beat;
typedef hls::vector<FT_T, FT_TILE_ROWS> step;
typedef hls::vector<int, BEAT> sums;
typedef hls::vector<int, OUT> out_beat;
static_assert(sizeof(beat) <= 64 && sizeof(step) <= 64 && BEAT % OUT == 0, "a port is at most 512 bits wide");
static_assert(FT_TILE_ROWS == OUT, "a position's results are a beat");

#include "ftensor/vitis/conv_tiles.h"

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

// Computes a step (channel, tap) for every vector of positions, then the next step. The next channel's strip
// arrives meanwhile. A tile of few vectors is padded with idle iterations.
static void multiply(
    hls::stream<ft_tile> &items, hls::stream<beat> &from_planes, hls::stream<step> &from_panels, hls::stream<sums> &to,
    const int *places, int count, int beats, int channels, int taps, int zero, int across)
{
    FT_T strip[2][STRIP + 1][BEAT];
    int sum[FT_TILE_VECTORS][FT_TILE_ROWS][BEAT], weights[FT_TILE_ROWS];
#pragma HLS ARRAY_PARTITION variable=strip dim=1 complete
#pragma HLS ARRAY_PARTITION variable=strip dim=3 complete
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
#pragma HLS ARRAY_PARTITION variable=sum dim=3 complete
#pragma HLS ARRAY_PARTITION variable=weights dim=1 complete
    const int depth = channels * taps;
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        from_panels.read();  // this kernel has no bias
        for (int r = 0; r < FT_TILE_ROWS; r++) {
#pragma HLS UNROLL
            weights[r] = 0;
        }
    first_strip:
        for (int t = 0; t < beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=128
            const beat b = from_planes.read();
            for (int l = 0; l < BEAT; l++) {
#pragma HLS UNROLL
                strip[0][t][l] = b[l];
            }
        }
        int c = 0, tap = 0, next = 0, k = 0, q = 0;
        step w{};
    depth:
        for (int t = 0; t < depth * p.slots; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=192 max=16384
// A sum is read `slots` iterations after it was written. A strip is read at least one iteration fewer after its
// arrival.
#pragma HLS DEPENDENCE variable=sum inter RAW distance=$distance true
#pragma HLS DEPENDENCE variable=strip inter RAW distance=$arrival true
            const int half = c % 2, v = q < p.vectors ? q : 0;
            if (q == 0) {
                w = from_panels.read();
                for (int r = 0; r < FT_TILE_ROWS; r++) {
#pragma HLS UNROLL
                    weights[r] += w[r];
                }
            }
            if (c + 1 < channels && next < beats) {
                const beat b = from_planes.read();
                for (int l = 0; l < BEAT; l++) {
#pragma HLS UNROLL
                    strip[1 - half][next][l] = b[l];
                }
                next++;
            }
            const beat y = ft_load_unaligned<beat>(strip[half], places[tap] + v * BEAT);
            for (int r = 0; r < FT_TILE_ROWS; r++) {
#pragma HLS UNROLL
                for (int l = 0; l < BEAT; l += 2) {
#pragma HLS UNROLL
                    int low, high;
                    two_products(y[l], y[l + 1], w[r], low, high);
                    const int first = sum[v][r][l], second = sum[v][r][l + 1];
                    const int before = k == 0 ? 0 : first, beside = k == 0 ? 0 : second;
                    if (q < p.vectors) {
                        sum[v][r][l] = before + low;
                        sum[v][r][l + 1] = beside + high;
                    }
                }
            }
            if (++q == p.slots) {
                q = 0;
                k++;
                if (++tap == taps) {
                    tap = 0;
                    c++;
                    next = 0;
                }
            }
        }
    write_columns:
        for (int t = 0, v = 0, l = 0; t < (across ? p.vectors * BEAT : 0); t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=64 max=1024
            sums row{};
            for (int r = 0; r < FT_TILE_ROWS; r++) {
#pragma HLS UNROLL
                row[r] = sum[v][r][l] - zero * weights[r];
            }
            to.write(row);
            if (++l == BEAT) {
                l = 0;
                v++;
            }
        }
    write_rows:
        for (int t = 0, v = 0, r = 0; t < (across ? 0 : p.vectors * p.rows); t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
            sums row;
            const int more = zero * weights[r];
            for (int l = 0; l < BEAT; l++) {
#pragma HLS UNROLL
                row[l] = sum[v][r][l] - more;
            }
            to.write(row);
            if (++r == p.rows) {
                r = 0;
                v++;
            }
        }
    }
}

// In lines, drops the sums between results, and aligns a filter's results with the beats of memory. Otherwise
// passes every row of sums on unchanged, in beats.
static void gather(
    hls::stream<ft_tile> &items, hls::stream<sums> &from, hls::stream<ft_tile> &to_store, hls::stream<out_beat> &to, int count,
    int positions, int pitch, int width, int middle, int high, long out_filter, int across, int lines)
{
    int kept[FT_TILE_ROWS * FT_TILE_VECTORS + 1][BEAT];
#pragma HLS ARRAY_PARTITION variable=kept dim=2 complete
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        to_store.write(p);
        if (across) {
        forward_columns:
            for (int t = 0; t < p.vectors * BEAT; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=64 max=1024
                const sums row = from.read();
                out_beat some;
                for (int l = 0; l < OUT; l++) {
#pragma HLS UNROLL
                    some[l] = row[l];
                }
                to.write(some);
            }
        } else if (lines) {
        buffer_rows:
            for (int t = 0, v = 0, r = 0; t < p.vectors * p.rows; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                const sums row = from.read();
                for (int l = 0; l < BEAT; l++) {
#pragma HLS UNROLL
                    kept[r * FT_TILE_VECTORS + v][l] = row[l];
                }
                if (++r == p.rows) {
                    r = 0;
                    v++;
                }
            }
            const ft_result_range line = result_range(p, positions, pitch, width, middle, high);
            const ft_first_result first = first_result(p, pitch, width, middle, high);
        filters:
            for (int r = 0; r < p.rows; r++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
                int place = r * FT_TILE_VECTORS * BEAT + first.skipped, at = first.at, h = first.h, left = line.many;
                int filled = (int)((p.out + r * out_filter + line.done) % OUT);
                out_beat held{};
            pieces:
                for (; left > 0;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=128
                    const int row = width - at < left ? width - at : left, size = row < OUT ? row : OUT;
                    const sums near = ft_load_unaligned<sums>(kept, place);
                    out_beat piece, full_beat;
                    for (int l = 0; l < OUT; l++) {
#pragma HLS UNROLL
                        piece[l] = near[l];
                    }
                    if (ft_append_piece<OUT>(held, filled, piece, size, full_beat)) to.write(full_beat);
                    left -= size;
                    place += size;
                    at += size;
                    if (at == width) {
                        at = 0;
                        place += pitch - width;
                        if (++h == high) {
                            h = 0;
                            place += (middle - high) * pitch;
                        }
                    }
                }
                if (filled > 0 && line.many > 0) to.write(held);
            }
        } else {
            sums row{};
        rows:
            for (int t = 0, v = 0; t < p.vectors * p.rows * (BEAT / OUT); t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=1024
                if (v == 0) row = from.read();
                out_beat some;
                for (int l = 0; l < OUT; l++) {
#pragma HLS UNROLL
                    some[l] = row[l];
                }
                for (int l = 0; l < BEAT - OUT; l++) {
#pragma HLS UNROLL
                    row[l] = row[l + OUT];
                }
                to.write(some);
                v = v == BEAT / OUT - 1 ? 0 : v + 1;
            }
        }
    }
}

// Writes lines in beats, except for beats that hold other results, too; else writes results one by one, without
// the sums between them. Both pointers point to the same memory.
static void store(
    out_beat *out, int *out_elements, hls::stream<ft_tile> &items, hls::stream<out_beat> &from, int count, int positions,
    int pitch, int width, int middle, int high, long out_filter, long out_plane, long out_row, long out_step, int across,
    int lines)
{
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        if (across) {
            ft_position now = position_of(p.begin, positions, pitch, middle);
        columns:
            for (int t = 0; t < p.vectors * BEAT; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=64 max=1024
                const out_beat some = from.read();
                if (is_result(now, width, high)) out[(p.out + offset_of(now, out_plane, out_row, out_step)) / OUT] = some;
                now = next_position(now, pitch, middle);
            }
        } else if (lines) {
            const ft_result_range line = result_range(p, positions, pitch, width, middle, high);
        filters:
            for (int r = 0; r < p.rows; r++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
                const long to = p.out + r * out_filter + line.done, end = to + line.many;
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
            // The position of the vector, and of the current element.
            ft_position vector = position_of(p.begin, positions, pitch, middle), now = vector;
            out_beat some{};
        elements:
            for (int t = 0, r = 0, l = 0; t < p.vectors * p.rows * BEAT; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=256 max=16384
                if (l % OUT == 0) some = from.read();
                if (is_result(now, width, high))
                    out_elements[p.out + r * out_filter + offset_of(now, out_plane, out_row, out_step)] = some[l % OUT];
                now = next_position(now, pitch, middle);
                if (++l == BEAT) {
                    l = 0;
                    if (++r == p.rows) {  // the next vector begins here
                        r = 0;
                        vector = now;
                    }
                    now = vector;
                }
            }
        }
    }
}

static void run(
    out_beat *out, const beat *planes, const step *panels, int *out_elements, long out_offset, long planes_offset,
    const long *g, const long *strip, int runs, const int *places, int count, int positions, int pitch, int width, int middle,
    int high, int channels, int taps, long channel_step, long out_filter, long out_plane, long out_row, long out_step,
    int across, int lines, int beats, int zero, int ft_unit, int ft_units)
{
#pragma HLS DATAFLOW
    hls::stream<ft_tile> items_planes("items_planes"), items_panels("items_panels"), items_sums("items_sums");
    hls::stream<ft_tile> items_gather("items_gather"), items_store("items_store");
    hls::stream<beat> planes_fifo("planes");
    hls::stream<step> panels_fifo("panels");
    hls::stream<sums> row_fifo("rows");
    hls::stream<out_beat> out_fifo("results");
#pragma HLS STREAM variable=items_planes depth=4
#pragma HLS STREAM variable=items_panels depth=4
#pragma HLS STREAM variable=items_sums depth=4
#pragma HLS STREAM variable=items_gather depth=4
#pragma HLS STREAM variable=items_store depth=4
#pragma HLS STREAM variable=planes_fifo depth=64
#pragma HLS STREAM variable=panels_fifo depth=64
#pragma HLS STREAM variable=row_fifo depth=32
#pragma HLS STREAM variable=out_fifo depth=64
    walk(g, items_planes, items_panels, items_sums, items_gather, out_offset, planes_offset, ft_unit, ft_units);
    read_planes(planes, strip, runs, items_planes, planes_fifo, count, channels, channel_step / BEAT);
    read_panels(panels, items_panels, panels_fifo, count, 1 + channels * taps);
    multiply(items_sums, planes_fifo, panels_fifo, row_fifo, places, count, beats, channels, taps, zero, across);
    gather(
        items_gather, row_fifo, items_store, out_fifo, count, positions, pitch, width, middle, high, out_filter, across,
        lines);
    store(
        out, out_elements, items_store, out_fifo, count, positions, pitch, width, middle, high, out_filter, out_plane, out_row,
        out_step, across, lines);
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    long g[G_HEAD + 3 * FT_MAX_DIMS], strip[2 * TAPS];
    int places[TAPS];
    copy_geometry(geometry, g, strip, places);
    const int taps = G_TAPS(geometry), runs = G_RUN_COUNT(geometry);
    const int items = G_ITEMS(geometry);
    const int count = ft_slab(items, ft_unit + 1, ft_units) - ft_slab(items, ft_unit, ft_units);
    run(out, planes, panels, out_elements, out_offset, planes_offset, g, strip, runs, places, count, G_POSITIONS(geometry),
        G_PITCH(geometry), G_WIDTH(geometry), G_MIDDLE(geometry), G_HIGH(geometry), G_CHANNELS(geometry), taps,
        G_CHANNEL(geometry), G_OUT_FILTER(geometry), G_OUT_PLANE(geometry), G_OUT_ROW(geometry), G_OUT_POSITION(geometry),
        G_WHOLE(geometry), G_LINES(geometry), G_BEATS(geometry), G_ZERO(geometry), ft_unit, ft_units);
}
