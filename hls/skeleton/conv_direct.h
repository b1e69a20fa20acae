// Convolutions of small planes, without packing. An item is some filters of a group with all positions of a sample. Its
// planes are copied to private memory with zeros around them. For each tile of positions, the elements that each step
// (channel, tap) reads are gathered into vectors. Their products with the weights, which are read in place, are summed
// for all panels of FT_TILE_ROWS filters. Partial sums are added to totals that begin as the bias, as in conv.h.
// Geometry g: DirectConvGeometry.
#include "shared/tile.h"
// Gathers the elements of n steps into `line`; z is the first element of a step, with `copies` vectors each.
#define FT_CONV_NEAR(copies)                          \
    for (int k = 0; k < n; k++) {                     \
        const FT_T *z = y + offsets[tap];             \
        FT_T *line = near_ + k * FT_TILE_COLUMNS;     \
        copies                                        \
        if (++tap == taps) {                          \
            tap = 0;                                  \
            y += plane;                               \
        }                                             \
    }

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL const FT_E *x, FT_GLOBAL const FT_E *weight, FT_GLOBAL const FT_E *bias,
    long out_offset, long x_offset, long weight_offset, long bias_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int groups = G_GROUPS(g), blocks = G_BLOCKS(g), most = G_MOST(g), filters = G_FILTERS(g);
    const int channels = G_CHANNELS(g), taps = G_TAPS(g), positions = G_POSITIONS(g), tiles = G_TILES(g);
    const int plane = G_PLANE(g), wide = G_WIDE(g), depth = channels * taps;
    const long filter_step = G_W_FILTER(g), jump = G_W_CHANNEL(g) - taps;
    const long out_filter = G_OUT_FILTER(g), out_step = G_OUT_POSITION(g);
    FT_GLOBAL const long *offsets = G_OFFSETS(g), *ends = G_ENDS(g), *pieces = G_PIECES(g);
    FT_T planes[FT_PLANES + FT_TILE_COLUMNS] __attribute__((aligned(64)));  // the padding's zeros stay
    FT_T near_[FT_DEPTH * FT_TILE_COLUMNS + FT_TILE_COLUMNS] __attribute__((aligned(64)));
    FT_T begins[(FT_BLOCK + 1) * FT_TILE_ROWS];
    FT_WIDE_X total[FT_BLOCK][FT_TILE_ROWS][FT_TILE_VECTORS];
    for (int i = 0; i < channels * plane + FT_TILE_COLUMNS; i++) planes[i] = 0;
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int block = item % blocks, group = item / blocks % groups, sample = item / blocks / groups;
        FT_GLOBAL const FT_E *from = x + (x_offset + sample * G_X_SAMPLE(g) + group * channels * G_X_CHANNEL(g));
        ft_conv_planes(planes, from, channels, plane, g);
        const int first = block * most * FT_TILE_ROWS, left = filters - first;
        const int many = (left + FT_TILE_ROWS - 1) / FT_TILE_ROWS < most ? (left + FT_TILE_ROWS - 1) / FT_TILE_ROWS : most;
        const int lowest = left < FT_TILE_ROWS ? filters - FT_TILE_ROWS : first;
        for (int f = 0; f < (FT_BLOCK + 1) * FT_TILE_ROWS && lowest + f < filters; f++) {
            begins[f] = G_BIAS(g) < 0 ? (FT_T)0 : bias[bias_offset + (group * filters + lowest + f) * G_BIAS(g)];
        }
        for (int tile = 0; tile < tiles; tile++) {
            // Where a tile's pieces begin. The last piece is repeated up to a multiple of four. It may be
            // longer than the rest of the tile, since the next step overwrites what exceeds a step. The index
            // is a long, and the count is computed before the loop: Intel's compiler begins the remainder of an
            // int loop that it vectorizes at 0xfffffff8.
            int to[FT_TILE_COLUMNS + 4], at[FT_TILE_COLUMNS + 4];
            const long piece = tile ? ends[tile - 1] : 0, own = ends[tile] - piece, count = (own + 3) / 4 * 4;
            for (long q = 0; q < count; q++) {
                const long here = piece + (q < own ? q : own - 1);
                to[q] = (int)pieces[2 * here];
                at[q] = (int)pieces[2 * here + 1];
            }
            const FT_T *y = planes;
            FT_GLOBAL const FT_E *lines = weight + (weight_offset + group * G_W_GROUP(g));
            FT_GLOBAL FT_E *to_tile =
                out + (out_offset + sample * G_OUT_SAMPLE(g) + group * filters * out_filter
                       + (long)tile * FT_TILE_COLUMNS * out_step);
            const int m = positions - tile * FT_TILE_COLUMNS;
            int tap = 0;
            for (int k0 = 0; k0 < depth; k0 += FT_DEPTH) {
                const int n = depth - k0 < FT_DEPTH ? depth - k0 : FT_DEPTH, begin = tap;
                if (wide == 4 && own == 4 && to[1] == 4 && to[2] == 8 && to[3] == 12) {
                    const int at0 = at[0], at1 = at[1], at2 = at[2], at3 = at[3];
                    FT_CONV_NEAR(vstore8((FT_CAT(FT_T, 8))(vload4(0, z + at0), vload4(0, z + at1)), 0, line);
                                 vstore8((FT_CAT(FT_T, 8))(vload4(0, z + at2), vload4(0, z + at3)), 0, line + 8);)
                } else if (wide == 4 && count == 4) {
                    const int to0 = to[0], to1 = to[1], to2 = to[2], to3 = to[3];
                    const int at0 = at[0], at1 = at[1], at2 = at[2], at3 = at[3];
                    FT_CONV_NEAR(
                        FT_COPIES(4, z + at0, line + to0); FT_COPIES(4, z + at1, line + to1);
                        FT_COPIES(4, z + at2, line + to2); FT_COPIES(4, z + at3, line + to3);)
                } else if (wide == 8 && own == 2) {
                    const int to0 = to[0], to1 = to[1], at0 = at[0], at1 = at[1];
                    FT_CONV_NEAR(FT_COPIES(8, z + at0, line + to0); FT_COPIES(8, z + at1, line + to1);)
                } else if (wide == 4) {
                    FT_CONV_NEAR(for (long q = 0; q < count; q += 4) {
                        FT_COPIES(4, z + at[q], line + to[q]);
                        FT_COPIES(4, z + at[q + 1], line + to[q + 1]);
                        FT_COPIES(4, z + at[q + 2], line + to[q + 2]);
                        FT_COPIES(4, z + at[q + 3], line + to[q + 3]);
                    })
                } else {
                    FT_CONV_NEAR(for (long q = 0; q < own; q++) FT_COPIES(8, z + at[q], line + to[q]);)
                }
                for (int p = 0; p < many; p++) {
                    // The last panel ends with the last filter, so some filters are summed twice.
                    const int next = first + p * FT_TILE_ROWS;
                    const int here = filters - next < FT_TILE_ROWS ? filters - FT_TILE_ROWS : next;
                    FT_GLOBAL const FT_E *w = lines + here * filter_step;
                    FT_WIDE_X sum[FT_TILE_ROWS][FT_TILE_VECTORS];
                    FT_TILE_ZERO(sum)
                    int t = begin;
                    for (int k = 0; k < n; k++) {
                        FT_TILE_STEP(sum, w + r * filter_step, FT_LANES_FROM(near_ + k * FT_TILE_COLUMNS + v * FT_LANES))
                        w++;
                        if (++t == taps) {
                            t = 0;
                            w += jump;
                        }
                    }
                    FT_UNROLL
                    for (int r = 0; r < FT_TILE_ROWS; r++) {
                        FT_UNROLL
                        for (int v = 0; v < FT_TILE_VECTORS; v++) {
                            sum[r][v] = ft_xadd(k0 ? total[p][r][v] : FT_SPLAT(begins + (here - lowest + r)), sum[r][v]);
                        }
                    }
                    FT_GLOBAL FT_E *results = to_tile + here * out_filter;
                    if (k0 + n < depth) {
                        FT_UNROLL
                        for (int r = 0; r < FT_TILE_ROWS; r++) {
                            FT_UNROLL
                            for (int v = 0; v < FT_TILE_VECTORS; v++) total[p][r][v] = sum[r][v];
                        }
                    } else if (out_step == 1 && m >= FT_TILE_COLUMNS) {
                        FT_UNROLL
                        for (int r = 0; r < FT_TILE_ROWS; r++) {
                            FT_UNROLL
                            for (int v = 0; v < FT_TILE_VECTORS; v++) {
                                FT_VSTORE(sum[r][v], results + (r * out_filter + v * FT_LANES));
                            }
                        }
                    } else {
                        FT_T t_[FT_TILE_COLUMNS];
                        FT_UNROLL
                        for (int r = 0; r < FT_TILE_ROWS; r++) {
                            FT_UNROLL
                            for (int v = 0; v < FT_TILE_VECTORS; v++) FT_LANES_TO(sum[r][v], t_ + v * FT_LANES);
                            for (int i = 0; i < FT_TILE_COLUMNS && i < m; i++) results[r * out_filter + i * out_step] = t_[i];
                        }
                    }
                }
                lines += n + (begin + n) / taps * jump;
            }
        }
    }
}
