// Packs the operands of conv_bytes.h: planes of an input, with `zero` around and between them, and panels of
// filters. Unlike conv_pack.h, it does not write a panel's first step. Unsigned bytes become signed ones
// (`flip`). AMD's boards run vitis/conv_pack.cpp. Geometry g: ConvPackGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *planes, FT_GLOBAL FT_T *panels, FT_GLOBAL const FT_T *x, FT_GLOBAL const FT_T *weight, long x_offset,
    long weight_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int rows = G_ROWS(g), channels = G_CHANNELS(g), all = G_BATCH(g) * channels, turned = G_FLIP(g) ? 0x80 : 0;
    const int deep = (int)G_PART_DEEP(g), high = (int)G_PART_HIGH(g), wide = (int)G_PART_WIDE(g), taps = G_TAP_COUNT(g);
    const FT_T zero = (FT_T)G_ZERO(g);
    FT_FOR_SLAB(plane, all)
    {
        FT_GLOBAL FT_T *to = planes + plane * G_PLANE(g);
        FT_GLOBAL const FT_T *from = x + (x_offset + plane / channels * G_X_SAMPLE(g) + plane % channels * G_X_CHANNEL(g));
        for (int row = 0; row < rows; row++) {
            const int h = row % high, d = row / high % deep, phase = row / high / deep;
            const int at_w = phase % G_WIDE_PHASES(g), at_dh = phase / G_WIDE_PHASES(g);
            const long y = d * G_STEP_DEEP(g) + G_DEEP(g)[at_dh / G_HIGH_PHASES(g)];
            const long z = h * G_STEP_HIGH(g) + G_HIGH(g)[at_dh % G_HIGH_PHASES(g)], first = G_WIDE(g)[at_w];
            const int inside = y >= 0 && y < G_INPUT_DEEP(g) && z >= 0 && z < G_INPUT_HIGH(g);
            FT_LOOP(columns)
            for (int i = 0; i < wide; i++) {
                FT_PIPELINE
                const long at = first + i * G_STEP_WIDE(g);
                const int there = inside && at >= 0 && at < G_INPUT_WIDE(g);
                const FT_T e = from[there ? y * G_X_DEEP(g) + z * G_X_HIGH(g) + at * G_X_WIDE(g) : 0];
                to[row * wide + i] = there ? (FT_T)(e ^ turned) : zero;
            }
        }
        FT_LOOP(gap)
        for (int i = rows * wide; i < G_PLANE(g); i++) {
            FT_PIPELINE
            to[i] = zero;
        }
    }
    const int filter_panels = G_PANELS(g), filters = G_FILTERS(g), own = G_OWN(g), all_panels = G_GROUPS(g) * filter_panels;
    FT_GLOBAL const long *places = G_TAPS(g);
    FT_FOR_SLAB(panel, all_panels)
    {
        const int group = panel / filter_panels, first = panel % filter_panels * FT_TILE_ROWS, left = filters - first;
        const int m = left < FT_TILE_ROWS ? left : FT_TILE_ROWS;
        FT_GLOBAL FT_T *to = panels + (long)panel * (1 + own * taps) * FT_TILE_ROWS + FT_TILE_ROWS;
        FT_GLOBAL const FT_T *from = weight + (weight_offset + group * G_W_GROUP(g) + first * G_W_FILTER(g));
        for (int c = 0; c < own; c++) {
            for (int tap = 0; tap < taps; tap++) {
                const long at = c * G_W_CHANNEL(g) + places[tap];
                FT_LOOP(filters)
                for (int r = 0; r < FT_TILE_ROWS; r++) {
                    FT_PIPELINE
                    const FT_T e = from[at + (r < m ? r * G_W_FILTER(g) : 0)];
                    to[(long)(c * taps + tap) * FT_TILE_ROWS + r] = r < m ? e : (FT_T)0;
                }
            }
        }
    }
}
