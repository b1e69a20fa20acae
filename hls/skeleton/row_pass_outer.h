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
                if (width == FT_VECTORS * FT_LANES) {
                    FT_EACH_VECTOR
                    {
                        const int i = begin + v * FT_LANES;
                        FT_READ(i)
                        FT_EACH_LANE
                        {
                            FT_ELEMENT((FT_I)(row))
#if FT_FOLDS
                            FT_LANE(sum[v]) = ft_combine(FT_LANE(sum[v]), lifted);
#endif
                        }
                        FT_WRITE(i)
                    }
                } else {
                    FT_EACH_VECTOR
                    {
                        const int i = begin + v * FT_LANES, m = width - v * FT_LANES;
                        if (m >= FT_LANES) {
                            FT_READ(i)
                            FT_EACH_LANE
                            {
                                FT_ELEMENT((FT_I)(row))
#if FT_FOLDS
                                FT_LANE(sum[v]) = ft_combine(FT_LANE(sum[v]), lifted);
#endif
                            }
                            FT_WRITE(i)
                        } else if (m > 0) {
                            FT_READ_PART(i, m)
                            FT_EACH_LANE
                            {
                                FT_ELEMENT((FT_I)(row))
#if FT_FOLDS
                                FT_LANE(sum[v]) = ft_combine(FT_LANE(sum[v]), lifted);
#endif
                            }
                            FT_WRITE_PART(i, m)
                        }
                    }
                }
#if FT_FOLDS
                const int done = row + 1;
                if (done % 16 == 0) {
                    FT_EACH_VECTOR
                    FT_EACH_LANE
                    {
                        FT_LANE(middle[v]) = ft_combine(FT_LANE(middle[v]), FT_LANE(sum[v]));
                        FT_LANE(sum[v]) = ft_identity();
                    }
                    if (done % 256 == 0) {
                        FT_EACH_VECTOR
                        FT_EACH_LANE
                        {
                            FT_LANE(top[v]) = ft_combine(FT_LANE(top[v]), FT_LANE(middle[v]));
                            FT_LANE(middle[v]) = ft_identity();
                        }
                        if (done % 4096 == 0) {
                            FT_EACH_VECTOR
                            FT_EACH_LANE
                            {
                                FT_LANE(high[v]) = ft_combine(FT_LANE(high[v]), FT_LANE(top[v]));
                                FT_LANE(top[v]) = ft_identity();
                            }
                        }
                    }
                }
#endif
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
                const int i = begin + v * FT_LANES, rest_of = width - v * FT_LANES;
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
