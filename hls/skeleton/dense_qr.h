// Matrices a = Q R in place, by Householder's reflections H = I - tau v v^H: R on and above the diagonal, each
// v (whose first element is 1) below it. An item is a matrix of m rows and n columns.
FT_KERNEL void FT_NAME(FT_GLOBAL FT_T *a, FT_GLOBAL FT_T *tau, long a_offset, long tau_offset, int items, int m,
                       int n, int lead, long step FT_UNIT_PARAMS)
{
    const int count = m < n ? m : n;
    FT_FOR_SLAB(item, items)
    {
        FT_GLOBAL FT_T *x = FT_AT(a, a_offset + item * step);
        for (int j = 0; j < count; j++) {
            FT_GLOBAL FT_T *column = FT_AT(x, (long)j * lead);
            const ft_one alpha = ft_get(column, j);
            // The column's norm, computed from its elements divided by the largest one, so that no square
            // overflows or underflows.
            FT_T most = 0, below = 0;
            FT_LOOP(largest)
            for (int i = j + 1; i < m; i++) {
                FT_PIPELINE
                const ft_one y = ft_get(column, i);
                const FT_T re = FT_SIZE(ft_re(y)), im = FT_SIZE(ft_im(y)), size = re > im ? re : im;
                below = size > below || size != size ? size : below;
            }
            const FT_T re = FT_SIZE(ft_re(alpha)), im = FT_SIZE(ft_im(alpha)), own = re > im ? re : im;
            most = own > below ? own : below;
            ft_one factor = FT_REAL_ONE(0);
            if (below != 0 || ft_im(alpha) != 0) {
                FT_T sum = 0;
                FT_LOOP(squares)
                for (int i = j; i < m; i++) {
                    FT_PIPELINE
                    const ft_one y = ft_get(column, i);
                    const FT_T u = ft_re(y) / most, v = ft_im(y) / most;
                    sum += u * u + v * v;
                }
                // All are divided by the largest one here too: differences of subnormal numbers lose their digits.
                const ft_one top = ft_pair_of(ft_re(alpha) / most, ft_im(alpha) / most);
                const FT_T length = FT_ROOT(sum), beta = ft_re(alpha) >= 0 ? -length : length;
                factor = ft_pair_of((beta - ft_re(top)) / beta, -ft_im(top) / beta);
                const ft_one first = ft_minus(top, FT_REAL_ONE(beta));
                FT_LOOP(scale)
                for (int i = j + 1; i < m; i++) {
                    FT_PIPELINE
                    const ft_one y = ft_get(column, i);
                    ft_set(ft_over(ft_pair_of(ft_re(y) / most, ft_im(y) / most), first), column, i);
                }
                ft_set(FT_REAL_ONE(beta * most), column, j);
                for (int c = j + 1; c < n; c++) {
                    FT_GLOBAL FT_T *y = FT_AT(x, (long)c * lead);
                    ft_reflect(y, column, j, ft_conj(factor), m);
                }
            }
            ft_set(factor, tau, tau_offset + (long)item * count + j);
        }
    }
}
