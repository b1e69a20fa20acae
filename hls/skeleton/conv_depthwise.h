// Convolutions of few filters in a group, above all depthwise ones, without packing. An item is a group of a sample.
// Its planes are copied to private memory with zeros around them, where the windows of any stride are contiguous (see
// conv_pack.h). FT_TILE_VECTORS vectors of positions are summed at a time, those between two rows included.
// Geometry g: DepthwiseGeometry.
FT_COPY_ROW(ft_conv_write, , FT_GLOBAL, 1, step)

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL const FT_E *x, FT_GLOBAL const FT_E *weight, FT_GLOBAL const FT_E *bias,
    long out_offset, long x_offset, long weight_offset, long bias_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int groups = G_GROUPS(g), filters = G_FILTERS(g), channels = G_CHANNELS(g), taps = G_TAPS(g);
    const int positions = G_POSITIONS(g), plane = G_PLANE(g), pitch = (int)G_PLANES_HIGH(g);
    const long channel_step = G_W_CHANNEL(g);
    FT_GLOBAL const long *taps_at = G_OFFSETS(g);
    FT_T planes[FT_PLANES + 2 * FT_TILE_COLUMNS] __attribute__((aligned(64)));  // the padding's zeros stay
    FT_T plane_sums[FT_PLANES + FT_TILE_COLUMNS] __attribute__((aligned(64)));
    int offsets[FT_DEPTH];
    for (int t = 0; t < taps; t++) offsets[t] = (int)taps_at[t];
    for (int i = 0; i < FT_PLANES + 2 * FT_TILE_COLUMNS; i++) planes[i] = 0;
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int group = item % groups, sample = item / groups;
        FT_GLOBAL const FT_E *from = x + (x_offset + sample * G_X_SAMPLE(g) + group * channels * G_X_CHANNEL(g));
        ft_conv_planes(planes, from, channels, plane, g);
        for (int f = 0; f < filters; f++) {
            FT_GLOBAL const FT_E *lines = weight + (weight_offset + group * G_W_GROUP(g) + f * G_W_FILTER(g));
            const FT_T first = G_BIAS(g) < 0 ? (FT_T)0 : bias[bias_offset + (group * filters + f) * G_BIAS(g)];
            for (int i = 0; i < positions; i += FT_TILE_COLUMNS) {
                FT_WIDE_X sum[FT_TILE_VECTORS];
                FT_UNROLL
                for (int v = 0; v < FT_TILE_VECTORS; v++) sum[v] = K(first);
                for (int c = 0; c < channels; c++) {
                    FT_GLOBAL const FT_E *w = lines + c * channel_step;
                    const FT_T *y = planes + (c * plane + i);
                    for (int t = 0; t < taps; t++) {
                        const FT_X s = FT_SPLAT(w + t);
                        const FT_T *z = y + offsets[t];
                        FT_UNROLL
                        for (int v = 0; v < FT_TILE_VECTORS; v++) {
                            sum[v] = ft_xfma(s, FT_LANES_FROM(z + v * FT_LANES), sum[v]);
                        }
                    }
                }
                FT_UNROLL
                for (int v = 0; v < FT_TILE_VECTORS; v++) FT_LANES_TO(sum[v], plane_sums + i + v * FT_LANES);
            }
            FT_GLOBAL FT_E *results = out + (out_offset + sample * G_OUT_SAMPLE(g) + (group * filters + f) * G_OUT_FILTER(g));
            for (int d = 0; d < G_COUNTS_DEEP(g); d++) {
                for (int h = 0; h < G_COUNTS_HIGH(g); h++) {
                    ft_conv_write(
                        results + (d * G_OUT_DEEP(g) + h * G_OUT_HIGH(g)), plane_sums + (d * G_PLANES_DEEP(g) + h * pitch),
                        G_OUT_WIDE(g), (int)G_COUNTS_WIDE(g));
                }
            }
        }
    }
}
