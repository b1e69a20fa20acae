// Matrices a = P L U in place, by columns, with the largest element of a column as its pivot. An item is a
// matrix of m rows and n columns. pivots[j]: the row (from 1) that changed places with row j; info: 0, or the
// first column (from 1) whose pivot is 0.
FT_KERNEL void FT_NAME(FT_GLOBAL FT_T *a, FT_GLOBAL int *pivots, FT_GLOBAL int *info, long a_offset,
                       long pivots_offset, long info_offset, int items, int m, int n, int lead, long step
                       FT_UNIT_PARAMS)
{
    FT_PORT(a, gmem0)
    FT_PORT(pivots, gmem1)
    FT_PORT(info, gmem2)
    const int count = m < n ? m : n;
    FT_FOR_SLAB(item, items)
    {
        FT_GLOBAL FT_T *x = FT_AT(a, a_offset + item * step);
        int failed = 0;
        for (int j = 0; j < count; j++) {
            FT_GLOBAL FT_T *column = FT_AT(x, (long)j * lead);
            int at = j;
            FT_T most = ft_size(ft_get(column, j));
            FT_LOOP(search)
            for (int i = j + 1; i < m; i++) {
                FT_PIPELINE
                const FT_T size = ft_size(ft_get(column, i));
                if (size > most) {
                    most = size;
                    at = i;
                }
            }
            pivots[pivots_offset + (long)item * count + j] = at + 1;
            if (most != 0) {
                if (at != j) {
                    FT_LOOP(swap)
                    for (int c = 0; c < n; c++) {
                        FT_PIPELINE
                        FT_POINTERS_APART
                        FT_GLOBAL FT_T *y = FT_AT(x, (long)c * lead);
                        const ft_one above = ft_get(y, j), below = ft_get(y, at);
                        ft_set(below, y, j);
                        ft_set(above, y, at);
                    }
                }
                const ft_one pivot = ft_get(column, j);
                FT_LOOP(scale)
                for (int i = j + 1; i < m; i++) {
                    FT_PIPELINE
                    ft_set(ft_over(ft_get(column, i), pivot), column, i);
                }
            } else if (failed == 0) {
                failed = j + 1;
            }
            for (int c = j + 1; c < n; c++) {
                FT_GLOBAL FT_T *y = FT_AT(x, (long)c * lead);
                ft_less(FT_AT(y, j + 1), FT_AT(column, j + 1), ft_get(y, j), m - j - 1);
            }
        }
        info[info_offset + item] = failed;
    }
}
