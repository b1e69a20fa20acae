// Transforms of 2 h real numbers by complex ones of h: z[m] = x[2 m] + i x[2 m + 1], whose transform Z has
// X[k] = E + w^k O, E = (Z[k] + conj(Z[h - k])) / 2, O = (Z[k] - conj(Z[h - k])) / 2 i, w = exp(-pi i / h).
// Forth it makes the h + 1 numbers of X, back of these the h of 2 Z: of 2 E and 2 O = conj(w)^k (X[k] - conj(X[h - k])).
// One number of each, a = Z[k] and b = Z[h - k]:
FT_FN_ONCE FT_C ft_fft_forth(FT_C a, FT_C b, FT_C w)
{
    const FT_V h = K(0.5);
    const FT_C e = ft_cmake(h * (a.re + b.re), h * (a.im - b.im)), o = ft_cmake(h * (a.im + b.im), h * (b.re - a.re));
    return ft_cadd(e, ft_fft_times(o, w));
}
FT_FN_ONCE FT_C ft_fft_back(FT_C a, FT_C b, FT_C w)
{
    const FT_C e = ft_cmake(a.re + b.re, a.im - b.im), o = ft_cmake(a.re - b.re, a.im + b.im);
    return ft_fft_add_i(e, ft_fft_times(o, ft_cmake(w.re, -w.im)));
}

// Conjugates x if `conj` is set: spectra may be stored conjugated on either side.
FT_FN_ONCE FT_C ft_fft_conj(FT_C x, int conj) { return ft_cmake(x.re, conj ? -x.im : x.im); }

// Real transforms in a group's working memory. The backward function exchanges the parts, since an inverse
// transform follows.
FT_NOINLINE void ft_fft_real_forth(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int h, int conj)
{
    for (int k = 0; k <= h; k++) {
        FT_WIDE_PAIR(FT_T) x = ft_fft_get(from + (long)(k == h ? 0 : k) * FT_FFT_SIZE);
        const FT_WIDE_PAIR(FT_T) y = ft_fft_get(from + (long)(k == 0 ? 0 : h - k) * FT_FFT_SIZE);
        FT_EACH_LANE FT_LANE(x) = ft_fft_conj(ft_fft_forth(FT_LANE(x), FT_LANE(y), ft_fft_root(roots + 2L * k)), conj);
        ft_fft_set(x, to + (long)k * FT_FFT_SIZE);
    }
}
FT_NOINLINE void ft_fft_real_back(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int h, int conj)
{
    for (int k = 0; k < h; k++) {
        FT_WIDE_PAIR(FT_T) x = ft_fft_get(from + (long)k * FT_FFT_SIZE);
        const FT_WIDE_PAIR(FT_T) y = ft_fft_get(from + (long)(h - k) * FT_FFT_SIZE);
        FT_EACH_LANE {
            FT_C a = ft_fft_conj(FT_LANE(x), conj), b = ft_fft_conj(FT_LANE(y), conj);
            if (k == 0) {  // only the real parts of the first and the last number are used
                a.im = K(0);
                b.im = K(0);
            }
            const FT_C z = ft_fft_back(a, b, ft_fft_root(roots + 2L * k));
            FT_LANE(x) = ft_cmake(z.im, z.re);
        }
        ft_fft_set(x, to + (long)k * FT_FFT_SIZE);
    }
}

// Rows in memory, with each number's parts adjacent: numbers [begin, end).
#if FT_LANES > 1
FT_FN_ONCE ft_fft_vec ft_fft_reversed(ft_fft_vec x)
{
#if FT_LANES == 2
    return x.s10;
#elif FT_LANES == 4
    return x.s3210;
#elif FT_LANES == 8
    return x.s76543210;
#else
    return x.sfedcba9876543210;
#endif
}
FT_FN_ONCE FT_C ft_fft_row(FT_GLOBAL const FT_T *p)
{
    const ft_fft_vec x = FT_VLOAD(p), y = FT_VLOAD(p + FT_LANES);
    return ft_cmake(ft_fft_evens(x, y), ft_fft_odds(x, y));
}
// Loads the numbers h - k, h - k - 1, ... that belong to the numbers k, k + 1, ...
FT_FN_ONCE FT_C ft_fft_mirrored(FT_GLOBAL const FT_T *row, int at)
{
    const FT_C x = ft_fft_row(row + 2L * (at - (FT_LANES - 1)));
    return ft_cmake(ft_fft_reversed(x.re), ft_fft_reversed(x.im));
}
FT_FN_ONCE void ft_fft_row_set(FT_C x, FT_GLOBAL FT_T *p)
{
    FT_VSTORE(ft_fft_low(x.re, x.im), p);
    FT_VSTORE(ft_fft_high(x.re, x.im), p + FT_LANES);
}
#endif
FT_NOINLINE void ft_fft_row_forth(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int h, int begin, int end,
    int conj, FT_T scale)
{
    int k = begin;
    while (k < end) {
#if FT_LANES > 1
        if (k > 0 && k + FT_LANES <= h && k + FT_LANES <= end) {
            const FT_C x = ft_fft_forth(ft_fft_row(from + 2L * k), ft_fft_mirrored(from, h - k), ft_fft_row(roots + 2L * k));
            ft_fft_row_set(ft_cscale(ft_fft_conj(x, conj), K(scale)), to + 2L * k);
            k += FT_LANES;
            continue;
        }
#endif
        FT_GLOBAL const FT_T *a = from + 2L * (k == h ? 0 : k), *b = from + 2L * (k == 0 ? 0 : h - k), *w = roots + 2L * k;
        const FT_T er = (FT_T)0.5 * (a[0] + b[0]), ei = (FT_T)0.5 * (a[1] - b[1]);
        const FT_T or_ = (FT_T)0.5 * (a[1] + b[1]), oi = (FT_T)0.5 * (b[0] - a[0]);
        const FT_T im = ei + (or_ * w[1] + oi * w[0]);
        to[2L * k] = (er + (or_ * w[0] - oi * w[1])) * scale;
        to[2L * k + 1] = (conj ? -im : im) * scale;
        k++;
    }
}
FT_NOINLINE void ft_fft_row_back(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int h, int begin, int end,
    int conj)
{
    int k = begin;
    while (k < end) {
#if FT_LANES > 1
        if (k > 0 && k + FT_LANES <= end) {
            const FT_C a = ft_fft_conj(ft_fft_row(from + 2L * k), conj), b = ft_fft_conj(ft_fft_mirrored(from, h - k), conj);
            const FT_C x = ft_fft_back(a, b, ft_fft_row(roots + 2L * k));
            ft_fft_row_set(ft_cmake(x.im, x.re), to + 2L * k);
            k += FT_LANES;
            continue;
        }
#endif
        FT_GLOBAL const FT_T *a = from + 2L * k, *b = from + 2L * (h - k), *w = roots + 2L * k;
        const FT_T ai = k == 0 ? (FT_T)0 : conj ? -a[1] : a[1], bi = k == 0 ? (FT_T)0 : conj ? -b[1] : b[1];
        const FT_T or_ = a[0] - b[0], oi = ai + bi;
        const FT_T re = or_ * w[0] + oi * w[1], im = oi * w[0] - or_ * w[1];
        to[2L * k] = ai - bi + re;
        to[2L * k + 1] = a[0] + b[0] - im;
        k++;
    }
}
