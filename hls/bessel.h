// Bessel functions of orders 0 and 1, and Airy's Ai, which is computed from those of order 1/3.
#define FTK_EULER 0.57721566490153286061
#define FTK_EULER_HALVED -0.11593151565841244881  // Euler's constant - log 2, for log(x): x / 2 may underflow
#define FT_SQRT_INV_PI 0.56418958354775628695
#define FT_SQRT_HALF_INV_PI 0.39894228040143267794

// Common series of K_0 and K_1: both for 0 < x <= 2, times exp(x) (DLMF 10.31.1-2), and beyond by the trapezoidal
// rule on exp(x) K_n(x), the integral of exp(-x (cosh t - 1)) cosh(n t) over t > 0, which converges exponentially:
// the step follows the width of the integrand.
#define FTK_SECOND(name, order)                                                                \
    FT_FN_ONCE FT_V name(FT_V x)                                                               \
    {                                                                                          \
        const FT_V near = x < K(2) ? x : K(2), q = K(0.25) * near * near;                      \
        const FT_V l = log(near) + K(FTK_EULER_HALVED);                                      \
        FT_V term = order ? K(0.5) * near : K(1), close = order ? K(1) / near : -l;            \
        FT_V harmonic = K(order ? -0.5 : 0);                                                    \
        if (order) close += term * (l + harmonic);                                          \
        FT_UNROLL                                                                              \
        for (int k = 1; k < (FT_DOUBLE ? 15 : 9); k++) {                                       \
            term *= q * K(1.0 / ((double)k * (k + order)));                                    \
            harmonic -= K(order ? 0.5 / k + 0.5 / (k + 1) : 1.0 / k);                          \
            close += (order ? term : -term) * (l + harmonic);                               \
        }                                                                                      \
        const FT_V far = x > K(2) ? x : K(2), root = K(0.65) / sqrt(far);                      \
        const FT_V h = root < K(0.22) ? root : K(0.22);                                        \
        FT_V sum = K(0.5);                                                                     \
        FT_UNROLL                                                                              \
        for (int k = 1; k < (FT_DOUBLE ? 18 : 13); k++) {                                      \
            const FT_V t = h * K(k), s = sinh(K(0.5) * t), c = K(2) * s * s;                   \
            sum += exp(-far * c) * (order ? c + K(1) : K(1));                                  \
        }                                                                                      \
        const FT_V whole = x <= K(2) ? close * exp(near) : h * sum;                            \
        const FT_V right = x == K(0) ? K(INFINITY) : (x == K(INFINITY) ? K(0) : whole);        \
        return x >= K(0) ? right : K(NAN);                                                     \
    }
FTK_SECOND(ftk_k0e, 0)
FTK_SECOND(ftk_k1e, 1)
FT_FN_ONCE FT_V ftk_k0(FT_V x) { return ftk_k0e(x) * exp(-x); }
FT_FN_ONCE FT_V ftk_k1(FT_V x) { return ftk_k1e(x) * exp(-x); }

// J_n and Y_n for n = 0, 1 and 0 < x < FTK_FAR: one recurrence from above (Miller's), normalized by
// J_0 + 2 (J_2 + J_4 + ...) = 1; Y_n by Neumann's series over the even or odd ones (DLMF 10.8.3, 10.12.4, 10.74).
#define FTK_FAR K(FT_DOUBLE ? 25 : 12)
#define FTK_NEAR(name, order, second)                                                          \
    FT_FN_ONCE FT_V name(FT_V x)                                                               \
    {                                                                                          \
        FT_V above = K(0), here = K(1e-30), norm = K(0), neumann = K(0);                       \
        const FT_V turn = K(2) / x;                                                            \
        FT_UNROLL                                                                              \
        for (int k = FT_DOUBLE ? 64 : 36; k > 0; k--) { /* here: J_k, times what all share */  \
            if (k % 2 == 0) norm += K(2) * here;                                               \
            if (second && k > 1 && k % 2 == order) {                                           \
                const int m = k / 2;                                                           \
                const double share = order ? (double)k / ((double)m * (m + 1)) : 2.0 / m;      \
                neumann += here * K(m % 2 ? share : -share);                                   \
            }                                                                                  \
            const FT_V below = K(k) * turn * here - above;                                     \
            above = here;                                                                      \
            here = below;                                                                      \
            const FT_V scale = fabs(here) > K(1e10) ? K(1e-20) : K(1);                         \
            above *= scale;                                                                    \
            here *= scale;                                                                     \
            norm *= scale;                                                                     \
            neumann *= scale;                                                                  \
        }                                                                                      \
        norm += here;                                                                          \
        const FT_V j0 = here / norm, j1 = above / norm;                                        \
        const FT_V l = log(K(0.5) * x) + K(FTK_EULER - order);                                 \
        const FT_V y = l * (order ? j1 : j0) - (order ? j0 / x : K(0)) + neumann / norm;       \
        return second ? K(2 / FT_PI) * y : (order ? j1 : j0);                                  \
    }
FTK_NEAR(ftk_j0_near, 0, 0)
FTK_NEAR(ftk_j1_near, 1, 0)
FTK_NEAR(ftk_y0_near, 0, 1)
FTK_NEAR(ftk_y1_near, 1, 1)

// For x >= FTK_FAR Hankel's series (DLMF 10.17.3-4); the angle x - (2n + 1) pi / 4 by sums of sin x and cos x.
FT_FN_ONCE FT_V ftk_far(FT_V x, int order, int second)
{
    const FT_V r = K(0.125) / x;
    FT_V p = K(1), q = K(0), term = K(1);
    FT_UNROLL
    for (int k = 1; k < (FT_DOUBLE ? 22 : 10); k++) {
        term *= r * K((4.0 * order - (2.0 * k - 1) * (2.0 * k - 1)) / k);
        if (k % 2) q += k % 4 == 1 ? term : -term;
        else p += k % 4 == 0 ? term : -term;
    }
    const FT_V s = ft_sin(x), c = ft_cos(x), plus = s + c, minus = s - c;
    const FT_V cosine = order ? minus : plus, sine = order ? -plus : minus;
    const FT_V wave = second ? p * sine + q * cosine : p * cosine - q * sine;
    return wave * K(FT_SQRT_INV_PI) / sqrt(x);
}
#define FTK_FIRST(name, near_, order)                                                          \
    FT_FN_ONCE FT_V name(FT_V a)                                                               \
    {                                                                                          \
        const FT_V x = fabs(a), edge = FTK_FAR, low = K(FT_DOUBLE ? 1e-9 : 1e-5);              \
        const FT_V inside = x < low ? low : (x < edge ? x : edge), beyond = x < edge ? edge : x; \
        const FT_V whole = x < edge ? near_(inside) : ftk_far(beyond, order, 0);               \
        const FT_V small = x < low ? (order ? K(0.5) * x : K(1)) : whole;                      \
        return a != a ? a : (order && a < K(0) ? -small : small);                              \
    }
#define FTK_SECOND_KIND(name, near_, order)                                                    \
    FT_FN_ONCE FT_V name(FT_V x)                                                               \
    {                                                                                          \
        const FT_V edge = FTK_FAR, low = K(FT_DOUBLE ? 1e-9 : 1e-5);                           \
        const FT_V inside = x < low ? low : (x < edge ? x : edge), beyond = x < edge ? edge : x; \
        const FT_V whole = x < edge ? near_(inside) : ftk_far(beyond, order, 1);               \
        const FT_V limit = order ? K(-2 / FT_PI) / x                                           \
                                 : K(2 / FT_PI) * (log(x) + K(FTK_EULER_HALVED));            \
        const FT_V right = x < low ? limit : whole;                                            \
        return x > K(0) ? right : (x == K(0) ? K(-INFINITY) : K(NAN));                         \
    }
FTK_FIRST(ftk_j0, ftk_j0_near, 0)
FTK_FIRST(ftk_j1, ftk_j1_near, 1)
FTK_SECOND_KIND(ftk_y0, ftk_y0_near, 0)
FTK_SECOND_KIND(ftk_y1, ftk_y1_near, 1)

// exp(z) K_{1/3}(z) for z > 0.6 by the rule of FTK_SECOND.
FT_FN_ONCE FT_V ftk_third_k(FT_V z)
{
    const FT_V root = K(0.65) / sqrt(z), h = root < K(0.22) ? root : K(0.22);
    FT_V sum = K(0.5);
    FT_UNROLL
    for (int k = 1; k < (FT_DOUBLE ? 23 : 19); k++) {
        const FT_V t = h * K(k), s = sinh(K(0.5) * t);
        sum += exp(K(-2) * z * s * s) * cosh(K(1.0 / 3) * t);
    }
    return h * sum;
}
// J_n(z) gamma(1 + n) (2 / z)^n for n = 1/3 or -1/3 and 0.5 < z < 19: recurrence from above, normalized by
// (z / 2)^n = the sum of (n + 2k) gamma(n + k) / k! J_(n + 2k)(z) (DLMF 10.23.15).
#define FTK_THIRD_J(name, n)                                                                   \
    FT_FN_ONCE FT_V name(FT_V z)                                                               \
    {                                                                                          \
        FT_V above = K(0), here = K(1e-30), norm = K(0), share = K(1), first = K(1);           \
        const FT_V turn = K(2) / z;                                                            \
        FT_UNROLL                                                                              \
        for (int k = FT_DOUBLE ? 52 : 32; k > 0; k--) {                                        \
            if (k % 2 == 0) {                                                                  \
                norm += share * K(n + k) * here;                                               \
                first = share;                                                                 \
                share *= K(0.5 * k / (n + 0.5 * k - 1));                                       \
            }                                                                                  \
            const FT_V below = K(n + k) * turn * here - above;                                 \
            const FT_V scale = fabs(below) > K(1e10) ? K(1e-20) : K(1);                        \
            above = here * scale;                                                              \
            here = below * scale;                                                              \
            norm *= scale;                                                                     \
        }                                                                                      \
        return first * here / (norm + first * here);                                           \
    }
FTK_THIRD_J(ftk_third_j, (1.0 / 3))
FTK_THIRD_J(ftk_minus_third_j, (-1.0 / 3))

// Airy's Ai. Near 0 its power series (DLMF 9.4.1), right of it by K_{1/3} (9.6.2), left of it by J_{1/3} and J_{-1/3} (9.6.6),
// far left by the expansion in 1 / zeta (9.7.9).
// 2/3 x^(3/2), and in `low` what its roundings lost: it is an angle, or an exponent.
FT_FN_ONCE FT_V ftk_zeta(FT_V x, FT_V *low)
{
    const FT_V root = sqrt(x), p = x * root, z = (p + p) / K(3);
    const FT_V lost = fma(x, root, -p) + x * fma(-root, root, x) / (root + root);
    *low = (fma(K(-3), z, p + p) + lost + lost) / K(3);
    return z;
}
#define FTK_AI_0 0.35502805388781723926
#define FTK_AI_1 0.25881940379280679840
FT_FN_ONCE FT_V ftk_airy(FT_V a)
{
    const FT_V x = fabs(a), edge = K(FT_DOUBLE ? 9 : 5.5);
    const FT_M right = a > K(1), left = a < K(-1), far = a < -edge;
    const FT_V c = right || left ? K(1) : a, cube = c * c * c;
    FT_V f = K(1), g = K(1), low;
    FT_UNROLL
    for (int k = FT_DOUBLE ? 7 : 4; k > 0; k--) {
        f = K(1) + f * cube * K(1.0 / ((3.0 * k - 1) * (3.0 * k)));
        g = K(1) + g * cube * K(1.0 / ((3.0 * k) * (3.0 * k + 1)));
    }
    FT_V value = K(FTK_AI_0) * f - K(FTK_AI_1) * c * g;
    if (FT_ANY(right)) {
        const FT_V y = right ? x : K(1), z = ftk_zeta(y, &low);
        const FT_V e = exp(-z), whole = K(0.18377629847393068318) * sqrt(y) * (e - e * low) * ftk_third_k(z);
        value = right ? whole : value;
    }
    if (FT_ANY(left && !far)) {
        const FT_V y = left && !far ? x : K(1), z = ftk_zeta(y, &low);
        const FT_V whole = K(FTK_AI_0) * ftk_minus_third_j(z) + K(FTK_AI_1) * y * ftk_third_j(z);
        value = left && !far ? whole : value;
    }
    if (FT_ANY(far)) {
        const FT_V y = far ? x : edge, z = ftk_zeta(y, &low), r = K(1) / z;
        FT_V p = K(1), q = K(0), term = K(1);
        FT_UNROLL
        for (int k = 1; k < (FT_DOUBLE ? 24 : 12); k++) {
            term *= r * K((6.0 * k - 5) * (6.0 * k - 1) / (72.0 * k));
            if (k % 2) q += k % 4 == 1 ? term : -term;
            else p += k % 4 == 0 ? term : -term;
        }
        const FT_V s_ = ft_sin(z), c_ = ft_cos(z), s = s_ + low * c_, t = c_ - low * s_;
        const FT_V whole = K(FT_SQRT_HALF_INV_PI) / sqrt(sqrt(y)) * ((t + s) * p + (s - t) * q);
        value = far ? whole : value;
    }
    return ft_isinf(a) || a != a ? K(NAN) : value;
}
