// The order of rows that a sequence of swaps leaves: order[i] is the row that lies in place i in the end. An
// item is a matrix of m rows, of which the first `count` changed places with row pivots[i] (from 1).
FT_KERNEL void FT_NAME(FT_GLOBAL const int *pivots, FT_GLOBAL long *order, long pivots_offset, long order_offset,
                       int items, int m, int count FT_UNIT_PARAMS)
{
    FT_PORT(pivots, gmem0)
    FT_PORT(order, gmem1)
    FT_FOR_SLAB(item, items)
    {
        FT_GLOBAL long *rows = order + order_offset + (long)item * m;
        FT_LOOP(rows)
        for (int i = 0; i < m; i++) {
            FT_PIPELINE
            rows[i] = i;
        }
        FT_LOOP(swaps)
        for (int i = 0; i < count; i++) {
            FT_PIPELINE
            const int at = pivots[pivots_offset + (long)item * count + i] - 1;
            if (at >= 0 && at < m) {
                const long row = rows[i];
                rows[i] = rows[at];
                rows[at] = row;
            }
        }
    }
}
