// Orthogonal polynomials of degree n by their recurrences (DLMF 18.9). A lane needs as many iterations as its
// degree, which the compiler does not know: the loop ends with the lane of the highest degree, and on an FPGA
// it is not pipelined.

// The degree: n rounded towards zero; -1 for values that are no degree, for which each polynomial is 0.
FT_FN_ONCE FT_V fto_degree(FT_V n) { return n > K(-9e18) && n < K(9e18) ? trunc(n) : K(-1); }
FT_FN_ONCE FT_M fto_even(FT_V n) { return n - K(2) * floor(K(0.5) * n) == K(0); }
// The polynomial of degree 0 is 1, that of degree 1 is `first`; `next` computes degree k + 1 from q (degree k)
// and p (degree k - 1).
#define FTO_TURNS(most, next)                                                                  \
    FT_V p = K(1), q = first;                                                                  \
    for (int k = 1; k < most && FT_ANY(q == q && K(k) < n); k++) {                             \
        const FT_V r = next;                                                                   \
        const FT_M more = K(k) < n;                                                            \
        p = more ? q : p;                                                                      \
        q = more ? r : q;                                                                      \
    }                                                                                          \
    const FT_V value = n < K(0) ? K(0) : (n == K(0) ? K(1) : q);
#define FTO_MOST 2147483647

// The four kinds of Chebyshev polynomials share a recurrence. In (-1, 1) a high degree uses the closed form in
// the angle (DLMF 18.5.1-4), which saves the iterations; the values at -1 and 1 are known.
#define FTO_CHEBYSHEV(name, first_, closed, at_1, at_minus_1)                                  \
    FT_FN_ONCE FT_V name(FT_V x, FT_V degree)                                                  \
    {                                                                                          \
        const FT_V d = fto_degree(degree), first = first_;                                     \
        const FT_M end = fabs(x) == K(1), inside = fabs(x) < K(1) && d > K(8);                 \
        const FT_V n = end || inside ? K(0) : d;                                               \
        FTO_TURNS(FTO_MOST, K(2) * x * q - p)                                                  \
        const FT_V angle = ft_acos(inside ? x : K(0));                                            \
        const FT_V sign = fto_even(d) ? K(1) : K(-1);                                          \
        const FT_V edge = x > K(0) ? at_1 : sign * (at_minus_1);                               \
        const FT_V whole = inside ? (closed) : (end ? edge : value);                           \
        return d < K(0) ? K(0) : whole;                                                        \
    }
FTO_CHEBYSHEV(fto_chebyshev_t, x, ft_cos(d * angle), K(1), K(1))
FTO_CHEBYSHEV(fto_chebyshev_u, x + x, ft_sin((d + K(1)) * angle) / ft_sin(angle), d + K(1), d + K(1))
FTO_CHEBYSHEV(fto_chebyshev_v, x + x - K(1), ft_cos((d + K(0.5)) * angle) / ft_cos(K(0.5) * angle), K(1), d + d + K(1))
FTO_CHEBYSHEV(fto_chebyshev_w, x + x + K(1), ft_sin((d + K(0.5)) * angle) / ft_sin(K(0.5) * angle), d + d + K(1), K(1))

// Hermite polynomials whose coefficients overflow are NaN.
FT_FN_ONCE FT_V fto_hermite_h(FT_V x, FT_V degree)
{
    const FT_V n = fto_degree(degree), first = x + x;
    FTO_TURNS((FT_DOUBLE ? 512 : 128), first * q - K(2 * k) * p)
    return n > K(FT_DOUBLE ? 512 : 128) ? K(NAN) : value;
}
FT_FN_ONCE FT_V fto_hermite_he(FT_V x, FT_V degree)
{
    const FT_V n = fto_degree(degree), first = x;
    FTO_TURNS((FT_DOUBLE ? 512 : 128), x * q - K(k) * p)
    return n > K(FT_DOUBLE ? 512 : 128) ? K(NAN) : value;
}
FT_FN_ONCE FT_V fto_laguerre(FT_V x, FT_V degree)
{
    const FT_V d = fto_degree(degree), n = x == K(0) && d > K(0) ? K(0) : d, first = K(1) - x;
    FTO_TURNS(FTO_MOST, ((K(k) + K(k) + first) * q - K(k) * p) / (K(k) + K(1)))
    return value;
}
FT_FN_ONCE FT_V fto_legendre(FT_V x, FT_V degree)
{
    const FT_V d = fto_degree(degree), first = x;
    const FT_M end = fabs(x) == K(1);
    const FT_V n = end && d > K(0) ? K(0) : d;
    FTO_TURNS(FTO_MOST, ((K(k) + K(k) + K(1)) * x * q - K(k) * p) / (K(k) + K(1)))
    return end && d > K(0) && x < K(0) && !fto_even(d) ? K(-1) : value;
}
