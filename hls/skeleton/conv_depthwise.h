// Convolutions of few filters in a group, depthwise ones first of all: nothing is packed. An item is a group of a sample.
// Its planes are copied to a private memory with zeros around them, where windows at any stride are runs of neighbours
// (see conv_pack.h); FT_TILE_VECTORS vectors of positions, those between two rows included, are summed at once.
// Geometry g (long): items, groups, filters and channels of a group, taps, positions, elements of a plane, x strides
//   (sample, channel), steps of a phase in x (three dims), weight strides (group, filter, channel), that of bias (-1:
//   there is none), out strides (sample, filter, three dims), sizes of a plane of results (three dims), strides of a
//   phase in the private plane (two dims), phases, then for each phase its first element in x and in the private
//   plane and its sizes, then the offset of each tap.
FT_COPY_ROW(ft_conv_write, , FT_GLOBAL, 1, step)

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL const FT_E *x, FT_GLOBAL const FT_E *weight, FT_GLOBAL const FT_E *bias,
    long out_offset, long x_offset, long weight_offset, long bias_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int groups = (int)g[1], filters = (int)g[2], channels = (int)g[3], taps = (int)g[4], positions = (int)g[5];
    const int plane = (int)g[6], pitch = (int)g[25], phases = (int)g[26];
    const long channel_step = g[14];
    FT_GLOBAL const long *phase = g + 27, *taps_at = phase + 5 * phases;
    FT_T planes[FT_PLANES + 2 * FT_TILE_COLUMNS] __attribute__((aligned(64)));  // zeros stay around every item's
    FT_T made[FT_PLANES + FT_TILE_COLUMNS] __attribute__((aligned(64)));
    int offsets[FT_DEPTH];
    for (int t = 0; t < taps; t++) offsets[t] = (int)taps_at[t];
    for (int i = 0; i < FT_PLANES + 2 * FT_TILE_COLUMNS; i++) planes[i] = 0;
    FT_FOR_SLAB(item, (int)g[0])
    {
        const int group = item % groups, sample = item / groups;
        FT_GLOBAL const FT_E *from = x + (x_offset + sample * g[7] + group * channels * g[8]);
        ft_conv_planes(planes, from, channels, plane, g + 8, g + 24, phases, phase);
        for (int f = 0; f < filters; f++) {
            FT_GLOBAL const FT_E *lines = weight + (weight_offset + group * g[12] + f * g[13]);
            const FT_T first = g[15] < 0 ? (FT_T)0 : bias[bias_offset + (group * filters + f) * g[15]];
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
                for (int v = 0; v < FT_TILE_VECTORS; v++) FT_LANES_TO(sum[v], made + i + v * FT_LANES);
            }
            FT_GLOBAL FT_E *results = out + (out_offset + sample * g[16] + (group * filters + f) * g[17]);
            for (int d = 0; d < g[21]; d++) {
                for (int h = 0; h < g[22]; h++) {
                    ft_conv_write(
                        results + (d * g[18] + h * g[19]), made + (d * g[24] + h * pitch), g[20], (int)g[23]);
                }
            }
        }
    }
}
