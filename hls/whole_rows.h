// Functions for whole_rows, from Vitis' library on boards.
#ifdef FT_MATH
#define FT_ROW_EXP(x) FT_MATH::exp(x)
#define FT_ROW_LOG(x) FT_MATH::log(x)
#define FT_ROW_ROOT(x) FT_MATH::sqrt(x)
#else
#define FT_ROW_EXP(x) exp(x)
#define FT_ROW_LOG(x) log(x)
#define FT_ROW_ROOT(x) sqrt(x)
#endif
#define FT_SOFTMAX 0
#define FT_LOG_SOFTMAX 1
#define FT_LAYER_NORM 2
// An element's contribution to the first fold: itself, or for a sum 1/4096 of it. A row has at most 4096
// elements, so the sum does not overflow. The factor is exact, except for elements below 5e-35.
#define FT_ROW_SHARE K(0.000244140625)
FT_FN_ONCE FT_V ft_row_input(FT_V x, int op) { return op == FT_LAYER_NORM ? x * FT_ROW_SHARE : x; }
// The first fold's combine step: maximum or sum. The sum of the exponentials makes a row with a NaN all NaN,
// whichever element is the maximum here.
FT_FN_ONCE FT_V ft_row_first(FT_V x, FT_V y, int op)
{
    const FT_V sum = x + y, larger = x < y ? y : x;
    return op == FT_LAYER_NORM ? sum : larger;
}
// The result of the first fold: the maximum, or the mean.
FT_FN_ONCE FT_V ft_row_middle(FT_V x, FT_V n, int op) { return op == FT_LAYER_NORM ? x / (n * FT_ROW_SHARE) : x; }
// ft_row_kept: the value that is kept of an element, whose distance from the first fold is d and the
// exponential of that e. ft_row_term: the term of the second sum.
FT_FN_ONCE FT_V ft_row_kept(FT_V d, FT_V e, int op) { return op == FT_SOFTMAX ? e : d; }
FT_FN_ONCE FT_V ft_row_term(FT_V d, FT_V e, int op) { return op == FT_LAYER_NORM ? d * d : e; }
// The factor from the second sum: its reciprocal, its logarithm, or 1 / the standard deviation.
FT_FN_ONCE FT_V ft_row_scale(FT_V x, FT_V n, FT_V eps, int op)
{
    const FT_V root = FT_ROW_ROOT(x / n + eps), over = K(1) / (op == FT_LAYER_NORM ? root : x);
    return op == FT_LOG_SOFTMAX ? FT_ROW_LOG(x) : over;
}
// A result, by one formula for all ops; softmax has weight 1 and bias 0.
FT_FN_ONCE FT_V ft_row_result(FT_V kept, FT_V scale, FT_V weight, FT_V bias, int op)
{
    const FT_V scaled = kept * scale * weight;
    return (op == FT_LOG_SOFTMAX ? kept : scaled) + (op == FT_LOG_SOFTMAX ? -scale : bias);
}
