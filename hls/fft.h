// The arithmetic of Fourier transforms: butterflies of small radices, forward, on complex lane vectors. a[k]
// becomes the sum over m of a[m] * exp(-2 pi i k m / r). Include complex.h before. With FT_NO_FMA (see
// element.h) products are rounded before they are added.
#if FT_NO_FMA
#define FT_FFT_FMA(x, y, z) ((x) * (y) + (z))
#else
#define FT_FFT_FMA(x, y, z) fma(x, y, z)
#endif
FT_FN_ONCE FT_C ft_fft_times(FT_C x, FT_C w)
{
    return ft_cmake(FT_FFT_FMA(-x.im, w.im, x.re * w.re), FT_FFT_FMA(x.im, w.re, x.re * w.im));
}
// x + c y
FT_FN_ONCE FT_C ft_fft_fma(FT_C x, FT_V c, FT_C y)
{
    return ft_cmake(FT_FFT_FMA(c, y.re, x.re), FT_FFT_FMA(c, y.im, x.im));
}
// x - i y and x + i y
FT_FN_ONCE FT_C ft_fft_right(FT_C x, FT_C y) { return ft_cmake(x.re + y.im, x.im - y.re); }
FT_FN_ONCE FT_C ft_fft_add_i(FT_C x, FT_C y) { return ft_cmake(x.re - y.im, x.im + y.re); }

FT_FN_ONCE void ft_dft_2(FT_C *a)
{
    const FT_C x = a[0], y = a[1];
    a[0] = ft_cadd(x, y);
    a[1] = ft_csub(x, y);
}
FT_FN_ONCE void ft_dft_3(FT_C *a)
{
    const FT_C t = ft_cadd(a[1], a[2]), d = ft_cscale(ft_csub(a[1], a[2]), K(0.86602540378443864676));
    const FT_C m = ft_fft_fma(a[0], K(-0.5), t);
    a[0] = ft_cadd(a[0], t);
    a[1] = ft_fft_right(m, d);
    a[2] = ft_fft_add_i(m, d);
}
FT_FN_ONCE void ft_dft_4(FT_C *a)
{
    const FT_C s = ft_cadd(a[0], a[2]), d = ft_csub(a[0], a[2]);
    const FT_C t = ft_cadd(a[1], a[3]), e = ft_csub(a[1], a[3]);
    a[0] = ft_cadd(s, t);
    a[1] = ft_fft_right(d, e);
    a[2] = ft_csub(s, t);
    a[3] = ft_fft_add_i(d, e);
}
FT_FN_ONCE void ft_dft_5(FT_C *a)
{
    const FT_V c = K(0.30901699437494742410), c2 = K(-0.80901699437494742410);
    const FT_V s = K(0.95105651629515357212), s2 = K(0.58778525229247312917);
    const FT_C t = ft_cadd(a[1], a[4]), u = ft_cadd(a[2], a[3]);
    const FT_C d = ft_csub(a[1], a[4]), e = ft_csub(a[2], a[3]);
    const FT_C p = ft_fft_fma(ft_fft_fma(a[0], c, t), c2, u), q = ft_fft_fma(ft_fft_fma(a[0], c2, t), c, u);
    const FT_C v = ft_fft_fma(ft_cscale(d, s), s2, e), w = ft_fft_fma(ft_cscale(d, s2), -s, e);
    a[0] = ft_cadd(a[0], ft_cadd(t, u));
    a[1] = ft_fft_right(p, v);
    a[2] = ft_fft_right(q, w);
    a[3] = ft_fft_add_i(q, w);
    a[4] = ft_fft_add_i(p, v);
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
    y[3] = ft_cscale(ft_fft_add_i(y[3], y[3]), -h);
    FT_UNROLL
    for (int k = 0; k < 4; k++) {
        a[k] = ft_cadd(x[k], y[k]);
        a[k + 4] = ft_csub(x[k], y[k]);
    }
}
FT_FN_ONCE void ft_dft_16(FT_C *a)
{
    // exp(-2 pi i k / 16) for k = 1 and 3. Symmetry and the half right angle (h) give the other roots.
    const FT_V h = K(0.70710678118654752440), c = K(0.92387953251128675613), s = K(0.38268343236508977173);
    FT_C x[4][4];
    FT_UNROLL
    for (int m = 0; m < 4; m++) {
        FT_UNROLL
        for (int k = 0; k < 4; k++) x[m][k] = a[4 * k + m];
        ft_dft_4(x[m]);
    }
    x[1][1] = ft_fft_times(x[1][1], ft_cmake(c, -s));
    x[1][2] = ft_cscale(ft_fft_right(x[1][2], x[1][2]), h);
    x[1][3] = ft_fft_times(x[1][3], ft_cmake(s, -c));
    x[2][1] = ft_cscale(ft_fft_right(x[2][1], x[2][1]), h);
    x[2][2] = ft_cover_i(x[2][2]);
    x[2][3] = ft_cscale(ft_fft_add_i(x[2][3], x[2][3]), -h);
    x[3][1] = ft_fft_times(x[3][1], ft_cmake(s, -c));
    x[3][2] = ft_cscale(ft_fft_add_i(x[3][2], x[3][2]), -h);
    x[3][3] = ft_fft_times(x[3][3], ft_cmake(-c, s));
    FT_UNROLL
    for (int k = 0; k < 4; k++) {
        FT_C y[4];
        FT_UNROLL
        for (int m = 0; m < 4; m++) y[m] = x[m][k];
        ft_dft_4(y);
        FT_UNROLL
        for (int m = 0; m < 4; m++) a[k + 4 * m] = y[m];
    }
}

// Access to a group's working memory: each position along the transforms has a vector of real parts, then one
// of imaginary parts. A vector holds one number of each of FT_LANES transforms, so lanes are independent.
#define FT_FFT_SIZE (2 * FT_LANES)
FT_FN_ONCE FT_WIDE_PAIR(FT_T) ft_fft_get(FT_GLOBAL const FT_T *p)
{
    const FT_WIDE(FT_T) re = FT_VLOAD(p), im = FT_VLOAD(p + FT_LANES);
    FT_WIDE_PAIR(FT_T) x;
    FT_EACH_LANE FT_LANE(x) = ft_cmake(FT_LANE(re), FT_LANE(im));
    return x;
}
FT_FN_ONCE void ft_fft_set(FT_WIDE_PAIR(FT_T) x, FT_GLOBAL FT_T *p)
{
    FT_WIDE(FT_T) re, im;
    FT_EACH_LANE {
        const FT_C c = FT_LANE(x);
        FT_LANE(re) = c.re;
        FT_LANE(im) = c.im;
    }
    FT_VSTORE(re, p);
    FT_VSTORE(im, p + FT_LANES);
}
FT_FN_ONCE FT_C ft_fft_root(FT_GLOBAL const FT_T *p)
{
    const FT_T re = p[0], im = p[1];
    return ft_cmake(K(re), K(im));
}

#include "fft_passes.h"
#include "fft_ends.h"
#include "fft_real.h"
