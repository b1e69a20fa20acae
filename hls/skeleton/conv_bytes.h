// Convolutions, and products of matrices, of signed bytes, summed in int32. Planes and panels are those of
// conv.h (without a panel's first step), but planes hold numbers plus `zero`, and their padding is `zero`: each
// result subtracts `zero` times the sum of its weights. An item is FT_TILE_ROWS filters of a group by
// FT_TILE_COLUMNS positions, of which each cycle computes FT_BEAT. AMD's boards run vitis/conv.cpp.
// Geometry g: ConvGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL int *out, FT_GLOBAL const FT_T *planes, FT_GLOBAL const FT_T *panels, long out_offset, long planes_offset,
    FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int filter_panels = G_PANELS(g), groups = G_GROUPS(g), tiles = G_TILES(g), positions = G_POSITIONS(g);
    const int pitch = G_PITCH(g), width = G_WIDTH(g), middle = G_MIDDLE(g), high = G_HIGH(g), filters = G_FILTERS(g);
    const int channels = G_CHANNELS(g), taps = G_TAPS(g), dims = G_DIMS(g), zero = G_ZERO(g), items = G_ITEMS(g);
    FT_GLOBAL const long *shape = G_BATCH(g), *read = G_READ(g), *written = G_WRITTEN(g), *offsets = G_OFFSETS(g);
    FT_FOR_SLAB(item, items)
    {
        const int panel = item % filter_panels, tile = item / filter_panels % tiles, group = item / filter_panels / tiles % groups;
        const int begin = tile * FT_TILE_COLUMNS, left = positions - begin, many = left < FT_TILE_COLUMNS ? left : FT_TILE_COLUMNS;
        const int rest_filters = filters - panel * FT_TILE_ROWS, vectors = (many + FT_BEAT - 1) / FT_BEAT;
        const int rows = rest_filters < FT_TILE_ROWS ? rest_filters : FT_TILE_ROWS;
        long from = planes_offset + group * channels * G_CHANNEL(g) + begin;
        long to = out_offset + (group * filters + panel * FT_TILE_ROWS) * G_OUT_FILTER(g);
        int rest = item / filter_panels / tiles / groups;
        #include "shared/batch_offsets.h"
        FT_GLOBAL const FT_T *weights = panels + (long)(group * filter_panels + panel) * (1 + channels * taps) * FT_TILE_ROWS;
        int sum[FT_TILE_VECTORS][FT_TILE_ROWS][FT_BEAT], all[FT_TILE_ROWS];
        for (int r = 0; r < FT_TILE_ROWS; r++) all[r] = 0;
        for (int v = 0; v < vectors; v++)
            for (int r = 0; r < FT_TILE_ROWS; r++)
                for (int l = 0; l < FT_BEAT; l++) sum[v][r][l] = 0;
        for (int c = 0; c < channels; c++) {
            for (int tap = 0; tap < taps; tap++) {
                weights += FT_TILE_ROWS;
                FT_GLOBAL const FT_T *x = planes + (from + c * G_CHANNEL(g) + offsets[tap]);
                for (int r = 0; r < FT_TILE_ROWS; r++) all[r] += weights[r];
                FT_LOOP(depth)
                for (int v = 0; v < vectors; v++) {
                    FT_PIPELINE
                    FT_UNROLL
                    for (int r = 0; r < FT_TILE_ROWS; r++) {
                        const int w = weights[r];
                        FT_UNROLL
                        for (int l = 0; l < FT_BEAT; l++) sum[v][r][l] += w * x[v * FT_BEAT + l];
                    }
                }
            }
        }
        for (int r = 0; r < rows; r++) {
            FT_LOOP(results)
            for (int i = 0; i < many; i++) {
                FT_PIPELINE
                const int row = (begin + i) / pitch, at = begin + i - row * pitch, plane = row / middle, h = row - plane * middle;
                const int found = sum[i / FT_BEAT][r][i % FT_BEAT] - zero * all[r];
                if (at < width && h < high)
                    out[to + r * G_OUT_FILTER(g) + plane * G_OUT_PLANE(g) + h * G_OUT_ROW(g) + at * G_OUT_POSITION(g)] = found;
            }
        }
    }
}
