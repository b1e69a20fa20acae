// Short rows that are folded one by one, TURNS of them interleaved, so that the dependence distance of a row's state
// is TURNS iterations, longer than the operation. Rows have a constant stride.
#pragma once
#include "pieces.h"

static const int FT_TURNS = 8;

// How far a walk over `rows` rows has come: the rows from `block` on, which of their pieces, whose turn.
struct ft_turn {
    int block, piece, turn;
};
// The next turn, where a block has `size` of them.
static inline void ft_next_turn(ft_turn &at, int size, int pieces)
{
#pragma HLS INLINE
    if (++at.turn < size) return;
    at.turn = 0;
    if (++at.piece < pieces) return;
    at.piece = 0;
    at.block += FT_TURNS;
}

// The positions of the pieces, in the order in which they are folded.
template <int LANES> struct ft_order {
    ft_turn turn;
    long low, high;  // the beats of the piece before
    bool second;     // the first of two is there
    // The current piece, the one in the block's first row, and that row, as sums, so that no step waits for a
    // product.
    long place, column, row;
    void begin(long offset)
    {
#pragma HLS INLINE
        turn.block = turn.piece = turn.turn = 0;
        low = high = -1;
        second = false;
        place = column = row = offset;
    }
    ft_step look(int length)
    {
#pragma HLS INLINE
        const int left = length - turn.piece * LANES, size = left < LANES ? left : LANES;
        return ft_look<LANES>(place, size, low, high, second);
    }
    void go(const ft_step &step, int stride, int rows, int pieces)
    {
#pragma HLS INLINE
        second = !step.whole;
        if (!step.whole) return;
        low = step.first;
        high = step.last;
        const int left = rows - turn.block;
        const ft_turn before = turn;
        ft_next_turn(turn, left < FT_TURNS ? left : FT_TURNS, pieces);
        if (turn.block != before.block) row += FT_TURNS * (long)stride;
        column = turn.block != before.block ? row : turn.piece != before.piece ? column + LANES : column;
        place = turn.turn == 0 ? column : place + stride;
    }
};

template <int LANES, typename V>
static void ft_fetch_turns(const V *port, hls::stream<V> &to, long offset, int stride, int length, int rows)
{
    const int pieces = (length + LANES - 1) / LANES;
    if (pieces == 1 && stride == length) {
        const long begin = offset / LANES, end = rows > 0 ? (offset + (long)rows * length - 1) / LANES + 1 : begin;
    line:
        for (long b = begin; b < end; b++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
            to.write(port[b]);
        }
        return;
    }
    ft_order<LANES> at;
    at.begin(offset);
look_up:
    for (; at.turn.block < rows;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const ft_step step = at.look(length);
        if (step.beat >= 0) to.write(port[step.beat]);
        at.go(step, stride, rows, pieces);
    }
}

template <int LANES, typename T>
static void ft_align_turns(hls::stream<hls::vector<T, LANES>> &from, hls::stream<hls::vector<T, LANES>> &to, long offset,
                           int stride, int length, int rows)
{
    typedef hls::vector<T, LANES> V;
    const int pieces = (length + LANES - 1) / LANES;
    ft_order<LANES> at;
    at.begin(offset);
    ft_hand<V> hand{};
align:
    for (; at.turn.block < rows;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const ft_step step = at.look(length);
        V got{};
        if (step.beat >= 0) got = from.read();
        ft_take(hand, step, got, at.high, at.second);
        if (step.whole) to.write(ft_shifted<V, T, LANES>(hand.low, hand.high, (int)(at.place % LANES)));
        at.go(step, stride, rows, pieces);
    }
}

// An element for each row, and a result of each.
template <typename T> static void ft_fetch_each(const T *port, hls::stream<T> &to, int stride, int rows)
{
each:
    for (int r = 0; r < rows; r++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        to.write(port[(long)r * stride]);
    }
}
template <typename T> static void ft_leave_each(T *port, hls::stream<T> &from, int stride, int rows)
{
    if (stride == 1) {
    in_line:
        for (int r = 0; r < rows; r++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
            port[r] = from.read();
        }
        return;
    }
leave:
    for (int r = 0; r < rows; r++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        port[(long)r * stride] = from.read();
    }
}
