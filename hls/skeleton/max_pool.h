// The largest element of each window, and its index in the plane: the first of equal ones, and the last of
// several NaNs. Geometry g: as in windows.h.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *values, FT_GLOBAL long *places, FT_GLOBAL const FT_E *from, long values_offset,
    long places_offset, long from_offset, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const ft_spot s = ft_windows(g, item);
        FT_GLOBAL const FT_E *p = from + (from_offset + s.at);
        FT_T elements[FT_SIZE * FT_LANES], lanes[FT_LANES];
        FT_WIDE_X x, best;
        FT_WIDE(int) place;
        FT_WIDE_E stored;
        FT_WIDE(long) wide;
        FT_LOOP(read)
        FT_UNROLL
        for (int v = 0; v < FT_SIZE; v++) {
            FT_PIPELINE
            stored = FT_E_LOAD(p + ft_begins(g, v));
            FT_EACH_LANE { FT_LANE(x) = FT_VALUE(FT_LANE(stored)); }
            FT_LANES_TO(x, elements + v * FT_LANES);
        }
        FT_LOOP(compare)
        FT_UNROLL
        for (int k = 0; k < FT_SIZE; k++) {
            FT_PIPELINE
            FT_UNROLL
            for (int l = 0; l < FT_LANES; l++) lanes[l] = elements[ft_among(l, k / FT_LINE_SIZE, k % FT_LINE_SIZE)];
            x = FT_LANES_FROM(lanes);
            const int to = G_LINES(g)[k / FT_LINE_SIZE] + k % FT_LINE_SIZE;
            FT_EACH_LANE
            {
                if (k == 0) {
                    FT_LANE(best) = FT_LANE(x);
                    FT_LANE(place) = (FT_I)(0);
                } else {
                    const FT_M wins = FT_LANE(x) > FT_LANE(best) || FT_LANE(x) != FT_LANE(x);
                    FT_LANE(best) = wins ? FT_LANE(x) : FT_LANE(best);
                    FT_LANE(place) = FT_MASK_INDEX(wins) ? (FT_I)(to) : FT_LANE(place);
                }
            }
        }
        const FT_WIDE(int) first = ft_beginnings(g, s);
        FT_EACH_LANE
        {
            FT_LANE(stored) = FT_STORED(FT_LANE(best));
            FT_LANE(wide) = FT_CONVERT(long, FT_LANE(place) + FT_LANE(first));
        }
        FT_E_STORE(stored, values + values_offset + s.window);
        FT_VSTORE(wide, places + places_offset + s.window);
    }
}
