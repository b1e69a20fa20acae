// The gradients of the weight and the bias of norm_rows.h: sums over rows. An item is a vector of columns.
// Geometry g: NormGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *weight, FT_GLOBAL FT_T *bias, FT_GLOBAL const FT_T *grad, FT_GLOBAL const FT_T *x,
    FT_GLOBAL const FT_T *mean, FT_GLOBAL const FT_T *rstd, long weight_offset, long bias_offset, long grad_offset,
    long x_offset, long mean_offset, long rstd_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int n = G_N(g), rows = G_ROWS(g);
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int column = item * FT_LANES, m = n - column < FT_LANES ? n - column : FT_LANES;
        FT_WIDE(FT_T) factor, summand, part, other, a, b;
        FT_EACH_LANE
        {
            FT_LANE(factor) = K(0);
            FT_LANE(summand) = K(0);
        }
        for (int k0 = 0; k0 < rows; k0 += FT_DEPTH) {
            const int end = rows - k0 < FT_DEPTH ? rows : k0 + FT_DEPTH;
            FT_EACH_LANE
            {
                FT_LANE(part) = K(0);
                FT_LANE(other) = K(0);
            }
            FT_LOOP(sums)
            for (int k = k0; k < end; k++) {
                FT_PIPELINE
                const long at = (long)k * n + column;
                const FT_T middle = mean[mean_offset + k], scale = rstd[rstd_offset + k];
                a = ft_row_part(grad + (grad_offset + at), m);
                b = ft_row_part(x + (x_offset + at), m);
                FT_EACH_LANE
                {
                    FT_LANE(part) += FT_LANE(a) * ((FT_LANE(b) - K(middle)) * K(scale));
                    FT_LANE(other) += FT_LANE(a);
                }
            }
            FT_EACH_LANE
            {
                FT_LANE(factor) += FT_LANE(part);
                FT_LANE(summand) += FT_LANE(other);
            }
        }
        ft_row_made(factor, weight + (weight_offset + column), m);
        ft_row_made(summand, bias + (bias_offset + column), m);
    }
}
