$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes

// Packs the operands of vitis/conv.cpp (see skeleton/conv_pack.h): planes of an input with zeros around them, and panels of
// filters, both at the same time. The weights of each filter are read in a burst and transposed to steps of all filters of
// the panel.
static const int TAPS = 64;  // the largest number of taps of a kernel
#include "ftensor/vitis/$elements"

// Writes a panel's first step, then its weights. Local memory collects some channels of each filter, in words of WORD
// weights, until all filters are complete.
static void read_panels(
    const FT_E *weight, ft_more_operands more, hls::stream<step> &to, ft_panels p, const int *taps)
{
    FT_T local[FT_DEPTH / WORD][ROWS][WORD];
#pragma HLS ARRAY_PARTITION variable=local dim=2 complete
#pragma HLS ARRAY_PARTITION variable=local dim=3 complete
    int panel = p.count > 0 ? p.first % p.panels : 0, group = p.count > 0 ? p.first / p.panels : 0;
items:
    for (int i = 0; i < p.count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
        const int left = p.filters - panel * ROWS, m = left < ROWS ? left : ROWS;
        to.write(first_step(more, p, group * p.filters + panel * ROWS, m));
    chunks:
        for (int c0 = 0; c0 < p.channels; c0 += p.some) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
            const int n = (p.channels - c0 < p.some ? p.channels - c0 : p.some) * p.taps;
            const long from = p.weight + group * p.group + panel * ROWS * p.filter + c0 * p.channel;
        filters:
            for (int r = 0; r < ROWS; r++) {
#pragma HLS LOOP_TRIPCOUNT min=16 max=16
                if (p.line) {
                    read_words(more, local, p, from, r, r < m, n);
                } else {
                    const FT_E *own = weight + (from + (r < m ? r * p.filter : 0));
                    int tap = 0;
                    long channel = 0;
                elements:
                    for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=9 max=192
                        const FT_E e = own[channel + taps[tap]];
                        const FT_T v = ft_weight(e);
                        local[k / WORD][r][k % WORD] = r < m ? v : ft_weight_zero();
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
                for (int r = 0; r < ROWS; r++) all[r] = local[k / WORD][r][k % WORD];
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
    beat *planes, step *panels, const in_beat *x, const FT_E *x_elements, const FT_E *weight, $pointer, ft_planes p,
    ft_panels q, const int *deep_first, const int *high_first, const int *wide_first, const int *taps)
{
#pragma HLS DATAFLOW
    hls::stream<in_beat, 32> line_fifo("line");
    hls::stream<beat, 32> pieces_fifo("pieces"), planes_fifo("planes");
    hls::stream<step, 32> panels_fifo("panels");
    $fifos
    read(x, line_fifo, p);
    place(x_elements, line_fifo, pieces_fifo, p, deep_first, high_first, wide_first);
    pack(pieces_fifo, planes_fifo, p);
    write(planes, planes_fifo, p);
    $stages
    read_panels(weight, $more, panels_fifo, q, taps);
    write_panels(panels, panels_fifo, q.first, q.count, 1 + q.channels * q.taps);
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    int deep_first[TAPS], high_first[TAPS], wide_first[TAPS], taps[TAPS];
    ft_read_geometry(deep_first, geometry + G_AT_DEEP(geometry), G_DEEP_PHASES(geometry));
    ft_read_geometry(high_first, geometry + G_AT_HIGH(geometry), G_HIGH_PHASES(geometry));
    ft_read_geometry(wide_first, geometry + G_AT_WIDE(geometry), G_WIDE_PHASES(geometry));
    ft_read_geometry(taps, geometry + G_AT_TAPS(geometry), G_TAP_COUNT(geometry));
    const int panels_all = G_GROUPS(geometry) * G_PANELS(geometry), first_panel = ft_slab(panels_all, ft_unit, ft_units);
    const ft_planes p = planes_of(geometry, x_offset, ft_unit, ft_units);
    const ft_panels q = {
        first_panel, ft_slab(panels_all, ft_unit + 1, ft_units) - first_panel, G_PANELS(geometry), G_FILTERS(geometry),
        G_OWN(geometry), G_SOME(geometry), G_TAP_COUNT(geometry), weight_offset, $bias_offset, G_BIAS(geometry),
        G_W_GROUP(geometry), G_W_FILTER(geometry), G_W_CHANNEL(geometry), WORD > 1 && G_LINE(geometry) == 1};
    run(planes, panels, x, x_elements, weight, $operand, p, q, deep_first, high_first, wide_first, taps);
}
