// Special functions, each from its own series or continued fraction with a fixed number of terms.
#define FT_SQRT_PI 1.77245385090551602730
#define FT_SQRT_HALF 0.70710678118654752440

// digamma by reflection to x > 0, the recurrence psi(x) = psi(x + 1) - 1 / x, then Stirling's series.
FT_FN_ONCE FT_V ftx_digamma(FT_V a)
{
    const FT_M left = a < K(0.5);
    FT_V x = left ? K(1) - a : a, sum = K(0);
    FT_UNROLL
    for (int k = 0; k < 9; k++) {
        const FT_M low = x < K(9);
        sum = low ? sum - K(1) / x : sum;
        x = low ? x + K(1) : x;
    }
    const FT_V r = K(1) / x, s = r * r;
    const FT_V tail = s * (K(1.0 / 12) - s * (K(1.0 / 120) - s * (K(1.0 / 252) - s * (K(1.0 / 240)
        - s * (K(1.0 / 132) - s * (K(691.0 / 32760) - s * K(1.0 / 12)))))));
    const FT_V right = x == K(INFINITY) ? x : sum + log(x) - K(0.5) * r - tail;
    const FT_V turn = a - rint(a), mirrored = right - K(FT_PI) / tan(K(FT_PI) * turn);
    const FT_V pole = a == K(0) ? copysign(K(INFINITY), -a) : K(NAN);
    return left ? (turn == K(0) || ft_isinf(a) ? pole : mirrored) : right;
}

// exp(x * x) * erfc(x): by its definition near 0, by the continued fraction of erfc for large x.
FT_FN_ONCE FT_V ftx_erfcx(FT_V a)
{
    const FT_V x = fabs(a), edge = K(FT_DOUBLE ? 6 : 2);
    FT_V f = x;
    FT_UNROLL
    for (int k = 14; k > 0; k--) f = x + K(0.5 * k) / f;
    const FT_V far = K(1.0 / FT_SQRT_PI) / f;
    // exp would amplify the rounding error of the square, so it is applied as a separate factor.
    const FT_V square = x * x, lost = fma(x, x, -square), grown = exp(square);
    const FT_V whole = grown < K(INFINITY) ? fma(grown, lost, grown) : grown;
    const FT_V near = x < edge ? x : edge, close = whole * erfc(near);
    const FT_V right = x < edge ? close : far;
    return a != a ? a : (a < K(0) ? K(2) * whole - right : right);
}

FT_FN_ONCE FT_V ftx_log_ndtr(FT_V x)
{
    const FT_V z = x * K(FT_SQRT_HALF);
    const FT_V left = log(K(0.5) * ftx_erfcx(-(z < K(-1) ? z : K(-1)))) - K(0.5) * x * x;
    return z < K(-1) ? left : log1p(K(-0.5) * erfc(z));
}

#if FT_DOUBLE
// The x with erf(x) = y. q = 1 - |y| is passed separately, since a y near 1 cannot represent it. A closed
// formula gives the initial value; then Halley's steps on erf near 0, and Newton's on log(erfc) in the tail.
FT_FN_ONCE FT_V ftx_erfinv_of(FT_V y, FT_V q)
{
    const FT_V p = fabs(y), c = K(4.33074675078), l = log(q * (K(2) - q)), t = c + K(0.5) * l;
    const FT_V guess = sqrt(sqrt(t * t - l * K(1.0 / 0.147)) - t);
    FT_V x = p < K(0.3) ? K(0.5 * FT_SQRT_PI) * p * (K(1) + K(FT_PI / 12) * p * p) : guess;
    const FT_M tail = q < K(0.4);
    const FT_V log_q = log(q);
    FT_UNROLL
    for (int k = 0; k < 4; k++) {
        const FT_V e = (erf(x) - p) * K(0.5 * FT_SQRT_PI) * exp(x * x);
        const FT_V w = ftx_erfcx(x);
        const FT_V g = (log(w) - x * x - log_q) * w * K(0.5 * FT_SQRT_PI);
        x = tail ? x + g : x - e / (K(1) + x * e);
    }
    return copysign(q == K(0) ? K(INFINITY) : x, y);
}

FT_FN_ONCE FT_V ftx_erfinv(FT_V y)
{
    const FT_V q = K(1) - fabs(y);
    return q >= K(0) ? (y == K(0) ? y : ftx_erfinv_of(y, q)) : K(NAN);
}

FT_FN_ONCE FT_V ftx_ndtri(FT_V p)
{
    const FT_V q = K(2) * (p < K(0.5) ? p : K(1) - p);
    const FT_V x = K(1.0 / FT_SQRT_HALF) * ftx_erfinv_of(K(2) * p - K(1), q);
    return q >= K(0) ? x : K(NAN);
}
#else
// The x > 0 with erf(x) = y, where w = -log(1 - y * y): y and y times a polynomial in w up to 3.5 (M. Giles, GPU
// Computing Gems 2, 2011), then s = sqrt(w) and a polynomial in s - 3, up to 4: 1 - y is 2^-24 at least. The rounding
// error of the root is the remainder over 2 s, which a line gives to an eighth.
#define FTX_TERM(far_, near_) p = FT_MULTIPLY_ADD(p, u, far ? K(far_) : K(near_));
FT_FN_ONCE FT_V ftx_erfinv_of(FT_V y, FT_V w, FT_V s)
{
    const FT_M far = w > K(3.5);
    const FT_V u = far ? s - K(3) : w;
    FT_V p = far ? K(-5.8501646e-6) : K(0);
    FTX_TERM(-1.57301965e-5, 8.9359375e-8)
    FTX_TERM(6.86172061e-5, -1.16798833e-6)
    FTX_TERM(-4.37749404e-5, 1.36759604e-6)
    FTX_TERM(-2.29145589e-4, 4.93290427e-5)
    FTX_TERM(1.14496774e-3, -1.3229961e-4)
    FTX_TERM(-3.44315916e-3, -2.33183056e-3)
    FTX_TERM(6.84335548e-3, 1.15481652e-2)
    FTX_TERM(2.66227731e-3, 0.232013822)
    p = fma(p, u, far ? K(-0.167198002) : K(-0.113773078));  // rounded once on boards, too: it is the last bit
    const FT_V lost = fma(-s, s, w) * FT_MULTIPLY_ADD(K(-0.062), s, K(0.365));
    return far ? s + (p + lost) : fma(p, y, y);
}
#undef FTX_TERM

FT_FN_ONCE FT_V ftx_erfinv(FT_V x)
{
    const FT_V y = fabs(x), q = K(1) - y, w = -log(FT_MULTIPLY_ADD(-q, q, q + q)), v = ftx_erfinv_of(y, w, sqrt(w));
    return y <= K(1) ? copysign(y == K(1) ? K(INFINITY) : v, x) : K(NAN);
}

// sqrt(2) erfinv(2 p - 1). For small p, 2 p - 1 would round to -1.
FT_FN_ONCE FT_V ftx_ndtri(FT_V p)
{
    const FT_V rest = K(4) * p * (K(1) - p), y = K(2) * p - K(1), w = -log(rest), s = sqrt(w), u = s - K(7);
#define FTX_TERM(c) far = FT_MULTIPLY_ADD(far, u, K(c));
    FT_V far = K(-2.42838238e-9);
    FTX_TERM(1.55368056e-8)
    FTX_TERM(-4.11491641e-8)
    FTX_TERM(2.49287098e-7)
    FTX_TERM(-1.68607892e-6)
    FTX_TERM(6.2901172e-6)
    FTX_TERM(6.4361061e-6)
    FTX_TERM(-5.12941776e-4)
    FTX_TERM(8.59551877e-3)
    FTX_TERM(-0.130980298)
#undef FTX_TERM
    const FT_V x = s > K(4) ? s + far : ftx_erfinv_of(fabs(y), w, s);
    return rest >= K(0) ? copysign(rest == K(0) ? K(INFINITY) : K(1.0 / FT_SQRT_HALF) * x, y) : K(NAN);
}
#endif

FT_FN_ONCE FT_V ftx_entr(FT_V x)
{
    const FT_V y = -x * log(x);
    return x != x ? x : (x > K(0) ? y : (x == K(0) ? K(0) : K(-INFINITY)));
}

// exp(-|x|) I_n(x) for n = 0, 1: the power series (all terms positive), Hankel's series for large x.
#define FTX_BESSEL(name, order, sign)                                                          \
    FT_FN_ONCE FT_V name(FT_V a)                                                               \
    {                                                                                          \
        const FT_V x = fabs(a), edge = K(FT_DOUBLE ? 20 : 10);                                 \
        const FT_V near = x < edge ? x : edge, q = K(0.25) * near * near;                      \
        FT_V close = K(1), far = K(1);                                                         \
        const FT_V r = K(0.125) / (x < edge ? edge : x);                                       \
        FT_UNROLL                                                                              \
        for (int k = FT_DOUBLE ? 50 : 26; k > 0; k--)                                          \
            close = K(1) + q * close * K(1.0 / ((double)k * (k + order)));                     \
        FT_UNROLL                                                                              \
        for (int k = FT_DOUBLE ? 30 : 14; k > 0; k--)                                          \
            far = K(1) + r * far * K((double)((2 * k - 1) * (2 * k - 1) - 4 * order) / k);     \
        close *= (order ? K(0.5) * near : K(1)) * exp(-near);                                  \
        far *= K(0.39894228040143267794) / sqrt(x);                                            \
        const FT_V whole = x < edge ? close : far;                                             \
        return a != a ? a : (sign ? copysign(whole, a) : whole);                               \
    }
FTX_BESSEL(ftx_i0e, 0, 0)
FTX_BESSEL(ftx_i1e, 1, 1)
FT_FN_ONCE FT_V ftx_i0(FT_V x) { return ftx_i0e(x) * exp(fabs(x)); }
FT_FN_ONCE FT_V ftx_i1(FT_V x) { return ftx_i1e(x) * exp(fabs(x)); }

// Hurwitz's zeta function of q + 1, for q > 0: nine terms of its sum, then the Euler-Maclaurin formula (DLMF
// 25.11.5).
FT_FN_ONCE FT_V ftx_zeta_after(FT_V x, FT_V q)
{
    const FT_V end = q + K(10), last = pow(end, -x), r = K(1) / (end * end);
    // Term j has B_2j / (2j)! and two more factors (x + 2j - 3)(x + 2j - 2) / end^2 than the term before.
#define FTX_NEXT(j, share) (x + K(2 * j - 3)) * (x + K(2 * j - 2)) * r * (K(share)
    const FT_V tail = x / end * (K(1.0 / 12) + FTX_NEXT(2, -1.0 / 720) + FTX_NEXT(3, 1.0 / 30240)
        + FTX_NEXT(4, -1.0 / 1209600) + FTX_NEXT(5, 1.0 / 47900160) + FTX_NEXT(6, -691.0 / 1307674368000.0)
        + FTX_NEXT(7, 1.0 / 74724249600.0) + FTX_NEXT(8, -3617.0 / 10670622842880000.0)))))))));
#undef FTX_NEXT
    // If the last power is 0, the tail is 0, though its factors may be infinite. The smallest terms are added
    // first.
    FT_V sum = last == K(0) ? K(0) : pow(end, K(1) - x) / (x - K(1)) + last * (K(0.5) + tail);
    FT_UNROLL
    for (int k = 9; k > 0; k--) sum += pow(q + K(k), -x);
    return sum;
}

// zeta(x, q); NaN for an infinite q, as in torch. For q < 0 it is the sum over all integers' distances from q,
// minus the sum beyond, both for positive arguments.
FT_FN_ONCE FT_V ftx_zeta(FT_V x, FT_V q)
{
    const FT_M left = q < K(0);
    // The distances from q to the integers below and above it, exact where q is near one. Their powers nearly
    // cancel.
    const FT_V down = floor(q), part = left ? q - down : q, rest = left ? -q - floor(-q) : K(1), past = K(1) - q;
    const FT_V odd = x - K(2) * floor(K(0.5) * x);
    const FT_V sign = odd == K(0) ? K(1) : K(-1);
    const FT_V near = pow(part, -x), mirrored = pow(rest, -x), other = sign * mirrored;
    // Near the middle, the difference of the powers is computed from the difference of the distances, which is
    // exact.
    const FT_V lean = part - rest, apart = mirrored * expm1(-x * log1p(lean / rest));
    const FT_V both = sign < K(0) && fabs(lean) < K(0.25) ? apart : near + other;
    const FT_V beyond = pow(past, -x) + ftx_zeta_after(x, past);
    const FT_V far = ftx_zeta_after(x, part), around = far + sign * (ftx_zeta_after(x, rest) - beyond);
    const FT_V whole = left ? around + both : far + near;
    const FT_V value = x != x || q != q || q == K(INFINITY) || (left && x != floor(x)) ? K(NAN) : whole;
    const FT_M pole = x == K(1) || (q <= K(0) && q == down && !(x < K(1)));
    return pole ? K(INFINITY) : (x < K(1) ? K(NAN) : value);
}

// trigamma by reflection to x > 0.5, the recurrence, then Stirling's series.
FT_FN_ONCE FT_V ftx_trigamma(FT_V a)
{
    const FT_M left = a < K(0.5);
    FT_V x = left ? K(1) - a : a, sum = K(0);
    FT_UNROLL
    for (int k = 0; k < (FT_DOUBLE ? 12 : 6); k++) {
        sum += K(1) / (x * x);
        x = x + K(1);
    }
    const FT_V r = K(1) / x, s = r * r, turn = sin(K(FT_PI) * a);
    sum += r * (K(1) + K(0.5) * r + s * (K(1.0 / 6) - s * (K(1.0 / 30) - s * (K(1.0 / 42)
        - s * (K(1.0 / 30) - s * K(5.0 / 66))))));
    return left ? K(FT_PI) * K(FT_PI) / (turn * turn) - sum : sum;
}

// x = mantissa * 2^exponent, with |mantissa| in [0.5, 1). A NaN or an infinity is its own mantissa.
FT_FN_ONCE FT_V ftx_mantissa(FT_V x)
{
    FT_I exponent;
    const FT_V m = frexp(x, &exponent);
    return ft_isfinite(x) ? m : x;
}
FT_FN_ONCE FT_V ftx_exponent(FT_V x)
{
    FT_I exponent;
    const FT_V m = frexp(x, &exponent);
    return ft_isfinite(x) ? FT_CONVERT(FT_T, exponent) + K(0) * m : K(0);
}
