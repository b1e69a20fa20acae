// Rows that are not whole beats, or that do not begin on a beat. Each row is contiguous, and up to three dims step from
// row to row. The lanes process rows in pieces: a piece is up to LANES neighbours of one row, from one or two beats of
// the operand. The results are contiguous as a whole, so the pieces are joined to beats again.
#pragma once
#include "beat_runs.h"

// A compute unit's slab: `count` elements from element `first` on, counted over all rows.
struct ft_row_slab {
    bool pieces;  // false: rows are whole beats and are read in runs (beat_runs.h)
    int length;     // of a row
    int inner, outer;  // sizes of the two innermost dims of rows
    long first, count;
};

// The distance from an operand's row to the next: `step` along the innermost dim, plus `inner_wrap` where that
// dim restarts, plus `outer_wrap` where the dim outside it restarts, too.
struct ft_row_steps {
    int step;
    long inner_wrap, outer_wrap;
    bool is_contiguous(int length) const { return step == length && inner_wrap == 0 && outer_wrap == 0; }
};
static const int FT_UNBOUNDED = 0x7fffffff;
template <int MAX_DIMS> static ft_row_steps ft_row_steps_of(const ft_runs<MAX_DIMS> &runs, int dims, int inner, int outer)
{
#pragma HLS INLINE
    ft_row_steps steps = {0, 0, 0};
    if (dims > 0) steps.step = runs.stride[dims - 1];
    if (dims > 1) steps.inner_wrap = runs.stride[dims - 2] - (long)inner * steps.step;
    if (dims > 2) steps.outer_wrap = runs.stride[dims - 3] - (long)outer * runs.stride[dims - 2];
    return steps;
}

// The position of a loop over pieces: the elements done of the current row, and the elements left of the slab.
struct ft_piece_cursor {
    int column;
    long left;
};
template <int LANES> static inline int ft_piece_size(const ft_piece_cursor &piece, int length)
{
#pragma HLS INLINE
    const int row = length - piece.column, most = row < LANES ? row : LANES;
    return piece.left < most ? (int)piece.left : most;
}
// Advances to the next piece. Returns true if it begins a row.
static inline bool ft_next_piece(ft_piece_cursor &piece, int length, int size)
{
#pragma HLS INLINE
    piece.left -= size;
    piece.column += size;
    if (piece.column < length) return false;
    piece.column = 0;
    return true;
}

// Returns the number of pieces of a slab.
template <int LANES> static int ft_count_pieces(const ft_row_slab &rows)
{
    if (!rows.pieces || rows.count == 0) return 0;
    const long end = rows.first + rows.count, last = end / rows.length - rows.first / rows.length;
    const int begin = (int)(rows.first % rows.length), over = (int)(end % rows.length);
    if (last == 0) return (over - begin + LANES - 1) / LANES;
    const int each = (rows.length + LANES - 1) / LANES;
    return (rows.length - begin + LANES - 1) / LANES + (int)(last - 1) * each + (over + LANES - 1) / LANES;
}

// The position of a loop over an operand's beats. The beats of the previous piece are kept. A piece with two
// new beats takes two iterations.
template <int LANES> struct ft_operand_cursor {
    ft_piece_cursor piece;
    long at, row;  // the first elements of the piece and of its row
    long low, high;  // the indices of the kept beats
    bool is_second;   // the first of two new beats has been read
    int inner, outer; // the row's index in the two innermost dims of rows

    void begin(const ft_row_slab &rows, long offset, const ft_row_steps &steps, bool single)
    {
#pragma HLS INLINE
        const int first_row = (int)(rows.first / rows.length), wraps = first_row / rows.inner;
        piece.column = (int)(rows.first % rows.length);
        piece.left = rows.count;
        inner = first_row % rows.inner;
        outer = wraps % rows.outer;
        row = offset + (long)first_row * steps.step + wraps * steps.inner_wrap + wraps / rows.outer * steps.outer_wrap;
        at = single ? row : row + piece.column;
        low = high = -1;
        is_second = false;
    }
};
// An iteration that reads for a piece: `beat` is the beat to read, or -1; `first` and `last` are the piece's
// beats; `has_first` is true if the first one is kept, `complete` if this read completes the piece.
struct ft_read_step {
    long beat, first, last;
    bool has_first, complete;
};
// Plans the read of `size` elements from element `at` on, with beats `low` and `high` kept.
template <int LANES> static inline ft_read_step ft_plan_read(long at, int size, long low, long high, bool is_second)
{
#pragma HLS INLINE
    ft_read_step step;
    step.first = at / LANES;
    step.last = (at + size - 1) / LANES;
    step.has_first = step.first == low || step.first == high;
    const bool has_last = step.last == low || step.last == high || step.last == step.first;
    const bool reads_last = is_second || (step.has_first && !has_last);
    step.beat = reads_last ? step.last : step.has_first ? -1 : step.first;
    step.complete = is_second || step.has_first || step.last == step.first;
    return step;
}
template <int LANES>
static inline void ft_advance(
    ft_operand_cursor<LANES> &at, const ft_read_step &step, int size, const ft_row_slab &rows, const ft_row_steps &steps, bool single)
{
#pragma HLS INLINE
    at.is_second = !step.complete;
    if (!step.complete) return;
    at.low = step.first;
    at.high = step.last;
    if (ft_next_piece(at.piece, rows.length, size)) {
        const bool inner_wraps = ++at.inner == rows.inner, outer_wraps = inner_wraps && ++at.outer == rows.outer;
        if (inner_wraps) at.inner = 0;
        if (outer_wraps) at.outer = 0;
        at.row += steps.step + (inner_wraps ? steps.inner_wrap : 0) + (outer_wraps ? steps.outer_wrap : 0);
        at.at = at.row;
    } else if (!single) {
        at.at += size;
    }
}

// Reads the beats of input INPUT's pieces: contiguous rows in one burst, rows of whole beats in runs
// (beat_runs.h).
template <int LANES, int INPUT, typename V, int INPUTS, int MAX_DIMS>
static void ft_read_pieces(const V *port, hls::stream<V> &to, ft_input_use<INPUTS> inputs, long offset,
                     const ft_runs<MAX_DIMS> &runs, ft_row_slab rows, ft_row_steps steps, int first, int count)
{
    if (!rows.pieces) {
        ft_read_runs<LANES, INPUT>(port, to, inputs, offset, runs, first, count);
        return;
    }
    if (!inputs.reads[INPUT] || rows.count == 0) return;
    const bool single = inputs.singles[INPUT];
    if (!single && steps.is_contiguous(rows.length)) {
        const long begin = (offset + rows.first) / LANES, end = (offset + rows.first + rows.count - 1) / LANES + 1;
    line:
        for (long b = begin; b < end; b++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
            to.write(port[b]);
        }
        return;
    }
    ft_operand_cursor<LANES> at;
    at.begin(rows, offset, steps, single);
read_pieces:
    for (; at.piece.left > 0;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const int size = ft_piece_size<LANES>(at.piece, rows.length);
        const ft_read_step step = ft_plan_read<LANES>(at.at, single ? 1 : size, at.low, at.high, at.is_second);
        if (step.beat >= 0) to.write(port[step.beat]);
        ft_advance(at, step, size, rows, steps, single);
    }
}

// Returns LANES adjacent elements of two beats, from lane `by` of the first on.
template <typename V, typename T, int LANES> static inline V ft_shift_lanes(const V &low, const V &high, int by)
{
#pragma HLS INLINE
    T window[2 * LANES];
#pragma HLS ARRAY_PARTITION variable=window complete
    for (int l = 0; l < LANES; l++) {
        window[l] = low[l];
        window[LANES + l] = high[l];
    }
    for (int bit = 0; bit < 6; bit++) {  // a beat has at most 64 lanes
        const int step = 1 << bit;
        if (step >= LANES || !(by & step)) continue;
        for (int l = 0; l < 2 * LANES; l++) window[l] = window[l + step < 2 * LANES ? l + step : l];
    }
    V moved;
    for (int l = 0; l < LANES; l++) moved[l] = window[l];
    return moved;
}

// The kept beats of a piece, and the first of two new beats while the second is read.
template <typename V> struct ft_beat_window {
    V low, high, waiting;
};
// Updates the kept beats after an iteration that read `got`. `highest` is the index of the higher kept beat.
template <typename V>
static inline void ft_load_window(ft_beat_window<V> &beats, const ft_read_step &step, const V &got, long highest, bool is_second)
{
#pragma HLS INLINE
    const V had = ft_select(step.has_first, ft_select(step.first == highest, beats.high, beats.low), got);
    const V lower = ft_select(is_second, beats.waiting, had), kept = ft_select(step.last == highest, beats.high, beats.low);
    const V upper = ft_select(step.last == step.first, lower, ft_select(step.beat == step.last, got, kept));
    beats.low = ft_select(step.complete, lower, beats.low);
    beats.high = ft_select(step.complete, upper, beats.high);
    beats.waiting = got;
}

template <typename V> static void ft_forward_beats(hls::stream<V> &from, hls::stream<V> &to, int count)
{
forward_beats:
    for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        to.write(from.read());
    }
}

// Shifts each piece of input INPUT to the first lane; beats of whole rows pass unchanged.
template <int LANES, int INPUT, typename T, int INPUTS>
static void ft_align_pieces(hls::stream<hls::vector<T, LANES>> &from, hls::stream<hls::vector<T, LANES>> &to,
                     ft_input_use<INPUTS> inputs, long offset, ft_row_slab rows, ft_row_steps steps, int count)
{
    typedef hls::vector<T, LANES> V;
    if (!inputs.reads[INPUT]) return;
    if (!rows.pieces) {
        ft_forward_beats(from, to, count);
        return;
    }
    const bool single = inputs.singles[INPUT];
    ft_operand_cursor<LANES> at;
    at.begin(rows, offset, steps, single);
    ft_beat_window<V> beats{};
align_pieces:
    for (; at.piece.left > 0;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const int size = ft_piece_size<LANES>(at.piece, rows.length);
        const ft_read_step step = ft_plan_read<LANES>(at.at, single ? 1 : size, at.low, at.high, at.is_second);
        V got{};
        if (step.beat >= 0) got = from.read();
        ft_load_window(beats, step, got, at.high, at.is_second);
        if (step.complete) {
            const int by = (int)(at.at % LANES);
            V piece = ft_shift_lanes<V, T, LANES>(beats.low, beats.high, by);
            if (single) ft_broadcast_lane(piece, beats.low, by);
            to.write(piece);
        }
        ft_advance(at, step, size, rows, steps, single);
    }
}

// Appends `size` elements of a piece to the `filled` elements in `held`. Returns true if they fill a beat,
// which `joined` then holds.
template <int LANES, typename T>
static inline bool ft_append_piece(hls::vector<T, LANES> &held, int &filled, const hls::vector<T, LANES> &piece, int size,
                           hls::vector<T, LANES> &joined)
{
#pragma HLS INLINE
    typedef hls::vector<T, LANES> V;
    // The piece rotated up by `filled` lanes: its end wraps around to the first lanes, for the next beat.
    const V up = ft_shift_lanes<V, T, LANES>(piece, piece, (LANES - filled) % LANES);
    for (int l = 0; l < LANES; l++) {
        const T below = held[l], above = up[l];
        joined[l] = l < filled ? below : above;
    }
    filled += size;
    const bool full = filled >= LANES;
    filled -= full ? LANES : 0;
    held = ft_select(full, up, joined);
    return full;
}

// Joins pieces to whole beats; the last beat may be incomplete.
template <int LANES, typename T>
static void ft_pack_pieces(hls::stream<hls::vector<T, LANES>> &from, hls::stream<hls::vector<T, LANES>> &to, ft_row_slab rows,
                    int count)
{
    typedef hls::vector<T, LANES> V;
    if (!rows.pieces) {
        ft_forward_beats(from, to, count);
        return;
    }
    ft_piece_cursor piece = {(int)(rows.first % rows.length), rows.count};
    V held{};
    int filled = 0;
pack:
    for (; piece.left > 0;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const int size = ft_piece_size<LANES>(piece, rows.length);
        V joined;
        if (ft_append_piece<LANES>(held, filled, from.read(), size, joined)) to.write(joined);
        ft_next_piece(piece, rows.length, size);
    }
    if (filled > 0) to.write(held);
}

// Writes results: contiguous ones, or rows of whole beats.
template <int LANES, typename V, int MAX_DIMS>
static void ft_write_rows(V *port, hls::stream<V> &from, long offset, const ft_runs<MAX_DIMS> &runs, ft_row_slab rows, int first,
                     int count)
{
    if (rows.pieces) {
        ft_write_port<LANES>(port, from, offset, first, count, (int)(rows.count % LANES));
    } else {
        ft_write_runs<LANES>(port, from, offset, runs, 1, first, count);
    }
}
