// Rows in line: softmax, its logarithm, or less their means, over their deviations, times a weight and plus a bias; of the
// latter the means and 1 / the deviations come out, too. Element i of a row goes into state i % (FT_TURNS * FT_WIDTH); then
// the states of each FT_WIDTH neighbours become one by a tree, and these by another.
// hls/vitis/whole_rows.cpp has the same results from stages.
// Geometry g: WholeGeometry.
#define FT_TURNS 8
#define FT_WIDTH 8
#define FT_JOINED(op)                                                                                   \
    for (int s = 0; s < FT_TURNS; s++)                                                                  \
        for (int half_ = FT_WIDTH / 2; half_ > 0; half_ /= 2)                                           \
            for (int l = 0; l < half_; l++)                                                             \
                state[s * FT_WIDTH + l] =                                                               \
                    ft_row_first(state[s * FT_WIDTH + l], state[s * FT_WIDTH + l + half_], op);         \
    for (int half_ = FT_TURNS / 2; half_ > 0; half_ /= 2)                                               \
        for (int s = 0; s < half_; s++)                                                                 \
            state[s * FT_WIDTH] = ft_row_first(state[s * FT_WIDTH], state[(s + half_) * FT_WIDTH], op);

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL FT_T *mean, FT_GLOBAL FT_T *rstd, FT_GLOBAL const FT_T *x, FT_GLOBAL const FT_T *weight,
    FT_GLOBAL const FT_T *bias, long out_offset, long mean_offset, long rstd_offset, long x_offset, long weight_offset,
    long bias_offset, FT_T eps, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(mean, gmem1)
    FT_PORT(rstd, gmem2)
    FT_PORT(x, gmem3)
    FT_PORT(weight, gmem4)
    FT_PORT(bias, gmem5)
    FT_PORT(g, gmem6)
    const int op = G_OP(g), n = G_N(g), rows = G_ROWS(g), together = G_TOGETHER(g);
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int end = (item + 1) * together < rows ? (item + 1) * together : rows;
        for (int row = item * together; row < end; row++) {
            FT_GLOBAL const FT_T *from = x + x_offset + (long)row * n;
            FT_GLOBAL FT_T *to = out + out_offset + (long)row * n;
            FT_T state[FT_TURNS * FT_WIDTH];
            for (int s = 0; s < FT_TURNS * FT_WIDTH; s++) state[s] = op == FT_LAYER_NORM ? K(0) : K(-INFINITY);
            for (int i = 0; i < n; i++) {
                const int s = i % (FT_TURNS * FT_WIDTH);
                state[s] = ft_row_first(state[s], ft_row_taken(from[i], op), op);
            }
            FT_JOINED(op)
            const FT_V middle = ft_row_middle(state[0], K(n), op);
            for (int s = 0; s < FT_TURNS * FT_WIDTH; s++) state[s] = K(0);
            for (int i = 0; i < n; i++) {
                const int s = i % (FT_TURNS * FT_WIDTH);
                const FT_V d = from[i] - middle;
                state[s] = state[s] + ft_row_term(d, FT_ROW_EXP(d), op);
            }
            FT_JOINED(FT_LAYER_NORM)
            const FT_V scale = ft_row_scale(state[0], K(n), eps, op);
            FT_LOOP(results)
            for (int i = 0; i < n; i++) {
                FT_PIPELINE
                const FT_V d = from[i] - middle, kept = ft_row_kept(d, FT_ROW_EXP(d), op);
                const FT_V w = G_WEIGHTED(g) ? weight[weight_offset + i] : K(1);
                const FT_V b = G_SHIFTED(g) ? bias[bias_offset + i] : K(0);
                to[i] = ft_row_result(kept, scale, w, b, op);
            }
            if (op == FT_LAYER_NORM) {
                mean[mean_offset + row] = middle;
                rstd[rstd_offset + row] = scale;
            }
        }
    }
}
