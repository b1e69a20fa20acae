// Complex helpers: FT_C is a pair of real lane vectors. Functions follow C99 Annex G at zeros,
// infinities and NaNs, and scale where a square or an exponential alone would leave the range.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12 && __GNUC_MINOR__ < 3
// These versions of g++ contract the vectorized products of complex numbers to fma, although an option forbids
// it.
#pragma GCC optimize("no-tree-vectorize")
#endif
typedef FT_CAT(ft_c, FT_T) FT_C;
FT_FN_ONCE FT_C ft_cmake(FT_V re, FT_V im) { return FT_PAIR(FT_T, re, im); }
FT_FN_ONCE FT_C ft_cadd(FT_C x, FT_C y) { return ft_cmake(x.re + y.re, x.im + y.im); }
FT_FN_ONCE FT_C ft_csub(FT_C x, FT_C y) { return ft_cmake(x.re - y.re, x.im - y.im); }
FT_FN_ONCE FT_C ft_cmul(FT_C x, FT_C y) { return ft_cmake(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re); }

#if FT_FLOATING
#if FT_DOUBLE
#define FT_CHUGE K(1e8)     // 1 / FT_CHUGE^2 is below the rounding of 1
#define FT_CWIDE K(22.0)    // tanh(FT_CWIDE) rounds to 1
#define FT_CTOP K(1e300)  // larger parts are scaled down before they are added
#define FT_CBOTTOM K(1e-290)  // smaller ones are scaled up
#else
#define FT_CHUGE K(1e4)
#define FT_CWIDE K(10.0)
#define FT_CTOP K(1e36)
#define FT_CBOTTOM K(1e-30)
#endif
#define FT_LN2 0.69314718055994530942
#define FT_CONE ft_cmake(K(1), K(0))

FT_FN_ONCE FT_C ft_cneg(FT_C z) { return ft_cmake(-z.re, -z.im); }
FT_FN_ONCE FT_C ft_cscale(FT_C z, FT_V s) { return ft_cmake(z.re * s, z.im * s); }
FT_FN_ONCE FT_C ft_cshare(FT_C z, FT_V s) { return ft_cmake(z.re / s, z.im / s); }
FT_FN_ONCE FT_C ft_ctimes_i(FT_C z) { return ft_cmake(-z.im, z.re); }
FT_FN_ONCE FT_C ft_cover_i(FT_C z) { return ft_cmake(z.im, -z.re); }
FT_FN_ONCE FT_V ft_cabs(FT_C z)
{
    const FT_V r = hypot(z.re, z.im);
    return ft_isinf(z.re) || ft_isinf(z.im) ? K(INFINITY) : r;
}
FT_FN_ONCE FT_V ft_carg(FT_C z) { return ft_atan2(z.im, z.re); }
FT_FN_ONCE FT_C ft_csgn(FT_C z)
{
    const FT_V r = ft_cabs(z);
    const FT_M zero = r == K(0);
    return ft_cmake(zero ? K(0) : z.re / r, zero ? K(0) : z.im / r);
}

// 1 / z by Smith's method: it computes no square that could overflow or underflow.
FT_FN_ONCE FT_C ft_crecip(FT_C z)
{
    const FT_M wide = fabs(z.re) >= fabs(z.im);
    const FT_V p = wide ? z.re : z.im, q = wide ? z.im : z.re;
    const FT_V r = q / p, d = p + q * r;
    const FT_V re = (wide ? K(1) : r) / d, im = -(wide ? r : K(1)) / d;
    return ft_cmake(re, im);
}

// The exponential is the product of two halves, because exp(x) may overflow where exp(x) cos(y) does not.
FT_FN_ONCE FT_C ft_cexp(FT_C z)
{
    const FT_M far = fabs(z.re) > K(80);
    const FT_V e = exp(far ? z.re * K(0.5) : z.re), h = far ? e : K(1);
    const FT_M wild = !ft_isfinite(z.im), none = wild && z.re == K(-INFINITY);
    const FT_V re = e * ft_cos(z.im) * h, im = z.im == K(0) ? z.im : e * ft_sin(z.im) * h;
    return ft_cmake(none ? K(0) : (wild && z.re == K(INFINITY) ? K(INFINITY) : re), none ? K(0) : im);
}

FT_FN_ONCE FT_C ft_cexpm1(FT_C z)
{
    const FT_V s = ft_sin(z.im * K(0.5));
    return ft_cmake(expm1(z.re) * ft_cos(z.im) - K(2) * s * s, exp(z.re) * ft_sin(z.im));
}

FT_FN_ONCE FT_C ft_clog(FT_C z)
{
    const FT_V x = fabs(z.re), y = fabs(z.im);
    const FT_V m = x > y ? x : y, n = x > y ? y : x, q = n / m;
    const FT_V far = log(m) + K(0.5) * log1p(q * q);
    const FT_V near = K(0.5) * log1p((m - K(1)) * (m + K(1)) + n * n);  // accurate for |z| near 1
    const FT_V re = m > K(0.5) && m < K(2) ? near : (m == K(0) ? K(-INFINITY) : far);
    const FT_V odd = x != x || y != y ? K(NAN) : re;
    return ft_cmake(ft_isinf(x) || ft_isinf(y) ? K(INFINITY) : odd, ft_atan2(z.im, z.re));
}

FT_FN_ONCE FT_C ft_clog1p(FT_C z)
{
    const FT_C far = ft_clog(ft_cmake(z.re + K(1), z.im));
    const FT_M small = fabs(z.re) < K(0.5) && fabs(z.im) < K(0.5);
    return ft_cmake(small ? K(0.5) * log1p(z.re * (K(2) + z.re) + z.im * z.im) : far.re, far.im);
}

FT_FN_ONCE FT_C ft_csqrt(FT_C z)
{
    const FT_V x = fabs(z.re), y = fabs(z.im), m = x > y ? x : y;
    const FT_M top = m > FT_CTOP, bottom = m < FT_CBOTTOM;
    const FT_V up = top ? K(0.0625) : (bottom ? K(18014398509481984.0) : K(1));  // 2^-4, 2^54
    const FT_V down = top ? K(4) : (bottom ? K(7.450580596923828125e-9) : K(1));  // 2^2, 2^-27
    const FT_V a = x * up, b = y * up;
    const FT_V t = sqrt(K(0.5) * (a + hypot(a, b)));
    const FT_V u = t == K(0) ? K(0) : b / (t + t);
    const FT_M left = z.re < K(0);
    const FT_V re = (left ? u : t) * down, im = copysign((left ? t : u) * down, z.im);
    const FT_V re_at_inf = left ? (z.im == z.im ? K(0) : z.im) : x;
    const FT_V im_at_inf = left ? copysign(x, z.im) : (z.im == z.im ? copysign(K(0), z.im) : z.im);
    const FT_M inf_x = ft_isinf(z.re), inf_y = ft_isinf(z.im);
    const FT_V odd = z.im == z.im ? im : z.im;
    return ft_cmake(inf_y ? y : (inf_x ? re_at_inf : re), inf_y ? z.im : (inf_x ? im_at_inf : odd));
}

FT_FN_ONCE FT_C ft_csinh(FT_C z)
{
    const FT_V c = ft_cos(z.im), s = ft_sin(z.im), h = exp(fabs(z.re) * K(0.5));
    const FT_M big = fabs(z.re) > FT_CWIDE;
    const FT_V re = big ? copysign(K(0.5), z.re) * h * c * h : sinh(z.re) * c;
    const FT_V im = big ? K(0.5) * h * s * h : cosh(z.re) * s;
    const FT_M wild = ft_isinf(z.re) && !ft_isfinite(z.im);
    return ft_cmake(z.re == K(0) || wild ? z.re : re, z.im == K(0) ? z.im : im);
}

FT_FN_ONCE FT_C ft_ccosh(FT_C z)
{
    const FT_V c = ft_cos(z.im), s = ft_sin(z.im), h = exp(fabs(z.re) * K(0.5));
    const FT_M big = fabs(z.re) > FT_CWIDE;
    const FT_V re = big ? K(0.5) * h * c * h : cosh(z.re) * c;
    const FT_V im = big ? copysign(K(0.5), z.re) * h * s * h : sinh(z.re) * s;
    const FT_M wild = ft_isinf(z.re) && !ft_isfinite(z.im);
    return ft_cmake(wild ? K(INFINITY) : re, z.re == K(0) || z.im == K(0) ? K(0) : im);
}

// tanh by tan(y) and sinh(x), which have no cancellation. For large |x| the real part is 1.
FT_FN_ONCE FT_C ft_ctanh(FT_C z)
{
    const FT_V t = ft_tan(z.im), b = K(1) + t * t, s = sinh(z.re), r = sqrt(K(1) + s * s);
    const FT_V d = K(1) + b * s * s;
    const FT_M big = fabs(z.re) > FT_CWIDE;
    const FT_V far = K(4) * ft_sin(z.im) * ft_cos(z.im) * exp(K(-2) * fabs(z.re));
    const FT_V re = big ? copysign(K(1), z.re) : b * r * s / d;
    const FT_V im = big ? (ft_isinf(z.re) ? copysign(K(0), z.im) : far) : t / d;
    const FT_M lost = !ft_isfinite(z.im) && !ft_isinf(z.re) && z.re != K(0);
    return ft_cmake(lost ? K(NAN) : (z.re == K(0) ? z.re : re), z.im == K(0) ? z.im : im);
}

// asin and acos by Kahan's formulas. Where 1 is lost beside z*z, log(2z) is used.
FT_FN_ONCE FT_C ft_casin(FT_C z)
{
    const FT_C p = ft_csqrt(ft_cmake(K(1) - z.re, -z.im)), q = ft_csqrt(ft_cmake(K(1) + z.re, z.im));
    const FT_V re = ft_atan2(z.re, p.re * q.re - p.im * q.im), im = asinh(p.re * q.im - p.im * q.re);
    const FT_M far = fabs(z.re) > FT_CHUGE || fabs(z.im) > FT_CHUGE;
    const FT_V l = K(FT_LN2) + ft_clog(z).re;
    const FT_M lost = z.im != z.im && z.re == K(0);  // a NaN imaginary part leaves the real part 0
    return ft_cmake(lost ? z.re : (far ? ft_atan2(z.re, fabs(z.im)) : re), far ? copysign(l, z.im) : im);
}

FT_FN_ONCE FT_C ft_cacos(FT_C z)
{
    const FT_C p = ft_csqrt(ft_cmake(K(1) - z.re, -z.im)), q = ft_csqrt(ft_cmake(K(1) + z.re, z.im));
    const FT_V re = K(2) * ft_atan2(p.re, q.re), im = asinh(q.re * p.im - q.im * p.re);
    const FT_M far = fabs(z.re) > FT_CHUGE || fabs(z.im) > FT_CHUGE;
    const FT_V l = K(FT_LN2) + ft_clog(z).re;
    const FT_M lost = z.im != z.im && z.re == K(0);
    const FT_V angle = far ? ft_atan2(fabs(z.im), z.re) : re;
    return ft_cmake(lost ? K(FT_PI / 2) : angle, far ? -copysign(l, z.im) : im);
}

FT_FN_ONCE FT_C ft_cacosh(FT_C z)
{
    const FT_C a = ft_cacos(z);
    return ft_cmake(fabs(a.im), ft_signbit(a.im) || a.im != a.im ? a.re : -a.re);
}

FT_FN_ONCE FT_C ft_catanh(FT_C z)
{
    const FT_V x = fabs(z.re), y = fabs(z.im), m = x > y ? x : y, n = x > y ? y : x;
    const FT_V d = hypot(K(1) - x, y);
    const FT_V close = K(0.5) * log(hypot(K(1) + x, y) / d), wide = K(0.25) * log1p(K(4) * x / (d * d));
    const FT_M far = m > FT_CHUGE;
    const FT_V q = n / m, tail = ft_isinf(m) ? K(0) : x / m / (m * (K(1) + q * q));
    const FT_V turn = K(0.5) * ft_atan2(K(2) * z.im, (K(1) - x) * (K(1) + x) - y * y);
    const FT_V re = far ? tail : (d < K(0.5) ? close : wide);
    const FT_M odd = (x != x && !ft_isinf(y)) || (y != y && x != K(0) && !ft_isinf(x));
    const FT_V gap = ft_isinf(m) ? K(0) : y / m / (m * (K(1) + q * q));
    const FT_V im = far ? copysign(K(FT_PI / 2) - gap, z.im) : turn;
    const FT_V known = y != y && !odd ? K(0) : re;
    return ft_cmake(odd ? K(NAN) : copysign(known, z.re), z.im != z.im ? z.im : (odd ? K(NAN) : im));
}

FT_FN_ONCE FT_C ft_csin(FT_C z) { return ft_cover_i(ft_csinh(ft_ctimes_i(z))); }
FT_FN_ONCE FT_C ft_ccos(FT_C z) { return ft_ccosh(ft_ctimes_i(z)); }
FT_FN_ONCE FT_C ft_ctan(FT_C z) { return ft_cover_i(ft_ctanh(ft_ctimes_i(z))); }
FT_FN_ONCE FT_C ft_casinh(FT_C z) { return ft_cover_i(ft_casin(ft_ctimes_i(z))); }
FT_FN_ONCE FT_C ft_catan(FT_C z) { return ft_cover_i(ft_catanh(ft_ctimes_i(z))); }
FT_FN_ONCE FT_C ft_csigmoid(FT_C z)
{
    return ft_crecip(ft_cadd(FT_CONE, ft_cexp(ft_cneg(z))));
}
FT_FN_ONCE FT_C ft_csinc(FT_C z)
{
    const FT_C p = ft_cscale(z, K(FT_PI));
    const FT_C s = ft_cmul(ft_csin(p), ft_crecip(p));
    const FT_M zero = z.re == K(0) && z.im == K(0);
    return ft_cmake(zero ? K(1) : s.re, zero ? K(0) : s.im);
}
#endif
