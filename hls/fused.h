// Conversions of values between element functions. FT_HALF_ROUNDED(v): rounded to float16.
#if !FT_NATIVE_LANES
#define FT_HALF_ROUNDED(v) ft_from_half(ft_to_half(v))
#define FT_FIRST_OF(v) (v)
#elif FT_LANES == 1
#define FT_HALF_ROUNDED(v) ft_half_rounded(v)
#define FT_FIRST_OF(v) (v)
FT_FN_ONCE float ft_half_rounded(float v)
{
    ushort t;
    vstore_half_rte(v, 0, (half *)&t);
    return vload_half(0, (const half *)&t);
}
#else
#define FT_HALF_ROUNDED(v) ft_half_rounded(v)
#define FT_FIRST_OF(v) (v).s0
FT_FN_ONCE FT_VEC(float) ft_half_rounded(FT_VEC(float) v)
{
    ushort t[FT_LANES] __attribute__((aligned(32)));
    FT_CAT(FT_CAT(vstorea_half, FT_N), _rte)(v, 0, (half *)t);
    return FT_CAT(vloada_half, FT_N)(0, (const half *)t);
}
#endif

#if FT_NATIVE_LANES && FT_LANES == 16
// Complex numbers in two vectors, for folds with more lanes than the widest vector.
#define FT_PAIRS_IN_TWO(T)                                                           \
    FT_FN FT_CAT(ft_c, T) ft_load_pair(const __global T *p)                          \
    {                                                                                \
        const FT_VEC(T) v = FT_MEMORY_LOAD(T, 16, p), w = FT_MEMORY_LOAD(T, 16, p + 16); \
        FT_CAT(ft_c, T) c;                                                           \
        c.re = (FT_VEC(T))(v.even, w.even);                                          \
        c.im = (FT_VEC(T))(v.odd, w.odd);                                            \
        return c;                                                                    \
    }                                                                                \
    FT_FN FT_CAT(ft_c, T) ft_load_strided_pair(const __global T *p, int stride, int m)       \
    {                                                                                \
        FT_CAT(ft_c, T) c;                                                           \
        c.re = ft_load_strided(p, 2 * stride, m);                                            \
        c.im = ft_load_strided(p + 1, 2 * stride, m);                                        \
        return c;                                                                    \
    }
FT_PAIRS_IN_TWO(float)
#if FT_FP64
FT_PAIRS_IN_TWO(double)
#endif
#endif
