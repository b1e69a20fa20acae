// softmax, log_softmax and their derivatives along a dim: the largest element of a row, a sum over the row, the
// results. Lanes go along a row (FT_ALONG), or over rows that are neighbours in memory (FT_SIDE_BY_SIDE), or over
// short rows that follow each other, lane by lane.
// Geometry g: SoftmaxGeometry.
// Holes: FT_TERM(a, b, top) is summed, FT_TOTAL(x) what becomes of the sum, FT_RESULT(a, b, top, total) the result;
//   with FT_TOP they use the largest a. FT_OUT: what an element is in the results' memory. FT_KEPT: the terms lie
//   there meanwhile, and are the a of FT_RESULT.
#ifdef FT_MATH
#define FT_EXP(x) FT_MATH::exp(x)
#define FT_LOG(x) FT_MATH::log(x)
#else
#define FT_EXP(x) exp(x)
#define FT_LOG(x) log(x)
#endif
#if FT_OUT_HALF
#define FT_OUT_WIDE FT_WIDE(float)
#define FT_OUT_STORE(w, p) FT_HALF_STORE(w, p)
#define FT_OUT_PUT(w, p, stride, m) ft_put_half(w, p, stride, m)
#else
#define FT_OUT_WIDE FT_WIDE(FT_OUT)
#define FT_OUT_STORE(w, p) FT_VSTORE(w, p)
#define FT_OUT_PUT(w, p, stride, m) ft_put(w, p, stride, m)
#endif
#if FT_OUT_BFLOAT16
#define FT_OUT_OF(v) ft_to_bfloat16(v)
#else
#define FT_OUT_OF(v) (v)
#endif
// A number of at least 1 as a dtype of fewer bits has it; and 0.
FT_FN_ONCE FT_V ft_narrowed(FT_V v)
{
    const FT_V c = v * K((1 << FT_DROPPED_BITS) + 1), r = c - (c - v);
    return ft_isfinite(c) ? r : v;
}
// m lanes from and to where they lie.
FT_FN_ONCE FT_WIDE_E ft_row_lanes(FT_GLOBAL const FT_E *p, int across, int m)
{
#if FT_ALONG || FT_SIDE_BY_SIDE
    if (m == FT_LANES) return FT_E_LOAD(p);
    return FT_E_PICK(p, 1, m);
#else
    if (m == FT_LANES) return FT_E_PICK(p, across, FT_LANES);  // a loop of fixed length
    return FT_E_PICK(p, across, m);
#endif
}
FT_FN_ONCE void ft_row_give(FT_OUT_WIDE w, FT_GLOBAL FT_OUT *p, int across, int m)
{
#if FT_ALONG || FT_SIDE_BY_SIDE
    if (m == FT_LANES) {
        FT_OUT_STORE(w, p);
    } else {
        FT_OUT_PUT(w, p, 1, m);
    }
#else
    if (m == FT_LANES) {
        FT_OUT_PUT(w, p, across, FT_LANES);
    } else {
        FT_OUT_PUT(w, p, across, m);
    }
#endif
}
#if FT_KEPT
FT_FN_ONCE FT_OUT_WIDE ft_row_kept(FT_GLOBAL const FT_OUT *p, int m)
{
    if (m == FT_LANES) return FT_VLOAD(p);
    return ft_pick(p, 1, m);
}
#endif
// Where lanes hold parts of one row, they become one another's result.
#if FT_ALONG
#define FT_IF_THERE(x, other) (FT_LANES_BELOW(m) ? (x) : (other))
#define FT_MEMBERS(k) (k + 1 < steps ? FT_LANES : n - k * FT_LANES)
#else
#define FT_IF_THERE(x, other) (x)
#define FT_MEMBERS(k) rows
#endif

FT_KERNEL void FT_NAME(FT_GLOBAL FT_OUT *out, FT_GLOBAL const FT_E *a, FT_GLOBAL const FT_E *b, long out_offset,
                       long a_offset, long b_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(a, gmem1)
    FT_PORT(b, gmem2)
    FT_PORT(g, gmem3)
    const int items = G_ITEMS(g), n = G_N(g), across = G_ACROSS(g), groups = G_GROUPS(g), most = G_ROWS(g);
    const long step = FT_ALONG ? FT_LANES : G_STEP(g), outer = G_OUTER(g);
    const int steps = FT_ALONG ? (n + FT_LANES - 1) / FT_LANES : n;
    FT_FOR_SLAB(item, items)
    {
        const int group = item % groups;
        const long base = item / groups * outer + (FT_ALONG ? 1l : (long)FT_LANES) * group * across;
        const int left = most - group * FT_LANES, rows = left < FT_LANES ? left : FT_LANES;
        FT_GLOBAL const FT_E *a_at = a + a_offset + base;
        FT_GLOBAL const FT_E *b_at = b + b_offset + base;
        FT_GLOBAL FT_OUT *out_at = out + out_offset + base;
        FT_WIDE(FT_T) top, total;
        FT_EACH_LANE
        {
            FT_LANE(top) = K(-INFINITY);
            FT_LANE(total) = K(0);
        }
#if FT_TOP
        FT_LOOP(largest)
        for (int k = 0; k < steps; k++) {
            FT_PIPELINE
            const int m = FT_MEMBERS(k);
            const FT_WIDE_E w = ft_row_lanes(a_at + k * step, across, m);
            FT_EACH_LANE
            {
                const FT_V x = FT_VALUE(FT_LANE(w));
                FT_LANE(top) = ft_max(FT_LANE(top), FT_IF_THERE(x, K(-INFINITY)));
            }
        }
#if FT_ALONG
        FT_ACROSS(top, FT_LARGER_OF)
#endif
#endif
        FT_LOOP(sum)
        for (int k = 0; k < steps; k++) {
            FT_PIPELINE
            const int m = FT_MEMBERS(k);
            const FT_WIDE_E v = ft_row_lanes(a_at + k * step, across, m);
#if FT_PAIRED_TERMS
            const FT_WIDE_E w = ft_row_lanes(b_at + k * step, across, m);
#endif
#if FT_KEPT
            FT_OUT_WIDE kept;
#endif
            FT_EACH_LANE
            {
                const FT_V x = FT_VALUE(FT_LANE(v));
#if FT_PAIRED_TERMS
                const FT_V y = FT_VALUE(FT_LANE(w));
#endif
                const FT_V term = FT_TERM(x, y, FT_LANE(top));
                FT_LANE(total) = FT_LANE(total) + FT_IF_THERE(term, K(0));
#if FT_KEPT
                FT_LANE(kept) = term;
#endif
            }
#if FT_KEPT
            ft_row_give(kept, out_at + k * step, across, m);
#endif
        }
#if FT_ALONG
        FT_ACROSS(total, FT_SUM_OF)
#endif
        FT_EACH_LANE
        {
            const FT_V x = FT_LANE(total);
            FT_LANE(total) = FT_TOTAL(x);
        }
        FT_LOOP(results)
        for (int k = 0; k < steps; k++) {
            FT_PIPELINE
            const int m = FT_MEMBERS(k);
#if FT_KEPT
            const FT_OUT_WIDE v = ft_row_kept(out_at + k * step, m);
#else
            const FT_WIDE_E v = ft_row_lanes(a_at + k * step, across, m);
#endif
#if FT_PAIRED
            const FT_WIDE_E w = ft_row_lanes(b_at + k * step, across, m);
#endif
            FT_OUT_WIDE made;
            FT_EACH_LANE
            {
#if FT_KEPT
                const FT_V x = FT_LANE(v);
#else
                const FT_V x = FT_VALUE(FT_LANE(v));
#endif
#if FT_PAIRED
                const FT_V y = FT_VALUE(FT_LANE(w));
#endif
                FT_LANE(made) = FT_OUT_OF(FT_RESULT(x, y, FT_LANE(top), FT_LANE(total)));
            }
            ft_row_give(made, out_at + k * step, across, m);
        }
    }
}
