// The arc functions and erf of float32, to 1.2 ulp; a runtime's own may be off by 2 to 4. The polynomials
// minimize the largest relative error (Lawson's algorithm). Their first term is exact, and the others are
// small. A dialect defines FT_OWN_ARCS to use them.
#if FT_OWN_ARCS && !FT_DOUBLE
// `size` with the sign of x.
#define FT_SIGNED_AS(size, x) FT_BITS(float, FT_BITS(int, size) | FT_SIGN_OF(x))
#define FT_HALF_PI K(1.57079637050628662109)
// The rounding error of FT_HALF_PI, multiplied like it.
#define FT_HALF_PI_LOW K(-2.78275348e-8)
// atan(t) / t - 1 for t in [0, 1].
FT_FN_ONCE FT_V ft_atan_past(FT_V t)
{
    const FT_V z = t * t;
    FT_V p = fma(fma(K(2.91951792e-3), z, K(-1.63634513e-2)), z, K(4.32049856e-2));
    p = fma(fma(fma(p, z, K(-7.55167082e-2)), z, K(0.106657706)), z, K(-0.14211002));
    return fma(fma(p, z, K(0.199937671)), z, K(-0.333331525)) * z;
}
FT_FN_ONCE FT_V ft_atan(FT_V x)
{
    const FT_V a = fabs(x);
    const FT_M far = a > K(1);
    const FT_V t = far ? K(1) / a : a, past = ft_atan_past(t);
    const FT_V beyond = FT_HALF_PI - (t + fma(past, t, K(4.37113900018624283e-8)));
    return FT_SIGNED_AS(far ? beyond : fma(past, t, t), x);
}
// Equal magnitudes give a quotient of 1, also two infinities; two zeros give 0.
FT_FN_ONCE FT_V ft_atan2(FT_V y, FT_V x)
{
    const FT_V a = fabs(y), b = fabs(x);
    const FT_M steep = a > b, left = FT_BITS(int, x) < 0;
    const FT_V most = steep ? a : b, least = steep ? b : a;
    const FT_V t = least == most ? (most == K(0) ? K(0) : K(1)) : least / most;
    // A quotient a little above a power of two may have an arc below that power, for which its rounding is a whole
    // ulp. The quotient's error is computed with 1 / most, accurate to an eighth (Newton's initial guess, by the
    // exponent).
    const FT_V by = FT_BITS(float, 0x7ef311c7 - FT_BITS(int, most));
    const FT_V rest = most < K(1e37) ? fma(-t, most, least) * by : K(0);
    const FT_V base = steep ? FT_HALF_PI : (left ? K(2) * FT_HALF_PI : K(0));
    // The arc is subtracted from the base if exactly one of steep and left holds: a sign bit, cheaper than a factor.
    const FT_I back = FT_SIGN_OF(x) ^ (steep ? (FT_I)(-0x7fffffff - 1) : (FT_I)(0));
    const FT_V low = FT_BITS(float, FT_BITS(int, base * FT_HALF_PI_LOW) ^ back);
    const FT_V arc = t + (low + fma(ft_atan_past(t), t, rest));
    return FT_SIGNED_AS(base + FT_BITS(float, FT_BITS(int, arc) ^ back), y);
}
// asin(s) - s for s up to 0.5, whose square is z.
FT_FN_ONCE FT_V ft_asin_past(FT_V s, FT_V z)
{
    const FT_V p = fma(fma(K(4.22105119e-2), z, K(2.41528153e-2)), z, K(4.54759113e-2));
    return fma(fma(p, z, K(7.49525279e-2)), z, K(0.166667536)) * z * s;
}
// asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)): one of both arguments is at most 0.5. The rounding error of pi
// / 2 - 2 s is kept: s may be off by half an ulp, and the result doubles that error.
FT_FN_ONCE FT_V ft_asin(FT_V x)
{
    const FT_V a = fabs(x);
    const FT_M far = a > K(0.5);
    const FT_V z = far ? fma(K(-0.5), a, K(0.5)) : a * a, s = far ? sqrt(z) : a, past = ft_asin_past(s, z);
    const FT_V whole = fma(K(-2), s, FT_HALF_PI), lost = fma(K(-2), s, FT_HALF_PI - whole);
    const FT_V beyond = whole + (lost + fma(K(-2), past, FT_HALF_PI * FT_HALF_PI_LOW));
    return FT_SIGNED_AS(far ? beyond : s + past, x);
}
FT_FN_ONCE FT_V ft_acos(FT_V x)
{
    const FT_V a = fabs(x);
    const FT_M far = a > K(0.5), left = x < K(0);
    const FT_V z = far ? fma(K(-0.5), a, K(0.5)) : a * a, s = far ? sqrt(z) : a, arc = s + ft_asin_past(s, z);
    const FT_V base = far ? (left ? K(2) * FT_HALF_PI : K(0)) : FT_HALF_PI, times = far != left ? K(1) : K(-1);
    return base + fma(far ? times + times : times, arc, base * FT_HALF_PI_LOW);
}
// a + a p(a * a) up to 0.85, then 1 - 2^(a q(a)), which rounds to 1 beyond 4. 2^e = 2^n 2^f with the nearest
// integer n.
FT_FN_ONCE FT_V ft_erf(FT_V x)
{
    const FT_V size = fabs(x), a = size > K(4) ? K(4) : size, z = a * a;
    FT_V p = fma(fma(K(-6.30348979e-4), z, K(5.05037932e-3)), z, K(-2.68032122e-2));
    p = fma(fma(fma(p, z, K(0.112827763)), z, K(-0.376125842)), z, K(0.128379166));
    FT_V q = fma(fma(K(3.11413925e-4), a, K(-4.66026552e-3)), a, K(3.30933407e-2));
    q = fma(fma(fma(q, a, K(-0.151968956)), a, K(-0.917066455)), a, K(-1.62812579));
    const FT_V e = q * a, n = e + FT_ROUNDER, f = e - (n - FT_ROUNDER);
    FT_V g = fma(fma(K(1.5329264e-4), f, K(1.33909693e-3)), f, K(9.61849932e-3));
    g = fma(fma(fma(fma(g, f, K(5.55035956e-2)), f, K(0.240226477)), f, K(0.693147182)), f, K(1));
    const FT_V tail = FT_BITS(float, FT_BITS(int, g) + (FT_BITS(int, n) << 23));
    return FT_SIGNED_AS(a > K(0.85) ? K(1) - tail : fma(p, a, a), x);
}
#else
#define ft_atan(x) atan(x)
#define ft_atan2(y, x) atan2(y, x)
#define ft_asin(x) asin(x)
#define ft_acos(x) acos(x)
#if FT_ERF_ROWS && !FT_DOUBLE
// For boards, to 1.25 ulp: a parabola for each of 337 segments, whose number and place are bits of |x|: an FPGA has
// these for free, and the coefficients are block RAM. The library's erf takes seven times the LUTs.
FT_FN_ONCE FT_V ft_erf(FT_V x)
{
    const FT_V size = fabs(x), a = size < K(4) ? size : K(3.9999998);
    const FT_I bits = FT_BITS(int, a);
    const bool low = bits < 0x3e800000, tiny = bits < 0x39800000;
    const FT_I segment = low ? (bits >> 20) - 919 : (bits >> 17) - 7919, row = tiny ? 0 : segment;
    const FT_V e = FT_BITS(float, 0x3f800000 | ((low ? bits << 3 : bits << 6) & 0x7fffff));
    const FT_V p = ft_erf_row(row, 0) + e * (ft_erf_row(row, 1) + e * ft_erf_row(row, 2));
    const FT_V times = bits < 0x3f800000 ? a : K(1), y = times + times * p;
    return ft_isnan(x) ? x : copysign(y, x);
}
#else
#define ft_erf(x) erf(x)
#endif
#endif
