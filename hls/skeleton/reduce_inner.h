// A reduction with the lanes along the innermost reduced dim: every lane folds its share, then a tree combines
// the lanes. An item is one output and one split of its reduced space; with few outputs, the splits give work
// to all compute units. Sums are folded in four levels (a chunk, 16 chunks, 256 chunks, the rest), so the error
// is near that of pairwise summation. A chunk is folded into FT_VECTORS independent states, so that a vector
// does not wait for the one before. Geometry g: FoldGeometry.
FT_KERNEL void FT_NAME(FT_PARAMS, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
#define FT_FOLDS 1
#define FT_ELEMENT(position) FT_LIFT(position)
#define FT_PUT(i)
#define FT_PUT_PART(i, m)
#define FT_BELOW(m) lifted = ft_choose(FT_LANES_BELOW(m), lifted, ft_identity());
    FT_SETUP
    const int kept = G_KEPT(g), reduced = G_REDUCED(g), splits = G_SPLITS(g), items = G_ITEMS(g), inner = G_INNER(g);
    const int chunk = G_CHUNK(g), chunks = G_CHUNKS(g), work = G_WORK(g), split_step = G_RESULTS(g);
    FT_GLOBAL const int *kept_shape = G_KEPT_SHAPE(g), *kept_strides = G_KEPT_STRIDES(g);
    FT_GLOBAL const int *shape = G_SHAPE(g, FT_OPERANDS), *strides = G_STRIDES(g, FT_OPERANDS);
    FT_GLOBAL const int *inner_strides = G_INNER_STRIDES(g, FT_OPERANDS);
    int counter[FT_MAX_DIMS], at[FT_OPERANDS];
    FT_FOR_SLAB(item, items)
    {
        const int split = item % splits;
        for (int k = 0; k < FT_OPERANDS; k++) at[k] = k < FT_OUTPUTS ? split * split_step : 0;
        int rest = item / splits;
        for (int d = kept - 1; d >= 0; d--) {
            for (int k = 0; k < FT_OPERANDS; k++) at[k] += rest % kept_shape[d] * kept_strides[k * kept + d];
            rest /= kept_shape[d];
        }
        const int begin = ft_slab(work, split, splits), end = ft_slab(work, split + 1, splits);
        int row = begin / chunks, part = begin % chunks;
        rest = row;
        for (int d = reduced - 1; d >= 0; d--) {
            counter[d] = rest % shape[d];
            rest /= shape[d];
            for (int k = FT_OUTPUTS; k < FT_OPERANDS; k++) at[k] += counter[d] * strides[k * reduced + d];
        }
        FT_STATE(middle)
        FT_STATE(top)
        FT_STATE(high)
        int blocks = 0;
        for (int w = begin; w < end; w++) {
            #include "shared/fold_chunk_inner.h"
            if (++part == chunks) {
                part = 0;
                row++;
                for (int d = reduced - 1; d >= 0; d--) {
                    for (int k = FT_OUTPUTS; k < FT_OPERANDS; k++) at[k] += strides[k * reduced + d];
                    if (++counter[d] < shape[d]) break;
                    for (int k = FT_OUTPUTS; k < FT_OPERANDS; k++) at[k] -= shape[d] * strides[k * reduced + d];
                    counter[d] = 0;
                }
            }
        }
        FT_EACH_LANE { FT_LANE(high) = ft_combine(FT_LANE(high), ft_combine(FT_LANE(top), FT_LANE(middle))); }
        FT_FOLD_LANES(high)
        FT_RESULT
        FT_EACH_LANE { FT_FINISH(FT_LANE(high)) }
        FT_WRITE(0, 1)
    }
}
