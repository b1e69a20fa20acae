// Helpers that an op's expression may call. FT_V: values in the compute type, FT_M: masks; each works on all
// lanes.
#define ft_isnan(x) ((x) != (x))

#if FT_FLOATING
#define FT_PI 3.14159265358979323846
#define ft_abs(x) fabs(x)
// Clamps x to [low, high]; a NaN stays a NaN.
FT_FN_ONCE FT_V ft_within(FT_V x, FT_V low, FT_V high) { return x < low ? low : (x > high ? high : x); }
#define ft_isinf(x) (fabs(x) == K(INFINITY))
#define ft_isfinite(x) (fabs(x) < K(INFINITY))
// Uses copysign, since g++ 12 fails on a vectorized signbit.
#define ft_signbit(x) (copysign(K(1), x) < K(0))
// torch's maximum and minimum propagate NaN; C's fmax and fmin drop it. Among equal numbers (0 and -0) the first is
// kept.
FT_FN_ONCE FT_V ft_max(FT_V x, FT_V y) { return x != x || x >= y ? x : y; }
FT_FN_ONCE FT_V ft_min(FT_V x, FT_V y) { return x != x || x <= y ? x : y; }
// For float32: adding 3 * 2^22 rounds to an integer, which is then in the low bits of the sum. FT_SIGN_OF: the
// sign bit.
#define FT_ROUNDER K(0x1.8p23f)
#define FT_SIGN_OF(x) (FT_BITS(int, x) & (-0x7fffffff - 1))
#define FT_FLIPPED(v, bits) FT_BITS(float, FT_BITS(int, v) ^ (bits))
#if FT_OWN_SIN && !FT_DOUBLE
// Sine and cosine to 0.8 ulp, the tangent to 1 ulp; a runtime's own may be off by 2 and 3. For x >= 0, x = n *
// pi / 2 + r + low. Up to FT_TRIG_LIMIT, pi / 2 is a sum of three parts (Cody and Waite). The first step is
// exact, since both products are multiples of 2^-24. The errors of the others go into `low`: t is a multiple of
// the last bit of p, so t - r is exact.
#define FT_TRIG_LIMIT K(2e5)
FT_FN_ONCE FT_V ft_reduce_angle(FT_V x, FT_V n, FT_V *low)
{
    const FT_V t = fma(-n, K(1.57079637050628662109), x);
    const FT_V p = n * K(-4.37113900018624283e-8), q = fma(n, K(-4.37113900018624283e-8), -p);
    const FT_V r = t - p;
    *low = fma(n, K(1.71512449441e-15), ((t - r) - p) - q);
    return r;
}
// Beyond FT_TRIG_LIMIT, x is multiplied by 2 / pi (Payne and Hanek, SIGNUM Newsletter 18, 1983). The bits of 2 / pi before
// `at` give whole turns and are left out. The next 96 bits times the 24 bits of x give the fraction of a turn, to 2^-70 of
// a quarter. No float is nearer to a multiple of pi / 2 than 2^-30.
FT_FN_ONCE FT_V ft_reduce_large_angle(FT_V x, FT_I *quarters, FT_V *low)
{
#define FT_WORD(x) ((FT_VEC(uint))(x))
#define FT_LONG(x) FT_CONVERT(ulong, x)
#define FT_TWO_OVER_PI_WORD(a, b, c, d, e) FT_LONG(word == 0u ? FT_WORD(a) : (word == 1u ? FT_WORD(b) \
    : (word == 2u ? FT_WORD(c) : (word == 3u ? FT_WORD(d) : FT_WORD(e)))))
    const FT_VEC(uint) bits = FT_BITS(uint, x), at = ((bits >> 23) & 0xffu) - 120u, word = at >> 5;
    const FT_VEC(ulong) m = FT_LONG((bits & 0x7fffffu) | 0x800000u), shift = FT_LONG(at & 31u);
    const FT_VEC(ulong) w0 = FT_TWO_OVER_PI_WORD(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u);
    const FT_VEC(ulong) w1 = FT_TWO_OVER_PI_WORD(0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u);
    const FT_VEC(ulong) w2 = FT_TWO_OVER_PI_WORD(0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u);
    const FT_VEC(ulong) w3 = FT_TWO_OVER_PI_WORD(0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
    const FT_VEC(ulong) p2 = m * ((((w2 << 32) | w3) << shift) >> 32);
    const FT_VEC(ulong) p1 = m * ((((w1 << 32) | w2) << shift) >> 32) + (p2 >> 32);
    const FT_VEC(ulong) p0 = m * ((((w0 << 32) | w1) << shift) >> 32) + (p1 >> 32);
    const FT_VEC(ulong) turn = (p0 << 32) | (p1 & 0xfffffffful), near = (turn + (1ul << 61)) >> 62;
    const FT_VEC(long) rest = FT_BITS(long, turn - (near << 62));
    const FT_V whole = FT_CONVERT(float, rest), scale = K(0x1p-62f);
    const FT_V h = whole * scale, l = FT_CONVERT(float, rest - FT_CONVERT(long, whole)) * scale;
    const FT_V p = h * K(1.57079637050628662109);
    const FT_V lost = fma(h, K(1.57079637050628662109), -p) + fma(l, K(1.57079637), h * K(-4.37113900018624283e-8));
    const FT_V r = p + lost, rest_low = lost - (r - p);
    *quarters = FT_CONVERT(int, near);
    *low = rest_low;
    return ft_isfinite(x) ? r : K(NAN);
#undef FT_WORD
#undef FT_LONG
#undef FT_TWO_OVER_PI_WORD
}
FT_FN_ONCE FT_V ft_within_eighth(FT_V x, FT_I *quarters, FT_V *low)
{
    const FT_V n = fma(x, K(0.63661977236758134308), FT_ROUNDER);
    const FT_M far = !(x <= FT_TRIG_LIMIT);
    FT_V r = ft_reduce_angle(x, n - FT_ROUNDER, low);
    *quarters = FT_BITS(int, n);
    if (FT_ANY(far)) {
        FT_I far_quarters;
        FT_V far_low;
        const FT_V far_r = ft_reduce_large_angle(x, &far_quarters, &far_low);
        *quarters = far ? far_quarters : *quarters;
        *low = far ? far_low : *low;
        r = far ? far_r : r;
    }
    return r;
}
// Sine and cosine of r + low within a quarter turn, with their rounding errors. The cosine's series begins with
// 1 - r * r / 2.
FT_FN_ONCE FT_V ft_sin_near(FT_V r, FT_V low, FT_V *lost)
{
    const FT_V z = r * r, w = fma(r * K(-0.5), r, K(1));
    const FT_V p = fma(fma(fma(K(2.7181216275e-6), z, K(-1.9839334836e-4)), z, K(8.3333293855e-3)), z, K(-0.16666666640));
    const FT_V t = fma(r * z, p, low * w), v = r + t;
    *lost = t - (v - r);
    return v;
}
FT_FN_ONCE FT_V ft_cos_near(FT_V r, FT_V low, FT_V *lost)
{
    const FT_V z = r * r, w = fma(r * K(-0.5), r, K(1));
    const FT_V p = fma(fma(K(2.4390448796e-5), z, K(-1.3886763775e-3)), z, K(4.1666645683e-2));
    const FT_V t = fma(z * z, p, fma(-r, low, fma(r * K(-0.5), r, K(1) - w))), v = w + t;
    *lost = t - (v - w);
    return v;
}
FT_FN_ONCE FT_V ft_wave(FT_V x, int shift, FT_I sign)
{
    FT_V low, lost;
    FT_I n;
    const FT_V r = ft_within_eighth(x, &n, &low);
    const FT_I q = n + shift;
    const FT_V v = (q & 1) != 0 ? ft_cos_near(r, low, &lost) : ft_sin_near(r, low, &lost);
    return FT_FLIPPED(v, ((q & 2) << 30) ^ sign);
}
FT_FN_ONCE FT_V ft_slope(FT_V x)
{
    FT_V low, s_lost, c_lost;
    FT_I n;
    const FT_V r = ft_within_eighth(x, &n, &low);
    const FT_V s = ft_sin_near(r, low, &s_lost), c = ft_cos_near(r, low, &c_lost);
    const FT_M odd = (n & 1) != 0;
    const FT_V a = odd ? -c : s, a_lost = odd ? -c_lost : s_lost, b = odd ? s : c, b_lost = odd ? s_lost : c_lost;
    const FT_V by = K(1) / b, v = a * by;
    return fma(fma(-v, b, a) + fma(-v, b_lost, a_lost), by, v);
}
FT_FN_ONCE FT_V ft_sin(FT_V x) { return ft_wave(fabs(x), 0, FT_SIGN_OF(x)); }
FT_FN_ONCE FT_V ft_cos(FT_V x) { return ft_wave(fabs(x), 1, FT_BITS(int, K(0))); }
FT_FN_ONCE FT_V ft_tan(FT_V x) { return FT_FLIPPED(ft_slope(fabs(x)), FT_SIGN_OF(x)); }
#else
// For smaller angles the first term is the rounded result. A runtime's sine of a subnormal may be wrong if the
// vector also holds a huge angle (PoCL 3.1 gives 0.0079 for 1e-40).
#define FT_SMALL_ANGLE K(FT_DOUBLE ? 1e-8 : 1e-4)
FT_FN_ONCE FT_V ft_sin(FT_V x) { return fabs(x) < FT_SMALL_ANGLE ? x : sin(x); }
FT_FN_ONCE FT_V ft_cos(FT_V x) { return fabs(x) < FT_SMALL_ANGLE ? K(1) : cos(x); }
FT_FN_ONCE FT_V ft_tan(FT_V x) { return fabs(x) < FT_SMALL_ANGLE ? x : tan(x); }
#endif
#if FT_OWN_TANH && FT_OWN_SIN && !FT_DOUBLE
// tanh to an ulp, as v = u / w with u = exp(2 |x|) - 1 and w = u + 2, each sum with its rounding error: 2 |x| =
// n ln 2 + r, exp(r) = 1 + p, u = (2^n - 1) + 2^n p. Beyond 9.02 the result rounds to 1.
FT_FN_ONCE FT_V ft_tanh(FT_V x)
{
    const FT_V y = fabs(x) * K(2), n = fma(y, K(1.44269504088896340736), FT_ROUNDER), whole = n - FT_ROUNDER;
    const FT_V r = fma(whole, K(1.90465430e-9), fma(whole, K(-0.693147182464599609375), y)), z = r * r;
    const FT_V q = fma(fma(K(1.3946496749e-3), r, K(8.3666106141e-3)), r, K(4.1666281402e-2));
    const FT_V t = fma(fma(q, r, K(0.1666654279373)), r, K(0.5000000062087)) * z, p = r + t;
    const FT_V power = FT_BITS(float, (FT_BITS(int, n) << 23) + FT_BITS(int, K(1))), less = power - K(1), rise = power * p;
    const FT_V u = less + rise, u_lost = fma(power, t - (p - r), rise - (u - less));
    const FT_V w = u + K(2), w_lost = u - (w - K(2)) + u_lost;
    const FT_V by = K(1) / w, v = u * by;
    const FT_V made = fma(fma(-v, w, u) + fma(-v, w_lost, u_lost), by, v);
    return FT_FLIPPED(fabs(x) > K(9.02) ? K(1) : made, FT_SIGN_OF(x));
}
#else
#define ft_tanh(x) tanh(x)
#endif
// A product and a sum, in one rounding if the target has an instruction or a core for it. Vitis has no such
// core.
#if FT_NATIVE_LANES
#define FT_MULTIPLY_ADD(x, y, z) fma(x, y, z)
#else
#define FT_MULTIPLY_ADD(x, y, z) ((x) * (y) + (z))
#endif
#include "inverse_trig.h"
#else
FT_FN_ONCE FT_V ft_max(FT_V x, FT_V y) { return x > y ? x : y; }
FT_FN_ONCE FT_V ft_min(FT_V x, FT_V y) { return x < y ? x : y; }
#if FT_SIGNED
FT_FN_ONCE FT_V ft_abs(FT_V x) { return x < K(0) ? -x : x; }
#else
#define ft_abs(x) (x)
#endif
#endif

// The identities of max and min.
#if FT_FLOATING
#define FT_LOWEST K(-INFINITY)
#define FT_HIGHEST K(INFINITY)
#elif FT_SIGNED
#define FT_HIGHEST K((FT_T)(((ulong)1 << (FT_BITS_PER_VALUE - 1)) - 1))
#define FT_LOWEST (-FT_HIGHEST - K(1))
#else
#define FT_LOWEST K(0)
#define FT_HIGHEST K((FT_T)(~(ulong)0))
#endif
