// Copies through one index tensor: a contiguous run for each index (FT_RUNS), or an element for each of several
// neighbouring indices. Elements are copied as bits. Indices are checked a vector at a time; one out of range is
// recorded as in locate.h, and its write is skipped.
// Geometry g: TakeGeometry. An item is one of `parts` parts of an innermost loop of n iterations.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_B *out, FT_GLOBAL const FT_B *in, FT_GLOBAL const FT_J *index, long out_offset, long in_offset,
    long index_offset, long size, long stride, FT_GLOBAL long *bad, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_N(g), parts = G_PARTS(g), dims = G_DIMS(g), items = G_ITEMS(g);
    const long step = G_STEP(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *strides = G_OUTER_STRIDES(g);
    FT_STREAMED((long)(items / parts) * n * sizeof(FT_B) * FT_LANES / 64, 0)
    FT_FOR_SLAB(item, items)
    {
        const int row = item / parts, part = item % parts;
        long to = out_offset, from = in_offset, at = index_offset;
        int rest = row;
        for (int d = dims - 1; d >= 0; d--) {
            const int k = rest % (int)shape[d];
            rest /= (int)shape[d];
            to += k * strides[3 * d];
            from += k * strides[3 * d + 1];
            at += k * strides[3 * d + 2];
        }
        // Each part begins at a multiple of the lanes, so that only the row's last vector is partial.
        const int vectors = (n + FT_LANES - 1) / FT_LANES;
        const int begin = ft_slab(vectors, part, parts) * FT_LANES, last = ft_slab(vectors, part + 1, parts) * FT_LANES;
        const int end = last < n ? last : n;
        FT_GLOBAL FT_B *out_row = out + to;
#if FT_RUNS
        const long there = ft_locate(0, index[at], size, stride, bad, 0);
        if (there < 0) continue;
        FT_GLOBAL const FT_B *source = in + (from + there);
        int i = begin;
        for (; i + FT_LANES <= end; i += FT_LANES) {
            FT_VSTORE_NONTEMPORAL(FT_B, (FT_CAT(vload, FT_N)(0, source + i)), out_row + i)
        }
        for (; i < end; i++) out_row[i] = source[i];
#else
        const long n_there = size < 0 ? -size : size, wrap = size > 0 ? size : 0;
        FT_GLOBAL const FT_J *places = index + at;
        FT_GLOBAL const FT_B *source = in + from;
        int i = begin;
        for (; i + FT_LANES <= end; i += FT_LANES) {
            const FT_VEC(long) read = FT_CONVERT(long, FT_CAT(vload, FT_N)(0, places + i));
            const FT_VEC(long) wrapped = read + ((read < (FT_VEC(long))0) & (FT_VEC(long))wrap);
            if (FT_ANY((wrapped < (FT_VEC(long))0) | (wrapped >= (FT_VEC(long))n_there))) {
                for (int l = i; l < i + FT_LANES; l++) {
                    const long there = ft_locate(0, places[l], size, stride, bad, 0);
                    if (there >= 0) out_row[l] = source[there + l * step];
                }
                continue;
            }
            long there[FT_LANES];
            FT_B found[FT_LANES];
            FT_CAT(vstore, FT_N)(wrapped * (FT_VEC(long))stride, 0, there);
            FT_UNROLL
            for (int l = 0; l < FT_LANES; l++) found[l] = source[there[l] + (i + l) * step];
            FT_VSTORE_NONTEMPORAL(FT_B, (FT_CAT(vload, FT_N)(0, found)), out_row + i)
        }
        for (; i < end; i++) {
            const long there = ft_locate(0, places[i], size, stride, bad, 0);
            if (there >= 0) out_row[i] = source[there + i * step];
        }
#endif
    }
}
