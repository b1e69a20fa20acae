$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes
#include "ftensor/vitis/strip.h"

// Convolutions as products of matrices. Stages run at the same time: `walk` computes each item's position,
// `read_planes` reads the part of each channel that an item's windows cover (a strip), `read_panels` reads the
// weights, `multiply` sums a tile in local memory, the last stages write the tile before. A strip consists of runs of
// beats. The geometry has the first beat and the length of each run, and the first position of each tap in the strip.
static const int STRIP = 1023;  // the longest strip, in beats
static const int TAPS = 64;  // the largest number of taps of a kernel
// A sum is updated every DISTANCE iterations, which exceeds the latency of an addition. Products are not in the
// recurrence.
static const int DISTANCE = $distance;
#include "ftensor/vitis/$elements"

// Computes a step (channel, tap) for every vector of positions, then the next step: FT_TILE_ROWS x BEAT products a
// cycle. The next channel's strip arrives meanwhile. A tile of few vectors is padded with idle iterations.
static void multiply(
    hls::stream<ft_tile> &items, hls::stream<beat> &from_planes, hls::stream<step> &from_panels, hls::stream<row_sums> &to,
    const int *places, int count, int beats, int channels, int taps, ft_results g)
{
    FT_T strip[2][STRIP + 1][BEAT];
    ft_sum sum[FT_TILE_VECTORS][FT_TILE_ROWS][BEAT], held[HELD][HELD_LANES];
#pragma HLS ARRAY_PARTITION variable=strip dim=1 complete
#pragma HLS ARRAY_PARTITION variable=strip dim=3 complete
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
#pragma HLS ARRAY_PARTITION variable=sum dim=3 complete
#pragma HLS ARRAY_PARTITION variable=held dim=2 complete
    const int depth = channels * taps, part = PART > 0 ? PART : depth > 0 ? depth : 1;
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        const step bias = from_panels.read();
        begin_item(held);
    first_strip:
        for (int t = 0; t < beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=128
            const beat b = from_planes.read();
            for (int l = 0; l < BEAT; l++) strip[0][t][l] = b[l];
        }
        int c = 0, tap = 0, next = 0;
    sums:
        for (int k0 = 0; k0 == 0 || k0 < depth; k0 += part) {  // runs once even if depth is 0, for the bias
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
            const int n = depth - k0 < part ? depth - k0 : part;
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
                if (q == 0) {
                    w = from_panels.read();
                    begin_step(held, w);
                }
                if (c + 1 < channels && next < beats) {
                    const beat b = from_planes.read();
                    for (int l = 0; l < BEAT; l++) strip[1 - half][next][l] = b[l];
                    next++;
                }
                const beat y = ft_load_unaligned<beat>(strip[half], places[tap] + v * BEAT);
                add_products(sum, w, y, v, k == 0, q < p.vectors);
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
            end_part(sum, held, to, p, bias, n, k0 == 0, k0 + part >= depth, g);
        }
    }
}

static void run(
    out_beat *out, const beat *planes, const step *panels, result *out_elements, long out_offset, long planes_offset,
    const long *walked, const long *strip, int runs, const int *places, int count, int channels, int taps,
    long channel_step, int beats, ft_results g, int ft_unit, int ft_units)
{
#pragma HLS DATAFLOW
    hls::stream<ft_tile, 4> items_planes("items_planes"), items_panels("items_panels"), items_sums("items_sums");
    hls::stream<ft_tile, 4> items_store("items_store");
    hls::stream<beat, 64> planes_fifo("planes");
    hls::stream<row_sums, $rows> row_fifo("rows");
    hls::stream<step, 64> panels_fifo("panels");
    $fifos
    walk(walked, items_planes, items_panels, items_sums, $items, out_offset, planes_offset, ft_unit, ft_units);
    read_planes(planes, strip, runs, items_planes, planes_fifo, count, channels, channel_step / BEAT);
    read_panels(panels, items_panels, panels_fifo, count, 1 + channels * taps);
    multiply(items_sums, planes_fifo, panels_fifo, row_fifo, places, count, beats, channels, taps, g);
    $stages
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    long g[G_HEAD + 3 * FT_MAX_DIMS], strip[2 * TAPS];
    int places[TAPS];
    ft_read_geometry(g, geometry, G_AT_OFFSETS(geometry));
    ft_read_geometry(strip, geometry + G_AT_RUNS(geometry), 2 * G_RUN_COUNT(geometry));
    ft_read_geometry(places, geometry + G_AT_PLACES(geometry), G_TAPS(geometry));
    const int items = G_ITEMS(geometry), count = ft_slab(items, ft_unit + 1, ft_units) - ft_slab(items, ft_unit, ft_units);
    const ft_results results = {
        G_POSITIONS(geometry), G_PITCH(geometry), G_WIDTH(geometry), G_MIDDLE(geometry), G_HIGH(geometry), G_WHOLE(geometry),
        G_LINES(geometry), G_ZERO(geometry), G_OUT_FILTER(geometry), G_OUT_PLANE(geometry), G_OUT_ROW(geometry),
        G_OUT_POSITION(geometry)};
    run(out, planes, panels, out_elements, out_offset, planes_offset, g, strip, G_RUN_COUNT(geometry), places, count,
        G_CHANNELS(geometry), G_TAPS(geometry), G_CHANNEL(geometry), G_BEATS(geometry), results, ft_unit, ft_units);
}
