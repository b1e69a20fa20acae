// Where values belong in rows that are sorted: how many elements of the row are below each, or, from the
// right, not above it. NaN belongs at the end. With `sorter`, the row is in order where that says.
// Geometry g (long): values, values of a row, size of a row, step from a row to the next (0: all use one),
//   whether from the right, whether there is a sorter, how often a row is halved. All lie one after another.
FT_KERNEL void FT_NAME(
    FT_GLOBAL long *out, FT_GLOBAL const FT_E *row, FT_GLOBAL const FT_E *values, FT_GLOBAL const long *sorter,
    long out_offset, long row_offset, long values_offset, long sorter_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(row, gmem1)
    FT_PORT(values, gmem2)
    FT_PORT(sorter, gmem3)
    FT_PORT(g, gmem4)
    const int n = (int)g[0], each = (int)g[1], size = (int)g[2], right = (int)g[4], sorted = (int)g[5], halves = (int)g[6];
    const long step = g[3];
    FT_FOR_SLAB(i, n)
    {
        const long base = i / each * step;
        const FT_X x = FT_ONE(values + values_offset + i);
        int low = 0, high = size;
        FT_LOOP(halves)
        for (int h = 0; h < halves; h++) {
            FT_PIPELINE
            const int middle = low + (high - low) / 2;
            if (low == high) continue;
            long at = middle;
            if (sorted) at = sorter[sorter_offset + base + middle];
            const FT_X y = FT_ONE(row + row_offset + base + at);
            if (right ? !(y > x) : !(y >= x)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        out[out_offset + i] = low;
    }
}
