// One pass of radix FT_R over a group's n numbers (Stockham's algorithm, decimation in time, results in order).
// Transforms of `length` numbers, interleaved by n / length, become transforms of FT_R * length. `roots` has for each j
// below length exp(-2 pi i j k / (FT_R * length)) for k in [1, FT_R). The first pass, where length is 1, needs none.
FT_NOINLINE void FT_CAT(ft_fft_pass_, FT_R)(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int n, int length)
{
    const long apart = (long)(n / FT_R) * FT_FFT_SIZE, across = (long)length * FT_FFT_SIZE;
    if (length == 1) {
        for (int i = 0; i < n / FT_R; i++) {
            FT_GLOBAL const FT_T *p = from + (long)i * FT_FFT_SIZE;
            FT_GLOBAL FT_T *q = to + (long)i * FT_R * FT_FFT_SIZE;
            FT_WIDE_PAIR(FT_T) x[FT_R];
            FT_UNROLL
            for (int k = 0; k < FT_R; k++) x[k] = ft_fft_get(p + k * apart);
            FT_EACH_LANE {
                FT_C a[FT_R];
                FT_UNROLL
                for (int k = 0; k < FT_R; k++) a[k] = FT_LANE(x[k]);
                FT_CAT(ft_dft_, FT_R)(a);
                FT_UNROLL
                for (int k = 0; k < FT_R; k++) FT_LANE(x[k]) = a[k];
            }
            FT_UNROLL
            for (int k = 0; k < FT_R; k++) ft_fft_set(x[k], q + k * FT_FFT_SIZE);
        }
        return;
    }
    for (int block = 0; block < n / FT_R / length; block++) {
        for (int j = 0; j < length; j++) {
            FT_GLOBAL const FT_T *p = from + ((long)block * length + j) * FT_FFT_SIZE;
            FT_GLOBAL FT_T *q = to + ((long)block * FT_R * length + j) * FT_FFT_SIZE;
            FT_GLOBAL const FT_T *w = roots + 2L * j * (FT_R - 1);
            FT_WIDE_PAIR(FT_T) x[FT_R];
            FT_UNROLL
            for (int k = 0; k < FT_R; k++) x[k] = ft_fft_get(p + k * apart);
            FT_EACH_LANE {
                FT_C a[FT_R];
                a[0] = FT_LANE(x[0]);
                FT_UNROLL
                for (int k = 1; k < FT_R; k++) a[k] = ft_fft_times(FT_LANE(x[k]), ft_fft_root(w + 2 * (k - 1)));
                FT_CAT(ft_dft_, FT_R)(a);
                FT_UNROLL
                for (int k = 0; k < FT_R; k++) FT_LANE(x[k]) = a[k];
            }
            FT_UNROLL
            for (int k = 0; k < FT_R; k++) ft_fft_set(x[k], q + k * across);
        }
    }
}
