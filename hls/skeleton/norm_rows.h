// Rows less their means, over their deviations, times a weight, plus a bias; means and 1 / deviations come out, too.
// Lanes go along a row. Sums of FT_DEPTH steps join totals, so that long rows stay exact.
// Geometry g: NormGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL FT_T *mean, FT_GLOBAL FT_T *rstd, FT_GLOBAL const FT_T *x, FT_GLOBAL const FT_T *weight,
    FT_GLOBAL const FT_T *bias, long out_offset, long mean_offset, long rstd_offset, long x_offset, long weight_offset,
    long bias_offset, FT_T eps, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_N(g), weighted = G_WEIGHTED(g), shifted = G_SHIFTED(g), steps = (n + FT_LANES - 1) / FT_LANES;
    FT_GLOBAL const FT_T *factor = weight + weight_offset, *summand = bias + bias_offset;
    FT_FOR_SLAB(row, G_ITEMS(g))
    {
        FT_GLOBAL const FT_T *from = x + (x_offset + (long)row * n);
        FT_GLOBAL FT_T *to = out + (out_offset + (long)row * n);
        FT_WIDE(FT_T) middle, total, part, a, b, c;
        FT_EACH_LANE
        {
            FT_LANE(middle) = K(0);
            FT_LANE(total) = K(0);
        }
        for (int k0 = 0; k0 < steps; k0 += FT_DEPTH) {
            const int end = steps - k0 < FT_DEPTH ? steps : k0 + FT_DEPTH;
            FT_EACH_LANE { FT_LANE(part) = K(0); }
            FT_LOOP(sum)
            for (int k = k0; k < end; k++) {
                FT_PIPELINE
                const int m = FT_ROW_MEMBERS(k);
                a = ft_row_part(from + k * FT_LANES, m);
                FT_EACH_LANE { FT_LANE(part) += FT_LANES_BELOW(m) ? FT_LANE(a) : K(0); }
            }
            FT_EACH_LANE { FT_LANE(middle) += FT_LANE(part); }
        }
        FT_ACROSS(middle, FT_SUM_OF)
        FT_EACH_LANE { FT_LANE(middle) = FT_LANE(middle) / K(n); }
        for (int k0 = 0; k0 < steps; k0 += FT_DEPTH) {
            const int end = steps - k0 < FT_DEPTH ? steps : k0 + FT_DEPTH;
            FT_EACH_LANE { FT_LANE(part) = K(0); }
            FT_LOOP(squares)
            for (int k = k0; k < end; k++) {
                FT_PIPELINE
                const int m = FT_ROW_MEMBERS(k);
                a = ft_row_part(from + k * FT_LANES, m);
                FT_EACH_LANE
                {
                    const FT_V d = FT_LANE(a) - FT_LANE(middle);
                    FT_LANE(part) += FT_LANES_BELOW(m) ? d * d : K(0);
                }
            }
            FT_EACH_LANE { FT_LANE(total) += FT_LANE(part); }
        }
        FT_ACROSS(total, FT_SUM_OF)
        FT_EACH_LANE { FT_LANE(total) = K(1) / sqrt(FT_LANE(total) / K(n) + K(eps)); }
        FT_LOOP(results)
        for (int k = 0; k < steps; k++) {
            FT_PIPELINE
            const int m = FT_ROW_MEMBERS(k);
            a = ft_row_part(from + k * FT_LANES, m);
            FT_EACH_LANE { FT_LANE(a) = (FT_LANE(a) - FT_LANE(middle)) * FT_LANE(total); }
            if (weighted) {
                b = ft_row_part(factor + k * FT_LANES, m);
                FT_EACH_LANE { FT_LANE(a) = FT_LANE(a) * FT_LANE(b); }
            }
            if (shifted) {
                c = ft_row_part(summand + k * FT_LANES, m);
                FT_EACH_LANE { FT_LANE(a) = FT_LANE(a) + FT_LANE(c); }
            }
            ft_row_made(a, to + k * FT_LANES, m);
        }
        ft_put(middle, mean + mean_offset + row, 1, 1);
        ft_put(total, rstd + rstd_offset + row, 1, 1);
    }
}
