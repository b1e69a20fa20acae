// Planes of an input, with zeros around them (see skeleton/conv_pack.h). They are processed in pieces: a row's next
// LANES elements, or the rest of the row. If an input is contiguous and not strided, its beats are read in one burst,
// and each piece takes its elements inside the input; otherwise one element is read each cycle. `pack` joins the
// pieces. Define before: LANES, ROWS (of panels), ft_element_value and ft_padding.
#pragma once
#include "row_pieces.h"

typedef hls::vector<FT_T, LANES> beat;
typedef hls::vector<FT_E, LANES> in_beat;
typedef hls::vector<FT_T, ROWS> step;
static_assert(sizeof(beat) <= 64 && sizeof(step) <= 64, "a port is at most 512 bits wide");

// The panels of a unit. `line`: the weights of a filter are contiguous, and read in beats.
struct ft_panels {
    int first, count, panels, filters, channels, some, taps;
    long weight, bias, bias_step, group, filter, channel;
    bool line;
};

// The planes of a unit: their rows, and the gap to the next beat, in pieces. For each dim: the elements of a
// part, the input's size, and the step there.
struct ft_planes {
    int first, count, channels, dense, row_count, gap, pieces, deep_phases, high_phases, wide_phases;
    int deep, high, wide, in_deep, in_high, in_wide;
    long x, plane, sample, channel, step_deep, step_high, step_wide, x_deep, x_high, x_wide;
    int zero, flip;  // for bytes: the padding's value, minus 128 for unsigned bytes
};

// Returns the planes of a unit, read from the geometry.
static ft_planes planes_of(const long *geometry, long x_offset, int ft_unit, int ft_units)
{
#pragma HLS INLINE
    const int deep_phases = G_DEEP_PHASES(geometry), high_phases = G_HIGH_PHASES(geometry);
    const int wide_phases = G_WIDE_PHASES(geometry), channels = G_CHANNELS(geometry);
    const int planes_all = G_BATCH(geometry) * channels, wide = (int)G_PART_WIDE(geometry);
    const int first = ft_slab(planes_all, ft_unit, ft_units), rows = G_ROWS(geometry);
    const int gap = G_PLANE(geometry) - rows * wide;
    const int pieces = rows * ((wide + LANES - 1) / LANES) + (gap + LANES - 1) / LANES;
    const ft_planes p = {
        first, ft_slab(planes_all, ft_unit + 1, ft_units) - first, channels, G_DENSE(geometry), rows, gap, pieces,
        deep_phases, high_phases, wide_phases, (int)G_PART_DEEP(geometry), (int)G_PART_HIGH(geometry), wide,
        (int)G_INPUT_DEEP(geometry), (int)G_INPUT_HIGH(geometry), (int)G_INPUT_WIDE(geometry), x_offset, G_PLANE(geometry),
        G_X_SAMPLE(geometry), G_X_CHANNEL(geometry), G_STEP_DEEP(geometry), G_STEP_HIGH(geometry), G_STEP_WIDE(geometry),
        G_X_DEEP(geometry), G_X_HIGH(geometry), G_X_WIDE(geometry), G_ZERO(geometry), G_FLIP(geometry)};
    return p;
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

// Writes the pieces of the planes' rows, with zeros outside the input.
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
            const in_beat taken = ft_shift_lanes<in_beat, FT_E, LANES>(ft_select(lane == 0, high, low), high, lane);
            beat v, piece;
            for (int l = 0; l < LANES; l++) {
                const FT_E e = taken[l];
                v[l] = ft_element_value(e, p.flip);
            }
            const beat up = ft_shift_lanes<beat, FT_T, LANES>(v, v, (LANES - zeros % LANES) % LANES);
            for (int l = 0; l < LANES; l++) {
                const FT_T x = up[l];
                piece[l] = l >= zeros && l < zeros + many ? x : ft_padding(p.zero);
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
        const FT_T v = ft_element_value(e, p.flip);
        piece[lane] = inside ? v : ft_padding(p.zero);
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
            if (row++ == last) {  // begins the next plane
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

// Joins the pieces of rows to beats; planes are whole beats.
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
        beat full_beat;
        if (ft_append_piece<LANES>(held, filled, from.read(), size, full_beat)) to.write(full_beat);
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

// Writes the panels of a unit, each of `steps` steps.
static void write_panels(step *panels, hls::stream<step> &from, int first, int count, int steps)
{
    step *to = panels + (long)first * steps;
panels:
    for (int t = 0; t < count * steps; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        to[t] = from.read();
    }
}
