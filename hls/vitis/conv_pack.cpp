$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes
#include "ftensor/vitis/pieces.h"

// What vitis/conv.cpp reads (see skeleton/conv_pack.h): planes of an input with zeros around them, and panels of filters,
// both at the same time. Planes go in pieces, a row's next LANES elements or its end: where an input lies in line and no
// stride takes it apart, its beats come in one burst, and each piece takes as many elements as lie within the input; else
// an element comes in each cycle. `pack` puts the pieces side by side. The weights of each filter of a panel come in
// a burst, and leave filter by filter beside each other.
static const int LANES = FT_TILE_ROWS;
static const int TAPS = 64;  // of a kernel
typedef hls::vector<FT_T, LANES> beat;
typedef hls::vector<FT_E, LANES> in_beat;
static_assert(sizeof(beat) <= 64, "a port is at most 512 bits wide");

// The planes of a unit: rows, and a gap behind them to the next beat, in so many pieces; of each dim the elements of a part,
// the input's size, and steps there.
struct ft_planes {
    int first, count, channels, dense, row_count, gap, pieces, deep_phases, high_phases, wide_phases;
    int deep, high, wide, in_deep, in_high, in_wide;
    long x, plane, sample, channel, step_deep, step_high, step_wide, x_deep, x_high, x_wide;
};
// The panels of a unit.
struct ft_panels {
    int first, count, panels, filters, channels, some, taps;
    long weight, bias, bias_step, group, filter, channel;
};

static inline FT_X one_of(FT_E e)
{
#pragma HLS INLINE
    return FT_ONE(&e);
}

static void read(const in_beat *x, hls::stream<in_beat> &to, ft_planes p)
{
    const long size = (long)p.in_deep * p.in_high * p.in_wide, begin = p.x + p.first * size;
    const in_beat *from = x + begin / LANES;
    const int beats = p.dense && p.count > 0 ? (int)((begin % LANES + p.count * size + LANES - 1) / LANES) : 0;
line:
    for (int t = 0; t < beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        to.write(from[t]);
    }
}

// Pieces of the rows of planes, zeros where these lie beside the input.
static void place(
    const FT_E *elements, hls::stream<in_beat> &from, hls::stream<beat> &to, ft_planes p, const int *deep_first,
    const int *high_first, const int *wide_first)
{
    const int all = p.count * p.pieces, last = p.gap > 0 ? p.row_count : p.row_count - 1;
    int column = 0, row = 0, h = 0, d = 0, at_w = 0, at_h = 0, at_d = 0;
    if (p.count == 0) return;
    if (p.dense) {
        const int before = -wide_first[0], inside = p.in_wide + before;
        int lane = (int)((p.x + (long)p.first * p.in_deep * p.in_high * p.in_wide) % LANES);
        in_beat high{};
        if (lane != 0) high = from.read();
    pieces:
        for (int t = 0; t < all; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
            const int y = d + deep_first[0], z = h + high_first[0];
            const bool there = row < p.row_count && y >= 0 && y < p.in_deep && z >= 0 && z < p.in_high;
            const int left = column > before ? column : before;
            const int stop = column + LANES < inside ? column + LANES : inside;
            const int many = there && stop > left ? stop - left : 0, zeros = left - column;
            const in_beat low = high;
            if (many > 0 && (lane == 0 || lane + many > LANES)) high = from.read();
            const in_beat taken = ft_shifted<in_beat, FT_E, LANES>(ft_either(lane == 0, high, low), high, lane);
            beat v, piece;
            for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
                const FT_E e = taken[l];
                v[l] = one_of(e);
            }
            const beat up = ft_shifted<beat, FT_T, LANES>(v, v, (LANES - zeros % LANES) % LANES);
            for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
                const FT_T x = up[l];
                piece[l] = l >= zeros && l < zeros + many ? x : FT_ZERO_X;
            }
            to.write(piece);
            lane = (lane + many) % LANES;
            column += LANES;
            if (column >= (row < p.row_count ? p.wide : p.gap)) {
                column = 0;
                if (++h == p.high) {
                    h = 0;
                    d++;
                }
                if (row++ == last) {
                    row = 0;
                    h = 0;
                    d = 0;
                }
            }
        }
        return;
    }
    int plane = p.first, lane = 0;
    long base = p.x + plane / p.channels * p.sample + plane % p.channels * p.channel;
    beat piece{};
elements:
    for (int t = 0; t < p.count * (int)p.plane; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        const long y = d * p.step_deep + deep_first[at_d], z = h * p.step_high + high_first[at_h];
        const long x = column * p.step_wide + wide_first[at_w];
        const bool inside = row < p.row_count && y >= 0 && y < p.in_deep && z >= 0 && z < p.in_high && x >= 0 && x < p.in_wide;
        const FT_E e = elements[inside ? base + y * p.x_deep + z * p.x_high + x * p.x_wide : p.x];
        const FT_T v = one_of(e);
        piece[lane] = inside ? v : FT_ZERO_X;
        const bool ends = ++column == (row < p.row_count ? p.wide : p.gap);
        if (++lane == LANES || ends) {
            lane = 0;
            to.write(piece);
        }
        if (ends) {
            column = 0;
            if (++h == p.high) {
                h = 0;
                if (++d == p.deep) {
                    d = 0;
                    if (++at_w == p.wide_phases) {
                        at_w = 0;
                        if (++at_h == p.high_phases) {
                            at_h = 0;
                            at_d++;
                        }
                    }
                }
            }
            if (row++ == last) {  // on to the next plane
                row = 0;
                h = 0;
                d = 0;
                at_w = 0;
                at_h = 0;
                at_d = 0;
                plane++;
                base = p.x + plane / p.channels * p.sample + plane % p.channels * p.channel;
            } else if (row == p.row_count) {
                at_d = 0;
            }
        }
    }
}

// Rows side by side; planes are whole beats.
static void pack(hls::stream<beat> &from, hls::stream<beat> &to, ft_planes p)
{
    const int last = p.gap > 0 ? p.row_count : p.row_count - 1;
    beat held{};
    int filled = 0, left = p.wide, row = 0;
pack:
    for (int t = 0; t < p.count * p.pieces; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        const int size = left < LANES ? left : LANES;
        beat made;
        if (ft_join<LANES>(held, filled, from.read(), size, made)) to.write(made);
        left -= size;
        if (left == 0) {
            row = row == last ? 0 : row + 1;
            left = row < p.row_count ? p.wide : p.gap;
        }
    }
}

static void write(beat *planes, hls::stream<beat> &from, ft_planes p)
{
    beat *to = planes + p.first * (p.plane / LANES);
planes:
    for (int t = 0; t < p.count * (int)(p.plane / LANES); t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        to[t] = from.read();
    }
}

// A panel's biases, then its weights: some channels of each filter, which lie in local memory until all filters' are there.
static void read_panels(const FT_E *weight, const FT_E *bias, hls::stream<beat> &to, ft_panels p, const int *taps)
{
    FT_T local[FT_DEPTH][LANES];
#pragma HLS ARRAY_PARTITION variable=local dim=2 complete
    int panel = p.count > 0 ? p.first % p.panels : 0, group = p.count > 0 ? p.first / p.panels : 0;
items:
    for (int i = 0; i < p.count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
        const int left = p.filters - panel * LANES, m = left < LANES ? left : LANES;
        const FT_E *biases = bias + (p.bias + (p.bias_step < 0 ? 0 : (group * p.filters + panel * LANES) * p.bias_step));
        beat first;
    bias:
        for (int r = 0; r < LANES; r++) {
#pragma HLS PIPELINE II=1
            const bool there = p.bias_step >= 0 && r < m;
            const FT_E e = biases[there ? r * p.bias_step : 0];
            const FT_T v = one_of(e);
            first[r] = there ? v : FT_ZERO_X;
        }
        to.write(first);
    chunks:
        for (int c0 = 0; c0 < p.channels; c0 += p.some) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
            const int n = (p.channels - c0 < p.some ? p.channels - c0 : p.some) * p.taps;
            const FT_E *from = weight + (p.weight + group * p.group + panel * LANES * p.filter + c0 * p.channel);
        filters:
            for (int r = 0; r < LANES; r++) {
#pragma HLS LOOP_TRIPCOUNT min=16 max=16
                const FT_E *own = from + (r < m ? r * p.filter : 0);
                int tap = 0;
                long channel = 0;
            weights:
                for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=9 max=192
                    const FT_E e = own[channel + taps[tap]];
                    const FT_T v = one_of(e);
                    local[k][r] = r < m ? v : FT_ZERO_X;
                    if (++tap == p.taps) {
                        tap = 0;
                        channel += p.channel;
                    }
                }
            }
        steps:
            for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=9 max=192
                beat step;
                for (int r = 0; r < LANES; r++) {
#pragma HLS UNROLL
                    step[r] = local[k][r];
                }
                to.write(step);
            }
        }
        if (++panel == p.panels) {
            panel = 0;
            group++;
        }
    }
}

static void write_panels(beat *panels, hls::stream<beat> &from, ft_panels p)
{
    const int each = 1 + p.channels * p.taps;
    beat *to = panels + (long)p.first * each;
panels:
    for (int t = 0; t < p.count * each; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        to[t] = from.read();
    }
}

static void run(
    beat *planes, beat *panels, const in_beat *x, const FT_E *x_elements, const FT_E *weight, const FT_E *bias, ft_planes p,
    ft_panels q, const int *deep_first, const int *high_first, const int *wide_first, const int *taps)
{
#pragma HLS DATAFLOW
    hls::stream<in_beat> line_fifo("line");
    hls::stream<beat> pieces_fifo("pieces"), planes_fifo("planes"), panels_fifo("panels");
#pragma HLS STREAM variable=line_fifo depth=32
#pragma HLS STREAM variable=pieces_fifo depth=32
#pragma HLS STREAM variable=planes_fifo depth=32
#pragma HLS STREAM variable=panels_fifo depth=32
    read(x, line_fifo, p);
    place(x_elements, line_fifo, pieces_fifo, p, deep_first, high_first, wide_first);
    pack(pieces_fifo, planes_fifo, p);
    write(planes, planes_fifo, p);
    read_panels(weight, bias, panels_fifo, q, taps);
    write_panels(panels, panels_fifo, q);
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    int deep_first[TAPS], high_first[TAPS], wide_first[TAPS], taps[TAPS];
    const int deep_phases = G_DEEP_PHASES(geometry), high_phases = G_HIGH_PHASES(geometry);
    const int wide_phases = G_WIDE_PHASES(geometry), tap_count = G_TAP_COUNT(geometry);
    const int deep_at = G_AT_DEEP(geometry), high_at = G_AT_HIGH(geometry), wide_at = G_AT_WIDE(geometry);
    const int taps_at = G_AT_TAPS(geometry);
read_deep:
    for (int k = 0; k < deep_phases; k++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=4
        deep_first[k] = (int)geometry[deep_at + k];
    }
read_high:
    for (int k = 0; k < high_phases; k++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=4
        high_first[k] = (int)geometry[high_at + k];
    }
read_wide:
    for (int k = 0; k < wide_phases; k++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=4
        wide_first[k] = (int)geometry[wide_at + k];
    }
read_taps:
    for (int k = 0; k < tap_count; k++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=25
        taps[k] = (int)geometry[taps_at + k];
    }
    const int channels = G_CHANNELS(geometry), planes_all = G_BATCH(geometry) * channels;
    const int panels_all = G_GROUPS(geometry) * G_PANELS(geometry), wide = (int)G_PART_WIDE(geometry);
    const int first = ft_slab(planes_all, ft_unit, ft_units), first_panel = ft_slab(panels_all, ft_unit, ft_units);
    const int rows = G_ROWS(geometry), gap = G_PLANE(geometry) - rows * wide;
    const int pieces = rows * ((wide + LANES - 1) / LANES) + (gap + LANES - 1) / LANES;
    const ft_planes p = {
        first, ft_slab(planes_all, ft_unit + 1, ft_units) - first, channels, G_DENSE(geometry), rows, gap, pieces,
        deep_phases, high_phases, wide_phases, (int)G_PART_DEEP(geometry), (int)G_PART_HIGH(geometry), wide,
        (int)G_INPUT_DEEP(geometry), (int)G_INPUT_HIGH(geometry), (int)G_INPUT_WIDE(geometry), x_offset, G_PLANE(geometry),
        G_X_SAMPLE(geometry), G_X_CHANNEL(geometry), G_STEP_DEEP(geometry), G_STEP_HIGH(geometry), G_STEP_WIDE(geometry),
        G_X_DEEP(geometry), G_X_HIGH(geometry), G_X_WIDE(geometry)};
    const ft_panels q = {
        first_panel, ft_slab(panels_all, ft_unit + 1, ft_units) - first_panel, G_PANELS(geometry), G_FILTERS(geometry),
        G_OWN(geometry), G_SOME(geometry), tap_count, weight_offset, bias_offset, G_BIAS(geometry), G_W_GROUP(geometry),
        G_W_FILTER(geometry), G_W_CHANNEL(geometry)};
    run(planes, panels, x, x_elements, weight, bias, p, q, deep_first, high_first, wide_first, taps);
}
