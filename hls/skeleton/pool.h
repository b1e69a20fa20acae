// Windows of planes: the largest element of each, with its position in the plane if G_PLACES is set (the first of
// equal ones, the last NaN of several), or the mean. Elements outside a plane don't count. A unit takes bands of rows
// of results; hls/vitis/pool.cpp has the same results from strips in local memory.
// Geometry g: PoolGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL long *places, FT_GLOBAL const FT_E *in, long out_offset, long places_offset, long in_offset,
    FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    const int mean = G_MEAN(g), wants = G_PLACES(g), high = G_INPUT_HIGH(g), wide = G_INPUT_WIDE(g);
    const int out_high = G_OUT_HIGH(g), out_wide = G_OUT_WIDE(g), taps_high = G_KERNEL_HIGH(g), taps_wide = G_KERNEL_WIDE(g);
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int plane = item / G_BANDS(g), first = item % G_BANDS(g) * G_BAND(g);
        const int end = first + G_BAND(g) < out_high ? first + G_BAND(g) : out_high;
        FT_GLOBAL const FT_E *from = in + in_offset + (long)plane * high * wide;
        for (int y = first; y < end; y++) {
            for (int x = 0; x < out_wide; x++) {
                const int top = y * G_STRIDE_HIGH(g) - G_PADDING_HIGH(g), left = x * G_STRIDE_WIDE(g) - G_PADDING_WIDE(g);
                FT_X value = FT_ZERO_X;
                int place = -1;
                for (int a = 0; a < taps_high; a++) {
                    const int row = top + a * G_DILATION_HIGH(g);
                    if (row < 0 || row >= high) continue;
                    FT_LOOP(taps)
                    for (int b = 0; b < taps_wide; b++) {
                        FT_PIPELINE
                        const int column = left + b * G_DILATION_WIDE(g), inside = column >= 0 && column < wide;
                        const int at = inside ? row * wide + column : 0;
                        const FT_X v = FT_ONE(from + at);
                        const int wins = place < 0 || v > value || v != v;
                        if (inside && (mean || wins)) {
                            if (mean) {
                                value = value + v;
                            } else {
                                value = v;
                            }
                            place = at;
                        }
                    }
                }
                const long to = ((long)plane * out_high + y) * out_wide + x;
#if FT_FLOATING
                if (mean) {
                    const int n = ft_pool_size(top, taps_high, high, G_PADDING_HIGH(g), G_PADDED(g))
                        * ft_pool_size(left, taps_wide, wide, G_PADDING_WIDE(g), G_PADDED(g));
                    value = value / K(G_DIVISOR(g) ? G_DIVISOR(g) : n);
                }
#endif
                ft_store_one(value, out + out_offset + to);
                if (wants) places[places_offset + to] = place;
            }
        }
    }
}
