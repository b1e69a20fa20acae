// Short rows with a constant stride, each folded to one result. FT_INTERLEAVED_ROWS rows are interleaved, so that a
// row's state recurs after that number of iterations, which is more than the latency of the fold.
#pragma once
#include "row_pieces.h"

static const int FT_INTERLEAVED_ROWS = 8;

// The position in interleaved rows: the first row of the block, the index of the piece, and the row in the
// block.
struct ft_row_cursor {
    int block, piece, row;
};
// Advances to the next row of a block of `size` rows, and after the last row to the next piece.
static inline void ft_next_row(ft_row_cursor &at, int size, int pieces)
{
#pragma HLS INLINE
    if (++at.row < size) return;
    at.row = 0;
    if (++at.piece < pieces) return;
    at.piece = 0;
    at.block += FT_INTERLEAVED_ROWS;
}

// The positions of the pieces in the order in which they are folded.
template <int LANES> struct ft_interleaved_cursor {
    ft_row_cursor cursor;
    long low, high;  // the indices of the kept beats
    bool is_second;  // the first of two new beats has been read
    // The first elements of the piece, of the same piece in the block's first row, and of that row. They are
    // running sums, so that no iteration waits for a product.
    long place, column, row;
    void begin(long offset)
    {
#pragma HLS INLINE
        cursor.block = cursor.piece = cursor.row = 0;
        low = high = -1;
        is_second = false;
        place = column = row = offset;
    }
    ft_read_step plan_read(int length)
    {
#pragma HLS INLINE
        const int left = length - cursor.piece * LANES, size = left < LANES ? left : LANES;
        return ft_plan_read<LANES>(place, size, low, high, is_second);
    }
    void advance(const ft_read_step &step, int stride, int rows, int pieces)
    {
#pragma HLS INLINE
        is_second = !step.complete;
        if (!step.complete) return;
        low = step.first;
        high = step.last;
        const int left = rows - cursor.block;
        const ft_row_cursor before = cursor;
        ft_next_row(cursor, left < FT_INTERLEAVED_ROWS ? left : FT_INTERLEAVED_ROWS, pieces);
        if (cursor.block != before.block) row += FT_INTERLEAVED_ROWS * (long)stride;
        column = cursor.block != before.block ? row : cursor.piece != before.piece ? column + LANES : column;
        place = cursor.row == 0 ? column : place + stride;
    }
};

template <int LANES, typename V>
static void ft_read_interleaved(const V *port, hls::stream<V> &to, long offset, int stride, int length, int rows)
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
    ft_interleaved_cursor<LANES> at;
    at.begin(offset);
read_pieces:
    for (; at.cursor.block < rows;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const ft_read_step step = at.plan_read(length);
        if (step.beat >= 0) to.write(port[step.beat]);
        at.advance(step, stride, rows, pieces);
    }
}

template <int LANES, typename T>
static void ft_align_interleaved(hls::stream<hls::vector<T, LANES>> &from, hls::stream<hls::vector<T, LANES>> &to, long offset,
                           int stride, int length, int rows)
{
    typedef hls::vector<T, LANES> V;
    const int pieces = (length + LANES - 1) / LANES;
    ft_interleaved_cursor<LANES> at;
    at.begin(offset);
    ft_beat_window<V> beats{};
align_pieces:
    for (; at.cursor.block < rows;) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        const ft_read_step step = at.plan_read(length);
        V got{};
        if (step.beat >= 0) got = from.read();
        ft_load_window(beats, step, got, at.high, at.is_second);
        if (step.complete) to.write(ft_shift_lanes<V, T, LANES>(beats.low, beats.high, (int)(at.place % LANES)));
        at.advance(step, stride, rows, pieces);
    }
}

// Reads one element per row, and writes one result per row.
template <typename T> static void ft_read_strided(const T *port, hls::stream<T> &to, int stride, int rows)
{
read_rows:
    for (int r = 0; r < rows; r++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        to.write(port[(long)r * stride]);
    }
}
template <typename T> static void ft_write_strided(T *port, hls::stream<T> &from, int stride, int rows)
{
    if (stride == 1) {
    contiguous:
        for (int r = 0; r < rows; r++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
            port[r] = from.read();
        }
        return;
    }
strided:
    for (int r = 0; r < rows; r++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        port[(long)r * stride] = from.read();
    }
}
