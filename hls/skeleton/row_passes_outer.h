// Folds and maps over the same rows, one after another, with the lanes along the innermost kept dim. An item is a block
// of FT_VECTORS vectors of results and the elements that they are folded from, which stay in the cache during the
// passes. The last block may be narrower.
// Geometry g: FoldGeometry, of one split; the kept dims are the outer ones, chunks are blocks of a kept row.
// Holes: FT_ROW_VALUES declares the values that passes compute for each lane, FT_PASSES is a row_pass_outer.h for each
// pass, FT_ROW_READ(i, m) FT_ROW_RESULTS FT_ROW_WRITE(i, m) read, compute and write operands with one element per lane.
FT_KERNEL void FT_NAME(FT_PARAMS, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    FT_SETUP
    const int kept = G_KEPT(g), reduced = G_REDUCED(g), items = G_ITEMS(g), inner = G_INNER(g);
    const int chunks = G_CHUNKS(g), work = G_WORK(g);
    FT_GLOBAL const int *kept_shape = G_KEPT_SHAPE(g), *kept_strides = G_KEPT_STRIDES(g);
    FT_GLOBAL const int *shape = G_SHAPE(g, FT_OPERANDS), *strides = G_STRIDES(g, FT_OPERANDS);
    FT_GLOBAL const int *inner_strides = G_INNER_STRIDES(g, FT_OPERANDS);
    FT_RESULTS((long)items / chunks * inner * work)
    int counter[FT_MAX_DIMS], first[FT_OPERANDS], at[FT_OPERANDS];
    FT_FOR_SLAB(item, items)
    {
        const int first_column = item % chunks * (FT_VECTORS * FT_LANES);
        const int width = inner - first_column < FT_VECTORS * FT_LANES ? inner - first_column : FT_VECTORS * FT_LANES;
        for (int k = 0; k < FT_OPERANDS; k++) first[k] = 0;
        int rest = item / chunks;
        for (int d = kept - 1; d >= 0; d--) {
            for (int k = 0; k < FT_OPERANDS; k++) first[k] += rest % kept_shape[d] * kept_strides[k * kept + d];
            rest /= kept_shape[d];
        }
        FT_ROW_VALUES
        FT_PASSES
        FT_EACH_VECTOR
        {
            const int i = first_column + v * FT_LANES, left = width - v * FT_LANES, m = left < FT_LANES ? left : FT_LANES;
            FT_ROW_READ(i, m)
            FT_EACH_LANE { FT_ROW_RESULTS }
            if (m > 0) { FT_ROW_WRITE(i, m) }
        }
    }
}
