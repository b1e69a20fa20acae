        // One pass over a row. It folds in the order of reduce_inner.h. Holes: FT_READ(i) FT_READ_PART(i, m)
        // FT_ELEMENT(position) FT_PUT(i) FT_PUT_PART(i, m). A pass that folds (FT_FOLDS) also has the holes
        // of its state; FT_BELOW(m), which keeps the lifted state of m lanes; FT_OF_ROW(i, m), which reads an
        // operand with one element per row; and FT_ROW(folded).
        {
            for (int k = 0; k < FT_OPERANDS; k++) at[k] = first[k];
            for (int d = 0; d < reduced; d++) counter[d] = 0;
            int row = 0, part = 0;
#if FT_FOLDS
            FT_STATE(middle)
            FT_STATE(top)
            FT_STATE(high)
            int blocks = 0;
#endif
            for (int w = 0; w < work; w++) {
                #include "shared/fold_chunk_inner.h"
                if (++part == chunks) {
                    part = 0;
                    row++;
                    for (int d = reduced - 1; d >= 0; d--) {
                        for (int k = 0; k < FT_OPERANDS; k++) at[k] += strides[k * reduced + d];
                        if (++counter[d] < shape[d]) break;
                        for (int k = 0; k < FT_OPERANDS; k++) at[k] -= shape[d] * strides[k * reduced + d];
                        counter[d] = 0;
                    }
                }
            }
#if FT_FOLDS
            FT_EACH_LANE { FT_LANE(high) = ft_combine(FT_LANE(high), ft_combine(FT_LANE(top), FT_LANE(middle))); }
            FT_FOLD_LANES(high)
            FT_OF_ROW(0, 1)
            FT_ROW(high FT_LANE_0)
#endif
        }
