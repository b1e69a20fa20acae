// All steps of a recurrent layer in one direction: an LSTM or, without FT_LSTM, a GRU. An item is FT_TILE_ROWS
// sequences of the batch, whose states are those of the step before in the results. The sums of a vector's gates stay in
// registers. With FT_SAVED, the gates are stored for the derivative: an LSTM's before their activations; a GRU's after
// them, then the hidden state's part of the last one.
// Geometry g: RecurrentGeometry.
#define FT_GATES (FT_LSTM ? 4 : 3)
#define FT_SIGMOID(x) (K(1) / (K(1) + exp(-(x))))
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *hidden,
#if FT_LSTM
    FT_GLOBAL FT_T *cells,
#endif
#if FT_SAVED
    FT_GLOBAL FT_T *saved,
#endif
    FT_GLOBAL const FT_T *input, FT_GLOBAL const FT_T *h, FT_GLOBAL const FT_T *other, FT_GLOBAL const FT_T *weight,
    long hidden_offset,
#if FT_LSTM
    long cells_offset,
#endif
#if FT_SAVED
    long saved_offset,
#endif
    long input_offset, long h_offset, long other_offset, long weight_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int steps = G_STEPS(g), batch = G_BATCH(g), width = G_WIDTH(g), reverse = G_REVERSE(g);
    hidden += hidden_offset;
    input += input_offset;
    h += h_offset;
    other += other_offset;  // an LSTM's cell state; a GRU's bias of the hidden state
    weight += weight_offset;
#if FT_LSTM
    cells += cells_offset;
#endif
#if FT_SAVED
    saved += saved_offset;
#endif
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int first = item * FT_TILE_ROWS, rows = batch - first < FT_TILE_ROWS ? batch - first : FT_TILE_ROWS;
        for (int t = 0; t < steps; t++) {
            const long at = reverse ? steps - 1 - t : t, last = reverse ? at + 1 : at - 1;
            FT_GLOBAL const FT_T *state = t ? hidden + last * G_HIDDEN_STEP(g) : h;
            const long state_row = t ? G_HIDDEN_ROW(g) : width;
            FT_GLOBAL const FT_T *x[FT_TILE_ROWS];  // rows beyond the edge repeat the first one
            FT_UNROLL
            for (int r = 0; r < FT_TILE_ROWS; r++) x[r] = state + (first + (r < rows ? r : 0)) * state_row;
            for (int j = 0; j < width; j += FT_LANES) {
                FT_V sum[FT_TILE_ROWS][FT_GATES];
                FT_UNROLL
                for (int r = 0; r < FT_TILE_ROWS; r++) {
                    FT_UNROLL
                    for (int q = 0; q < FT_GATES; q++) sum[r][q] = K(0);
                }
                FT_GLOBAL const FT_T *w = weight + j;
                for (int k = 0; k < width; k++) {
                    FT_V v[FT_GATES];
                    FT_UNROLL
                    for (int q = 0; q < FT_GATES; q++) v[q] = FT_VLOAD(w + q * width);
                    FT_UNROLL
                    for (int r = 0; r < FT_TILE_ROWS; r++) {
                        const FT_V s = K(x[r][k]);
                        FT_UNROLL
                        for (int q = 0; q < FT_GATES; q++) sum[r][q] = fma(s, v[q], sum[r][q]);
                    }
                    w += FT_GATES * width;
                }
                FT_UNROLL
                for (int r = 0; r < FT_TILE_ROWS; r++) {
                    if (r < rows) {
                        const int row = first + r;
                        FT_GLOBAL const FT_T *in = input + (at * batch + row) * FT_GATES * width + j;
                        FT_GLOBAL FT_T *out = hidden + at * G_HIDDEN_STEP(g) + row * G_HIDDEN_ROW(g) + j;
#if FT_LSTM
                        FT_UNROLL
                        for (int q = 0; q < 4; q++) sum[r][q] = FT_VLOAD(in + q * width) + sum[r][q];
#if FT_SAVED
                        FT_GLOBAL FT_T *kept = saved + (at * batch + row) * 4 * width + j;
                        FT_UNROLL
                        for (int q = 0; q < 4; q++) FT_VSTORE(sum[r][q], kept + q * width);
#endif
                        FT_GLOBAL const FT_T *before = t ? cells + last * G_CELLS_STEP(g) : other;
                        const FT_V c = FT_VLOAD(before + row * width + j);
                        const FT_V next = FT_SIGMOID(sum[r][1]) * c + FT_SIGMOID(sum[r][0]) * ft_tanh(sum[r][2]);
                        FT_VSTORE(next, cells + at * G_CELLS_STEP(g) + row * width + j);
                        FT_VSTORE(FT_SIGMOID(sum[r][3]) * ft_tanh(next), out);
#else
                        FT_UNROLL
                        for (int q = 0; q < 3; q++) sum[r][q] = sum[r][q] + FT_VLOAD(other + q * width + j);
                        const FT_V reset = FT_SIGMOID(FT_VLOAD(in) + sum[r][0]);
                        const FT_V update = FT_SIGMOID(FT_VLOAD(in + width) + sum[r][1]);
                        const FT_V fresh = ft_tanh(FT_VLOAD(in + 2 * width) + reset * sum[r][2]);
#if FT_SAVED
                        FT_GLOBAL FT_T *kept = saved + (at * batch + row) * 4 * width + j;
                        FT_VSTORE(reset, kept);
                        FT_VSTORE(update, kept + width);
                        FT_VSTORE(fresh, kept + 2 * width);
                        FT_VSTORE(sum[r][2], kept + 3 * width);
#endif
                        FT_VSTORE((FT_VLOAD(x[r] + j) - fresh) * update + fresh, out);
#endif
                    }
                }
            }
        }
    }
}
