// Solutions x of a x = b with triangular matrices a; x replaces b. An item is one of the k columns of one b.
// upper: which triangle is read; turned: 1 for a's transpose, 2 for its conjugate transpose; unit: the diagonal
// is ones and is not read. Boards keep matrices of up to FT_LOCAL_ELEMENTS elements in block memory: several matrices
// with all of their columns, or one with some of them. A step there subtracts from every column of b a multiple
// of a column of a (of a row, if transposed).
FT_KERNEL void FT_NAME(FT_GLOBAL const FT_T *a, FT_GLOBAL FT_T *b, long a_offset, long b_offset, int items, int n,
                       int k, int a_lead, int b_lead, long a_step, long b_step, int upper, int turned, int unit
                       FT_UNIT_PARAMS)
{
#if FT_LOCAL_ELEMENTS
    ft_one held[FT_LOCAL_ELEMENTS], columns[FT_ROWS];
    if ((long)n * n <= FT_LOCAL_ELEMENTS) {
        const int size = n * n, most = ft_group(items, 1, n, FT_UNITS), each = k < most ? k : most;
        const int fit = each < k ? 1 : ft_group(items / k, size, n * k, FT_UNITS), parts = (k + each - 1) / each;
        const int backward = turned != 0 ? upper == 0 : upper != 0;
        int at_hand = -1;  // the first matrix in block memory; the next block of columns may use the same one
        FT_FOR_SLAB(block, (items / k + fit - 1) / fit * parts)
        {
            const int first = block / parts * fit, begin = block % parts * each;
            const int some = items / k - first < fit ? items / k - first : fit;
            const int wide = k - begin < each ? k - begin : each, all = some * wide;
            FT_GLOBAL const FT_T *m = FT_AT(a, a_offset + first * a_step);
            FT_GLOBAL FT_T *x = FT_AT(b, b_offset + first * b_step + (long)begin * b_lead);
            if (first != at_hand) {
                FT_LOOP(load)
                for (int t = 0; t < some * size; t++) {
                    FT_PIPELINE
                    held[t] = ft_get(m, t);
                }
                at_hand = first;
            }
            FT_LOOP(load_columns)
            for (int t = 0; t < all * n; t++) {
                FT_PIPELINE
                columns[t] = ft_get(x, t);
            }
            for (int s = 0; s < n; s++) {
                const int j = backward ? n - 1 - s : s, way = backward ? -1 : 1, stride = turned ? n * way : way;
                int r = s, q = 0, at = j, from = j * (n + 1), base = 0;
                ft_one y = FT_REAL_ONE(0);
                FT_LOOP(update)
                for (int t = 0; t < all * (n - s); t++) {
                    FT_PIPELINE
                    FT_NO_DEPENDENCE(columns)
                    const ft_one of = ft_conj_if(turned == 2, held[base + from]);
                    ft_one z = columns[at];
                    if (r == s) {
                        if (!unit) z = ft_over(z, of);
                        y = z;
                    } else {
                        z = ft_minus(z, ft_times(y, of));
                    }
                    columns[at] = z;
                    at += way;
                    from += stride;
                    if (++r == n) {
                        r = s;
                        at += n - way * (n - s);
                        from = j * (n + 1);
                        if (++q == wide) {
                            q = 0;
                            base += size;
                        }
                    }
                }
            }
            FT_LOOP(store)
            for (int t = 0; t < all * n; t++) {
                FT_PIPELINE
                ft_set(columns[t], x, t);
            }
        }
        return;
    }
#endif
    FT_FOR_SLAB(item, items)
    {
        FT_GLOBAL const FT_T *m = FT_AT(a, a_offset + item / k * a_step);
        FT_GLOBAL FT_T *x = FT_AT(b, b_offset + item / k * b_step + (long)(item % k) * b_lead);
        const int backward = turned != 0 ? upper == 0 : upper != 0;
        for (int t = 0; t < n; t++) {
            const int j = backward ? n - 1 - t : t;
            FT_GLOBAL const FT_T *column = FT_AT(m, (long)j * a_lead);
            // The part of the column on the same side of the diagonal as the triangle.
            const int first = upper ? 0 : j + 1, count = upper ? j : n - 1 - j;
            ft_one y = ft_get(x, j);
            if (turned) y = ft_minus(y, ft_dot(FT_AT(column, first), FT_AT(x, first), turned == 2, count));
            if (!unit) y = ft_over(y, ft_conj_if(turned == 2, ft_get(column, j)));
            ft_set(y, x, j);
            if (!turned) ft_less(FT_AT(x, first), FT_AT(column, first), y, count);
        }
    }
}
