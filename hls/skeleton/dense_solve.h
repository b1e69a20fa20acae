// Solutions x of a x = b with triangular matrices a, in the place of b. An item is one of the k columns of one
// b. upper: which triangle is read; turned: 1 for a's transpose, 2 for its conjugate transpose; unit: a's
// diagonal is not read, since it holds ones.
FT_KERNEL void FT_NAME(FT_GLOBAL const FT_T *a, FT_GLOBAL FT_T *b, long a_offset, long b_offset, int items, int n,
                       int k, int a_lead, int b_lead, long a_step, long b_step, int upper, int turned, int unit
                       FT_UNIT_PARAMS)
{
    FT_PORT(a, gmem0)
    FT_PORT(b, gmem1)
    FT_FOR_SLAB(item, items)
    {
        FT_GLOBAL const FT_T *m = FT_AT(a, a_offset + item / k * a_step);
        FT_GLOBAL FT_T *x = FT_AT(b, b_offset + item / k * b_step + (long)(item % k) * b_lead);
        const int backward = turned != 0 ? upper == 0 : upper != 0;
        for (int t = 0; t < n; t++) {
            const int j = backward ? n - 1 - t : t;
            FT_GLOBAL const FT_T *column = FT_AT(m, (long)j * a_lead);
            // Of the column, what lies on the triangle's side of the diagonal.
            const int first = upper ? 0 : j + 1, count = upper ? j : n - 1 - j;
            ft_one y = ft_get(x, j);
            if (turned) y = ft_minus(y, ft_dot(FT_AT(column, first), FT_AT(x, first), turned == 2, count));
            if (!unit) y = ft_over(y, ft_turned_if(turned == 2, ft_get(column, j)));
            ft_set(y, x, j);
            if (!turned) ft_less(FT_AT(x, first), FT_AT(column, first), y, count);
        }
    }
}
