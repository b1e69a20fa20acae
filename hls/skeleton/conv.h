// Convolutions as products of matrices whose second factor is not stored. Its element at column i and step (channel,
// tap) is planes[channel * step + i + offset of the tap]. Position i counts the elements of a plane in rows of `pitch`,
// of which the first `width` have results. So the windows of any stride are contiguous (see conv_pack.h).
// An item is FT_TILE_ROWS filters of a group by FT_TILE_COLUMNS positions. Partial sums of some channels are added to
// totals that begin as the bias, which keeps long sums accurate.
// Geometry g: ConvGeometry.
#if FT_NATIVE_LANES && FT_LANES == 16 && !FT_E_HALF && !FT_E_BFLOAT16
// Copies m neighbours of a tile's row. A run whose length is not a multiple of the vector ends with a vector
// that overlaps the one before.
#define FT_PART(n) \
    if (m & n) { FT_CAT(vstore, n)(FT_CAT(vload, n)(0, sums + i), 0, out + i); i += n; }
FT_FN_ONCE void ft_conv_store(const FT_T *sums, FT_GLOBAL FT_E *out, int step, int m)
{
    int i = 0;
    if (step != 1) {
        for (; i < m; i++) out[i * step] = sums[i];
    } else if (m >= FT_LANES) {
        for (; i + FT_LANES <= m; i += FT_LANES) FT_LANES_TO(FT_LANES_FROM(sums + i), out + i);
        if (i < m) FT_LANES_TO(FT_LANES_FROM(sums + m - FT_LANES), out + m - FT_LANES);
    } else {
        FT_PART(8) FT_PART(4) FT_PART(2)
        if (m & 1) out[i] = sums[i];
    }
}
#define FT_RUN FT_TILE_COLUMNS
#define FT_CONV_STORE(r, i, out, step, m) ft_conv_store((const FT_T *)total + (r) * FT_TILE_COLUMNS + i, out, step, m)
#else
FT_FN_ONCE void ft_conv_store(FT_WIDE_X sums, int first, FT_GLOBAL FT_E *out, int step, int m)
{
    FT_WIDE_E w;
    if (first) sums = ft_rotate(sums, first);
    FT_EACH_LANE { FT_LANE(w) = FT_STORED(FT_LANE(sums)); }
    FT_E_PUT(w, out, step, m);
}
#define FT_RUN FT_LANES
#define FT_CONV_STORE(r, i, out, step, m) ft_conv_store(total[(r) / FT_TILE_ROWS][(r) % FT_TILE_ROWS][(i) / FT_LANES], (i) % FT_LANES, out, step, m)
#endif

#include "shared/tile.h"

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL const FT_T *planes, FT_GLOBAL const FT_T *panels, long out_offset,
    long planes_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int items = G_ITEMS(g), filter_panels = G_PANELS(g), groups = G_GROUPS(g), tiles = G_TILES(g);
    const int positions = G_POSITIONS(g), pitch = G_PITCH(g), width = G_WIDTH(g), middle = G_MIDDLE(g), high = G_HIGH(g);
    const int filters = G_FILTERS(g), channels = G_CHANNELS(g), taps = G_TAPS(g), most = G_MOST(g), dims = G_DIMS(g);
    const int depth = channels * taps, blocks = (filter_panels + most - 1) / most;
    const long channel_step = G_CHANNEL(g), out_filter = G_OUT_FILTER(g);
    const int out_step = (int)G_OUT_POSITION(g), back = G_BACK(g);
    FT_GLOBAL const long *shape = G_BATCH(g), *read = G_READ(g), *written = G_WRITTEN(g), *offsets = G_OFFSETS(g);
    FT_FOR_SLAB(item, items)
    {
        const int first = item % blocks * most, tile = item / blocks % tiles, group = item / blocks / tiles % groups;
        const int many = FT_BLOCK == 1 ? 1 : filter_panels - first < most ? filter_panels - first : most;
        long from = planes_offset + group * channels * channel_step;
        long to = out_offset + (group * filters + first * FT_TILE_ROWS) * out_filter;
        int rest = item / blocks / tiles / groups;
        #include "shared/batch_offsets.h"
        int begin = tile * FT_TILE_COLUMNS, skip = 0;
        if (back && positions - begin < FT_TILE_COLUMNS) {
            skip = FT_TILE_COLUMNS - (positions - begin);
            begin -= skip;
        }
        FT_GLOBAL const FT_T *x = planes + (from + begin);
        const long panel = (long)(1 + depth) * FT_TILE_ROWS;
        FT_GLOBAL const FT_T *weights = panels + (group * filter_panels + first) * panel;
        FT_WIDE_X total[FT_BLOCK][FT_TILE_ROWS][FT_TILE_VECTORS];
        for (int p = 0; p < many; p++)
            for (int r = 0; r < FT_TILE_ROWS; r++)
                for (int v = 0; v < FT_TILE_VECTORS; v++) { FT_EACH_LANE FT_LANE(total[p][r][v]) = FT_SPLAT(weights + p * panel + r); }
        weights += FT_TILE_ROWS;
        int tap = 0;
        for (int k0 = 0; k0 < depth; k0 += FT_DEPTH) {
            const int n = depth - k0 < FT_DEPTH ? depth - k0 : FT_DEPTH;
#if FT_BLOCK > 1
            FT_WIDE_X near_[FT_DEPTH][FT_TILE_VECTORS];
            if (many > 1) {
                for (int k = 0; k < n; k++) {
                    FT_GLOBAL const FT_T *y = x + offsets[tap];
                    FT_UNROLL
                    for (int v = 0; v < FT_TILE_VECTORS; v++) near_[k][v] = FT_VLOAD_UNALIGNED(y + v * FT_LANES);
                    if (++tap == taps) {
                        tap = 0;
                        x += channel_step;
                    }
                }
            }
#endif
            for (int p = 0; p < many; p++) {
                FT_GLOBAL const FT_T *w = weights + p * panel + (long)k0 * FT_TILE_ROWS;
                FT_WIDE_X sum[FT_TILE_ROWS][FT_TILE_VECTORS];
                FT_TILE_ZERO(sum)
#if FT_BLOCK > 1
                if (many > 1) {
                    for (int k = 0; k < n; k++) {
                        FT_TILE_STEP(sum, w + r, near_[k][v])
                        w += FT_TILE_ROWS;
                    }
                } else
#endif
                {
                    FT_LOOP(depth)
                    for (int k = 0; k < n; k++) {
                        FT_PIPELINE
                        FT_GLOBAL const FT_T *y = x + offsets[tap];
                        FT_TILE_STEP(sum, w + r, FT_VLOAD_UNALIGNED(y + v * FT_LANES))
                        w += FT_TILE_ROWS;
                        if (++tap == taps) {
                            tap = 0;
                            x += channel_step;
                        }
                    }
                }
                FT_TILE_ADD(total[p], sum)
            }
        }
        const int left = filters - first * FT_TILE_ROWS, rows = left < many * FT_TILE_ROWS ? left : many * FT_TILE_ROWS;
        const int end = positions - begin < FT_TILE_COLUMNS ? positions - begin : FT_TILE_COLUMNS;
        for (int i = skip; i < end;) {  // a run of results in a row, at most to the end of FT_RUN positions
            const int row = (begin + i) / pitch, at = begin + i - row * pitch, plane = row / middle, h = row - plane * middle;
            const int stop = (i / FT_RUN + 1) * FT_RUN < end ? (i / FT_RUN + 1) * FT_RUN : end;
            const int m = pitch - at < stop - i ? pitch - at : stop - i, kept = width - at < m ? width - at : m;
            if (h < high && kept > 0) {
                FT_GLOBAL FT_E *line = out + (to + plane * G_OUT_PLANE(g) + h * G_OUT_ROW(g) + at * G_OUT_POSITION(g));
                for (int r = 0; r < rows; r++) FT_CONV_STORE(r, i, line + r * out_filter, out_step, kept);
            }
            i += m;
        }
    }
}
