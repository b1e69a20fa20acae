// One pass of radix FT_R over a row of n numbers, of which the vectors [begin, end) (Stockham's way: sorted by
// itself, decimation in time). Transforms of `length` numbers, interleaved by n / length, become ones of
// FT_R * length. `roots` has for each k in [1, FT_R) exp(-2 pi i j k / (FT_R * length)) for all j below length.
// In the first pass, where length is 1, a vector's lanes are neighbours of the row, and it needs no roots; in the
// others they are neighbours of one transform.
FT_CALLED void FT_CAT(ft_fft_pass_, FT_R)(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int n, int length, int begin,
    int end, int ends, FT_T scale)
{
    const int apart = n / FT_R;
    if (length == 1) {
        for (int v = begin; v < end; v++) {
            const int i = v * FT_LANES, m = apart - i < FT_LANES ? apart - i : FT_LANES;
            FT_WIDE_PAIR(FT_T) x[FT_R];
            FT_UNROLL
            for (int k = 0; k < FT_R; k++) {
                FT_GLOBAL const FT_T *p = from + 2 * (i + (long)k * apart);
                if (m == FT_LANES) {
                    x[k] = ft_load_pair(p);
                } else {
                    x[k] = ft_pick_pair(p, 1, m);
                }
            }
            FT_EACH_LANE {
                FT_C a[FT_R];
                FT_UNROLL
                for (int k = 0; k < FT_R; k++) a[k] = ft_fft_in(FT_LANE(x[k]), ends);
                FT_CAT(ft_dft_, FT_R)(a);
                FT_UNROLL
                for (int k = 0; k < FT_R; k++) FT_LANE(x[k]) = ft_fft_out(a[k], ends, scale);
            }
            FT_UNROLL
            for (int k = 0; k < FT_R; k++) ft_put_pair(x[k], to + 2 * ((long)i * FT_R + k), FT_R, m);
        }
        return;
    }
    const int wide = (length + FT_LANES - 1) / FT_LANES;
    int block = begin / wide, j = begin % wide * FT_LANES;
    for (int v = begin; v < end; v++) {
        const int m = length - j < FT_LANES ? length - j : FT_LANES;
        FT_GLOBAL const FT_T *p = from + 2 * ((long)block * length + j), *w = roots + 2 * j;
        FT_GLOBAL FT_T *q = to + 2 * ((long)block * FT_R * length + j);
        FT_WIDE_PAIR(FT_T) x[FT_R], root[FT_R];
        if (m == FT_LANES) {
            x[0] = ft_load_pair(p);
            FT_UNROLL
            for (int k = 1; k < FT_R; k++) {
                x[k] = ft_load_pair(p + 2L * k * apart);
                root[k] = ft_load_pair(w + 2L * (k - 1) * length);
            }
        } else {
            x[0] = ft_pick_pair(p, 1, m);
            FT_UNROLL
            for (int k = 1; k < FT_R; k++) {
                x[k] = ft_pick_pair(p + 2L * k * apart, 1, m);
                root[k] = ft_pick_pair(w + 2L * (k - 1) * length, 1, m);
            }
        }
        FT_EACH_LANE {
            FT_C a[FT_R];
            a[0] = FT_LANE(x[0]);
            FT_UNROLL
            for (int k = 1; k < FT_R; k++) a[k] = ft_fft_times(FT_LANE(x[k]), FT_LANE(root[k]));
            FT_CAT(ft_dft_, FT_R)(a);
            FT_UNROLL
            for (int k = 0; k < FT_R; k++) FT_LANE(x[k]) = ft_fft_out(a[k], ends, scale);
        }
        FT_UNROLL
        for (int k = 0; k < FT_R; k++) {
            if (m == FT_LANES) {
                ft_store_pair(x[k], q + 2L * k * length);
            } else {
                ft_put_pair(x[k], q + 2L * k * length, 1, m);
            }
        }
        j += FT_LANES;
        if (j >= length) {
            j = 0;
            block++;
        }
    }
}
