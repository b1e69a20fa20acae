// Cholesky factors a = L L^H in place, by columns. Only the lower triangle is read; above it L gets zeros. An
// item is a matrix of n rows and columns. info: 0, or the order of the first leading minor that is not
// positive. Boards keep matrices of up to FT_LOCAL_ELEMENTS elements in block memory, as for LU.
FT_KERNEL void FT_NAME(FT_GLOBAL FT_T *a, FT_GLOBAL int *info, long a_offset, long info_offset, int items, int n,
                       int lead, long step FT_UNIT_PARAMS)
{
#if FT_LOCAL_ELEMENTS
    ft_one held[FT_LOCAL_ELEMENTS], column[FT_ROWS];
    int failures[FT_GROUP];
    if ((long)n * n <= FT_LOCAL_ELEMENTS) {
        const int size = n * n, group = ft_group(items, size, n, FT_UNITS);
        FT_FOR_SLAB(block, (items + group - 1) / group)
        {
            #include "shared/dense_load.h"
            for (int j = 0; j < n; j++) {
                int b = 0, i = j, row_base = 0, base = j * n, failed = 0;
                FT_T root = 0;
                FT_LOOP(quotients)
                for (int t = 0; t < some * (n - j); t++) {
                    FT_PIPELINE
                    FT_NO_DEPENDENCE(held)
                    FT_NO_DEPENDENCE(failures)
                    ft_one y = held[base + i];
                    if (i == j) {
                        const FT_T square = ft_re(y);
                        failed = j == 0 ? 0 : failures[b];
                        if (failed == 0 && !(square > 0)) failed = j + 1;
                        failures[b] = failed;
                        root = FT_ROOT(square);
                    }
                    if (failed == 0) {
                        if (i == j) {
                            y = FT_REAL_ONE(root);
                        } else {
                            y = ft_pair_of(ft_re(y) / root, ft_im(y) / root);
                        }
                    }
                    held[base + i] = y;
                    column[row_base + i] = y;
                    if (++i == n) {
                        i = j;
                        b++;
                        row_base += n;
                        base += size;
                    }
                }
                ft_one top = FT_REAL_ONE(0);
                int c = j + 1;
                b = row_base = 0;
                i = c;
                base = c * n;
                FT_LOOP(update)
                for (int t = 0; t < some * ((n - j) * (n - j - 1) / 2); t++) {
                    FT_PIPELINE
                    FT_NO_DEPENDENCE(held)
                    const ft_one of = column[row_base + i];
                    if (i == c) top = ft_conj(of);
                    ft_one y = held[base + i];
                    if (failures[b] == 0) y = ft_minus(y, ft_times(top, of));
                    held[base + i] = y;
                    if (++i == n) {
                        base += n;
                        if (++c == n) {
                            c = j + 1;
                            b++;
                            row_base += n;
                            base += c * n;
                        }
                        i = c;
                    }
                }
            }
            int c = 0, i = 0;
            FT_LOOP(store)
            for (int t = 0; t < some * size; t++) {
                FT_PIPELINE
                ft_one y = held[t];
                if (i < c) y = FT_REAL_ONE(0);
                ft_set(y, x, t);
                if (++i == n) {
                    i = 0;
                    if (++c == n) c = 0;
                }
            }
            #include "shared/dense_failures.h"
        }
        return;
    }
#endif
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
                    ft_less(FT_AT(y, c), FT_AT(column, c), ft_conj(ft_get(column, c)), n - c);
                }
            }
        }
        info[info_offset + item] = failed;
    }
}
