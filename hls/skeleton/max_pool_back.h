// The gradient of adjacent windows that cover every element once. An element gets its window's gradient if the
// window's index names it, else 0. Geometry g: as in windows.h.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *input_grad, FT_GLOBAL const FT_E *grad, FT_GLOBAL const long *places, long input_grad_offset,
    long grad_offset, long places_offset, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const ft_spot s = ft_windows(g, item);
        FT_GLOBAL FT_E *p = input_grad + (input_grad_offset + s.at);
        FT_T elements[FT_SIZE * FT_LANES], lanes[FT_LANES];
        FT_WIDE_X x, given;
        FT_WIDE(int) place;
        FT_WIDE_E stored = FT_E_LOAD(grad + grad_offset + s.window);
        const FT_WIDE(long) wide = FT_VLOAD(places + places_offset + s.window);
        const FT_WIDE(int) first = ft_beginnings(g, s);
        FT_EACH_LANE
        {
            FT_LANE(given) = FT_VALUE(FT_LANE(stored));
            FT_LANE(place) = FT_CONVERT(int, FT_LANE(wide)) - FT_LANE(first);
        }
        FT_LOOP(choose)
        FT_UNROLL
        for (int k = 0; k < FT_SIZE; k++) {
            FT_PIPELINE
            const int to = G_LINES(g)[k / FT_LINE_SIZE] + k % FT_LINE_SIZE;
            FT_EACH_LANE { FT_LANE(x) = FT_INDEX_MASK(FT_LANE(place) == (FT_I)(to)) ? FT_LANE(given) : K(0); }
            FT_LANES_TO(x, lanes);
            FT_UNROLL
            for (int l = 0; l < FT_LANES; l++) elements[ft_among(l, k / FT_LINE_SIZE, k % FT_LINE_SIZE)] = lanes[l];
        }
        FT_LOOP(write)
        FT_UNROLL
        for (int v = 0; v < FT_SIZE; v++) {
            FT_PIPELINE
            x = FT_LANES_FROM(elements + v * FT_LANES);
            FT_EACH_LANE { FT_LANE(stored) = FT_STORED(FT_LANE(x)); }
            FT_E_STORE(stored, p + ft_begins(g, v));
        }
    }
}
