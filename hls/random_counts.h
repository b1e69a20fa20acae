// Numbers of events: the Poisson and the binomial distribution, by the rules of random.h. An element draws as
// many blocks as it needs: the counter has the block's number above the element's position.
#if FT_FLOATING
#define FTR_COUNT_WORDS (128 / FT_BITS_PER_VALUE)
#define FTR_COUNT_DRAWS 64  // the probability of more is below 1e-28
FT_FN_ONCE void ftr_count_words(FT_VEC(FTR_W) *w, FT_VEC(long) position, int turn, FTR_STREAM)
{
    FT_VEC(uint) c[4];
    const FT_VEC(ulong) above = (FT_VEC(ulong))((ulong)turn << 56);
    ftr_block(c, FT_CONVERT(ulong, position) | above, seed0, seed1, seed2, call0, call1);
#if FT_BITS_PER_VALUE == 64
    w[0] = FT_CONVERT(ulong, c[0]) | (FT_CONVERT(ulong, c[1]) << 32);
    w[1] = FT_CONVERT(ulong, c[2]) | (FT_CONVERT(ulong, c[3]) << 32);
#else
    FT_UNROLL
    for (int k = 0; k < 4; k++) w[k] = c[k];
#endif
}

// Counts the waits that end within `total`, one after the other. Waits are exponential with mean 1, or with
// `scale` a whole number of tries, at least one. 0 where `open` is false.
FT_FN_ONCE FT_V ftr_count_waits(FT_M open, FT_V total, FT_V scale, int tries, FT_VEC(long) position, FTR_STREAM)
{
    FT_V count = K(0), at = K(0);
    for (int turn = 0; turn < FTR_COUNT_DRAWS / FTR_COUNT_WORDS && FT_ANY(open); turn++) {
        FT_VEC(FTR_W) w[FTR_COUNT_WORDS];
        ftr_count_words(w, position, turn, seed0, seed1, seed2, call0, call1);
        FT_UNROLL
        for (int k = 0; k < FTR_COUNT_WORDS; k++) {
            const FT_V wait = ftr_exponential(w[k]);
            at = at + (tries ? ft_max(ceil(wait * scale), K(1)) : wait);
            open = open && (at <= total);
            count = open ? count + K(1) : count;
        }
    }
    return count;
}

// 1 / sqrt(x) for x >= 0.
FT_FN_ONCE FT_V ftr_inverse_root(FT_V x)
{
    FT_V r = FT_BITS(FT_T, FTR_CONST(FT_DOUBLE ? 0x5FE6EB50C7B537A9 : 0x5F3759DF) - (FT_BITS(FTR_S, x) >> 1));
    FT_UNROLL
    for (int k = 0; k < (FT_DOUBLE ? 5 : 4); k++) r = r * (K(1.5) - K(0.5) * x * r * r);
    return r;
}

// The probability of k events with mean m, for k from 0 and m from 5: exp(-s(j) - d(j, m)) / sqrt(2 pi j) for j = k,
// with the remainder s of Stirling's formula (DLMF 5.11.1) and d = j log(j / m) + m - j, computed without
// cancellation (Loader: Fast and accurate computation of binomial probabilities; 2000). For few events j = k + 8.
FT_FN_ONCE FT_V ftr_count_chance(FT_V k, FT_V m)
{
    const FT_M few = k < K(8);
    const FT_V j = few ? k + K(8) : k, part = ftr_reciprocal(m), ratio = j * part;
    FT_V lift = K(1);
    FT_UNROLL
    for (int i = 1; i <= 8; i++) lift = lift * ((few ? k + K(i) : m) * part);
    const FT_V apart = j - m, v = apart * ftr_reciprocal(j + m), z = v * v;
    FT_V series = K(0);
    FT_UNROLL
    for (int n = FT_DOUBLE ? 17 : 9; n >= 3; n -= 2) series = (series + K(1.0 / n)) * z;
    const FT_V near = apart * v + K(2) * j * v * series, far = j * -ftr_minus_log(ratio) - apart;
    const FT_V s = ftr_reciprocal(j), square = s * s;
    const FT_V lack = s * (K(1.0 / 12) - square * (K(1.0 / 360) - square * (K(1.0 / 1260) - square * K(1.0 / 1680))));
    const FT_V deviance = z < K(0.01) ? near : far;
    const FT_V found = ftr_exp(-deviance - lack) * K(0.39894228040143267794) * ftr_inverse_root(j);
    return few ? found * lift : found;
}

// By transformed rejection (Hoermann: The generation of binomial random variates; 1993) for means of 10 or more: a
// ratio of uniforms is a proposal, accepted with the ratio of its true probability to the bound. The bound was
// compared with both distributions in double, and is 2 percent above the necessary one. The distribution is the
// binomial one of `tries` tries of probability p up to 1/2, or Poisson's, its limit for p = 0. The binomial
// probability follows from Poisson's for the successes, the failures, and both together.
FT_FN_ONCE FT_V ftr_count_rejected(
    FT_M open, FT_V mean, FT_V tries, FT_V p, int binomial, FT_VEC(long) position, FTR_STREAM)
{
    const FT_V q = K(1) - p, failing = tries * q, variance = mean * q;
    const FT_V spread = variance * ftr_inverse_root(variance);
    const FT_V b = K(1.15) + K(2.53) * spread, a = K(-0.0873) + K(0.0248) * b + K(0.01) * p;
    const FT_V bound = K(1.13) + K(2) * ftr_reciprocal(b);
    FT_V count = floor(mean), whole = K(1);
    if (binomial) whole = ftr_reciprocal(ftr_count_chance(tries, tries));
    for (int turn = 0; turn < 2 * FTR_COUNT_DRAWS / FTR_COUNT_WORDS && FT_ANY(open); turn++) {
        FT_VEC(FTR_W) w[FTR_COUNT_WORDS];
        ftr_count_words(w, position, turn, seed0, seed1, seed2, call0, call1);
        FT_UNROLL
        for (int k = 0; k < FTR_COUNT_WORDS; k += 2) {
            const FT_VEC(FTR_S) s = FT_BITS(FTR_S, w[k]), m = s ^ (s >> (FT_BITS_PER_VALUE - 1));
            const FT_V unit = FTR_PART(FT_BITS_PER_VALUE / 2) * FTR_PART(FT_BITS_PER_VALUE / 2);
            const FT_V size = (FT_CONVERT(FT_T, m) + K(0.5)) * unit;
            const FT_V rest = ftr_reciprocal((FT_CONVERT(FT_T, m ^ FTR_CONST(FTR_MOST)) + K(0.5)) * unit);
            const FT_V u = s < FTR_CONST(0) ? -size : size;
            const FT_V x = floor(((K(2) * a * rest + b) * u + K(0.5)) + mean);
            FT_M good = x >= K(0);
            if (binomial) good = good && (x <= tries);
            const FT_V n = good ? x : count;
            FT_V chance = ftr_count_chance(n, mean);
            if (binomial) chance = chance * ftr_count_chance(tries - n, failing) * whole;
            good = good && open && (ftr_open(w[k + 1]) * bound <= chance * (a * rest * rest + b));
            count = good ? x : count;
            open = open && !good;
        }
    }
    return count;
}

FT_FN_ONCE FT_V ftr_count_poisson(FT_V rate, FT_VEC(long) position, FTR_STREAM)
{
    const FT_M many = rate >= K(10);
    const FT_V few = ftr_count_waits(!many, rate, K(1), 0, position, seed0, seed1, seed2, call0, call1);
    const FT_V large = many ? rate : K(10);
    const FT_V more = ftr_count_rejected(many, large, large, K(0), 0, position, seed0, seed1, seed2, call0, call1);
    return many ? more : few;
}

// Counts are rounded down, and are at least 0; probabilities are clamped to [0, 1]. NaN stays NaN.
FT_FN_ONCE FT_V ftr_count_binomial(FT_V count, FT_V probability, FT_VEC(long) position, FTR_STREAM)
{
    const FT_V whole = count > K(0) ? floor(count) : K(0);
    const FT_M mostly = probability > K(0.5);
    const FT_V rarer = mostly ? K(1) - probability : probability, least = K(FT_DOUBLE ? 1e-300 : 1e-37);
    const FT_V p = rarer > least ? rarer : K(0), mean = whole * p;
    const FT_M many = mean >= K(10), none = p == K(0) || whole == K(0);
    // log(1 - p); for small p from p itself, without cancellation.
    const FT_V lost = p < K(0.25) ? -ftr_log1p(p < K(0.25) ? -p : K(0)) : ftr_minus_log(K(1) - p);
    const FT_V scale = ftr_reciprocal(none ? K(1) : lost);
    const FT_V few = ftr_count_waits(!many && !none, whole, scale, 1, position, seed0, seed1, seed2, call0, call1);
    const FT_V n = many ? whole : K(20), chance = many ? p : K(0.5);
    const FT_V more = ftr_count_rejected(many, n * chance, n, chance, 1, position, seed0, seed1, seed2, call0, call1);
    const FT_V rare = many ? more : few, found = mostly ? whole - rare : rare;
    return count != count ? count : (probability != probability ? probability : found);
}
#undef FTR_COUNT_WORDS
#undef FTR_COUNT_DRAWS
#endif
