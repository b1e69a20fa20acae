// Matrix elements: as they lie in memory (FT_E), and as values to compute with (FT_X).
// Set before this file: FT_E; FT_E_HALF, FT_E_BFLOAT16 or FT_COMPLEX where that is what it holds; FT_APART in
// HLS sources: `fma` is one instruction of a CPU, but no core of Vitis' library. Its logic takes as much as several
// adders and is twice as long as one; a product in a core of its own is outside of what the sum waits for.
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
#if FT_APART
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
#if FT_FLOATING && !FT_APART
FT_FN_ONCE FT_X ft_xfma(FT_X x, FT_X y, FT_X sum) { return fma(x, y, sum); }
#else
FT_FN_ONCE FT_X ft_xfma(FT_X x, FT_X y, FT_X sum) { return x * y + sum; }
#endif
#endif

// FT_WIDE_E: lanes as they travel to and from memory; FT_VALUE, FT_STORED: one of them as a value, and back.
#if FT_COMPLEX
#define FT_WIDE_E FT_WIDE_PAIR(FT_T)
#define FT_E_LOAD(p) ft_load_pair(p)
#define FT_E_PICK(p, stride, m) ft_pick_pair(p, stride, m)
#define FT_E_STORE(w, p) ft_store_pair(w, p)
#define FT_E_PUT(w, p, stride, m) ft_put_pair(w, p, stride, m)
#define FT_ONE(p) FT_SPLAT(p)
#define FT_VALUE(v) (v)
#define FT_STORED(v) (v)
#elif FT_E_HALF
#define FT_WIDE_E FT_WIDE(float)
#define FT_E_LOAD(p) FT_HALF_LOAD(p)
#define FT_E_PICK(p, stride, m) ft_pick_half(p, stride, m)
#define FT_E_STORE(w, p) FT_HALF_STORE(w, p)
#define FT_E_PUT(w, p, stride, m) ft_put_half(w, p, stride, m)
#define FT_ONE(p) K(FT_HALF_ONE(p))
#define FT_VALUE(v) (v)
#define FT_STORED(v) (v)
#else
#define FT_WIDE_E FT_WIDE(FT_E)
#define FT_E_LOAD(p) FT_VLOAD(p)
#define FT_E_PICK(p, stride, m) ft_pick(p, stride, m)
#define FT_E_STORE(w, p) FT_VSTORE(w, p)
#define FT_E_PUT(w, p, stride, m) ft_put(w, p, stride, m)
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

#if FT_COMPLEX
#define FT_NUMBER_PARAMS FT_T alpha_re, FT_T alpha_im, FT_T beta_re, FT_T beta_im
#define FT_NUMBERS alpha_re, alpha_im, beta_re, beta_im
#else
#define FT_NUMBER_PARAMS FT_T alpha_re, FT_T beta_re
#define FT_NUMBERS alpha_re, beta_re
#endif

// Element i of a panel, from memory.
#if FT_COMPLEX
#define FT_ELEMENT(to, i, p) { (to)[2 * (i)] = (p)[0]; (to)[2 * (i) + 1] = (p)[1]; }
#define FT_ELEMENT_ZERO(to, i) { (to)[2 * (i)] = 0; (to)[2 * (i) + 1] = 0; }
#else
#define FT_ELEMENT(to, i, p) (to)[i] = FT_ONE(p);
#define FT_ELEMENT_ZERO(to, i) (to)[i] = 0;
#endif

// A result: a sum, or alpha * sum, or beta * added + alpha * sum (mode 0, 1, 2).
FT_FN_ONCE FT_X ft_scaled(FT_X sum, FT_X added, int mode, FT_NUMBER_PARAMS)
{
    if (mode == 2) return ft_xadd(ft_xmul(FT_X_NUMBER(beta), added), ft_xmul(FT_X_NUMBER(alpha), sum));
    if (mode == 1) return ft_xmul(FT_X_NUMBER(alpha), sum);
    return sum;
}

// One vector of results. `whole` says that it may be written in one go.
FT_FN_ONCE void ft_result(
    FT_WIDE_X sums, int mode, FT_NUMBER_PARAMS, FT_GLOBAL const FT_E *added, int added_step,
    FT_GLOBAL FT_E *out, int out_step, int m, int whole)
{
    FT_WIDE_E w;
    if (mode == 2) {
        const FT_WIDE_E old = FT_E_PICK(added, added_step, m);
        FT_EACH_LANE
        {
            const FT_X s = FT_VALUE(FT_LANE(old)), r = ft_scaled(FT_LANE(sums), s, mode, FT_NUMBERS);
            FT_LANE(w) = FT_STORED(r);
        }
    } else {
        FT_EACH_LANE
        {
            const FT_X r = ft_scaled(FT_LANE(sums), FT_LANE(sums), mode, FT_NUMBERS);
            FT_LANE(w) = FT_STORED(r);
        }
    }
    if (whole && m == FT_LANES && out_step == 1) {
        FT_E_STORE(w, out);
    } else {
        FT_E_PUT(w, out, out_step, m);
    }
}
