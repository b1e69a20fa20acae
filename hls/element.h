// Elements: their storage type (FT_E) and their compute type (FT_X). Define before: FT_E; FT_E_HALF,
// FT_E_BFLOAT16 or FT_COMPLEX if FT_E holds these; FT_NO_FMA in HLS sources. `fma` is one instruction on a CPU,
// but Vitis has no core for it: its logic is as large as several adders and has twice the latency of one. A
// separate product is not part of the recurrence of a sum.
#if FT_COMPLEX
#define FT_PARTS 2
typedef FT_C FT_X;
#define FT_WIDE_X FT_WIDE_PAIR(FT_T)
#define FT_ZERO_X FT_PAIR(FT_T, K(0), K(0))
#define FT_SPLAT(p) FT_PAIR(FT_T, K((p)[0]), K((p)[1]))
#define FT_X_NUMBER(name) FT_PAIR(FT_T, K(name##_re), K(name##_im))
#define FT_PANEL_LOAD(p) ft_load_pair(p)
FT_FN_ONCE FT_X ft_xadd(FT_X x, FT_X y) { return ft_cadd(x, y); }
FT_FN_ONCE FT_X ft_xmul(FT_X x, FT_X y) { return ft_cmul(x, y); }
#if FT_NO_FMA
FT_FN_ONCE FT_X ft_xfma(FT_X x, FT_X y, FT_X sum) { return ft_xadd(sum, ft_xmul(x, y)); }
#else
FT_FN_ONCE FT_X ft_xfma(FT_X x, FT_X y, FT_X sum)
{
    sum.re = fma(x.re, y.re, sum.re);
    sum.im = fma(x.re, y.im, sum.im);
    sum.re = fma(-x.im, y.im, sum.re);
    sum.im = fma(x.im, y.re, sum.im);
    return sum;
}
#endif
#else
#define FT_PARTS 1
typedef FT_V FT_X;
#define FT_WIDE_X FT_WIDE(FT_T)
#define FT_ZERO_X K(0)
#define FT_SPLAT(p) K(*(p))
#define FT_X_NUMBER(name) K(name##_re)
#define FT_PANEL_LOAD(p) FT_VLOAD(p)
FT_FN_ONCE FT_X ft_xadd(FT_X x, FT_X y) { return x + y; }
FT_FN_ONCE FT_X ft_xmul(FT_X x, FT_X y) { return x * y; }
#if FT_FLOATING && !FT_NO_FMA
FT_FN_ONCE FT_X ft_xfma(FT_X x, FT_X y, FT_X sum) { return fma(x, y, sum); }
#else
FT_FN_ONCE FT_X ft_xfma(FT_X x, FT_X y, FT_X sum) { return x * y + sum; }
#endif
#endif

// FT_WIDE_E: lanes as a port loads and stores them. FT_VALUE and FT_STORED convert one lane to a value and
// back.
#if FT_COMPLEX
#define FT_WIDE_E FT_WIDE_PAIR(FT_T)
#define FT_E_LOAD(p) ft_load_pair(p)
#define FT_E_PICK(p, stride, m) ft_load_strided_pair(p, stride, m)
#define FT_E_STORE(w, p) ft_store_pair(w, p)
#define FT_E_PUT(w, p, stride, m) ft_store_strided_pair(w, p, stride, m)
#define FT_ONE(p) FT_SPLAT(p)
#define FT_VALUE(v) (v)
#define FT_STORED(v) (v)
#elif FT_E_HALF
#define FT_WIDE_E FT_WIDE(float)
#define FT_E_LOAD(p) FT_HALF_LOAD(p)
#define FT_E_PICK(p, stride, m) ft_load_strided_half(p, stride, m)
#define FT_E_STORE(w, p) FT_HALF_STORE(w, p)
#define FT_E_PUT(w, p, stride, m) ft_store_strided_half(w, p, stride, m)
#define FT_ONE(p) K(FT_HALF_ONE(p))
#define FT_VALUE(v) (v)
#define FT_STORED(v) (v)
#else
#define FT_WIDE_E FT_WIDE(FT_E)
#define FT_E_LOAD(p) FT_VLOAD(p)
#define FT_E_PICK(p, stride, m) ft_load_strided(p, stride, m)
#define FT_E_STORE(w, p) FT_VSTORE(w, p)
#define FT_E_PUT(w, p, stride, m) ft_store_strided(w, p, stride, m)
#if FT_E_BFLOAT16
#define FT_ONE(p) ft_from_bfloat16((FT_VEC(ushort))(*(p)))
#define FT_VALUE(v) ft_from_bfloat16(v)
#define FT_STORED(v) ft_to_bfloat16(v)
#else
#define FT_ONE(p) K(*(p))
#define FT_VALUE(v) (v)
#define FT_STORED(v) (v)
#endif
#endif
FT_FN_ONCE void ft_store_one(FT_X x, FT_GLOBAL FT_E *p)
{
    FT_WIDE_E w;
    FT_EACH_LANE { FT_LANE(w) = FT_STORED(x); }
    FT_E_PUT(w, p, 1, 1);
}
