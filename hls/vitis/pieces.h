// Rows whose length is no multiple of a beat, or which do not begin on one: contiguous within a row, the rows along
// up to three dims. They go through the lanes in pieces: a piece has up to LANES neighbours of one row, in one beat
// of its operand or in two. Results are joined again, since they are contiguous as a whole.
#pragma once
#include "runs.h"

// A compute unit's part of such rows: from element `first` on, counted over all rows, `count` elements.
struct ft_rows {
    bool pieces;    // else rows are whole beats, and walked in runs
    int length;     // of a row
    int near, far;  // rows along the innermost of the outer dims, and of these along the next one
    long first, count;
};

// From an operand's row to the next one: where it is the next along the innermost dim, and what more it is where that
// dim begins anew, and where the next one does, too.
struct ft_way {
    int step;
    long turn, leap;
    bool in_line(int length) const { return step == length && turn == 0 && leap == 0; }
};
static const int FT_NO_END = 0x7fffffff;
template <int MAX_DIMS> static ft_way ft_way_of(const ft_runs<MAX_DIMS> &runs, int dims, int near, int far)
{
#pragma HLS INLINE
    ft_way way = {0, 0, 0};
    if (dims > 0) way.step = runs.stride[dims - 1];
    if (dims > 1) way.turn = runs.stride[dims - 2] - (long)near * way.step;
    if (dims > 2) way.leap = runs.stride[dims - 3] - (long)far * runs.stride[dims - 2];
    return way;
}

// How far a walk has come: elements of the row that are done, and those that are left of all.
struct ft_piece {
    int column;
    long left;
};
template <int LANES> static inline int ft_piece_size(const ft_piece &piece, int length)
{
#pragma HLS INLINE
    const int row = length - piece.column, most = row < LANES ? row : LANES;
    return piece.left < most ? (int)piece.left : most;
}
// The next piece; whether it begins a row.
static inline bool ft_next_piece(ft_piece &piece, int length, int size)
{
#pragma HLS INLINE
    piece.left -= size;
    piece.column += size;
    if (piece.column < length) return false;
    piece.column = 0;
    return true;
}

// How many pieces there are.
template <int LANES> static int ft_pieces(const ft_rows &rows)
{
    if (!rows.pieces || rows.count == 0) return 0;
    const long end = rows.first + rows.count, last = end / rows.length - rows.first / rows.length;
    const int begin = (int)(rows.first % rows.length), over = (int)(end % rows.length);
    if (last == 0) return (over - begin + LANES - 1) / LANES;
    const int each = (rows.length + LANES - 1) / LANES;
    return (rows.length - begin + LANES - 1) / LANES + (int)(last - 1) * each + (over + LANES - 1) / LANES;
}

// The beats of an operand, piece by piece: those of the piece before are at hand. A piece of two new beats
// takes two steps.
template <int LANES> struct ft_course {
    ft_piece piece;
    long at, row;     // where the piece begins, and its row
    long low, high;   // the beats of the piece before
    bool second;      // the first of two is there
    int near, far;    // the row's place along the innermost of the outer dims, and along the next one

    void begin(const ft_rows &rows, long offset, const ft_way &way, bool single)
    {
#pragma HLS INLINE
        const int begun = (int)(rows.first / rows.length), turns = begun / rows.near;
        piece.column = (int)(rows.first % rows.length);
        piece.left = rows.count;
        near = begun % rows.near;
        far = turns % rows.far;
        row = offset + (long)begun * way.step + turns * way.turn + turns / rows.far * way.leap;
        at = single ? row : row + piece.column;
        low = high = -1;
        second = false;
    }
};
// One step on the way to `size` elements from `at` on, with two beats at hand: which beat is to be read, or -1,
// and whether all is there then.
struct ft_step {
    long beat, first, last;
    bool has_first, whole;
};
template <int LANES> static inline ft_step ft_look(long at, int size, long low, long high, bool second)
{
#pragma HLS INLINE
    ft_step step;
    step.first = at / LANES;
    step.last = (at + size - 1) / LANES;
    step.has_first = step.first == low || step.first == high;
    const bool has_last = step.last == low || step.last == high || step.last == step.first;
    const bool reads_last = second || (step.has_first && !has_last);
    step.beat = reads_last ? step.last : step.has_first ? -1 : step.first;
    step.whole = second || step.has_first || step.last == step.first;
    return step;
}
template <int LANES>
static inline void ft_go(
    ft_course<LANES> &at, const ft_step &step, int size, const ft_rows &rows, const ft_way &way, bool single)
{
#pragma HLS INLINE
    at.second = !step.whole;
    if (!step.whole) return;
    at.low = step.first;
    at.high = step.last;
    if (ft_next_piece(at.piece, rows.length, size)) {
        const bool turns = ++at.near == rows.near, leaps = turns && ++at.far == rows.far;
        if (turns) at.near = 0;
        if (leaps) at.far = 0;
        at.row += way.step + (turns ? way.turn : 0) + (leaps ? way.leap : 0);
        at.at = at.row;
    } else if (!single) {
        at.at += size;
    }
}

// Reads the beats of the pieces of input INPUT, each beat once if rows follow each other; whole rows as in runs.h.
template <int LANES, int INPUT, typename V, int INPUTS, int MAX_DIMS>
static void ft_fetch(const V *port, hls::stream<V> &to, ft_inputs<INPUTS> inputs, long offset,
                     const ft_runs<MAX_DIMS> &runs, ft_rows rows, ft_way way, int first, int count)
{
    if (!rows.pieces) {
        ft_read_runs<LANES, INPUT>(port, to, inputs, offset, runs, first, count);
        return;
    }
    if (!inputs.reads[INPUT] || rows.count == 0) return;
    const bool single = inputs.singles[INPUT];
    if (!single && way.in_line(rows.length)) {
        const long begin = (offset + rows.first) / LANES, end = (offset + rows.first + rows.count - 1) / LANES + 1;
    line:
        for (long b = begin; b < end; b++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
            to.write(port[b]);
        }
        return;
    }
    ft_course<LANES> at;
    at.begin(rows, offset, way, single);
look_up:
    for (; at.piece.left > 0;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const int size = ft_piece_size<LANES>(at.piece, rows.length);
        const ft_step step = ft_look<LANES>(at.at, single ? 1 : size, at.low, at.high, at.second);
        if (step.beat >= 0) to.write(port[step.beat]);
        ft_go(at, step, size, rows, way, single);
    }
}

// Moves lanes by `by` places: from the second of two beats into the first.
template <typename V, typename T, int LANES> static inline V ft_shifted(const V &low, const V &high, int by)
{
#pragma HLS INLINE
    T window[2 * LANES];
#pragma HLS ARRAY_PARTITION variable=window complete
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        window[l] = low[l];
        window[LANES + l] = high[l];
    }
    for (int bit = 0; bit < 6; bit++) {  // a beat has 64 lanes at most
#pragma HLS UNROLL
        const int step = 1 << bit;
        if (step >= LANES || !(by & step)) continue;
        for (int l = 0; l < 2 * LANES; l++) {
#pragma HLS UNROLL
            window[l] = window[l + step < 2 * LANES ? l + step : l];
        }
    }
    V moved;
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        moved[l] = window[l];
    }
    return moved;
}

// The beats at hand: those of a piece, and the first of two while the second is on its way.
template <typename V> struct ft_hand {
    V low, high, waiting;
};
// The result of a step: `got`, if it reads; `highest` is the number of the higher beat before it.
template <typename V>
static inline void ft_take(ft_hand<V> &hand, const ft_step &step, const V &got, long highest, bool second)
{
#pragma HLS INLINE
    const V had = ft_select(step.has_first, ft_select(step.first == highest, hand.high, hand.low), got);
    const V lower = ft_select(second, hand.waiting, had), kept = ft_select(step.last == highest, hand.high, hand.low);
    const V upper = ft_select(step.last == step.first, lower, ft_select(step.beat == step.last, got, kept));
    hand.low = ft_select(step.whole, lower, hand.low);
    hand.high = ft_select(step.whole, upper, hand.high);
    hand.waiting = got;
}

// The pieces of input INPUT, each from the first lane on; beats of whole rows pass.
template <int LANES, int INPUT, typename T, int INPUTS>
static void ft_align(hls::stream<hls::vector<T, LANES>> &from, hls::stream<hls::vector<T, LANES>> &to,
                     ft_inputs<INPUTS> inputs, long offset, ft_rows rows, ft_way way, int count)
{
    typedef hls::vector<T, LANES> V;
    if (!inputs.reads[INPUT]) return;
    if (!rows.pieces) {
    pass:
        for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
            to.write(from.read());
        }
        return;
    }
    const bool single = inputs.singles[INPUT];
    ft_course<LANES> at;
    at.begin(rows, offset, way, single);
    ft_hand<V> hand{};
align:
    for (; at.piece.left > 0;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const int size = ft_piece_size<LANES>(at.piece, rows.length);
        const ft_step step = ft_look<LANES>(at.at, single ? 1 : size, at.low, at.high, at.second);
        V got{};
        if (step.beat >= 0) got = from.read();
        ft_take(hand, step, got, at.high, at.second);
        if (step.whole) {
            const int by = (int)(at.at % LANES);
            V piece = ft_shifted<V, T, LANES>(hand.low, hand.high, by);
            if (single) ft_fill(piece, hand.low, by);
            to.write(piece);
        }
        ft_go(at, step, size, rows, way, single);
    }
}

// Puts `size` elements of a piece behind the `filled` ones that are held: whether they are a beat then, `joined`.
template <int LANES, typename T>
static inline bool ft_join(hls::vector<T, LANES> &held, int &filled, const hls::vector<T, LANES> &piece, int size,
                           hls::vector<T, LANES> &joined)
{
#pragma HLS INLINE
    typedef hls::vector<T, LANES> V;
    // The piece moved up by `filled` lanes, and the part of it beyond the beat.
    const V up = ft_shifted<V, T, LANES>(piece, piece, (LANES - filled) % LANES);
    for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
        const T below = held[l], above = up[l];
        joined[l] = l < filled ? below : above;
    }
    filled += size;
    const bool full = filled >= LANES;
    filled -= full ? LANES : 0;
    held = ft_select(full, up, joined);
    return full;
}

// Pieces put side by side again: whole beats, and one at the end that need not be.
template <int LANES, typename T>
static void ft_pack(hls::stream<hls::vector<T, LANES>> &from, hls::stream<hls::vector<T, LANES>> &to, ft_rows rows,
                    int count)
{
    typedef hls::vector<T, LANES> V;
    if (!rows.pieces) {
    pass:
        for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
            to.write(from.read());
        }
        return;
    }
    ft_piece piece = {(int)(rows.first % rows.length), rows.count};
    V held{};
    int filled = 0;
pack:
    for (; piece.left > 0;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const int size = ft_piece_size<LANES>(piece, rows.length);
        V joined;
        if (ft_join<LANES>(held, filled, from.read(), size, joined)) to.write(joined);
        ft_next_piece(piece, rows.length, size);
    }
    if (filled > 0) to.write(held);
}

// The results: in line as a whole, or in rows of whole beats.
template <int LANES, typename V, int MAX_DIMS>
static void ft_leave(V *port, hls::stream<V> &from, long offset, const ft_runs<MAX_DIMS> &runs, ft_rows rows, int first,
                     int count)
{
    if (rows.pieces) {
        ft_write_port<LANES>(port, from, offset, first, count, (int)(rows.count % LANES));
    } else {
        ft_write_runs<LANES>(port, from, offset, runs, first, count);
    }
}
