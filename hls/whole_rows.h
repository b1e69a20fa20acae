// Functions of whole_rows: of the board's library where there is one.
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
// What of an element joins a row's first states: itself, or of a sum a 4096th, as many as a row has at most, so that no sum
// leaves the range: exact, but of elements below 5e-35, whose share is no normal number.
#define FT_ROW_SHARE K(0.000244140625)
FT_FN_ONCE FT_V ft_row_taken(FT_V x, int op) { return op == FT_LAYER_NORM ? x * FT_ROW_SHARE : x; }
// What these states become: the largest, or the sum.
FT_FN_ONCE FT_V ft_row_first(FT_V x, FT_V y, int op) { return op == FT_LAYER_NORM ? x + y : ft_max(x, y); }
// A row's first number by what its states became: the largest, or the mean.
FT_FN_ONCE FT_V ft_row_middle(FT_V x, FT_V n, int op) { return op == FT_LAYER_NORM ? x / (n * FT_ROW_SHARE) : x; }
// An element less that number, or its exponential: what is kept; and what of this is summed.
FT_FN_ONCE FT_V ft_row_kept(FT_V d, FT_V e, int op) { return op == FT_SOFTMAX ? e : d; }
FT_FN_ONCE FT_V ft_row_term(FT_V d, FT_V e, int op) { return op == FT_LAYER_NORM ? d * d : e; }
// A row's second number by the sum: itself, its logarithm, or 1 / the deviation.
FT_FN_ONCE FT_V ft_row_scale(FT_V x, FT_V n, FT_V eps, int op)
{
    const FT_V root = K(1) / FT_ROW_ROOT(x / n + eps), logarithm = FT_ROW_LOG(x);
    return op == FT_LAYER_NORM ? root : op == FT_LOG_SOFTMAX ? logarithm : x;
}
// A result.
FT_FN_ONCE FT_V ft_row_result(FT_V kept, FT_V scale, FT_V weight, FT_V bias, int op)
{
    const FT_V quotient = kept / scale, normal = kept * scale * weight + bias;
    return op == FT_SOFTMAX ? quotient : op == FT_LOG_SOFTMAX ? kept - scale : normal;
}
