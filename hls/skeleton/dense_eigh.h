// Eigenvalues of Hermitian matrices a = V W V^H in ascending order, by Jacobi's cyclic method: a rotation of two
// columns and the same two rows makes the element at their crossing 0. Only the lower triangle is read; a is
// overwritten, and v becomes V, with `vectors`. An item is a matrix of n rows and columns. info: 0, or 1 if the
// matrix holds infinities or NaN or the iteration did not converge.
#include "shared/jacobi_head.h"
        FT_T most = 0, sum = 0;
        for (int j = 0; j < n; j++) {
            FT_LOOP(largest)
            for (int i = j; i < n; i++) {
                FT_PIPELINE
                const ft_one z = ft_get(x, (long)j * lead + i);
                most = ft_larger(most, ft_pair_of(ft_re(z), i == j ? 0 : ft_im(z)));
            }
        }
        const FT_T scale = ft_scale_of(most);
        for (int j = 0; j < n; j++) {
            FT_LOOP(copies)
            for (int i = j; i < n; i++) {
                FT_PIPELINE
                FT_NO_POINTER_DEPENDENCE
                const ft_one read = ft_times_real(ft_get(x, (long)j * lead + i), scale);
                const ft_one z = ft_pair_of(ft_re(read), i == j ? 0 : ft_im(read));
                ft_set(z, x, (long)j * lead + i);
                ft_set(ft_conj(z), x, (long)i * lead + j);
                sum += (i == j ? 1 : 2) * (ft_re(z) * ft_re(z) + ft_im(z) * ft_im(z));
            }
        }
        if (vectors) ft_unit_matrix(y, n);
        // Elements of this size together change no eigenvalue by more than a rounding of the largest one.
        const FT_T bound = FT_EPS * FT_ROOT(sum) / n;
        int turning = scale == 0;
        for (int sweep = 0; sweep < FT_SWEEPS && scale != 0 && (sweep == 0 || turning); sweep++) {
            turning = 0;
            for (int p = 0; p < n - 1; p++) {
                for (int q = p + 1; q < n; q++) {
                    FT_GLOBAL FT_T *first = FT_AT(x, (long)p * lead), *second = FT_AT(x, (long)q * lead);
                    const ft_one both = ft_get(second, p);
                    const FT_T size = ft_modulus(both);
                    if (size > bound) {
                        const FT_T above = ft_re(ft_get(first, p)), below = ft_re(ft_get(second, q));
                        const ft_rotation r = ft_rotation_of(above, below, both, size);
                        ft_rotate_columns(first, second, r, n);
                        FT_LOOP(rows)
                        for (int i = 0; i < n; i++) {
                            FT_PIPELINE
                            FT_NO_POINTER_DEPENDENCE
                            if (i != p && i != q) {
                                ft_set(ft_conj(ft_get(first, i)), x, (long)i * lead + p);
                                ft_set(ft_conj(ft_get(second, i)), x, (long)i * lead + q);
                            }
                        }
                        ft_set(FT_REAL_ONE(above - r.tangent * size), first, p);
                        ft_set(FT_REAL_ONE(below + r.tangent * size), second, q);
                        ft_set(FT_REAL_ONE(0), first, q);
                        ft_set(FT_REAL_ONE(0), second, p);
                        if (vectors) ft_rotate_columns(FT_AT(y, (long)p * n), FT_AT(y, (long)q * n), r, n);
                        turning = 1;
                    }
                }
            }
        }
        FT_LOOP(diagonal)
        for (int j = 0; j < n; j++) {
            FT_PIPELINE
            sizes[j] = ft_re(ft_get(x, (long)j * lead + j)) / scale;
        }
        ft_sort_columns(sizes, n, 0, x, lead, 0, y, vectors);
        info[info_offset + item] = turning;
    }
}
