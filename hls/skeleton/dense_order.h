// The row order after a sequence of swaps: order[i] is the row at position i in the end. An item is a matrix of m
// rows, of which the first `count` were exchanged with row pivots[i] (from 1). Boards keep matrices with up to
// FT_ROWS rows together in block memory.
FT_KERNEL void FT_NAME(FT_GLOBAL const int *pivots, FT_GLOBAL long *order, long pivots_offset, long order_offset,
                       int items, int m, int count FT_UNIT_PARAMS)
{
#if FT_LOCAL_ELEMENTS
    int held[FT_ROWS];
    if (m <= FT_ROWS) {
        const int each = (items + FT_UNITS - 1) / FT_UNITS, fit = FT_ROWS / m, group = fit < each ? fit : each;
        FT_FOR_SLAB(block, (items + group - 1) / group)
        {
            const int first = block * group, some = items - first < group ? items - first : group;
            int i = 0, base = 0;
            FT_LOOP(places)
            for (int t = 0; t < some * m; t++) {
                FT_PIPELINE
                held[t] = i;
                if (++i == m) i = 0;
            }
            i = 0;
            FT_LOOP(exchange)
            for (int t = 0; t < some * count; t++) {
                FT_PIPELINE
                const int at = pivots[pivots_offset + (long)first * count + t] - 1;
                if (at >= 0 && at < m) {
                    const int row = held[base + i];
                    held[base + i] = held[base + at];
                    held[base + at] = row;
                }
                if (++i == count) {
                    i = 0;
                    base += m;
                }
            }
            FT_LOOP(store)
            for (int t = 0; t < some * m; t++) {
                FT_PIPELINE
                order[order_offset + (long)first * m + t] = held[t];
            }
        }
        return;
    }
#endif
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
