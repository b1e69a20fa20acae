// The position of the largest (with FT_SMALLEST the smallest) element of a row; of equal elements the first.
// NaN precedes every number. A first pass computes the extreme of each block in vectors; a second pass searches
// the first block that has the row's extreme. Geometry g: ExtremeGeometry. An item is one of the `splits` of a
// row.
#define FT_BLOCK 2048
#if FT_SMALLEST
#define FT_BEATS_IT(x, y) ((x) < (y))
#else
#define FT_BEATS_IT(x, y) ((x) > (y))
#endif

// The extreme of n elements; sets *nan if one of them is NaN.
FT_FN_ONCE FT_T ft_extreme(FT_GLOBAL const FT_T *x, int n, int *nan)
{
    FT_V best[4], lanes;
    FT_M odd = (FT_M)0;
    FT_UNROLL
    for (int v = 0; v < 4; v++) best[v] = K(FT_WORST);
    int i = 0;
    for (; i + 4 * FT_LANES <= n; i += 4 * FT_LANES) {
        FT_UNROLL
        for (int v = 0; v < 4; v++) {
            const FT_V a = FT_VLOAD(x + i + v * FT_LANES);
            best[v] = FT_BEATS_IT(a, best[v]) ? a : best[v];
            odd |= a != a;
        }
    }
    for (; i + FT_LANES <= n; i += FT_LANES) {
        const FT_V a = FT_VLOAD(x + i);
        best[0] = FT_BEATS_IT(a, best[0]) ? a : best[0];
        odd |= a != a;
    }
    best[0] = FT_BEATS_IT(best[1], best[0]) ? best[1] : best[0];
    best[2] = FT_BEATS_IT(best[3], best[2]) ? best[3] : best[2];
    lanes = FT_BEATS_IT(best[2], best[0]) ? best[2] : best[0];
    FT_T each[FT_LANES], found = FT_WORST;
    FT_LANES_TO(lanes, each);
    for (int l = 0; l < FT_LANES; l++) found = FT_BEATS_IT(each[l], found) ? each[l] : found;
    *nan = FT_ANY(odd);
    for (; i < n; i++) {
        found = FT_BEATS_IT(x[i], found) ? x[i] : found;
        *nan |= x[i] != x[i];
    }
    return found;
}

// The index of the first of n elements that equals `found`, or of the first NaN if `nan` is set.
FT_FN_ONCE int ft_first_index(FT_GLOBAL const FT_T *x, int n, FT_T found, int nan)
{
    int i = 0;
    for (; i + FT_LANES <= n; i += FT_LANES) {
        const FT_V a = FT_VLOAD(x + i);
        const FT_M there = nan ? a != a : a == K(found);
        if (FT_ANY(there)) break;
    }
    while (i < n - 1 && !(nan ? x[i] != x[i] : x[i] == found)) i++;
    return i;
}

FT_KERNEL void FT_NAME(
#if FT_VALUES
    FT_GLOBAL FT_T *values,
#endif
    FT_GLOBAL FT_PLACE *places, FT_GLOBAL const FT_T *in,
#if FT_VALUES
    long values_offset,
#endif
    long places_offset, long in_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_N(g), splits = G_SPLITS(g), dims = G_DIMS(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *written = G_WRITTEN(g), *read = G_READ(g);
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int split = item % splits;
        int rest = item / splits;
        long to = split * G_SPLIT_STEP(g), from = in_offset;
        #include "shared/batch_offsets.h"
        const int begin = ft_slab(n, split, splits), end = ft_slab(n, split + 1, splits);
        FT_GLOBAL const FT_T *x = in + from;
        FT_T best = FT_WORST;
        int block = begin, nan = 0;
        for (int i = begin; i < end && !nan; i += FT_BLOCK) {
            const FT_T found = ft_extreme(x + i, end - i < FT_BLOCK ? end - i : FT_BLOCK, &nan);
            if (nan || FT_BEATS_IT(found, best)) {
                best = found;
                block = i;
            }
        }
        const int place = block + ft_first_index(x + block, end - block < FT_BLOCK ? end - block : FT_BLOCK, best, nan);
#if FT_VALUES
        values[values_offset + to] = x[place];
#endif
        places[places_offset + to] = place;
    }
}
