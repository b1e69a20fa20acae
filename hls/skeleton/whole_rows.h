// Softmax, log-softmax or layer norm of contiguous rows. Layer norm may have a weight and a bias, and also returns the mean
// and 1 / the standard deviation of each row. A fold reduces FT_WIDTH neighbours by a tree and adds the result to one of
// FT_PARTIAL_STATES partial results in turn; a second tree reduces these.
// hls/vitis/whole_rows.cpp computes the same results in dataflow stages.
// Geometry g: WholeRowsGeometry.
#define FT_PARTIAL_STATES 8
#define FT_WIDTH 16
// Combines `width` elements of v, a power of two, into v[0].
#define FT_FOLDED(v, width, op)                                   \
    for (int half_ = (width) / 2; half_ > 0; half_ /= 2)          \
        for (int l = 0; l < half_; l++) v[l] = ft_row_first(v[l], v[l + half_], op);

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL FT_T *mean, FT_GLOBAL FT_T *rstd, FT_GLOBAL const FT_T *x, FT_GLOBAL const FT_T *weight,
    FT_GLOBAL const FT_T *bias, long out_offset, long mean_offset, long rstd_offset, long x_offset, long weight_offset,
    long bias_offset, FT_T eps, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    const int op = G_OP(g), n = G_N(g), rows = G_ROWS(g), together = G_TOGETHER(g);
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int end = (item + 1) * together < rows ? (item + 1) * together : rows;
        for (int row = item * together; row < end; row++) {
            FT_GLOBAL const FT_T *from = x + x_offset + (long)row * n;
            FT_GLOBAL FT_T *to = out + out_offset + (long)row * n;
            const FT_T none = op == FT_LAYER_NORM ? K(0) : K(-INFINITY);
            FT_T state[FT_PARTIAL_STATES], lane[FT_WIDTH];
            for (int s = 0; s < FT_PARTIAL_STATES; s++) state[s] = none;
            for (int i = 0; i < n; i += FT_WIDTH) {
                const int s = i / FT_WIDTH % FT_PARTIAL_STATES;
                for (int l = 0; l < FT_WIDTH; l++) lane[l] = i + l < n ? ft_row_input(from[i + l], op) : none;
                FT_FOLDED(lane, FT_WIDTH, op)
                state[s] = ft_row_first(state[s], lane[0], op);
            }
            FT_FOLDED(state, FT_PARTIAL_STATES, op)
            const FT_V middle = ft_row_middle(state[0], K(n), op);
            for (int s = 0; s < FT_PARTIAL_STATES; s++) state[s] = K(0);
            for (int i = 0; i < n; i += FT_WIDTH) {
                const int s = i / FT_WIDTH % FT_PARTIAL_STATES;
                for (int l = 0; l < FT_WIDTH; l++) {
                    const FT_V d = i + l < n ? from[i + l] - middle : K(0);
                    lane[l] = i + l < n ? ft_row_term(d, FT_ROW_EXP(d), op) : K(0);
                }
                FT_FOLDED(lane, FT_WIDTH, FT_LAYER_NORM)
                state[s] = state[s] + lane[0];
            }
            FT_FOLDED(state, FT_PARTIAL_STATES, FT_LAYER_NORM)
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
