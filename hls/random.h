// Random numbers by counter: each element's bits are a function of the seed, the call's number and the
// element's position, by Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2,
// 3; SC 2011). Numbers are computed from the bits by sums, products and selections (and divisions in double).
// IEEE 754 defines these to the last bit, so every device gives the same numbers. Functions of a runtime and
// fma are not used.
#if FT_BITS_PER_VALUE >= 32
#if FT_BITS_PER_VALUE == 64
#define FTR_W ulong  // the type of an element's bits; FTR_S is its signed type
#define FTR_S long
#define FTR_MOST 0x7FFFFFFFFFFFFFFF
#else
#define FTR_W uint
#define FTR_S int
#define FTR_MOST 0x7FFFFFFF
#endif

#define FTR_PHILOX(name, UINT, ULONG, to_uint, to_ulong)                                          \
    FT_FN_ONCE void name(UINT *c, UINT k0, UINT k1)                                               \
    {                                                                                             \
        const ULONG low = (ULONG)(0xFFFFFFFFu);                                                   \
        FT_UNROLL                                                                                 \
        for (int round = 0; round < 10; round++) {                                                \
            const ULONG p = to_ulong(c[0]) * (ULONG)(0xD2511F53u);                                \
            const ULONG q = to_ulong(c[2]) * (ULONG)(0xCD9E8D57u);                                \
            c[0] = to_uint(q >> 32) ^ c[1] ^ k0;                                                  \
            c[1] = to_uint(q & low);                                                              \
            c[2] = to_uint(p >> 32) ^ c[3] ^ k1;                                                  \
            c[3] = to_uint(p & low);                                                              \
            k0 = k0 + (UINT)(0x9E3779B9u);                                                        \
            k1 = k1 + (UINT)(0xBB67AE85u);                                                        \
        }                                                                                         \
    }
#define FTR_TO_UINT(v) FT_CONVERT(uint, v)
#define FTR_TO_ULONG(v) FT_CONVERT(ulong, v)
FTR_PHILOX(ftr_philox, FT_VEC(uint), FT_VEC(ulong), FTR_TO_UINT, FTR_TO_ULONG)
// The seed's 64 bits are passed in parts of 22, 21 and 21 bits, the call's number in two of 24: float
// represents each exactly.
#define FTR_STREAM FT_V seed0, FT_V seed1, FT_V seed2, FT_V call0, FT_V call1
FT_FN_ONCE void ftr_block(FT_VEC(uint) *c, FT_VEC(ulong) at, FTR_STREAM)
{
    const FT_VEC(ulong) low = (FT_VEC(ulong))(0xFFFFFFFFu);
    const FT_VEC(ulong) seed = FT_CONVERT(ulong, seed0) | (FT_CONVERT(ulong, seed1) << 22) | (FT_CONVERT(ulong, seed2) << 43);
    const FT_VEC(ulong) call = FT_CONVERT(ulong, call0) | (FT_CONVERT(ulong, call1) << 24);
    c[0] = FT_CONVERT(uint, at & low);
    c[1] = FT_CONVERT(uint, at >> 32);
    c[2] = FT_CONVERT(uint, call & low);
    c[3] = FT_CONVERT(uint, call >> 32);
    ftr_philox(c, FT_CONVERT(uint, seed & low), FT_CONVERT(uint, seed >> 32));
}
// The bits of the element at a position: one word of a Philox block for 32 bits, two for 64.
#if FT_LANES * FT_BITS_PER_VALUE >= 128 && FT_NATIVE_LANES
// Lanes are neighbours, and their first position is a multiple of the lanes (larger launches are split at such
// positions). So they share FT_LANES * FT_BITS_PER_VALUE / 128 blocks.
#if FT_LANES * FT_BITS_PER_VALUE == 128
#define FTR_BLOCKS(T) T
#define FTR_PAIRS ulong2
#define FTR_IOTA 0
#elif FT_LANES * FT_BITS_PER_VALUE == 256
#define FTR_BLOCKS(T) FT_CAT(T, 2)
#define FTR_PAIRS ulong4
#define FTR_IOTA (ulong2)(0, 1)
#elif FT_LANES * FT_BITS_PER_VALUE == 512
#define FTR_BLOCKS(T) FT_CAT(T, 4)
#define FTR_PAIRS ulong8
#define FTR_IOTA (ulong4)(0, 1, 2, 3)
#else
#define FTR_BLOCKS(T) FT_CAT(T, 8)
#define FTR_PAIRS ulong16
#define FTR_IOTA (ulong8)(0, 1, 2, 3, 4, 5, 6, 7)
#endif
#define FTR_BLOCKS_UINT(v) FT_CAT(convert_, FTR_BLOCKS(uint))(v)
#define FTR_BLOCKS_ULONG(v) FT_CAT(convert_, FTR_BLOCKS(ulong))(v)
FTR_PHILOX(ftr_philox_shared, FTR_BLOCKS(uint), FTR_BLOCKS(ulong), FTR_BLOCKS_UINT, FTR_BLOCKS_ULONG)
FT_FN_ONCE FT_VEC(FTR_W) ftr_word(FT_VEC(long) position, FTR_STREAM)
{
    const ulong seed = (ulong)seed0.s0 | ((ulong)seed1.s0 << 22) | ((ulong)seed2.s0 << 43);
    const ulong call = (ulong)call0.s0 | ((ulong)call1.s0 << 24);
    const FTR_BLOCKS(ulong) at = ((ulong)position.s0 * FT_BITS_PER_VALUE >> 7) + FTR_IOTA;
    FTR_BLOCKS(uint) c[4] = {
        FTR_BLOCKS_UINT(at & 0xFFFFFFFFu), FTR_BLOCKS_UINT(at >> 32), (uint)call, (uint)(call >> 32),
    };
    ftr_philox_shared(c, (uint)seed, (uint)(seed >> 32));
    FTR_PAIRS words;
    words.even = FTR_BLOCKS_ULONG(c[0]) | (FTR_BLOCKS_ULONG(c[1]) << 32);
    words.odd = FTR_BLOCKS_ULONG(c[2]) | (FTR_BLOCKS_ULONG(c[3]) << 32);
    return FT_BITS(FTR_W, words);
}
#else
FT_FN_ONCE FT_VEC(FTR_W) ftr_word(FT_VEC(long) position, FTR_STREAM)
{
    const FT_VEC(ulong) at = FT_CONVERT(ulong, position);
    FT_VEC(uint) c[4];
#if FT_BITS_PER_VALUE == 64
    ftr_block(c, at >> 1, seed0, seed1, seed2, call0, call1);
    const FT_VEC(ulong) x = FT_CONVERT(ulong, c[0]) | (FT_CONVERT(ulong, c[1]) << 32);
    const FT_VEC(ulong) y = FT_CONVERT(ulong, c[2]) | (FT_CONVERT(ulong, c[3]) << 32);
    return (at & (FT_VEC(ulong))(1)) != (FT_VEC(ulong))(0) ? y : x;
#else
    ftr_block(c, at >> 2, seed0, seed1, seed2, call0, call1);
    const FT_VEC(uint) part = FT_CONVERT(uint, at & (FT_VEC(ulong))(3)), none = (FT_VEC(uint))(0);
    const FT_VEC(uint) even = (part & (FT_VEC(uint))(2)) != none ? c[2] : c[0];
    const FT_VEC(uint) odd = (part & (FT_VEC(uint))(2)) != none ? c[3] : c[1];
    return (part & (FT_VEC(uint))(1)) != none ? odd : even;
#endif
}
#endif

#if FT_FLOATING
#if FT_DOUBLE
#define FTR_FRACTION_BITS 53
#define FTR_EXPONENT_AT 52
#define FTR_PART(n) K(1.0 / (double)((ulong)1 << (n)))
#else
#define FTR_FRACTION_BITS (24 - FT_DROPPED_BITS)
#define FTR_EXPONENT_AT 23
#define FTR_PART(n) K(1.0f / (float)((ulong)1 << (n)))
#endif
#define FTR_CONST(x) ((FT_VEC(FTR_S))(x))
// Uniform in [0, 1), with as many bits as the result's dtype represents exactly.
FT_FN_ONCE FT_V ftr_uniform(FT_VEC(FTR_W) w)
{
    return FT_CONVERT(FT_T, w >> (FT_BITS_PER_VALUE - FTR_FRACTION_BITS)) * FTR_PART(FTR_FRACTION_BITS);
}
// (w + 1/2) / 2^32, or 2^64, rounded: in (0, 1], with a fine resolution near 0.
FT_FN_ONCE FT_V ftr_open(FT_VEC(FTR_W) w)
{
    return (FT_CONVERT(FT_T, w) + K(0.5)) * (FTR_PART(FT_BITS_PER_VALUE / 2) * FTR_PART(FT_BITS_PER_VALUE / 2));
}
// True if an event of this probability happens: never for 0, always for 1.
#define ftr_happens(w, probability) (ftr_open(w) <= (probability))

// The logarithm of 1 + f, for f from sqrt(1/2) - 1 to sqrt(2) - 1.
FT_FN_ONCE FT_V ftr_log1p(FT_V f)
{
#if FT_DOUBLE
    const FT_V s = f / (K(2) + f), z = s * s;
    FT_V p = K(2.0 / 25);
    FT_UNROLL
    for (int n = 23; n >= 3; n -= 2) p = p * z + K(2.0 / n);
    return s * K(2) + s * z * p;
#else
    FT_V p = K(0.06971440310);
    p = ((p * f + K(-0.1147975578)) * f + K(0.1168548725)) * f + K(-0.1242568840);
    p = ((p * f + K(0.1424905162)) * f + K(-0.1666780212)) * f + K(0.2000071590);
    p = (p * f + K(-0.2499999696)) * f + K(0.3333333118);
    const FT_V square = f * f;
    return f - (K(0.5) * square - square * f * p);
#endif
}
#if FT_DOUBLE
#define FTR_ROOT_HALF 0x3FE6A09E667F3BCD
#define FTR_ONE 0x3FF0000000000000
#define FTR_NEAR_ONE (-5402926248376768512)  // sqrt(1/2) - 1 in 2^-64
#define FTR_LN_2 K(0.69314718036912381649)  // the upper bits of log 2, few of which are set; the next constant has the rest
#define FTR_LN_2_REST K(1.90821492927058770002e-10)
#else
#define FTR_ROOT_HALF 0x3F3504F3
#define FTR_ONE 0x3F800000
#define FTR_NEAR_ONE (-1257966796)
#define FTR_LN_2 K(0.693359375)
#define FTR_LN_2_REST K(-2.12194440e-4)
#endif
// Splits y in (0, 1] into (1 + f) * 2^e, with f in ftr_log1p's range.
FT_FN_ONCE FT_V ftr_parts(FT_V y, FT_V *f)
{
    const FT_VEC(FTR_S) bits = FT_BITS(FTR_S, y), e = (bits - FTR_CONST(FTR_ROOT_HALF)) >> FTR_EXPONENT_AT;
    *f = FT_BITS(FT_T, bits - (e << FTR_EXPONENT_AT)) - K(1);
    return FT_CONVERT(FT_T, e);
}
FT_FN_ONCE FT_V ftr_minus_log(FT_V y)
{
    FT_V f;
    const FT_V e = ftr_parts(y, &f);
    return -(e * FTR_LN_2 + (ftr_log1p(f) + e * FTR_LN_2_REST));
}
// The exponential distribution of mean 1, above 0: minus the logarithm of (w + 1/2) / 2^32. If its difference from 1
// is small, the difference is computed from the bits.
FT_FN_ONCE FT_V ftr_exponential(FT_VEC(FTR_W) w)
{
    const FT_VEC(FTR_S) s = FT_BITS(FTR_S, w);
    FT_V f;
    const FT_V e = ftr_parts(ftr_open(w), &f);
    const FT_V lack = (FT_CONVERT(FT_T, s) + K(0.5)) * (FTR_PART(FT_BITS_PER_VALUE / 2) * FTR_PART(FT_BITS_PER_VALUE / 2));
    const FT_M near = (s < FTR_CONST(0)) && (s >= FTR_CONST(FTR_NEAR_ONE));
    const FT_V turns = near ? K(0) : e, part = ftr_log1p(near ? lack : f);
    return -(turns * FTR_LN_2 + (part + turns * FTR_LN_2_REST));
}

// The quantile of the normal distribution. The bits are a sign and a magnitude m; |x| = (m + 1/2) / 2^31 is the
// probability of a smaller magnitude. The result is x * P(-log(1 - x * x)) with P piecewise polynomial (fitted
// to the inverse of erfc in 50 digits at Chebyshev's points; to 3e-9, in double 3e-15).
FT_FN_ONCE FT_V ftr_normal(FT_VEC(FTR_W) w)
{
    const FT_VEC(FTR_S) s = FT_BITS(FTR_S, w), m = s ^ (s >> (FT_BITS_PER_VALUE - 1));
    const FT_V unit = FTR_PART(FT_BITS_PER_VALUE / 2) * FTR_PART(FT_BITS_PER_VALUE / 2 - 1);
    const FT_V x = (FT_CONVERT(FT_T, m) + K(0.5)) * unit;
    const FT_V q = (FT_CONVERT(FT_T, m ^ FTR_CONST(FTR_MOST)) + K(0.5)) * unit;  // 1 - x, exact near 0
    const FT_V l = ftr_minus_log(q * (K(2) - q));
    FT_V p = K(0);
#if FT_DOUBLE
    const FT_M first = l < K(4), second = l < K(10), third = l < K(22);
    const FT_V t = l - (first ? K(2) : (second ? K(7) : (third ? K(16) : K(33.5))));
#define FTR_TERM(a, b, c, d) p = p * t + (first ? K(a) : (second ? K(b) : (third ? K(c) : K(d))));
    FTR_TERM(8.60215324053995654e-16, 5.59878023589305956e-19, -6.88863951738099961e-25, 3.61754395262181021e-28)
    FTR_TERM(-2.07856113304465625e-14, 4.94383115881323659e-17, 1.94221410601298002e-21, -1.53484894968057777e-26)
    FTR_TERM(3.14119787031778232e-14, -7.87956438206490327e-16, -6.16571572729985259e-20, 4.03276487253371888e-25)
    FTR_TERM(1.14366047884641242e-12, 4.41591816075170814e-15, 1.07504939755221855e-18, -1.51964408140040399e-23)
    FTR_TERM(-6.15377122753471996e-12, 1.04347693088410838e-14, -1.60196566736090389e-17, 6.33109441499899136e-22)
    FTR_TERM(-2.98223414137177878e-11, -5.26469955042700961e-13, 2.19034708309812713e-16, -2.46750636349020348e-20)
    FTR_TERM(4.15732472779041764e-10, 6.64536263687653087e-12, -2.44378340014541703e-15, 9.62435133595997933e-19)
    FTR_TERM(-3.62990975688586113e-10, -4.73403663649580192e-11, 1.68192082726229955e-14, -3.82205623741735510e-17)
    FTR_TERM(-1.82378570528929550e-8, 6.59819131009738214e-11, 1.16363936586873066e-13, 1.54098860418802111e-15)
    FTR_TERM(9.76692993005770439e-8, 3.45288053594665952e-9, -8.07024724367108493e-12, -6.32723321547075427e-14)
    FTR_TERM(4.48224999379125066e-7, -5.69270953274240392e-8, 2.31249803535288566e-10, 2.66062697127318029e-12)
    FTR_TERM(-6.89354309233059841e-6, 5.30985127494801713e-7, -5.57775896766182217e-9, -1.15494734008458084e-10)
    FTR_TERM(0.0000107219313369017277, -2.86471838722661554e-6, 1.30140758805074988e-7, 5.24107120499627576e-9)
    FTR_TERM(0.000305382150429674495, -4.48595503691201789e-6, -3.14644565797367428e-6, -2.54137131163272674e-7)
    FTR_TERM(-0.00239305917407367994, 0.000385043354586282215, 0.0000838659317142212577, 0.0000137519357283008714)
    FTR_TERM(-0.00278337528951448181, -0.00825590006779639046, -0.00276051856468633902, -0.000925280962805754847)
    FTR_TERM(0.353225390444752965, 0.264792980942342566, 0.178454881232977493, 0.123366584050835149)
    FTR_TERM(1.94767643043078778, 3.50692737125643858, 5.43027432287987906, 7.98432975646421188)
#else
    const FT_M first = l < K(4.5), second = l < K(10.5);
    const FT_V t = l - (first ? K(2.25) : (second ? K(7.5) : K(16.5)));
#define FTR_TERM(a, b, c) p = p * t + (first ? K(a) : (second ? K(b) : K(c)));
    FTR_TERM(-1.424887312e-8, -4.537427084e-13, -1.790601578e-14)
    FTR_TERM(6.086308221e-8, 2.785194347e-9, -5.909076703e-12)
    FTR_TERM(5.868457234e-7, -4.385189514e-8, 2.069137608e-10)
    FTR_TERM(-5.976183980e-6, 3.607456737e-7, -4.880580953e-9)
    FTR_TERM(1.074095313e-6, -1.543855913e-6, 1.144758464e-7)
    FTR_TERM(0.0003126127976, -9.905866441e-6, -2.840237838e-6)
    FTR_TERM(-0.002083081271, 0.0003701159483, 7.788535461e-5)
    FTR_TERM(-0.004462382617, -0.007688165260, -0.002639285448)
    FTR_TERM(0.3514042622, 0.2568228192, 0.1757557282)
    FTR_TERM(2.035772628, 3.637307652, 5.518821927)
#endif
    return (s < FTR_CONST(0) ? -x : x) * p;
}

// exp, for the logarithmic normal distribution: 2^n times a power series.
FT_FN_ONCE FT_V ftr_power_of_2(FT_VEC(FTR_S) n) { return FT_BITS(FT_T, (n << FTR_EXPONENT_AT) + FTR_CONST(FTR_ONE)); }
FT_FN_ONCE FT_V ftr_exp(FT_V a)
{
    const FT_V edge = K(FT_DOUBLE ? 746 : 104), x = a > edge ? edge : (a < -edge ? -edge : a);
    const FT_V turns = rint(x * K(1.44269504088896340736));
    const FT_V r = (x - turns * FTR_LN_2) - turns * FTR_LN_2_REST;
    FT_V p = K(1);
    FT_UNROLL
    for (int n = FT_DOUBLE ? 13 : 7; n > 0; n--) p = p * (r * K(1.0 / n)) + K(1);
    const FT_VEC(FTR_S) n = FT_CONVERT(FTR_S, turns), half_ = n >> 1;
    return a != a ? a : p * ftr_power_of_2(half_) * ftr_power_of_2(n - half_);
}

// Cauchy's distribution: tan(pi v) for v = (s + 1/2) / 2^32. Up to 1/4 a polynomial approximates tan(pi v) / v;
// beyond, with v replaced by 1/2 - v, another one approximates v / tan(pi v).
FT_FN_ONCE FT_V ftr_reciprocal(FT_V x)
{
#if FT_DOUBLE
    return K(1) / x;
#else
    FT_V r = FT_BITS(FT_T, FTR_CONST(0x7EF311C7) - FT_BITS(FTR_S, x));
    FT_UNROLL
    for (int k = 0; k < 4; k++) r = r * (K(2) - x * r);
    return r;
#endif
}
FT_FN_ONCE FT_V ftr_cauchy(FT_VEC(FTR_W) w)
{
    const FT_VEC(FTR_S) s = FT_BITS(FTR_S, w), m = s ^ (s >> (FT_BITS_PER_VALUE - 1));
    const FT_VEC(FTR_S) rest = m ^ FTR_CONST(FTR_MOST);
    const FT_M steep = m > rest;
    const FT_V v = (FT_CONVERT(FT_T, steep ? rest : m) + K(0.5)) * (FTR_PART(FT_BITS_PER_VALUE / 2) * FTR_PART(FT_BITS_PER_VALUE / 2));
    const FT_V z = v * v;
    FT_V tangent = K(0), other = K(0);
#define FTR_TANGENT(c) tangent = tangent * z + K(c);
#define FTR_COTANGENT(c) other = other * z + K(c);
#if FT_DOUBLE
    FTR_TANGENT(5472090945.912658685) FTR_TANGENT(-1197019894.418385891) FTR_TANGENT(241808706.3501609897)
    FTR_TANGENT(-7389527.110455194821) FTR_TANGENT(3778913.360880112045) FTR_TANGENT(619809.7961465569588)
    FTR_TANGENT(168349.6984226830716) FTR_TANGENT(41689.56461779355394) FTR_TANGENT(10430.87024331930495)
    FTR_TANGENT(2607.594383051565149) FTR_TANGENT(651.9097909784646213) FTR_TANGENT(162.9999518330598933)
    FTR_TANGENT(40.80262463834068381) FTR_TANGENT(10.33542556009968559) FTR_TANGENT(3.141592653589793274)
    FTR_COTANGENT(-0.8767878225362753142) FTR_COTANGENT(-0.6027995229314567277) FTR_COTANGENT(-0.6392188249534945740)
    FTR_COTANGENT(-0.6366607586090628644) FTR_COTANGENT(-0.6372561538951929044) FTR_COTANGENT(-0.6392154437301797435)
    FTR_COTANGENT(-0.6476607090640184022) FTR_COTANGENT(-0.6890283706707643534) FTR_COTANGENT(-1.047197551196602612)
    FTR_COTANGENT(0.3183098861837906731)
#else
    FTR_TANGENT(126519.9927) FTR_TANGENT(0.002170503497) FTR_TANGENT(3212.426579) FTR_TANGENT(633.2288405)
    FTR_TANGENT(163.3069013) FTR_TANGENT(40.80017959) FTR_TANGENT(10.33543291) FTR_TANGENT(3.141592650)
    FTR_COTANGENT(-0.7498108366) FTR_COTANGENT(-0.6414124757) FTR_COTANGENT(-0.6891698847) FTR_COTANGENT(-1.047196438)
    FTR_COTANGENT(0.3183098848)
#endif
    const FT_V size = steep ? other * ftr_reciprocal(v) : v * tangent;
    return s < FTR_CONST(0) ? -size : size;
}
#elif FT_BITS_PER_VALUE == 64
// An integer from 0 to range - 1, or any if range is 0: the block's 128 bits, read as a fraction of 1, times
// range. No probability is off by more than 2^-64.
FT_FN_ONCE FT_V ftr_below(FT_V range, FT_VEC(long) position, FTR_STREAM)
{
    FT_VEC(uint) c[4];
    ftr_block(c, FT_CONVERT(ulong, position), seed0, seed1, seed2, call0, call1);
    const FT_VEC(ulong) low = (FT_VEC(ulong))(0xFFFFFFFFu), n = FT_BITS(ulong, range), n0 = n & low, n1 = n >> 32;
    // Multiplies c's four digits of 32 bits (lowest first) by n. The two digits above them are the result.
    FT_VEC(ulong) carry = (FT_VEC(ulong))(0), above = (FT_VEC(ulong))(0);
    FT_UNROLL
    for (int k = 0; k < 4; k++) {
        const FT_VEC(ulong) digit = FT_CONVERT(ulong, c[k]), p = digit * n0, q = digit * n1;
        const FT_VEC(ulong) sum = p + carry;  // at most 2^64 - 2^32, since carry has 32 bits
        const FT_VEC(ulong) next = q + (sum >> 32) + above;
        carry = next & low;
        above = next >> 32;
    }
    const FT_VEC(ulong) whole = FT_CONVERT(ulong, c[2]) | (FT_CONVERT(ulong, c[3]) << 32);
    return FT_BITS(long, n == (FT_VEC(ulong))(0) ? whole : (above << 32) | carry);
}
#endif
#endif
