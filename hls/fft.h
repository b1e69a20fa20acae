// The arithmetic of Fourier transforms: butterflies of small radices, forward, on complex lane vectors.
// a[k] becomes the sum over m of a[m] * exp(-2 pi i k m / r). complex.h comes before.
// Where fma is no core of its own (FT_APART, see gemm.h), products are rounded.
#if FT_APART
#define FT_FFT_FMA(x, y, z) ((x) * (y) + (z))
#else
#define FT_FFT_FMA(x, y, z) fma(x, y, z)
#endif
FT_FN_ONCE FT_C ft_fft_times(FT_C x, FT_C w)
{
    return ft_cmake(FT_FFT_FMA(-x.im, w.im, x.re * w.re), FT_FFT_FMA(x.im, w.re, x.re * w.im));
}
// x + c y
FT_FN_ONCE FT_C ft_fft_more(FT_C x, FT_V c, FT_C y)
{
    return ft_cmake(FT_FFT_FMA(c, y.re, x.re), FT_FFT_FMA(c, y.im, x.im));
}
// x - i y and x + i y
FT_FN_ONCE FT_C ft_fft_right(FT_C x, FT_C y) { return ft_cmake(x.re + y.im, x.im - y.re); }
FT_FN_ONCE FT_C ft_fft_left(FT_C x, FT_C y) { return ft_cmake(x.re - y.im, x.im + y.re); }

FT_FN_ONCE void ft_dft_2(FT_C *a)
{
    const FT_C x = a[0], y = a[1];
    a[0] = ft_cadd(x, y);
    a[1] = ft_csub(x, y);
}
FT_FN_ONCE void ft_dft_3(FT_C *a)
{
    const FT_C t = ft_cadd(a[1], a[2]), d = ft_cscale(ft_csub(a[1], a[2]), K(0.86602540378443864676));
    const FT_C m = ft_fft_more(a[0], K(-0.5), t);
    a[0] = ft_cadd(a[0], t);
    a[1] = ft_fft_right(m, d);
    a[2] = ft_fft_left(m, d);
}
FT_FN_ONCE void ft_dft_4(FT_C *a)
{
    const FT_C s = ft_cadd(a[0], a[2]), d = ft_csub(a[0], a[2]);
    const FT_C t = ft_cadd(a[1], a[3]), e = ft_csub(a[1], a[3]);
    a[0] = ft_cadd(s, t);
    a[1] = ft_fft_right(d, e);
    a[2] = ft_csub(s, t);
    a[3] = ft_fft_left(d, e);
}
FT_FN_ONCE void ft_dft_5(FT_C *a)
{
    const FT_V c = K(0.30901699437494742410), c2 = K(-0.80901699437494742410);
    const FT_V s = K(0.95105651629515357212), s2 = K(0.58778525229247312917);
    const FT_C t = ft_cadd(a[1], a[4]), u = ft_cadd(a[2], a[3]);
    const FT_C d = ft_csub(a[1], a[4]), e = ft_csub(a[2], a[3]);
    const FT_C p = ft_fft_more(ft_fft_more(a[0], c, t), c2, u), q = ft_fft_more(ft_fft_more(a[0], c2, t), c, u);
    const FT_C v = ft_fft_more(ft_cscale(d, s), s2, e), w = ft_fft_more(ft_cscale(d, s2), -s, e);
    a[0] = ft_cadd(a[0], ft_cadd(t, u));
    a[1] = ft_fft_right(p, v);
    a[2] = ft_fft_right(q, w);
    a[3] = ft_fft_left(q, w);
    a[4] = ft_fft_left(p, v);
}
FT_FN_ONCE void ft_dft_8(FT_C *a)
{
    const FT_V h = K(0.70710678118654752440);
    FT_C x[4], y[4];
    FT_UNROLL
    for (int k = 0; k < 4; k++) {
        x[k] = a[2 * k];
        y[k] = a[2 * k + 1];
    }
    ft_dft_4(x);
    ft_dft_4(y);
    y[1] = ft_cscale(ft_fft_right(y[1], y[1]), h);
    y[2] = ft_cover_i(y[2]);
    y[3] = ft_cscale(ft_fft_left(y[3], y[3]), -h);
    FT_UNROLL
    for (int k = 0; k < 4; k++) {
        a[k] = ft_cadd(x[k], y[k]);
        a[k + 4] = ft_csub(x[k], y[k]);
    }
}

// What the first pass reads and the last one writes: with the parts swapped before and after it, a forward
// transform is an inverse one. Bits of `ends`: swap what is read, swap what is written, scale what is written.
FT_FN_ONCE FT_C ft_fft_in(FT_C x, int ends)
{
    return ft_cmake(ends & 1 ? x.im : x.re, ends & 1 ? x.re : x.im);
}
FT_FN_ONCE FT_C ft_fft_out(FT_C x, int ends, FT_T scale)
{
    const FT_V factor = ends & 4 ? K(scale) : K(1), re = x.re * factor, im = x.im * factor;
    return ft_cmake(ends & 2 ? im : re, ends & 2 ? re : im);
}

#define FT_R 2
#include "fft_pass.h"
#undef FT_R
#define FT_R 3
#include "fft_pass.h"
#undef FT_R
#define FT_R 4
#include "fft_pass.h"
#undef FT_R
#define FT_R 5
#include "fft_pass.h"
#undef FT_R
#define FT_R 8
#include "fft_pass.h"
#undef FT_R

// As fft_pass.h for any odd radix r up to FT_MOST_RADIX: what is the same distance before and behind the middle
// shares its products. The r roots of unity follow the pass's other roots.
FT_CALLED void ft_fft_pass_any(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int r, int n, int length,
    int begin, int end, int ends, FT_T scale)
{
    const int apart = n / r, first = length == 1, across = first ? apart : length;
    const int wide = (across + FT_LANES - 1) / FT_LANES, pairs = r / 2, step = first ? r : 1;
    FT_GLOBAL const FT_T *circle = roots + 2 * (r - 1) * (first ? 0L : length);
    int block = begin / wide, j = begin % wide * FT_LANES;
    for (int v = begin; v < end; v++) {
        const int m = across - j < FT_LANES ? across - j : FT_LANES;
        FT_GLOBAL const FT_T *x = from + 2 * ((long)block * length + j);
        FT_GLOBAL FT_T *y = to + 2 * ((long)block * length * r + (long)j * step);
        FT_WIDE_PAIR(FT_T) sums[FT_MOST_RADIX / 2 + 1], gaps[FT_MOST_RADIX / 2 + 1];
        sums[0] = ft_pick_pair(x, 1, m);
        FT_EACH_LANE FT_LANE(sums[0]) = ft_fft_in(FT_LANE(sums[0]), ends);
        FT_WIDE_PAIR(FT_T) total = sums[0];
        for (int k = 1; k <= pairs; k++) {
            FT_WIDE_PAIR(FT_T) a = ft_pick_pair(x + 2L * k * apart, 1, m);
            FT_WIDE_PAIR(FT_T) b = ft_pick_pair(x + 2L * (r - k) * apart, 1, m);
            if (!first) {
                const FT_WIDE_PAIR(FT_T) s = ft_pick_pair(roots + 2 * ((k - 1L) * length + j), 1, m);
                const FT_WIDE_PAIR(FT_T) t = ft_pick_pair(roots + 2 * ((r - k - 1L) * length + j), 1, m);
                FT_EACH_LANE FT_LANE(a) = ft_fft_times(FT_LANE(a), FT_LANE(s));
                FT_EACH_LANE FT_LANE(b) = ft_fft_times(FT_LANE(b), FT_LANE(t));
            }
            FT_EACH_LANE {
                const FT_C p = ft_fft_in(FT_LANE(a), ends), q = ft_fft_in(FT_LANE(b), ends);
                FT_LANE(sums[k]) = ft_cadd(p, q);
                FT_LANE(gaps[k]) = ft_csub(p, q);
                FT_LANE(total) = ft_cadd(FT_LANE(total), FT_LANE(sums[k]));
            }
        }
        FT_EACH_LANE FT_LANE(total) = ft_fft_out(FT_LANE(total), ends, scale);
        ft_put_pair(total, y, step, m);
        for (int q = 1; q <= pairs; q++) {
            FT_WIDE_PAIR(FT_T) even = sums[0], odd, other;
            FT_EACH_LANE FT_LANE(odd) = ft_cmake(K(0), K(0));
            for (int k = 1, at = q; k <= pairs; k++) {
                const FT_T c = circle[2 * at], s = -circle[2 * at + 1];
                FT_EACH_LANE FT_LANE(even) = ft_fft_more(FT_LANE(even), K(c), FT_LANE(sums[k]));
                FT_EACH_LANE FT_LANE(odd) = ft_fft_more(FT_LANE(odd), K(s), FT_LANE(gaps[k]));
                at += q;
                if (at >= r) at -= r;
            }
            FT_EACH_LANE {
                const FT_C e = FT_LANE(even), o = FT_LANE(odd);
                FT_LANE(odd) = ft_fft_out(ft_fft_right(e, o), ends, scale);
                FT_LANE(other) = ft_fft_out(ft_fft_left(e, o), ends, scale);
            }
            ft_put_pair(odd, y + 2L * q * (first ? 1 : length), step, m);
            ft_put_pair(other, y + 2L * (r - q) * (first ? 1 : length), step, m);
        }
        j += FT_LANES;
        if (j >= across) {
            j = 0;
            block++;
        }
    }
}

FT_FN_ONCE void ft_fft_pass(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_T *from, FT_GLOBAL const FT_T *roots, int r, int n, int length,
    int begin, int end, int ends, FT_T scale)
{
    if (r == 8) {
        ft_fft_pass_8(to, from, roots, n, length, begin, end, ends, scale);
    } else if (r == 4) {
        ft_fft_pass_4(to, from, roots, n, length, begin, end, ends, scale);
    } else if (r == 2) {
        ft_fft_pass_2(to, from, roots, n, length, begin, end, ends, scale);
    } else if (r == 3) {
        ft_fft_pass_3(to, from, roots, n, length, begin, end, ends, scale);
    } else if (r == 5) {
        ft_fft_pass_5(to, from, roots, n, length, begin, end, ends, scale);
    } else {
        ft_fft_pass_any(to, from, roots, r, n, length, begin, end, ends, scale);
    }
}
