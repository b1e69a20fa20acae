// Matrices a = L L^H in place, by columns, of which the lower triangle is read; above it L has zeros. An item
// is a matrix of n rows and columns. info: 0, or the order of the first leading minor that is not positive.
FT_KERNEL void FT_NAME(FT_GLOBAL FT_T *a, FT_GLOBAL int *info, long a_offset, long info_offset, int items, int n,
                       int lead, long step FT_UNIT_PARAMS)
{
    FT_PORT(a, gmem0)
    FT_PORT(info, gmem1)
    FT_FOR_SLAB(item, items)
    {
        FT_GLOBAL FT_T *x = FT_AT(a, a_offset + item * step);
        int failed = 0;
        for (int j = 0; j < n; j++) {
            FT_GLOBAL FT_T *column = FT_AT(x, (long)j * lead);
            FT_LOOP(above)
            for (int i = 0; i < j; i++) {
                FT_PIPELINE
                ft_set(FT_REAL_ONE(0), column, i);
            }
            const FT_T square = ft_re(ft_get(column, j));
            if (failed == 0 && !(square > 0)) failed = j + 1;
            if (failed == 0) {
                const FT_T root = FT_ROOT(square);
                ft_set(FT_REAL_ONE(root), column, j);
                FT_LOOP(scale)
                for (int i = j + 1; i < n; i++) {
                    FT_PIPELINE
                    const ft_one y = ft_get(column, i);
                    ft_set(ft_pair_of(ft_re(y) / root, ft_im(y) / root), column, i);
                }
                for (int c = j + 1; c < n; c++) {
                    FT_GLOBAL FT_T *y = FT_AT(x, (long)c * lead);
                    ft_less(FT_AT(y, c), FT_AT(column, c), ft_turned(ft_get(column, c)), n - c);
                }
            }
        }
        info[info_offset + item] = failed;
    }
}
