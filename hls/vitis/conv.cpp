$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes
#include "ftensor/vitis/strip.h"

// Convolutions as products of matrices, with the sums of skeleton/conv.h in the same order. Five stages run at
// the same time: `walk` computes each item's position, `read_planes` reads the part of each channel that an
// item's windows cover (a strip), `read_panels` reads the weights, `multiply` sums a tile in local memory,
// `store` writes the tile before. A strip consists of runs of beats. The geometry has the first beat and the
// length of each run, and the first position of each tap in the strip.
static const int STRIP = 1023;  // the longest strip, in beats
static const int TAPS = 64;  // the largest number of taps of a kernel
// A sum is updated every DISTANCE iterations, which exceeds the latency of an addition. Products are not in the
// recurrence.
static const int DISTANCE = $distance;
static const int BEAT = FT_LANES;
typedef hls::vector<FT_T, BEAT> beat;
typedef hls::vector<FT_T, FT_TILE_ROWS> step;
typedef hls::vector<FT_E, FT_LANES> out_beat;
static_assert(sizeof(beat) <= 64 && sizeof(step) <= 64, "a port is at most 512 bits wide");

#include "ftensor/vitis/conv_tiles.h"

// Computes a step (channel, tap) for every vector of positions, then the next step: FT_TILE_ROWS x
// FT_TILE_COLUMNS products a cycle. The next channel's strip arrives meanwhile. A tile of few vectors is padded
// with idle iterations.
static void multiply(
    hls::stream<ft_tile> &items, hls::stream<beat> &from_planes, hls::stream<step> &from_panels, hls::stream<beat> &to,
    const int *places, int count, int beats, int channels, int taps)
{
    FT_T strip[2][STRIP + 1][FT_LANES];
    FT_T sum[FT_TILE_VECTORS][FT_TILE_ROWS][FT_LANES], total[FT_TILE_VECTORS * FT_TILE_ROWS][FT_LANES];
#pragma HLS ARRAY_PARTITION variable=strip dim=1 complete
#pragma HLS ARRAY_PARTITION variable=strip dim=3 complete
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
#pragma HLS ARRAY_PARTITION variable=sum dim=3 complete
#pragma HLS ARRAY_PARTITION variable=total dim=2 complete
    const int depth = channels * taps;
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        const step bias = from_panels.read();
    first_strip:
        for (int t = 0; t < beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=128
            const beat b = from_planes.read();
            for (int l = 0; l < FT_LANES; l++) {
#pragma HLS UNROLL
                strip[0][t][l] = b[l];
            }
        }
        int c = 0, tap = 0, next = 0;
    sums:
        for (int k0 = 0; k0 == 0 || k0 < depth; k0 += FT_DEPTH) {  // runs once even if depth is 0, for the bias
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
            const int n = depth - k0 < FT_DEPTH ? depth - k0 : FT_DEPTH;
            int k = 0, q = 0;
            step w{};
        depth:
            for (int t = 0; t < n * p.slots; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=192 max=4096
// A sum is read `slots` iterations after it was written. A strip is read at least one iteration fewer after its
// arrival.
#pragma HLS DEPENDENCE variable=sum inter RAW distance=$distance true
#pragma HLS DEPENDENCE variable=strip inter RAW distance=$arrival true
                const int half = c % 2, v = q < p.vectors ? q : 0;
                if (q == 0) w = from_panels.read();
                if (c + 1 < channels && next < beats) {
                    const beat b = from_planes.read();
                    for (int l = 0; l < FT_LANES; l++) {
#pragma HLS UNROLL
                        strip[1 - half][next][l] = b[l];
                    }
                    next++;
                }
                const beat y = ft_load_unaligned<beat>(strip[half], places[tap] + v * FT_LANES);
                for (int r = 0; r < FT_TILE_ROWS; r++) {
#pragma HLS UNROLL
                    for (int l = 0; l < FT_LANES; l++) {
#pragma HLS UNROLL
                        const FT_T before = k == 0 ? FT_ZERO_X : sum[v][r][l];
                        const FT_T s = ft_xfma(w[r], y[l], before);
                        if (q < p.vectors) sum[v][r][l] = s;
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
            const bool last = k0 + FT_DEPTH >= depth;
        sum_parts:
            for (int t = 0, v = 0, r = 0; t < p.vectors * p.rows; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                beat row;
                for (int l = 0; l < FT_LANES; l++) {
#pragma HLS UNROLL
                    const FT_T begun = bias[r], joined = total[t][l], before = k0 == 0 ? begun : joined;
                    const FT_T s = n > 0 ? ft_xadd(before, sum[v][r][l]) : before;
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
    }
}

static inline FT_E stored(FT_T x)
{
#pragma HLS INLINE
#if FT_E_HALF
    return ft_to_half(x);
#else
    return FT_STORED(x);
#endif
}

// Writes results as whole vectors if all of them begin on beats; in one line for each filter of the tile if a
// filter's results are contiguous; else one by one. Sums between results are skipped. Both pointers point to
// the same memory.
static void store(
    out_beat *out, FT_E *out_elements, hls::stream<ft_tile> &items, hls::stream<beat> &from, int count, int positions,
    int pitch, int width, int middle, int high, long out_filter, long out_plane, long out_row, long out_step, int whole,
    int lines)
{
    FT_T kept[FT_TILE_VECTORS * FT_TILE_ROWS][FT_LANES];
#pragma HLS ARRAY_PARTITION variable=kept dim=2 complete
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        const int results = p.vectors * p.rows;
        if (whole && positions - p.begin >= p.vectors * FT_LANES) {
        vectors:
            for (int t = 0, v = 0, r = 0; t < results; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                const beat row = from.read();
                out_beat results_;
                for (int l = 0; l < FT_LANES; l++) {
#pragma HLS UNROLL
                    results_[l] = stored(row[l]);
                }
                out[(p.out + p.begin + r * out_filter) / FT_LANES + v] = results_;
                if (++r == p.rows) {
                    r = 0;
                    v++;
                }
            }
        } else if (lines) {
        buffer_rows:
            for (int t = 0; t < results; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                const beat row = from.read();
                for (int l = 0; l < FT_LANES; l++) {
#pragma HLS UNROLL
                    kept[t][l] = row[l];
                }
            }
            const ft_result_range of = result_range(p, positions, pitch, width, middle, high);
            const ft_first_result first = first_result(p, pitch, width, middle, high);
        filters:
            for (int r = 0; r < p.rows; r++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
                FT_E *to = out_elements + (p.out + r * out_filter + of.done);
                int place = first.skipped, at = first.at, h = first.h;
            line:
                for (int k = 0; k < of.many; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
                    to[k] = stored(kept[place / FT_LANES * p.rows + r][place % FT_LANES]);
                    place++;
                    if (++at == width) {
                        at = 0;
                        place += pitch - width;
                        if (++h == high) {
                            h = 0;
                            place += (middle - high) * pitch;
                        }
                    }
                }
            }
        } else {
            // The position of the vector, and of the current element.
            ft_position vector = position_of(p.begin, positions, pitch, middle), now = vector;
            beat row{};
        elements:
            for (int t = 0, r = 0, l = 0; t < results * FT_LANES; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=256 max=4096
                if (l == 0) row = from.read();
                if (is_result(now, width, high))
                    out_elements[p.out + r * out_filter + offset_of(now, out_plane, out_row, out_step)] = stored(row[l]);
                now = next_position(now, pitch, middle);
                if (++l == FT_LANES) {
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
    out_beat *out, const beat *planes, const step *panels, FT_E *out_elements, long out_offset, long planes_offset,
    const long *g, const long *strip, int runs, const int *places, int count, int positions, int pitch, int width, int middle,
    int high, int channels, int taps, long channel_step, long out_filter, long out_plane, long out_row, long out_step,
    int whole, int lines, int beats, int ft_unit, int ft_units)
{
#pragma HLS DATAFLOW
    hls::stream<ft_tile> items_planes("items_planes"), items_panels("items_panels"), items_sums("items_sums");
    hls::stream<ft_tile> items_store("items_store");
    hls::stream<beat> planes_fifo("planes"), row_fifo("rows");
    hls::stream<step> panels_fifo("panels");
#pragma HLS STREAM variable=items_planes depth=4
#pragma HLS STREAM variable=items_panels depth=4
#pragma HLS STREAM variable=items_sums depth=4
#pragma HLS STREAM variable=items_store depth=4
#pragma HLS STREAM variable=planes_fifo depth=64
#pragma HLS STREAM variable=panels_fifo depth=64
#pragma HLS STREAM variable=row_fifo depth=64
    walk(g, items_planes, items_panels, items_sums, items_store, out_offset, planes_offset, ft_unit, ft_units);
    read_planes(planes, strip, runs, items_planes, planes_fifo, count, channels, channel_step / FT_LANES);
    read_panels(panels, items_panels, panels_fifo, count, 1 + channels * taps);
    multiply(items_sums, planes_fifo, panels_fifo, row_fifo, places, count, beats, channels, taps);
    store(
        out, out_elements, items_store, row_fifo, count, positions, pitch, width, middle, high, out_filter, out_plane,
        out_row, out_step, whole, lines);
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
        G_WHOLE(geometry), G_LINES(geometry), G_BEATS(geometry), ft_unit, ft_units);
}
