// The incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), each from the series that is accurate in its
// region:
//   near x = a, for large a  Temme's uniform expansion (DLMF 8.12)
//   x <= a, or small x       the power series of P (DLMF 8.11.4)
//   both small               the alternating one, for a Q below 1/2 (DLMF 8.7.1)
//   elsewhere                the continued fraction of Q (DLMF 8.9.2)
// No two close numbers are subtracted, except 1 - P or 1 - Q for a subtrahend below or near 1/2.

// 1 / gamma(1 + t) - 1 for t in [0, 1], relative to t as well (DLMF 5.7.1).
FT_FN_ONCE FT_V ftg_reciprocal(FT_V t)
{
    FT_V s = K(0);
#if FT_DOUBLE
    s = K(-2.05832605356650678e-14) + t * (K(-5.34812253942301798e-15) + t * K(1.22677862823826079e-15));
    s = K(7.78226343990507125e-12) + t * (K(-3.69680561864220571e-12) + t * (K(5.10037028745447598e-13) + t * s));
    s = K(5.00200764446922293e-9) + t * (K(-1.18127457048702014e-9) + t * (K(1.04342671169110051e-10) + t * s));
    s = K(6.11609510448141582e-9) + t * s;
#endif
    s = K(1.13302723198169588e-6) + t * (K(-2.0563384169776071e-7) + t * s);
    s = K(1.28050282388116186e-4) + t * (K(-2.01348547807882387e-5) + t * (K(-1.25049348214267066e-6) + t * s));
    s = K(7.21894324666309954e-3) + t * (K(-1.16516759185906511e-3) + t * (K(-2.15241674114950973e-4) + t * s));
    s = K(0.16653861138229149) + t * (K(-4.21977345555443367e-2) + t * (K(-9.62197152787697356e-3) + t * s));
    s = K(0.577215664901532861) + t * (K(-0.655878071520253881) + t * (K(-4.20026350340952355e-2) + t * s));
    return t * s;
}

// mu - log(1 + mu), where lambda = 1 + mu: near 0 by log(1 + mu) = 2 artanh(mu / (2 + mu)) without its first term.
FT_FN_ONCE FT_V ftg_excess(FT_V mu, FT_V lambda)
{
    const FT_V r = mu / (K(2) + mu), z = r * r;
    FT_V s = K(0);
    FT_UNROLL
    for (int k = FT_DOUBLE ? 13 : 6; k > 0; k--) s = z * s + K(1.0 / (2 * k + 1));
    return z < K(0.0625) ? mu * r - K(2) * r * z * s : mu - log(lambda);
}

// The sum that Temme's expansion multiplies by exp(-a eta^2 / 2) / (sqrt(2 pi a) gamma*(a)), in powers of eta: their
// coefficients by b_(n - 1) = d_n + (n + 1) b_(n + 1) / a, which eta / (lambda - 1) = 1 + d_1 eta + d_2 eta^2 + ... and
// the derivative of Q give (Gil, Segura, Temme, SIAM J. Sci. Comput. 34, 2012, section 2.5); lambda = x / a,
// eta^2 / 2 = lambda - 1 - log(lambda).
FT_FN_ONCE FT_V ftg_temme(FT_V a, FT_V eta)
{
    const FT_V r = K(1) / a;
    FT_V above = K(0), here = K(0), sum = K(0), below;
#define FTG_TURN(n, d)                       \
    below = K(d) + K(n + 1) * r * above;     \
    above = here;                            \
    here = below;                            \
    sum = sum * eta + below;
#if FT_DOUBLE
    FTG_TURN(32, -1.2932565538038175e-20) FTG_TURN(31, 9.69912605905623712e-19)
    FTG_TURN(30, -4.77003704982048476e-18) FTG_TURN(29, 1.16869397385595766e-17)
    FTG_TURN(28, 2.53054300974788842e-18) FTG_TURN(27, -1.65225312163981618e-16)
    FTG_TURN(26, 8.09952115670456133e-16) FTG_TURN(25, -1.97522882943494428e-15)
    FTG_TURN(24, -5.13911183424257262e-16) FTG_TURN(23, 2.85348938070474432e-14)
    FTG_TURN(22, -1.39238872241816207e-13) FTG_TURN(21, 3.37176326240098538e-13)
    FTG_TURN(20, 1.10043920319561348e-13) FTG_TURN(19, -5.02766928011417559e-12)
    FTG_TURN(18, 2.43619480206674162e-11) FTG_TURN(17, -5.83077213255042507e-11)
    FTG_TURN(16, -2.55141939949462498e-11) FTG_TURN(15, 9.14769958223679023e-10)
#endif
    FTG_TURN(14, -4.38203601845335319e-9) FTG_TURN(13, 1.0261809784240308e-8)
    FTG_TURN(12, 6.70785354340149858e-9) FTG_TURN(11, -1.76659527368260793e-7)
    FTG_TURN(10, 8.29671134095308601e-7) FTG_TURN(9, -1.85406221071515996e-6)
    FTG_TURN(8, -2.18544851067999216e-6) FTG_TURN(7, 3.91926317852243778e-5)
    FTG_TURN(6, -1.78755144032921811e-4) FTG_TURN(5, 3.527336860670194e-4)
    FTG_TURN(4, 1.15740740740740741e-3) FTG_TURN(3, -1.48148148148148148e-2)
    FTG_TURN(2, 8.33333333333333333e-2) FTG_TURN(1, -0.333333333333333333)
    return sum;
}

// 1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ..., for x <= a < FTG_LARGE, x <= a / 3 or x < 1.25.
FT_FN_ONCE FT_V ftg_power_series(FT_V a, FT_V x)
{
    FT_V s = K(1);
    for (int k = FT_DOUBLE ? 36 : 18; k > 0; k--) s = K(1) + s * x / (a + K(k));
    return s;
}

// x - x^2 / (2! (a + 2)) (a + 1) ...: the sum over n > 0 of -(-x)^n / (n! (a + n)), for x < 1.25.
FT_FN_ONCE FT_V ftg_alternating(FT_V a, FT_V x)
{
    FT_V term = x, s = K(0);
    for (int k = 1; k < (FT_DOUBLE ? 22 : 13); k++) {
        s += term / (a + K(k));
        term *= -x / K(k + 1);
    }
    return s;
}

// The denominator of Q's continued fraction, from its end.
FT_FN_ONCE FT_V ftg_fraction(FT_V a, FT_V x)
{
    const FT_V y = x - a;
    const int turns = FT_DOUBLE ? 70 : 20;
    FT_V f = y + K(2 * turns + 1);
    for (int k = turns; k > 0; k--) f = y + K(2 * k - 1) - K(k) * (K(k) - a) / f;
    return f;
}

// P(a, x), or Q(a, x) where `upper`. NaN for negative arguments, and where both are 0 or both infinite.
#define FTG_LARGE K(FT_DOUBLE ? 12 : 8)
FT_FN_ONCE FT_V ftg_incomplete(FT_V a_, FT_V x_, int upper)
{
    const FT_M inside = a_ > K(0) && x_ > K(0) && a_ < K(INFINITY) && x_ < K(INFINITY);
    const FT_V a = inside ? a_ : K(1), x = inside ? x_ : K(1);
    const FT_M large = a >= FTG_LARGE;
    const FT_V mu = (x - a) / a, excess = ftg_excess(mu, x / a);
    const FT_M near = large && excess < K(0.5);
    const FT_M low = !near && (x <= a || x < K(1.25)), right = near && mu >= K(0);

    // The common factor x^a exp(-x) / gamma(a + 1). For small a it uses the recurrence of gamma, and the exponential
    // in two halves, which don't underflow before the product; for large a Stirling's series in the exponent (DLMF
    // 5.11.1).
    const FT_V most = K(FT_DOUBLE ? 2000 : 300), z = x > most ? most : x;
    FT_V t = large ? K(1) : a, product = K(1);
    FT_UNROLL
    for (int k = 1; k < (FT_DOUBLE ? 12 : 8); k++) {
        const FT_M over = t > K(1);
        product = over ? product * t : product;
        t = over ? t - K(1) : t;
    }
    const FT_V rest = ftg_reciprocal(t), half_ = exp(K(-0.5) * z);
    const FT_V power = pow(z, large ? K(1) : a);
    FT_V factor = power / product * (K(1) + rest) * half_ * half_;
    if (FT_ANY(large)) {
        const FT_V r = K(1) / (large ? a : FTG_LARGE), s = r * r;
        const FT_V stirling = r * (K(1.0 / 12) - s * (K(1.0 / 360) - s * (K(1.0 / 1260) - s * (K(1.0 / 1680)
            - s * (K(1.0 / 1188) - s * (K(691.0 / 360360) - s * K(1.0 / 156)))))));
        factor = large ? exp(-a * excess - stirling) * K(0.39894228040143267794) * sqrt(r) : factor;
    }

    FT_V value = K(0);  // P, or Q where `is_upper` (below)
    FT_M small = low && low != low;
    if (FT_ANY(low)) {
        value = factor * ftg_power_series(a, low ? x : K(0));
        small = low && x < K(1.25) && value > K(0.5);
    }
    if (FT_ANY(small)) {
        const FT_V l = small ? a * log(x) : K(0), e = expm1(l);
        const FT_V over = product > K(1) ? (K(1) + rest) / product - K(1) : rest;
        const FT_V q = -e - (e + K(1)) * over + factor * exp(x) * a * ftg_alternating(a, small ? x : K(1));
        value = small ? q : value;
    }
    if (FT_ANY(near)) {
        const FT_V eta = copysign(sqrt(K(2) * excess), mu);
        const FT_V share = factor * ftg_temme(near ? a : K(100), near ? eta : K(0));
        const FT_V half_tail = K(0.5) * erfc(sqrt(near ? a * excess : K(0)));
        value = near ? (right ? half_tail + share : half_tail - share) : value;
    }
    const FT_M fraction = !near && !low;
    if (FT_ANY(fraction)) {
        const FT_V f = ftg_fraction(a, fraction ? x : K(2) * a);
        value = fraction ? factor * a / f : value;
    }
    const FT_M is_upper = fraction || right || small;
    const FT_V other = K(1) - value;
    const FT_V result = upper ? (is_upper ? value : other) : (is_upper ? other : value);

    // At the limits of its arguments P is 0 or 1.
    const FT_M none = (x_ == K(0) && a_ != K(0)) || a_ == K(INFINITY), whole = (a_ == K(0) && x_ > K(0)) || x_ == K(INFINITY);
    const FT_M beyond = a_ < K(0) || x_ < K(0) || (none && whole) || (!none && !whole);
    const FT_V end = beyond ? K(NAN) : (none ? K(upper ? 1 : 0) : K(upper ? 0 : 1));
    return inside ? result : end;
}
FT_FN_ONCE FT_V ftg_lower(FT_V a, FT_V x) { return ftg_incomplete(a, x, 0); }
FT_FN_ONCE FT_V ftg_upper(FT_V a, FT_V x) { return ftg_incomplete(a, x, 1); }
