$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes

// Packs the operands of vitis/conv_bytes.cpp: planes of bytes padded with `zero`, and panels of filters, both
// at the same time. If the weights of a filter are contiguous, they are read in beats, WORD of them a cycle;
// else one a cycle.
static const int LANES = FT_BEAT, ROWS = FT_TILE_ROWS;
static const int TAPS = 64;  // the largest number of taps of a kernel
static const int WORD = 8;
#define FT_BYTES 1
#include "ftensor/vitis/conv_planes.h"
typedef hls::vector<FT_T, ROWS> step;

// The panels of a unit.
struct ft_panels {
    int first, count, panels, filters, channels, some, taps;
    long weight, group, filter, channel;
    bool line;  // a filter's weights are contiguous
};

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

// Writes an unused step (other kernels have biases there), then a panel's weights. Local memory collects some
// channels of each filter, in words of WORD weights, until all filters are complete.
static void read_panels(
    const FT_E *weight, hls::stream<in_beat> &beats, hls::stream<step> &to, ft_panels p, const int *taps)
{
    FT_T local[FT_DEPTH / WORD][ROWS][WORD];
#pragma HLS ARRAY_PARTITION variable=local dim=2 complete
#pragma HLS ARRAY_PARTITION variable=local dim=3 complete
    int panel = p.count > 0 ? p.first % p.panels : 0, group = p.count > 0 ? p.first / p.panels : 0;
items:
    for (int i = 0; i < p.count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
        const int left = p.filters - panel * ROWS, m = left < ROWS ? left : ROWS;
        step none{};
        to.write(none);
    chunks:
        for (int c0 = 0; c0 < p.channels; c0 += p.some) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
            const int n = (p.channels - c0 < p.some ? p.channels - c0 : p.some) * p.taps;
            const long from = p.weight + group * p.group + panel * ROWS * p.filter + c0 * p.channel;
        filters:
            for (int r = 0; r < ROWS; r++) {
#pragma HLS LOOP_TRIPCOUNT min=16 max=16
                if (p.line) {
                    int lane = (int)((from + r * p.filter) % LANES);
                    in_beat high{};
                    if (r < m && lane != 0) high = beats.read();
                words:
                    for (int k = 0; k < n; k += WORD) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=2 max=24
                        const int many = n - k < WORD ? n - k : WORD;
                        const in_beat low = high;
                        if (r < m && (lane == 0 || lane + many > LANES)) high = beats.read();
                        const in_beat taken = ft_shift_lanes<in_beat, FT_E, LANES>(ft_select(lane == 0, high, low), high, lane);
                        for (int b = 0; b < WORD; b++) {
#pragma HLS UNROLL
                            const FT_E e = taken[b];
                            local[k / WORD][r][b] = r < m ? e : (FT_E)0;
                        }
                        lane = (lane + many) % LANES;
                    }
                } else {
                    const FT_E *own = weight + (from + (r < m ? r * p.filter : 0));
                    int tap = 0;
                    long channel = 0;
                elements:
                    for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=9 max=192
                        const FT_E e = own[channel + taps[tap]];
                        local[k / WORD][r][k % WORD] = r < m ? e : (FT_E)0;
                        if (++tap == p.taps) {
                            tap = 0;
                            channel += p.channel;
                        }
                    }
                }
            }
        steps:
            for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=9 max=192
                step all;
                for (int r = 0; r < ROWS; r++) {
#pragma HLS UNROLL
                    all[r] = local[k / WORD][r][k % WORD];
                }
                to.write(all);
            }
        }
        if (++panel == p.panels) {
            panel = 0;
            group++;
        }
    }
}

static void run(
    beat *planes, step *panels, const in_beat *x, const FT_E *x_elements, const FT_E *weight, const in_beat *weight_beats,
    ft_planes p, ft_panels q, const int *deep_first, const int *high_first, const int *wide_first, const int *taps)
{
#pragma HLS DATAFLOW
    hls::stream<in_beat> line_fifo("line"), weights_fifo("weights");
    hls::stream<beat> pieces_fifo("pieces"), planes_fifo("planes");
    hls::stream<step> panels_fifo("panels");
#pragma HLS STREAM variable=line_fifo depth=32
#pragma HLS STREAM variable=weights_fifo depth=32
#pragma HLS STREAM variable=pieces_fifo depth=32
#pragma HLS STREAM variable=planes_fifo depth=32
#pragma HLS STREAM variable=panels_fifo depth=32
    read(x, line_fifo, p);
    place(x_elements, line_fifo, pieces_fifo, p, deep_first, high_first, wide_first);
    pack(pieces_fifo, planes_fifo, p);
    write(planes, planes_fifo, p);
    read_weights(weight_beats, weights_fifo, q);
    read_panels(weight, weights_fifo, panels_fifo, q, taps);
    write_panels(panels, panels_fifo, q.first, q.count, 1 + q.channels * q.taps);
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    int deep_first[TAPS], high_first[TAPS], wide_first[TAPS], taps[TAPS];
    copy_geometry(geometry, deep_first, high_first, wide_first, taps);
    const int panels_all = G_GROUPS(geometry) * G_PANELS(geometry), first_panel = ft_slab(panels_all, ft_unit, ft_units);
    const ft_planes p = planes_of(geometry, x_offset, ft_unit, ft_units);
    const ft_panels q = {
        first_panel, ft_slab(panels_all, ft_unit + 1, ft_units) - first_panel, G_PANELS(geometry), G_FILTERS(geometry),
        G_OWN(geometry), G_SOME(geometry), G_TAP_COUNT(geometry), weight_offset, G_W_GROUP(geometry), G_W_FILTER(geometry),
        G_W_CHANNEL(geometry), G_LINE(geometry) == 1};
    run(planes, panels, x, x_elements, weight, weight_beats, p, q, deep_first, high_first, wide_first, taps);
}
