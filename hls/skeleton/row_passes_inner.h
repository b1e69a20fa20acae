// Folds and maps over the same rows, one after another, with the lanes along the innermost reduced dim. An item is one
// result of each fold and the elements that it is folded from. They stay in the cache during the passes.
// Geometry g: FoldGeometry, of one split.
// Holes: FT_ROW_VALUES declares the values that passes compute for a row, FT_PASSES is a row_pass_inner.h for each
// pass, FT_ROW_READ(i, m) FT_ROW_RESULTS FT_ROW_WRITE(i, m) read, compute and write operands with one element per row.
FT_KERNEL void FT_NAME(FT_PARAMS, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    FT_SETUP
    const int kept = G_KEPT(g), reduced = G_REDUCED(g), items = G_ITEMS(g), inner = G_INNER(g);
    const int chunk = G_CHUNK(g), chunks = G_CHUNKS(g), work = G_WORK(g);
    FT_GLOBAL const int *kept_shape = G_KEPT_SHAPE(g), *kept_strides = G_KEPT_STRIDES(g);
    FT_GLOBAL const int *shape = G_SHAPE(g, FT_OPERANDS), *strides = G_STRIDES(g, FT_OPERANDS);
    FT_GLOBAL const int *inner_strides = G_INNER_STRIDES(g, FT_OPERANDS);
    FT_RESULTS((long)items * (work / chunks) * inner)
    int counter[FT_MAX_DIMS], first[FT_OPERANDS], at[FT_OPERANDS];
    FT_FOR_SLAB(item, items)
    {
        for (int k = 0; k < FT_OPERANDS; k++) first[k] = 0;
        int rest = item;
        for (int d = kept - 1; d >= 0; d--) {
            for (int k = 0; k < FT_OPERANDS; k++) first[k] += rest % kept_shape[d] * kept_strides[k * kept + d];
            rest /= kept_shape[d];
        }
        FT_ROW_VALUES
        FT_PASSES
        FT_ROW_READ(0, 1)
        FT_ROW_RESULTS
        FT_ROW_WRITE(0, 1)
    }
}
