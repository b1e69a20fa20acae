$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes
#include "ftensor/vitis/row_pieces.h"

// Contiguous rows, with the results of skeleton/whole_rows.h in the same order, in stages that run at the same
// time. A row waits in a FIFO until the result of its first fold (the maximum or the mean) is known, and then
// until the second sum is. Rows follow without a gap. A tree combines each beat of a row, and the result
// updates one of TURNS states in turn. After the row's last beats the states leave, and another stage combines
// them.
static const int LANES = 16;
static const int TURNS = 8;  // exceeds the latency of an addition and its write
static const int BEATS = 256;  // the longest row, in beats
typedef hls::vector<FT_T, LANES> beat;
static_assert(sizeof(beat) <= 64, "a port is at most 512 bits wide");
static_assert(LANES == 16 && TURNS == 8, "trees have four and three levels");

// The work of a unit: the op, rows, their length in elements and in beats, and the number of states in use.
struct ft_row_work {
    int op, rows, n, beats, states, weighted, shifted;
};

static void read(const beat *x, hls::stream<beat> &to, long first, long count)
{
    const beat *from = x + first / LANES;
    const int beats = (int)((first % LANES + count + LANES - 1) / LANES);
line:
    for (int t = 0; t < beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        to.write(from[t]);
    }
}

// Shifts each row to lane 0; a piece spans one beat or two.
static void align(hls::stream<beat> &from, hls::stream<beat> &to, ft_row_work p, long first)
{
    beat high{};
    int lane = (int)(first % LANES), left = p.n;
    if (lane != 0 && p.rows > 0) high = from.read();
align:
    for (int t = 0; t < p.rows * p.beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        // The kept beat holds the piece's first element, unless the piece begins a new beat.
        const int size = left < LANES ? left : LANES;
        const beat low = high;
        if (lane == 0 || lane + size > LANES) high = from.read();
        to.write(ft_shift_lanes<beat, FT_T, LANES>(ft_select(lane == 0, high, low), high, lane));
        lane = (lane + size) % LANES;
        left -= size;
        if (left == 0) left = p.n;
    }
}

// Combines the lanes of a beat.
static inline FT_T folded(FT_T *lane, int op)
{
#pragma HLS INLINE
    for (int level = 1; level <= 4; level++) {
        for (int l = 0; l < LANES / 2; l++) {
            if (l < LANES >> level) lane[l] = ft_row_first(lane[l], lane[l + (LANES >> level)], op);
        }
    }
    return lane[0];
}

// The first fold: the maximum or the sum of each row, in states. Passes the rows on.
static void fold_values(hls::stream<beat> &from, hls::stream<beat> &on, hls::stream<FT_T> &states, ft_row_work p)
{
    FT_T state[TURNS];
#pragma HLS ARRAY_PARTITION variable=state complete
    const FT_T none = p.op == FT_LAYER_NORM ? K(0) : K(-INFINITY);
    int k = 0, s = 0, at = 0;
fold_values:
    for (int t = 0; t < p.rows * p.beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
#pragma HLS DEPENDENCE variable=state inter RAW distance=8 true
        const beat b = from.read();
        FT_T lane[LANES];
        for (int l = 0; l < LANES; l++) {
            const FT_T taken = ft_row_input(b[l], p.op);
            lane[l] = at + l < p.n ? taken : none;
        }
        const FT_T of_beat = folded(lane, p.op), had = state[s], before = k < TURNS ? none : had;
        const FT_T updated = ft_row_first(before, of_beat, p.op);
        state[s] = updated;
        on.write(b);
        if (k >= p.beats - p.states) states.write(updated);
        at += LANES;
        if (++s == TURNS) s = 0;
        if (++k == p.beats) {
            k = 0;
            s = 0;
            at = 0;
        }
    }
}

// Combines a row's states. The oldest is state `turn`.
static inline FT_T joined(hls::stream<FT_T> &states, ft_row_work p, FT_T none, int op)
{
#pragma HLS INLINE
    FT_T sum[TURNS];
    const int turn = p.beats % TURNS;
    for (int k = 0; k < TURNS; k++) {
        sum[k] = none;
        if (k < p.states) sum[k] = states.read();
    }
    FT_T own[TURNS];
    for (int k = 0; k < TURNS; k++) own[k] = p.states == TURNS ? sum[(k + TURNS - turn) % TURNS] : sum[k];
    for (int level = 1; level <= 3; level++) {
        for (int k = 0; k < TURNS / 2; k++) {
            if (k < TURNS >> level) own[k] = ft_row_first(own[k], own[k + (TURNS >> level)], op);
        }
    }
    return own[0];
}

// Combines the states of a row in TURNS cycles, one for each state.
static void combine_states(hls::stream<FT_T> &states, hls::stream<FT_T> &to, hls::stream<FT_T> &kept, ft_row_work p)
{
combine_states:
    for (int row = 0; row < p.rows; row++) {
#pragma HLS PIPELINE II=8
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const FT_T none = p.op == FT_LAYER_NORM ? K(0) : K(-INFINITY);
        const FT_T m = ft_row_middle(joined(states, p, none, p.op), K(p.n), p.op);
        to.write(m);
        if (p.op == FT_LAYER_NORM) kept.write(m);
    }
}

// Passes on x - m or its exponential, with m the first fold's result, and sums the terms of the second fold in
// states.
static void fold_centered(
    hls::stream<beat> &from, hls::stream<FT_T> &middles, hls::stream<beat> &on, hls::stream<FT_T> &states, ft_row_work p)
{
    FT_T state[TURNS], m = 0;
#pragma HLS ARRAY_PARTITION variable=state complete
    int k = 0, s = 0, at = 0;
fold_centered:
    for (int t = 0; t < p.rows * p.beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
#pragma HLS DEPENDENCE variable=state inter RAW distance=8 true
        if (k == 0) m = middles.read();
        const beat b = from.read();
        beat kept;
        FT_T lane[LANES];
        for (int l = 0; l < LANES; l++) {
            const FT_T d = b[l] - m, e = FT_ROW_EXP(d), term = ft_row_term(d, e, p.op);
            lane[l] = at + l < p.n ? term : K(0);
            kept[l] = ft_row_kept(d, e, p.op);
        }
        const FT_T of_beat = folded(lane, FT_LAYER_NORM), had = state[s], before = k < TURNS ? K(0) : had;
        const FT_T updated = before + of_beat;
        state[s] = updated;
        on.write(kept);
        if (k >= p.beats - p.states) states.write(updated);
        at += LANES;
        if (++s == TURNS) s = 0;
        if (++k == p.beats) {
            k = 0;
            s = 0;
            at = 0;
        }
    }
}

static void row_scales(hls::stream<FT_T> &states, hls::stream<FT_T> &to, hls::stream<FT_T> &kept, ft_row_work p, FT_T eps)
{
row_scales:
    for (int row = 0; row < p.rows; row++) {
#pragma HLS PIPELINE II=8
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const FT_T s = ft_row_scale(joined(states, p, K(0), FT_LAYER_NORM), K(p.n), eps, p.op);
        to.write(s);
        if (p.op == FT_LAYER_NORM) kept.write(s);
    }
}

static void normalize(
    hls::stream<beat> &from, hls::stream<FT_T> &scales, hls::stream<beat> &to, const FT_T *weight, const FT_T *bias,
    ft_row_work p)
{
    FT_T factor[BEATS][LANES], summand[BEATS][LANES], scale = 0;
#pragma HLS ARRAY_PARTITION variable=factor dim=2 complete
#pragma HLS ARRAY_PARTITION variable=summand dim=2 complete
    const int kept = p.rows > 0 ? p.n : 0;
    int line = 0, lane = 0;
load_factors:
    for (int i = 0; i < kept; i++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=4096
        const FT_T w = weight[p.weighted ? i : 0], b = bias[p.shifted ? i : 0];
        factor[line][lane] = p.weighted ? w : K(1);
        summand[line][lane] = p.shifted ? b : K(0);
        if (++lane == LANES) {
            lane = 0;
            line++;
        }
    }
    int k = 0;
normalize:
    for (int t = 0; t < p.rows * p.beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        if (k == 0) scale = scales.read();
        const beat b = from.read();
        beat result;
        for (int l = 0; l < LANES; l++) {
            const FT_T x = b[l], w = factor[k][l], c = summand[k][l];
            result[l] = ft_row_result(x, scale, w, c, p.op);
        }
        to.write(result);
        if (++k == p.beats) k = 0;
    }
}

// Joins rows to whole beats; the last beat may be incomplete.
static void pack(hls::stream<beat> &from, hls::stream<beat> &to, ft_row_work p)
{
    beat held{};
    int filled = 0, left = p.n;
pack:
    for (int t = 0; t < p.rows * p.beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=65536
        const int size = left < LANES ? left : LANES;
        beat full_beat;
        if (ft_append_piece<LANES>(held, filled, from.read(), size, full_beat)) to.write(full_beat);
        left -= size;
        if (left == 0) left = p.n;
    }
    if (filled > 0) to.write(held);
}

static void store(beat *out, hls::stream<beat> &from, long first, long count)
{
    ft_write_port<LANES>(out, from, first, 0, (int)(count / LANES), (int)(count % LANES));
}

// Writes the additional outputs of layer norm.
static void write_statistics(FT_T *mean, FT_T *rstd, hls::stream<FT_T> &middles, hls::stream<FT_T> &scales, ft_row_work p)
{
    const int rows = p.op == FT_LAYER_NORM ? p.rows : 0;
write_statistics:
    for (int row = 0; row < rows; row++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        mean[row] = middles.read();
        rstd[row] = scales.read();
    }
}

static void run(
    beat *out, FT_T *mean, FT_T *rstd, const beat *x, const FT_T *weight, const FT_T *bias, ft_row_work p, FT_T eps,
    long out_first, long x_first)
{
#pragma HLS DATAFLOW
    hls::stream<beat, 32> line("line"), aligned("aligned");
    hls::stream<beat, 512> rows("rows"), kept("kept");  // a row, and the beats that arrive until its states are combined
    hls::stream<beat, 32> normalized("normalized"), packed("packed");
    hls::stream<FT_T, 32> first_states("first_states"), second_states("second_states");
    // As many as short rows in flight.
    hls::stream<FT_T, 64> middles("middles"), scales("scales"), written_scales("written_scales");
    hls::stream<FT_T, 128> written_middles("written_middles");
    const long count = (long)p.rows * p.n;
    read(x, line, x_first, count);
    align(line, aligned, p, x_first);
    fold_values(aligned, rows, first_states, p);
    combine_states(first_states, middles, written_middles, p);
    fold_centered(rows, middles, kept, second_states, p);
    row_scales(second_states, scales, written_scales, p, eps);
    normalize(kept, scales, normalized, weight, bias, p);
    pack(normalized, packed, p);
    store(out, packed, out_first, count);
    write_statistics(mean, rstd, written_middles, written_scales, p);
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    int g[G_HEAD];
    ft_read_geometry(g, geometry, G_HEAD);
    const int items = G_ITEMS(g), together = G_TOGETHER(g), all = G_ROWS(g), n = G_N(g);
    const int begin = ft_slab(items, ft_unit, ft_units) * together, stop = ft_slab(items, ft_unit + 1, ft_units) * together;
    const int end = stop < all ? stop : all, beats = (n + LANES - 1) / LANES;
    const ft_row_work p = {
        G_OP(g), end > begin ? end - begin : 0, n, beats, beats < TURNS ? beats : TURNS, G_WEIGHTED(g), G_SHIFTED(g)};
    run(out, mean + (mean_offset + begin), rstd + (rstd_offset + begin), x, weight + weight_offset, bias + bias_offset, p,
        eps, out_offset + (long)begin * n, x_offset + (long)begin * n);
}
