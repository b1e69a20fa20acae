// Positions of values in sorted rows: the number of elements of the row below each value, or, from the right, not
// above it. NaN belongs at the end. `sorter` gives the order of an unsorted row. All arrays are contiguous. Geometry
// g: SearchGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL long *out, FT_GLOBAL const FT_E *row, FT_GLOBAL const FT_E *values, FT_GLOBAL const long *sorter,
    long out_offset, long row_offset, long values_offset, long sorter_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_N(g), each = G_EACH(g), size = G_ROW(g), right = G_RIGHT(g), sorted = G_SORTED(g), halves = G_HALVES(g);
    const long step = G_STEP(g);
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
