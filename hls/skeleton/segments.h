// Reduces segments of rows, one after another in memory or selected by an index tensor: `out` gets a row for each
// segment, `counts` the number of its rows. A row may have a weight, and rows with the index `pad` do not count. The
// sum, or another reduction, begins with `first`; a segment without rows gives `empty`. An index out of range is
// recorded as in locate.h, and its row does not count. All arrays are contiguous. Segments outside the rows are cut.
// Geometry g: SegmentsGeometry. An item is a group of FT_GROUP neighbouring columns of one segment; the last group
// of a row overlaps the one before, so that all groups are whole.
#define FT_GROUP (FT_VECTORS * FT_LANES)
// Rows that an index selects are far apart, so they are fetched some rows ahead. A prefetch never faults.
#define FT_DISTANCE 16
#define FT_AHEAD(p)
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch)
#undef FT_AHEAD
#define FT_AHEAD(p) __builtin_prefetch((const void *)(size_t)(p));
#endif
#endif

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL long *counts, FT_GLOBAL const FT_E *rows, FT_GLOBAL const long *ends,
#if FT_GATHERS
    FT_GLOBAL const FT_J *index,
#endif
#if FT_WEIGHTED
    FT_GLOBAL const FT_E *weights,
#endif
    long out_offset, long counts_offset, long rows_offset, long ends_offset,
#if FT_GATHERS
    long index_offset,
#endif
#if FT_WEIGHTED
    long weights_offset,
#endif
    FT_T first, FT_T empty,
#if FT_GATHERS
    long pad, FT_GLOBAL long *bad,
#endif
    FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int groups = G_GROUPS(g), segments = G_SEGMENTS(g), items = G_ITEMS(g);
    const long size = G_LENGTH(g), width = G_WIDTH(g), limits = G_LIMITS(g);
    FT_FOR_SLAB(item, items)
    {
        const int group = item % groups, nth = item / groups, segment = nth % segments;
        const long outer = nth / segments;
        FT_GLOBAL const long *limit = ends + (ends_offset + outer * limits + segment);
        const long begin = limit[0] > 0 ? limit[0] : 0, stated = segment + 1 < limits ? limit[1] : size;
        const long end = stated < size ? stated : size;
        const long column = (group + 1) * FT_GROUP <= width ? group * FT_GROUP : width - FT_GROUP;
        FT_V x[FT_VECTORS];
        FT_UNROLL
        for (int v = 0; v < FT_VECTORS; v++) x[v] = K(first);
        long count = 0;
        for (long i = begin; i < end; i++) {
#if FT_GATHERS
            const long selected = index[index_offset + i];
            FT_AHEAD(rows + (rows_offset + index[index_offset + (i + FT_DISTANCE < size ? i + FT_DISTANCE : i)] * width))
            const long there = ft_locate(0, selected, -G_TABLE(g), width, bad, 0);
            if (there < 0 || selected == pad) continue;
            FT_GLOBAL const FT_E *row = rows + (rows_offset + there + column);
#else
            FT_GLOBAL const FT_E *row = rows + (rows_offset + (outer * size + i) * width + column);
#endif
#if FT_WEIGHTED
            const FT_V weight = FT_ONE(weights + weights_offset + i);
#endif
            count++;
            FT_UNROLL
            for (int v = 0; v < FT_VECTORS; v++) {
                const FT_WIDE_E read = FT_E_LOAD(row + v * FT_LANES);
#if FT_WEIGHTED
                const FT_V y = FT_VALUE(read) * weight;
#else
                const FT_V y = FT_VALUE(read);
#endif
                x[v] = FT_COMBINED(x[v], y);
            }
        }
        if (group == 0) counts[counts_offset + nth] = count;
        FT_GLOBAL FT_E *to = out + (out_offset + nth * width + column);
        FT_UNROLL
        for (int v = 0; v < FT_VECTORS; v++) {
            FT_V y = x[v];
            if (G_MEAN(g)) y /= K((FT_T)(count > 0 ? count : 1));
            if (count == 0) y = K(empty);
            const FT_WIDE_E written = FT_STORED(y);
            FT_E_STORE(written, to + v * FT_LANES);
        }
    }
}
