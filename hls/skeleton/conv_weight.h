// Gradients of the weights and the bias of a small convolution, without packing: for each row (channel, tap) and
// filter, the sum over samples and positions of the input element times the result's gradient. An item is some rows by
// a vector of filters, over a share of the samples. For some samples at a time, the planes are copied to private memory
// with zeros around them, and the gradients are transposed so that filters are contiguous. Then FT_TILE_ROWS rows are
// summed at a time. These sums are added to totals, which keeps long sums accurate.
// Geometry g: ConvWeightGeometry.
// Transposes the gradients of n positions and m filters: the filters of a position are contiguous, and zeros follow.
FT_FN_ONCE void ft_conv_transpose(FT_T *to, FT_GLOBAL const FT_E *from, long filter_step, int n, int m)
{
    for (int f = 0; f < FT_LANES; f += 4) {
        int p = 0;
        if (f + 4 <= m) {
            FT_GLOBAL const FT_E *y = from + f * filter_step;
            for (; p + 4 <= n; p += 4) {
                const FT_CAT(FT_T, 4) a = vload4(0, y + p), b = vload4(0, y + filter_step + p);
                const FT_CAT(FT_T, 4) c = vload4(0, y + 2 * filter_step + p), d = vload4(0, y + 3 * filter_step + p);
                FT_T *t = to + p * FT_LANES + f;
                vstore4((FT_CAT(FT_T, 4))(a.s0, b.s0, c.s0, d.s0), 0, t);
                vstore4((FT_CAT(FT_T, 4))(a.s1, b.s1, c.s1, d.s1), 0, t + FT_LANES);
                vstore4((FT_CAT(FT_T, 4))(a.s2, b.s2, c.s2, d.s2), 0, t + 2 * FT_LANES);
                vstore4((FT_CAT(FT_T, 4))(a.s3, b.s3, c.s3, d.s3), 0, t + 3 * FT_LANES);
            }
        }
        for (; p < n; p++) {
            for (int l = f; l < f + 4; l++) to[p * FT_LANES + l] = l < m ? from[l * filter_step + p] : (FT_T)0;
        }
    }
}

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL FT_E *bias, FT_GLOBAL const FT_E *grad, FT_GLOBAL const FT_E *x, long grad_offset,
    long x_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int groups = G_GROUPS(g), vectors = G_VECTORS(g), parts = G_PARTS(g), shares = G_SHARES(g), most = G_MOST(g);
    const int rows = G_ROWS(g), filters = G_FILTERS(g), channels = G_CHANNELS(g), taps = G_TAPS(g);
    const int samples = G_SAMPLES(g), some = G_SOME(g), positions = G_POSITIONS(g), plane = G_PLANE(g);
    const long x_channel = G_X_CHANNEL(g), filter_step = G_GRAD_FILTER(g);
    FT_GLOBAL const long *offsets = G_OFFSETS(g), *places = G_PLACES(g);
    FT_T planes[FT_PLANES] __attribute__((aligned(64)));  // samples overwrite the inside only, so the zeros stay
    FT_T grads[FT_STEPS * FT_LANES] __attribute__((aligned(64)));
    FT_WIDE_X total[FT_ROWS];
    int place[FT_STEPS], row_at[FT_ROWS];
    for (int i = 0; i < FT_PLANES; i++) planes[i] = 0;
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int share = item % shares, part = item / shares % parts, vector = item / shares / parts % vectors;
        const int group = item / shares / parts / vectors, first = vector * FT_LANES;
        const int m = filters - first < FT_LANES ? filters - first : FT_LANES;
        const int row = part * most * FT_TILE_ROWS;
        const int row_end = rows - row < most * FT_TILE_ROWS ? rows : row + most * FT_TILE_ROWS;
        const int panels = (row_end - row + FT_TILE_ROWS - 1) / FT_TILE_ROWS;
        const int channel = row / taps, own = (row_end - 1) / taps + 1 - channel;
        const int begin = ft_slab(samples, share, shares), end = ft_slab(samples, share + 1, shares);
        FT_WIDE_X bias_total = FT_ZERO_X;
        for (int r = 0; r < panels * FT_TILE_ROWS; r++) {  // rows beyond the last one repeat it
            const int at = row + r < row_end ? row + r : row_end - 1;
            row_at[r] = (at / taps - channel) * plane + (int)offsets[at % taps];
            total[r] = FT_ZERO_X;
        }
        for (int sample = begin; sample < end; sample += some) {
            const int many = end - sample < some ? end - sample : some;
            for (int s = 0; s < many; s++) {
                FT_GLOBAL const FT_E *from =
                    x + (x_offset + (sample + s) * G_X_SAMPLE(g) + (group * channels + channel) * x_channel);
                ft_conv_planes(planes + s * own * plane, from, own, plane, g);
            }
            // A block has all positions of several samples, or some positions of one sample.
            for (int p0 = 0; p0 < positions; p0 += FT_STEPS) {
                const int n = positions - p0 < FT_STEPS ? positions - p0 : FT_STEPS, steps = many * n;
                for (int s = 0; s < many; s++) {
                    ft_conv_transpose(
                        grads + s * n * FT_LANES,
                        grad + (grad_offset + (sample + s) * G_GRAD_SAMPLE(g) + (group * filters + first) * filter_step + p0),
                        filter_step, n, m);
                    if (sample == begin || positions > FT_STEPS) {
                        for (int p = 0; p < n; p++) place[s * n + p] = s * own * plane + (int)places[p0 + p];
                    }
                }
                for (int p = 0; p < panels; p++) {
                    const FT_T *from[FT_TILE_ROWS];
                    FT_WIDE_X sum[FT_TILE_ROWS];
                    FT_UNROLL
                    for (int r = 0; r < FT_TILE_ROWS; r++) {
                        from[r] = planes + row_at[p * FT_TILE_ROWS + r];
                        sum[r] = FT_ZERO_X;
                    }
                    for (int k = 0; k < steps; k++) {
                        const FT_WIDE_X b = FT_LANES_FROM(grads + k * FT_LANES);
                        const int at = place[k];
                        FT_UNROLL
                        for (int r = 0; r < FT_TILE_ROWS; r++) {
                            const FT_X s = FT_SPLAT(from[r] + at);
                            sum[r] = ft_xfma(s, b, sum[r]);
                        }
                    }
                    FT_UNROLL
                    for (int r = 0; r < FT_TILE_ROWS; r++) {
                        total[p * FT_TILE_ROWS + r] = ft_xadd(total[p * FT_TILE_ROWS + r], sum[r]);
                    }
                }
                if (G_BIAS(g) && part == 0) {
                    FT_WIDE_X sum[4] = {FT_ZERO_X, FT_ZERO_X, FT_ZERO_X, FT_ZERO_X};
                    int k = 0;
                    for (; k + 4 <= steps; k += 4) {
                        FT_UNROLL
                        for (int i = 0; i < 4; i++) sum[i] = ft_xadd(sum[i], FT_LANES_FROM(grads + (k + i) * FT_LANES));
                    }
                    for (; k < steps; k++) sum[0] = ft_xadd(sum[0], FT_LANES_FROM(grads + k * FT_LANES));
                    bias_total = ft_xadd(bias_total, ft_xadd(ft_xadd(sum[0], sum[1]), ft_xadd(sum[2], sum[3])));
                }
            }
        }
        FT_T t[FT_LANES];
        const long filter = ((long)share * groups + group) * filters + first;
        for (int r = row; r < row_end; r++) {
            FT_LANES_TO(total[r - row], t);
            for (int l = 0; l < m; l++) out[(filter + l) * rows + r] = t[l];
        }
        if (G_BIAS(g) && part == 0) {
            FT_LANES_TO(bias_total, t);
            for (int l = 0; l < m; l++) bias[filter + l] = t[l];
        }
    }
}
