// Functions of whole_rows, from the board's library if it has them.
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
// An element's contribution to a row's first states: itself, or for a sum 1/4096 of it (a row has at most 4096), so
// that no sum overflows: exact, except for elements below 5e-35, whose share is subnormal.
#define FT_ROW_SHARE K(0.000244140625)
FT_FN_ONCE FT_V ft_row_input(FT_V x, int op) { return op == FT_LAYER_NORM ? x * FT_ROW_SHARE : x; }
// The combination of these states: the largest, or the sum. A row with a NaN gets NaNs by the sum of its
// exponentials, whichever element counts as the largest here.
FT_FN_ONCE FT_V ft_row_first(FT_V x, FT_V y, int op)
{
    const FT_V sum = x + y, larger = x < y ? y : x;
    return op == FT_LAYER_NORM ? sum : larger;
}
// A row's first number by what its states became: the largest, or the mean.
FT_FN_ONCE FT_V ft_row_middle(FT_V x, FT_V n, int op) { return op == FT_LAYER_NORM ? x / (n * FT_ROW_SHARE) : x; }
// An element less that number, or its exponential: what is kept; and what of this is summed.
FT_FN_ONCE FT_V ft_row_kept(FT_V d, FT_V e, int op) { return op == FT_SOFTMAX ? e : d; }
FT_FN_ONCE FT_V ft_row_term(FT_V d, FT_V e, int op) { return op == FT_LAYER_NORM ? d * d : e; }
// A row's second number by the sum: 1 / it, its logarithm, or 1 / the deviation.
FT_FN_ONCE FT_V ft_row_scale(FT_V x, FT_V n, FT_V eps, int op)
{
    const FT_V root = FT_ROW_ROOT(x / n + eps), over = K(1) / (op == FT_LAYER_NORM ? root : x);
    return op == FT_LOG_SOFTMAX ? FT_ROW_LOG(x) : over;
}
// A result, by one sum for all ops; weight and bias of softmax are 1 and 0.
FT_FN_ONCE FT_V ft_row_result(FT_V kept, FT_V scale, FT_V weight, FT_V bias, int op)
{
    const FT_V scaled = kept * scale * weight;
    return (op == FT_LOG_SOFTMAX ? kept : scaled) + (op == FT_LOG_SOFTMAX ? -scale : bias);
}
