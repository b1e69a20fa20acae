// LU factors a = P L U in place, by columns, with the largest element of a column as its pivot. An item is a
// matrix of m rows and n columns. pivots[j]: the row (from 1) that was exchanged with row j; info: 0, or the
// first column (from 1) whose pivot is 0. Boards keep several matrices of up to FT_LOCAL_ELEMENTS elements each in block
// memory, and each loop iterates over all of them. Rows are not exchanged there: `rows` maps positions to rows.
// The iteration that reads the first element of a column keeps it for the elements below.
FT_KERNEL void FT_NAME(FT_GLOBAL FT_T *a, FT_GLOBAL int *pivots, FT_GLOBAL int *info, long a_offset,
                       long pivots_offset, long info_offset, int items, int m, int n, int lead, long step
                       FT_UNIT_PARAMS)
{
    const int count = m < n ? m : n;
#if FT_LOCAL_ELEMENTS
    ft_one held[FT_LOCAL_ELEMENTS], column[FT_ROWS];
    int rows[FT_ROWS], places[FT_ROWS], failures[FT_GROUP], found[FT_GROUP], found_row[FT_GROUP], top_row[FT_GROUP];
    FT_T largest[FT_GROUP];
    if ((long)m * n <= FT_LOCAL_ELEMENTS && m <= FT_ROWS) {
        const int size = m * n, group = ft_group(items, size, m, FT_UNITS);
        FT_FOR_SLAB(block, (items + group - 1) / group)
        {
            #include "shared/dense_load.h"
            for (int j = 0; j < count; j++) {
                const int below = m - j;
                int b = 0, i = j, row_base = 0, base = j * m, at = j, at_row = 0, top = 0;
                FT_T most = 0;
                FT_LOOP(largest)
                for (int t = 0; t < some * below; t++) {
                    FT_PIPELINE
                    const int row = j == 0 ? i : rows[row_base + i];
                    const FT_T size_here = ft_size(held[base + row]);
                    if (i == j) top = row;
                    if (i == j || size_here > most) {
                        most = size_here;
                        at = i;
                        at_row = row;
                    }
                    largest[b] = most;
                    found[b] = at;
                    found_row[b] = at_row;
                    top_row[b] = top;
                    if (++i == m) {
                        i = j;
                        b++;
                        row_base += m;
                        base += size;
                    }
                }
                ft_one pivot = FT_REAL_ONE(0);
                b = row_base = 0;
                i = j;
                base = j * m;
                FT_LOOP(quotients)
                for (int t = 0; t < some * below; t++) {
                    FT_PIPELINE
                    FT_NO_DEPENDENCE(held)
                    FT_NO_DEPENDENCE(rows)
                    FT_NO_DEPENDENCE(failures)
                    int row = j == 0 ? i : rows[row_base + i];
                    if (i == found[b]) row = top_row[b];
                    if (i == j) row = found_row[b];
                    const int none = largest[b] == 0;
                    ft_one y = held[base + row];
                    if (i == j) {
                        pivot = y;
                        places[b * count + j] = found[b] + 1;
                        const int failed = j == 0 ? 0 : failures[b];
                        failures[b] = none && failed == 0 ? j + 1 : failed;
                    }
                    const ft_one quotient = ft_over(y, pivot);
                    if (i != j && !none) y = quotient;
                    held[base + row] = y;
                    rows[row_base + i] = row;
                    column[row_base + i] = y;
                    if (++i == m) {
                        i = j;
                        b++;
                        row_base += m;
                        base += size;
                    }
                }
                ft_one top_one = FT_REAL_ONE(0);
                int c = j + 1;
                row_base = 0;
                i = j;
                base = c * m;
                FT_LOOP(update)
                for (int t = 0; t < some * (n - j - 1) * below; t++) {
                    FT_PIPELINE
                    FT_NO_DEPENDENCE(held)
                    const int to = base + rows[row_base + i];
                    ft_one y = held[to];
                    if (i == j) {
                        top_one = y;
                    } else {
                        y = ft_minus(y, ft_times(top_one, column[row_base + i]));
                    }
                    held[to] = y;
                    if (++i == m) {
                        i = j;
                        base += m;
                        if (++c == n) {
                            c = j + 1;
                            row_base += m;
                            base += c * m;
                        }
                    }
                }
            }
            int c = 0, i = 0, row_base = 0, base = 0;
            FT_LOOP(store)
            for (int t = 0; t < some * size; t++) {
                FT_PIPELINE
                const int row = rows[row_base + i];
                ft_set(held[base + row], x, t);
                if (++i == m) {
                    i = 0;
                    base += m;
                    if (++c == n) {
                        c = 0;
                        row_base += m;
                    }
                }
            }
            FT_LOOP(pivot_rows)
            for (int t = 0; t < some * count; t++) {
                FT_PIPELINE
                pivots[pivots_offset + (long)first * count + t] = places[t];
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
                        FT_NO_POINTER_DEPENDENCE
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
