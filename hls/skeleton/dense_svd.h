// Singular values of matrices a = U S V^H, by Hestenes's one-sided Jacobi method: rotations from the right make
// each pair of columns orthogonal. a becomes U, with columns of zeros for singular values of 0, and v becomes V,
// with `vectors`. An item is a matrix of n rows and columns. info: 0, -1 if a singular value is 0, or 1 if the
// matrix holds infinities or NaN or the iteration did not converge.
#include "shared/jacobi_head.h"
        // Two columns are orthogonal if their product is not larger than its rounding error.
        const FT_T bound = FT_EPS * FT_ROOT((FT_T)n);
        FT_T most = 0;
        for (int j = 0; j < n; j++) {
            FT_LOOP(largest)
            for (int i = 0; i < n; i++) {
                FT_PIPELINE
                most = ft_larger(most, ft_get(x, (long)j * lead + i));
            }
        }
        const FT_T scale = ft_scale_of(most);
        int turning = scale == 0, none = 0;
        if (scale != 0 && scale != 1) {
            for (int j = 0; j < n; j++) {
                FT_LOOP(scale)
                for (int i = 0; i < n; i++) {
                    FT_PIPELINE
                    FT_NO_POINTER_DEPENDENCE
                    ft_set(ft_times_real(ft_get(x, (long)j * lead + i), scale), x, (long)j * lead + i);
                }
            }
        }
        if (vectors) ft_unit_matrix(y, n);
        for (int sweep = 0; sweep < FT_SWEEPS && scale != 0 && (sweep == 0 || turning); sweep++) {
            turning = 0;
            for (int p = 0; p < n - 1; p++) {
                for (int q = p + 1; q < n; q++) {
                    FT_GLOBAL FT_T *first = FT_AT(x, (long)p * lead), *second = FT_AT(x, (long)q * lead);
                    const ft_sums sums = ft_products(first, second, n);
                    const FT_T size = ft_modulus(sums.both);
                    if (sums.x > FT_NONE && sums.y > FT_NONE && size > bound * FT_ROOT(sums.x) * FT_ROOT(sums.y)) {
                        const ft_rotation r = ft_rotation_of(sums.x, sums.y, sums.both, size);
                        ft_rotate_columns(first, second, r, n);
                        if (vectors) ft_rotate_columns(FT_AT(y, (long)p * n), FT_AT(y, (long)q * n), r, n);
                        turning = 1;
                    }
                }
            }
        }
        for (int j = 0; j < n; j++) {
            FT_GLOBAL FT_T *column = FT_AT(x, (long)j * lead);
            FT_T sum = 0;
            FT_LOOP(squares)
            for (int i = 0; i < n; i++) {
                FT_PIPELINE
                const ft_one z = ft_get(column, i);
                sum += ft_re(z) * ft_re(z) + ft_im(z) * ft_im(z);
            }
            const FT_T size = sum > FT_NONE ? FT_ROOT(sum) : 0;
            if (size == 0) none = 1;
            sizes[j] = size / scale;
            if (vectors) {
                FT_LOOP(quotients)
                for (int i = 0; i < n; i++) {
                    FT_PIPELINE
                    FT_NO_POINTER_DEPENDENCE
                    const ft_one z = ft_get(column, i);
                    ft_set(ft_pair_of(size == 0 ? 0 : ft_re(z) / size, size == 0 ? 0 : ft_im(z) / size), column, i);
                }
            }
        }
        ft_sort_columns(sizes, n, 1, x, lead, vectors, y, vectors);
        info[info_offset + item] = turning ? 1 : -none;
    }
}
