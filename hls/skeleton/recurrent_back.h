// The derivative of all steps of a recurrent layer in one direction, from the last step to the first: an LSTM or, without
// FT_LSTM, a GRU. An item is FT_TILE_ROWS sequences of the batch. dh_last and dc_last are the gradients of the last
// states; dh and dc become those of the state before each step. For each step, the gradients of the gates are written
// first, then their product with the weights. A GRU writes those of the input's part to d_other.
// Geometry g: RecurrentGeometry.
#define FT_GATES (FT_LSTM ? 4 : 3)
#define FT_SIGMOID(x) (K(1) / (K(1) + exp(-(x))))
#define FT_SLOPE(y) ((y) * (K(1) - (y)))
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *d_gates, FT_GLOBAL FT_T *d_other, FT_GLOBAL FT_T *dh, FT_GLOBAL const FT_T *dy,
    FT_GLOBAL const FT_T *saved, FT_GLOBAL const FT_T *states, FT_GLOBAL const FT_T *weight,
    FT_GLOBAL const FT_T *dh_last,
#if FT_LSTM
    FT_GLOBAL const FT_T *dc_last,
#endif
    long d_gates_offset, long d_other_offset, long dh_offset, long dy_offset, long saved_offset, long states_offset,
    long weight_offset, long dh_last_offset,
#if FT_LSTM
    long dc_last_offset,
#endif
    FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int steps = G_STEPS(g), batch = G_BATCH(g), width = G_WIDTH(g);
    const long plane = (long)batch * width;
    d_gates += d_gates_offset;
    d_other += d_other_offset;  // an LSTM's dc, a GRU's d_input
    dh += dh_offset;
    dy += dy_offset;
    saved += saved_offset;
    states += states_offset;  // an LSTM's cells, a GRU's hidden states: before the first step, and after each
    weight += weight_offset;
    dh_last += dh_last_offset;
#if FT_LSTM
    dc_last += dc_last_offset;
#endif
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        const int first = item * FT_TILE_ROWS, rows = batch - first < FT_TILE_ROWS ? batch - first : FT_TILE_ROWS;
        for (int t = steps - 1; t >= 0; t--) {
            for (int r = 0; r < rows; r++) {
                const long row = first + r;
                FT_GLOBAL const FT_T *kept = saved + ((long)t * batch + row) * 4 * width;
                FT_GLOBAL FT_T *gate_grads = d_gates + ((long)t * batch + row) * FT_GATES * width;
                FT_GLOBAL const FT_T *grad = dy + t * G_HIDDEN_STEP(g) + row * G_HIDDEN_ROW(g);
                FT_GLOBAL const FT_T *state = states + t * plane + row * width;
                FT_GLOBAL const FT_T *behind = (t == steps - 1 ? dh_last : dh) + row * width;
                for (int j = 0; j < width; j += FT_LANES) {
                    const FT_V d = FT_VLOAD(grad + j) + FT_VLOAD(behind + j);
#if FT_LSTM
                    FT_GLOBAL const FT_T *d_cell = (t == steps - 1 ? dc_last : d_other) + row * width + j;
                    const FT_V i = FT_SIGMOID(FT_VLOAD(kept + j)), f = FT_SIGMOID(FT_VLOAD(kept + width + j));
                    const FT_V c = ft_tanh(FT_VLOAD(kept + 2 * width + j));
                    const FT_V o = FT_SIGMOID(FT_VLOAD(kept + 3 * width + j));
                    const FT_V shown = ft_tanh(FT_VLOAD(state + plane + j));
                    const FT_V dc = FT_VLOAD(d_cell) + d * o * (K(1) - shown * shown);
                    FT_VSTORE(dc * c * FT_SLOPE(i), gate_grads + j);
                    FT_VSTORE(dc * FT_VLOAD(state + j) * FT_SLOPE(f), gate_grads + width + j);
                    FT_VSTORE(dc * i * (K(1) - c * c), gate_grads + 2 * width + j);
                    FT_VSTORE(d * shown * FT_SLOPE(o), gate_grads + 3 * width + j);
                    FT_VSTORE(dc * f, d_other + row * width + j);
#else
                    FT_GLOBAL FT_T *d_input = d_other + ((long)t * batch + row) * 3 * width + j;
                    const FT_V reset = FT_VLOAD(kept + j), update = FT_VLOAD(kept + width + j);
                    const FT_V fresh = FT_VLOAD(kept + 2 * width + j), part = FT_VLOAD(kept + 3 * width + j);
                    const FT_V d_fresh = d * (K(1) - update) * (K(1) - fresh * fresh);
                    const FT_V d_reset = d_fresh * part * FT_SLOPE(reset);
                    const FT_V d_update = d * (FT_VLOAD(state + j) - fresh) * FT_SLOPE(update);
                    FT_VSTORE(d_reset, gate_grads + j);
                    FT_VSTORE(d_update, gate_grads + width + j);
                    FT_VSTORE(d_fresh * reset, gate_grads + 2 * width + j);
                    FT_VSTORE(d_reset, d_input);
                    FT_VSTORE(d_update, d_input + width);
                    FT_VSTORE(d_fresh, d_input + 2 * width);
                    FT_VSTORE(d * update, dh + row * width + j);
#endif
                }
            }
            FT_GLOBAL const FT_T *x[FT_TILE_ROWS];  // rows beyond the edge repeat the first one
            FT_UNROLL
            for (int r = 0; r < FT_TILE_ROWS; r++) {
                x[r] = d_gates + ((long)t * batch + first + (r < rows ? r : 0)) * FT_GATES * width;
            }
            for (int j = 0; j < width; j += FT_LANES) {
                FT_V sum[FT_TILE_ROWS][FT_GATES];
                FT_UNROLL
                for (int r = 0; r < FT_TILE_ROWS; r++) {
                    FT_UNROLL
                    for (int q = 0; q < FT_GATES; q++) sum[r][q] = K(0);
                }
                for (int k = 0; k < width; k++) {
                    FT_UNROLL
                    for (int q = 0; q < FT_GATES; q++) {
                        const FT_V v = FT_VLOAD(weight + (q * width + k) * width + j);
                        FT_UNROLL
                        for (int r = 0; r < FT_TILE_ROWS; r++) {
                            sum[r][q] = fma(K(x[r][q * width + k]), v, sum[r][q]);
                        }
                    }
                }
                FT_UNROLL
                for (int r = 0; r < FT_TILE_ROWS; r++) {
                    if (r < rows) {
                        FT_GLOBAL FT_T *to = dh + (first + r) * width + j;
#if FT_LSTM
                        FT_VSTORE((sum[r][0] + sum[r][1]) + (sum[r][2] + sum[r][3]), to);
#else
                        FT_VSTORE(FT_VLOAD(to) + ((sum[r][0] + sum[r][1]) + sum[r][2]), to);
#endif
                    }
                }
            }
        }
    }
}
