// The gradient of what norm_rows.h normalizes: (w - mean of w - y * mean of w * y) / deviation, where w is the result's
// gradient times the weight, and y the normalized row. Lanes go along a row.
// Geometry g: NormGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *grad, FT_GLOBAL const FT_T *x, FT_GLOBAL const FT_T *mean,
    FT_GLOBAL const FT_T *rstd, FT_GLOBAL const FT_T *weight, long out_offset, long grad_offset, long x_offset,
    long mean_offset, long rstd_offset, long weight_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_N(g), weighted = G_WEIGHTED(g), steps = (n + FT_LANES - 1) / FT_LANES;
    FT_GLOBAL const FT_T *factor = weight + weight_offset;
    FT_FOR_SLAB(row, G_ITEMS(g))
    {
        const long at = (long)row * n;
        FT_GLOBAL const FT_T *from = x + (x_offset + at), *given = grad + (grad_offset + at);
        FT_GLOBAL FT_T *to = out + (out_offset + at);
        const FT_T middle = mean[mean_offset + row], scale = rstd[rstd_offset + row];
        FT_WIDE(FT_T) whole, along, part, other, a, b;
        FT_EACH_LANE
        {
            FT_LANE(whole) = K(0);
            FT_LANE(along) = K(0);
        }
        for (int k0 = 0; k0 < steps; k0 += FT_DEPTH) {
            const int end = steps - k0 < FT_DEPTH ? steps : k0 + FT_DEPTH;
            FT_EACH_LANE
            {
                FT_LANE(part) = K(0);
                FT_LANE(other) = K(0);
            }
            FT_LOOP(sums)
            for (int k = k0; k < end; k++) {
                FT_PIPELINE
                const int m = FT_ROW_MEMBERS(k);
                a = ft_row_times(given + k * FT_LANES, factor + k * FT_LANES, weighted, m);
                b = ft_row_part(from + k * FT_LANES, m);
                FT_EACH_LANE
                {
                    const FT_V y = (FT_LANE(b) - K(middle)) * K(scale);
                    FT_LANE(part) += FT_LANES_BELOW(m) ? FT_LANE(a) : K(0);
                    FT_LANE(other) += FT_LANES_BELOW(m) ? FT_LANE(a) * y : K(0);
                }
            }
            FT_EACH_LANE
            {
                FT_LANE(whole) += FT_LANE(part);
                FT_LANE(along) += FT_LANE(other);
            }
        }
        FT_ACROSS(whole, FT_SUM_OF)
        FT_ACROSS(along, FT_SUM_OF)
        FT_LOOP(results)
        for (int k = 0; k < steps; k++) {
            FT_PIPELINE
            const int m = FT_ROW_MEMBERS(k);
            a = ft_row_times(given + k * FT_LANES, factor + k * FT_LANES, weighted, m);
            b = ft_row_part(from + k * FT_LANES, m);
            FT_EACH_LANE
            {
                const FT_V y = (FT_LANE(b) - K(middle)) * K(scale);
                FT_LANE(a) = (FT_LANE(a) - FT_LANE(whole) / K(n) - y * FT_LANE(along) / K(n)) * K(scale);
            }
            ft_row_made(a, to + k * FT_LANES, m);
        }
    }
}
