// A reduction with the lanes along the innermost kept dim: each lane folds an output of its own.
// Sums are folded in four levels (16 rows, 256, 4096, the rest), as in reduce_inner.h.
// An item is a block of FT_VECTORS vectors of outputs and one split of the reduced space; the last block of a row may be narrower.
// Geometry g: FoldGeometry; the kept dims are the outer ones, chunks are blocks of a kept row.
FT_KERNEL void FT_NAME(FT_PARAMS, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
#define FT_FOLDS 1
#define FT_ELEMENT(position) FT_LIFT(position)
#define FT_PUT(i)
#define FT_PUT_PART(i, m)
    FT_SETUP
    const int kept = G_KEPT(g), reduced = G_REDUCED(g), splits = G_SPLITS(g), items = G_ITEMS(g), inner = G_INNER(g);
    const int chunks = G_CHUNKS(g), work = G_WORK(g), split_step = G_RESULTS(g);
    FT_GLOBAL const int *kept_shape = G_KEPT_SHAPE(g), *kept_strides = G_KEPT_STRIDES(g);
    FT_GLOBAL const int *shape = G_SHAPE(g, FT_OPERANDS), *strides = G_STRIDES(g, FT_OPERANDS);
    FT_GLOBAL const int *inner_strides = G_INNER_STRIDES(g, FT_OPERANDS);
    int counter[FT_MAX_DIMS], at[FT_OPERANDS];
    FT_FOR_SLAB(item, items)
    {
        const int split = item % splits, first_column = item / splits % chunks * (FT_VECTORS * FT_LANES);
        const int width = inner - first_column < FT_VECTORS * FT_LANES ? inner - first_column : FT_VECTORS * FT_LANES;
        for (int k = 0; k < FT_OPERANDS; k++) at[k] = k < FT_OUTPUTS ? split * split_step : 0;
        int rest = item / splits / chunks;
        for (int d = kept - 1; d >= 0; d--) {
            for (int k = 0; k < FT_OPERANDS; k++) at[k] += rest % kept_shape[d] * kept_strides[k * kept + d];
            rest /= kept_shape[d];
        }
        const int begin = ft_slab(work, split, splits), end = ft_slab(work, split + 1, splits);
        rest = begin;
        for (int d = reduced - 1; d >= 0; d--) {
            counter[d] = rest % shape[d];
            rest /= shape[d];
            for (int k = FT_OUTPUTS; k < FT_OPERANDS; k++) at[k] += counter[d] * strides[k * reduced + d];
        }
        FT_STATES(sum)
        FT_STATES(middle)
        FT_STATES(top)
        FT_STATES(high)
        FT_LOOP(rows)
        for (int row = begin; row < end; row++) {
            FT_PIPELINE
            FT_BEATS(first_column)
            const int done = row - begin + 1;
            #include "shared/fold_row_outer.h"
            for (int d = reduced - 1; d >= 0; d--) {
                for (int k = FT_OUTPUTS; k < FT_OPERANDS; k++) at[k] += strides[k * reduced + d];
                if (++counter[d] < shape[d]) break;
                for (int k = FT_OUTPUTS; k < FT_OPERANDS; k++) at[k] -= shape[d] * strides[k * reduced + d];
                counter[d] = 0;
            }
        }
        FT_EACH_VECTOR
        {
            const int i = first_column + v * FT_LANES, rest_of = width - v * FT_LANES;
            const int m = rest_of < FT_LANES ? rest_of : FT_LANES;
            FT_RESULT
            FT_EACH_LANE
            {
                FT_LANE(top[v]) = ft_combine(FT_LANE(top[v]), ft_combine(FT_LANE(middle[v]), FT_LANE(sum[v])));
                FT_LANE(high[v]) = ft_combine(FT_LANE(high[v]), FT_LANE(top[v]));
                FT_FINISH(FT_LANE(high[v]))
            }
            if (m > 0) { FT_WRITE(i, m) }
        }
    }
}
