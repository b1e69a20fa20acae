// Helpers of the ops on two and three inputs; all lanes alike, integers never trap.
#if FT_FLOATING
// Rounds an intermediate value to a float16 or bfloat16 result's precision, where torch rounds between two
// steps.
#if FT_DROPPED_BITS
FT_FN_ONCE FT_V ftb_narrow(FT_V v)
{
    const FT_V c = v * K((1 << FT_DROPPED_BITS) + 1), r = c - (c - v);
    return ft_isfinite(c) ? r : v;
}
#else
#define ftb_narrow(v) (v)
#endif
#if FT_DOUBLE
#define FTB_FAR K(0x1p900)
#else
#define FTB_FAR K(0x1p100f)
#endif
// The exact remainder of a division that rounds towards zero. A quotient rounded to nearest leaves a remainder
// that is representable, so each iteration removes one precision's worth of bits; most values need one
// iteration. An iteration may go below zero by less than `y`; the end corrects this.
FT_FN_ONCE FT_V ftb_fmod(FT_V a, FT_V b)
{
    const FT_V y = fabs(b);
    FT_V r = fabs(a);
    for (int k = 0; k < 64 && FT_ANY(fabs(r) >= y); k++) {
        FT_V by = y, q = r / y;
        if (FT_ANY(ft_isinf(q))) {
            by = ft_isinf(q) ? y * FTB_FAR : y;
            by = ft_isinf(r / by) ? by * FTB_FAR : by;
            q = r / by;
        }
        r = fma(-trunc(q), by, r);
    }
    r = copysign(r < K(0) ? r + y : r, a);
    return !ft_isfinite(a) || b == K(0) || b != b ? K(NAN) : (ft_isinf(b) ? a : r);
}
// The quotient rounded down. The remainder shows whether the quotient was rounded up to an integer; the last
// step corrects the rounding error of (a - m) / b.
FT_FN_ONCE FT_V ftb_floor_divide(FT_V a, FT_V b)
{
    const FT_V m = ftb_fmod(a, b), p = (a - m) / b;
    const FT_V q = (m != K(0)) && ((b < K(0)) != (m < K(0))) ? p - K(1) : p;
    const FT_V f = floor(q), g = q - f > K(0.5) ? f + K(1) : f;
    const FT_V r = q == K(0) ? copysign(K(0), a / b) : g;
    return b == K(0) ? a / b : r;
}
FT_FN_ONCE FT_V ftb_remainder(FT_V a, FT_V b)
{
    const FT_V m = ftb_fmod(a, b);
    return (m != K(0)) && ((b < K(0)) != (m < K(0))) ? m + b : m;
}
#if FT_OWN_POW && FT_FP64 && !FT_DOUBLE
// To half an ulp, by 2^(y log2 |x|) in doubles. |x| = 2^k m, where m is between 1/sqrt(2) and sqrt(2); with s = (m - 1) / (m + 1)
// log2 m = 2 / ln 2 (s + s^3 / 3 + s^5 / 5 + ...), of which seven terms are right to 2^-39 of it, and so y log2 |x|, below 150
// where it matters, to 2^-32. 2^r for |r| <= 1/2 by nine terms of its series, right to 2^-37.
#define FTB_D(x) ((FT_VEC(double))(x))
#define FTB_L(x) ((FT_VEC(ulong))(x))
#define FTB_ROUNDER FTB_D(0x1.8p52)  // adding 3 * 2^51 rounds n to an integer, which is then in the low bits of the sum
FT_FN_ONCE FT_VEC(double) ftb_log2_wide(FT_V x)
{
    // Splits off the exponent so that the mantissa is in [1/sqrt(2), sqrt(2)). A float as a double is always
    // normal.
    const FT_VEC(ulong) bits = FT_BITS(ulong, FT_CONVERT(double, x));
    const FT_VEC(ulong) k = (bits + FTB_L(0x3ff0000000000000ul - 0x3fe6a09e667f3bcdul)) >> 52;
    const FT_VEC(double) m = FT_BITS(double, bits - (k << 52) + FTB_L(0x3ff0000000000000ul));
    const FT_VEC(double) whole = FT_BITS(double, k | FTB_L(0x4330000000000000ul)) - FTB_D(0x1p52 + 1023);
    const FT_VEC(double) a = m - FTB_D(1), b = m + FTB_D(1);
    const FT_VEC(double) by = FT_CONVERT(double, K(1) / FT_CONVERT(float, b)), near = a * by;
    const FT_VEC(double) s = fma(fma(-near, b, a), by, near), z = s * s;  // a float division, corrected by its remainder
    FT_VEC(double) p = FTB_D(1.0 / 13);
    p = fma(fma(fma(p, z, FTB_D(1.0 / 11)), z, FTB_D(1.0 / 9)), z, FTB_D(1.0 / 7));
    p = fma(fma(fma(p, z, FTB_D(1.0 / 5)), z, FTB_D(1.0 / 3)), z, FTB_D(1));
    return fma(s * FTB_D(2.88539008177792681472), p, whole);
}
FT_FN_ONCE FT_V ftb_exp2_wide(FT_VEC(double) x)
{
    const FT_VEC(double) p = x < FTB_D(-200) ? FTB_D(-200) : (x > FTB_D(200) ? FTB_D(200) : x), n = p + FTB_ROUNDER;
    const FT_VEC(double) r = p - (n - FTB_ROUNDER);
    FT_VEC(double) v = FTB_D(1.01780860092396997e-7);
    v = fma(fma(fma(v, r, FTB_D(1.32154867901443095e-6)), r, FTB_D(1.52527338040598403e-5)), r, FTB_D(1.54035303933816099e-4));
    v = fma(fma(fma(v, r, FTB_D(1.33335581464284434e-3)), r, FTB_D(9.61812910762847716e-3)), r, FTB_D(5.55041086648215800e-2));
    v = fma(fma(fma(v, r, FTB_D(0.240226506959100712)), r, FTB_D(0.693147180559945309)), r, FTB_D(1));
    return FT_CONVERT(float, FT_BITS(double, FT_BITS(ulong, v) + (FT_BITS(ulong, n) << 52)));
}
FT_FN_ONCE FT_V ftb_power(FT_V x, FT_V y)
{
    const FT_V size = fabs(x), half_ = y * K(0.5);
    const FT_VEC(double) l = ftb_log2_wide(size), p = FT_CONVERT(double, y) * l;
    const FT_V v = ftb_exp2_wide(l == FTB_D(0) ? l : p);  // 1 to an infinite power is 1, but 0 * infinity is NaN
    // ftb_log2_wide gives 1024 for infinity, so the power of infinity is selected here.
    const FT_V of = size == K(INFINITY) ? (y < K(0) ? K(0) : K(INFINITY)) : v;
    const FT_M whole = trunc(y) == y, odd = whole && (trunc(half_) != half_);
    const FT_V power = x < K(0) ? (odd ? -of : (whole || size == K(INFINITY) ? of : K(NAN))) : of;
    return y == K(0) || x == K(1) ? K(1) : (x != x || y != y ? K(NAN) : power);
}
#undef FTB_D
#undef FTB_L
#undef FTB_ROUNDER
#else
#define ftb_power(x, y) pow(x, y)
#endif
// Powers of 0 are selected first: with a 0 in one lane, some vector libraries give wrong results in the other
// lanes.
FT_FN_ONCE FT_V ftb_pow(FT_V a, FT_V b)
{
    const FT_V r = ftb_power(a == K(0) ? K(1) : a, b), half_ = b * K(0.5);
    const FT_M odd = (trunc(b) == b) && (trunc(half_) != half_);
    const FT_V size = b < K(0) ? K(INFINITY) : (b == K(0) ? K(1) : fabs(b) * K(0));
    const FT_V zero = odd ? copysign(size, a) : size;
    return a == K(0) ? (ft_isinf(b) ? (b < K(0) ? K(INFINITY) : K(0)) : zero) : r;
}
#undef ftb_power
FT_FN_ONCE FT_V ftb_logaddexp(FT_V a, FT_V b)
{
    const FT_V m = ft_max(a, b), r = m + log1p(exp(-fabs(a - b)));
    return ft_isinf(a) && a == b ? a : r;
}
FT_FN_ONCE FT_V ftb_logaddexp2(FT_V a, FT_V b)
{
    const FT_V m = ft_max(a, b), r = m + log1p(exp2(-fabs(a - b))) * K(1.44269504088896340736);
    return ft_isinf(a) && a == b ? a : r;
}
FT_FN_ONCE FT_V ftb_xlogy(FT_V a, FT_V b)
{
    const FT_V r = a == K(0) ? K(0) : a * log(b);
    return b != b ? b : r;
}
FT_FN_ONCE FT_V ftb_xlog1py(FT_V a, FT_V b)
{
    const FT_V r = a == K(0) ? K(0) : a * log1p(b);
    return b != b ? b : r;
}
// Interpolates from the nearer end, so that weight 1 gives `b` itself.
FT_FN_ONCE FT_V ftb_lerp(FT_V a, FT_V b, FT_V w)
{
    const FT_V d = b - a;
    return fabs(w) < K(0.5) ? a + w * d : b - d * (K(1) - w);
}
#if !FT_DOUBLE
// The next bfloat16: the upper half of a float32's bits, one up or down.
FT_FN_ONCE FT_V ftb_nextafter_bfloat16(FT_V a, FT_V b)
{
    const FT_M grows = (b > a) == (a > K(0));
    const FT_I bits = FT_BITS(int, a);
    const FT_V near = FT_BITS(float, grows ? bits + (FT_I)(0x10000) : bits - (FT_I)(0x10000));
    const FT_V tiny = copysign(FT_BITS(float, (FT_I)(0x10000)), b);
    const FT_V r = a == K(0) ? tiny : near;
    return a != a || b != b ? a + b : (a == b ? b : r);
}
// The next float16. A float32's fraction has 13 bits more; below 2^-14 the distance of two float16 numbers is
// 2^-24.
FT_FN_ONCE FT_V ftb_nextafter_float16(FT_V a, FT_V b)
{
    const FT_M grows = (b > a) == (a > K(0));
    const FT_I bits = FT_BITS(int, a);
    const FT_V far = FT_BITS(float, grows ? bits + (FT_I)(0x2000) : bits - (FT_I)(0x2000));
    const FT_V step = K(0x1p-24f), fine = b > a ? a + step : a - step;
    const FT_V least = K(0x1p-14f), size = fabs(a);
    const FT_V near = size < least || (size == least && !grows) ? fine : far;
    const FT_V r = ft_isinf(a) ? copysign(K(65504), a) : near;
    return a != a || b != b ? a + b : (a == b ? b : r);
}
#endif

#else  // integers

// The quotient rounded towards zero, as in C. A division by zero sets all bits; the least number divided by -1
// wraps.
FT_FN_ONCE FT_V ftb_quotient(FT_V a, FT_V b)
{
#if FT_SIGNED
    const FT_V safe = b == K(0) || b == K(-1) ? K(1) : b, q = a / safe;
    return b == K(-1) ? K(0) - a : (b == K(0) ? K(-1) : q);
#else
    const FT_V safe = b == K(0) ? K(1) : b, q = a / safe;
    return b == K(0) ? K((FT_T)(~(ulong)0)) : q;
#endif
}
// The remainder of ftb_quotient; `a` itself for a divisor of zero.
FT_FN_ONCE FT_V ftb_fmod(FT_V a, FT_V b)
{
    const FT_V r = a - ftb_quotient(a, b) * b;
    return r;
}
#if FT_SIGNED
FT_FN_ONCE FT_V ftb_floor_divide(FT_V a, FT_V b)
{
    const FT_V q = ftb_quotient(a, b), r = a - q * b;
    return (b != K(0)) && (r != K(0)) && ((r < K(0)) != (b < K(0))) ? q - K(1) : q;
}
FT_FN_ONCE FT_V ftb_remainder(FT_V a, FT_V b)
{
    const FT_V r = ftb_fmod(a, b);
    return (r != K(0)) && ((r < K(0)) != (b < K(0))) ? r + b : r;
}
#else
#define ftb_floor_divide(a, b) ftb_quotient(a, b)
#define ftb_remainder(a, b) ftb_fmod(a, b)
#endif

FT_FN_ONCE FT_V ftb_gcd(FT_V a, FT_V b)
{
    FT_V x = ft_abs(a), y = ft_abs(b);
    for (int k = 0; k < 2 * FT_BITS_PER_VALUE && FT_ANY(y != K(0)); k++) {
        const FT_M more = y != K(0);
        const FT_V r = ftb_fmod(x, y);
        x = more ? y : x;
        y = more ? r : y;
    }
    return x;
}
FT_FN_ONCE FT_V ftb_lcm(FT_V a, FT_V b)
{
    const FT_V g = ftb_gcd(a, b), safe = g == K(0) ? K(1) : g;
#if FT_SIGNED && FT_BITS_PER_VALUE < 32
    const FT_V m = ftb_quotient(ft_abs(a), safe) * ft_abs(b);  // wraps as a product of ints does
    return g == K(0) ? K(0) : m;
#else
    const FT_V m = ftb_quotient(a, safe) * b;
    return g == K(0) ? K(0) : ft_abs(m);
#endif
}

// A power by repeated squaring. Negative exponents give zero, except for the bases 1 and -1.
FT_FN_ONCE FT_V ftb_pow(FT_V a, FT_V b)
{
#if FT_SIGNED
    FT_V rest = b < K(0) ? K(0) : b;
#else
    FT_V rest = b;
#endif
    FT_V base = a, r = K(1);
    for (int k = 0; k < FT_BITS_PER_VALUE && FT_ANY(rest != K(0)); k++) {
        r = (rest & K(1)) != K(0) ? r * base : r;
        base = base * base;
        rest = rest >> K(1);
    }
#if FT_SIGNED
    const FT_V unit = a == K(-1) ? ((b & K(1)) != K(0) ? K(-1) : K(1)) : (a == K(1) ? K(1) : K(0));
    r = b < K(0) ? unit : r;
#endif
    return r;
}

// A shift by a negative number, or by the type's width or more, gives 0, or -1 for negative numbers shifted
// right.
FT_FN_ONCE FT_V ftb_shift_left(FT_V a, FT_V b)
{
#if FT_SIGNED
    const FT_M out = (b < K(0)) || (b >= K(FT_BITS_PER_VALUE));
#else
    const FT_M out = b >= K(FT_BITS_PER_VALUE);
#endif
    const FT_V by = out ? K(0) : b;
    return out ? K(0) : a << by;
}
FT_FN_ONCE FT_V ftb_shift_right(FT_V a, FT_V b)
{
#if FT_SIGNED
    const FT_V by = (b < K(0)) || (b >= K(FT_BITS_PER_VALUE)) ? K(FT_BITS_PER_VALUE - 1) : b;
    return a >> by;
#else
    const FT_M out = b >= K(FT_BITS_PER_VALUE);
    const FT_V by = out ? K(0) : b;
    return out ? K(0) : a >> by;
#endif
}
#endif

#ifdef FT_COMPLEX
FT_FN_ONCE FT_C ftb_cwhere(FT_M c, FT_C x, FT_C y)
{
    return ft_cmake(c ? x.re : y.re, c ? x.im : y.im);
}
// Smith's method: it computes no square that could overflow or underflow.
FT_FN_ONCE FT_C ftb_cdiv(FT_C x, FT_C y)
{
    const FT_M wide = fabs(y.re) >= fabs(y.im), none = (y.re == K(0)) && (y.im == K(0));
    const FT_V p = wide ? y.re : y.im, q = wide ? y.im : y.re;
    const FT_V ratio = q / p, scale = K(1) / (p + q * ratio);
    const FT_V re = (wide ? x.re + x.im * ratio : x.re * ratio + x.im) * scale;
    const FT_V im = (wide ? x.im - x.re * ratio : x.im * ratio - x.re) * scale;
    const FT_V zero = fabs(y.re);
    return ft_cmake(none ? x.re / zero : re, none ? x.im / zero : im);
}
// A power multiplies the logarithm's error by the exponent, so float uses double here if the device has it.
#if FT_FP64 && !FT_DOUBLE
typedef FT_VEC(double) ftb_double;
FT_FN_ONCE FT_C ftb_clog(FT_C z)
{
    const ftb_double x = FT_CONVERT(double, z.re), y = FT_CONVERT(double, z.im);
    return ft_cmake(FT_CONVERT(float, log(x * x + y * y) * 0.5), FT_CONVERT(float, atan2(y, x)));
}
FT_FN_ONCE FT_C ftb_cexp(FT_C z)
{
    const ftb_double r = exp(FT_CONVERT(double, z.re)), a = FT_CONVERT(double, z.im);
    const FT_V re = FT_CONVERT(float, r * cos(a)), im = FT_CONVERT(float, r * sin(a));
    const FT_M wild = !ft_isfinite(z.im), none = wild && (z.re == K(-INFINITY));
    const FT_V far = wild && (z.re == K(INFINITY)) ? K(INFINITY) : re;
    return ft_cmake(none ? K(0) : far, none ? K(0) : (z.im == K(0) ? z.im : im));
}
#else
#define ftb_clog(z) ft_clog(z)
#define ftb_cexp(z) ft_cexp(z)
#endif
FT_FN_ONCE FT_C ftb_cpow(FT_C x, FT_C y) { return ftb_cexp(ft_cmul(y, ftb_clog(x))); }
FT_FN_ONCE FT_C ftb_clerp(FT_C a, FT_C b, FT_C w)
{
    const FT_C d = ft_csub(b, a);
    const FT_C low = ft_cadd(a, ft_cmul(w, d));
    const FT_C high = ft_csub(b, ft_cmul(d, ft_cmake(K(1) - w.re, -w.im)));
    return ftb_cwhere(hypot(w.re, w.im) < K(0.5), low, high);
}
// log(exp(x) + exp(y)): computed relative to the operand with the larger real part.
FT_FN_ONCE FT_C ftb_clogaddexp(FT_C x, FT_C y)
{
    const FT_M swap = x.re < y.re;
    const FT_C low = ftb_cwhere(swap, x, y), high = ftb_cwhere(swap, y, x);
    const FT_C usual = ft_cadd(high, ft_clog1p(ft_cexp(ft_csub(low, high))));
    const FT_C both = ft_clog(ft_cadd(ft_cexp(low), ft_cexp(high)));
    const FT_C r = ftb_cwhere(low.re == K(INFINITY) && high.re == K(INFINITY), both, usual);
    const FT_M nan = (x.re != x.re) || (x.im != x.im) || (y.re != y.re) || (y.im != y.im);
    const FT_C s = ftb_cwhere(high.re == K(-INFINITY), low, r);
    return ft_cmake(nan ? K(NAN) : s.re, nan ? K(NAN) : s.im);
}
#endif
