// The distances of all pairs of n points, each pair once: for each point those to all later ones. `x` is (dims, n):
// the coordinates of neighbouring points adjoin, and a vector has the distances of one point to several.
// Geometry g: PairsGeometry. An item is a point; items are ordered such that slabs have about equally many pairs.
FT_FN_ONCE FT_V ft_distance(FT_GLOBAL const FT_T *x, int n, int dims, int i, int j, FT_T p)
{
    FT_V sum = K(0);
    for (int k = 0; k < dims; k++) {
        const FT_V d = fabs(K(x[(long)k * n + i]) - FT_VLOAD_UNALIGNED(x + ((long)k * n + j)));
        sum = FT_STEP(sum, d);
    }
    return FT_FINISH(sum);
}

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *x, long out_offset, long x_offset, FT_T p,
    FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_N(g), dims = G_COORDINATES(g);
    FT_FOR_SLAB(item, n - 1)
    {
        const int i = item % 2 ? n - 2 - item / 2 : item / 2;
        FT_GLOBAL FT_T *to = out + (out_offset + (long)i * n - (long)i * (i + 1) / 2);
        int j = i + 1;
        for (; j + FT_LANES <= n; j += FT_LANES) {
            FT_LANES_TO(ft_distance(x + x_offset, n, dims, i, j, p), to + (j - i - 1));
        }
        if (j < n) {  // the last vector is moved back: only its end belongs to this row
            FT_T each[FT_LANES];
            FT_LANES_TO(ft_distance(x + x_offset, n, dims, i, n - FT_LANES, p), each);
            for (; j < n; j++) to[j - i - 1] = each[FT_LANES - (n - j)];
        }
    }
}
