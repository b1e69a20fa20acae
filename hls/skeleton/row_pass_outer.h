        // One pass over the elements that a block of results is folded from, in the order of reduce_outer.h.
        // Holes: as in row_pass_inner.h.
        {
            for (int k = 0; k < FT_OPERANDS; k++) at[k] = first[k];
            for (int d = 0; d < reduced; d++) counter[d] = 0;
            int line[FT_OPERANDS];  // the step from row to row, if the reduced dims are one dim
            for (int k = 0; k < FT_OPERANDS; k++) line[k] = reduced == 1 ? strides[k] : 0;
#if FT_FOLDS
            FT_STATES(sum)
            FT_STATES(middle)
            FT_STATES(top)
            FT_STATES(high)
#endif
            FT_LOOP(rows)
            for (int row = 0; row < work; row++) {
                FT_PIPELINE
                const int done = row + 1;
                #include "shared/fold_row_outer.h"
                for (int k = 0; k < FT_OPERANDS; k++) at[k] += line[k];
                for (int d = reduced == 1 ? -1 : reduced - 1; d >= 0; d--) {
                    for (int k = 0; k < FT_OPERANDS; k++) at[k] += strides[k * reduced + d];
                    if (++counter[d] < shape[d]) break;
                    for (int k = 0; k < FT_OPERANDS; k++) at[k] -= shape[d] * strides[k * reduced + d];
                    counter[d] = 0;
                }
            }
#if FT_FOLDS
            FT_EACH_VECTOR
            {
                const int i = first_column + v * FT_LANES, rest_of = width - v * FT_LANES;
                const int m = rest_of < FT_LANES ? rest_of : FT_LANES;
                FT_OF_ROW(i, m)
                FT_EACH_LANE
                {
                    FT_LANE(top[v]) = ft_combine(FT_LANE(top[v]), ft_combine(FT_LANE(middle[v]), FT_LANE(sum[v])));
                    FT_LANE(high[v]) = ft_combine(FT_LANE(high[v]), FT_LANE(top[v]));
                    FT_ROW(FT_LANE(high[v]))
                }
            }
#endif
        }
