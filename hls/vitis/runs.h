// Operands that are walked row by row in whole beats: from runs of neighbouring beats into a FIFO, and back. Every
// operand has runs of its own. A contiguous operand is a single run, whatever the rows are; a repeated run, such as a
// bias, is read once and then repeated from local memory.
#pragma once
#include "stages.h"

// Beats of a run that is kept for its next turn: 4 KiB at the full width of a port.
static const int FT_KEPT = 64;

// The layout of an operand: runs of `length` beats, each `times` times in a row, and the dims that lead from one run
// to the next, outermost first; strides in elements.
template <int MAX_DIMS> struct ft_runs {
    int length, times, dims;
    int shape[MAX_DIMS], stride[MAX_DIMS];
};

// Rows that follow each other in memory (step 1), or that share their one element (step 0), are one
// longer run; the dims that remain inside and have stride 0 repeat it.
template <int LANES, int MAX_DIMS> static void ft_join_runs(ft_runs<MAX_DIMS> &runs, int dims, int beats, int step)
{
#pragma HLS INLINE
    int length = beats, times = 1;
join_rows:
    for (; dims > 0 && runs.stride[dims - 1] == step * length * LANES; dims--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        length *= runs.shape[dims - 1];
    }
join_repeats:
    for (; dims > 0 && runs.stride[dims - 1] == 0; dims--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        times *= runs.shape[dims - 1];
    }
    runs.length = length;
    runs.times = times;
    runs.dims = dims;
}

// How far a walk over runs has come.
template <int MAX_DIMS> struct ft_walk {
    int counter[MAX_DIMS];
    int part;  // beats of this run that are done
    int turn;  // of the times that it comes
    long at;   // its first element
};

// The only divisions: the position of beat `first`.
template <int MAX_DIMS> static void ft_find_run(ft_walk<MAX_DIMS> &walk, const ft_runs<MAX_DIMS> &runs, long offset, int first)
{
    int run = first / runs.length;
    walk.part = first % runs.length;
    walk.turn = run % runs.times;
    run /= runs.times;
    walk.at = offset;
find_run:
    for (int d = runs.dims - 1; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        walk.counter[d] = run % runs.shape[d];
        run /= runs.shape[d];
        walk.at += (long)walk.counter[d] * runs.stride[d];
    }
}

// `beats` of the run at hand are done; at its end nested counters lead to the next one.
template <int MAX_DIMS> static void ft_next_run(ft_walk<MAX_DIMS> &walk, const ft_runs<MAX_DIMS> &runs, int beats)
{
    walk.part += beats;
    if (walk.part < runs.length) return;
    walk.part = 0;
    if (++walk.turn < runs.times) return;
    walk.turn = 0;
next_run:
    for (int d = runs.dims - 1; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        const bool wraps = ++walk.counter[d] == runs.shape[d];
        walk.at += wraps ? runs.stride[d] - (long)runs.shape[d] * runs.stride[d] : runs.stride[d];
        if (!wraps) break;
        walk.counter[d] = 0;
    }
}

// Reads `count` beats of input INPUT from beat `first` on, a burst for each run.
template <int LANES, int INPUT, typename V, int INPUTS, int MAX_DIMS>
static void ft_read_runs(const V *port, hls::stream<V> &to, ft_inputs<INPUTS> inputs, long offset,
                         const ft_runs<MAX_DIMS> &runs, int first, int count)
{
    if (!inputs.reads[INPUT]) return;
    V kept[FT_KEPT], line{};
    bool keeps = false;
    long held = -1;  // which beat of the port `line` is: neighbouring rows find their elements in it
    ft_walk<MAX_DIMS> walk;
    ft_find_run(walk, runs, offset, first);
runs_in:
    for (int done = 0; done < count;) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const int whole = runs.length - walk.part, beats = whole < count - done ? whole : count - done;
        if (inputs.singles[INPUT]) {
            if (walk.at / LANES != held) {
                held = walk.at / LANES;
                line = port[held];
            }
            V one;
            ft_fill(one, line, (int)(walk.at % LANES));
        repeat:
            for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                to.write(one);
            }
        } else if (keeps && walk.turn > 0) {
        again:
            for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
                to.write(kept[v]);
            }
        } else {
            const V *from = port + (walk.at / LANES + walk.part);
        read:
            for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                const V beat = from[v];
                kept[v % FT_KEPT] = beat;
                to.write(beat);
            }
            keeps = walk.part == 0 && runs.length <= FT_KEPT;
        }
        done += beats;
        ft_next_run(walk, runs, beats);
    }
}

// Writes `count` beats from beat `first` on, a burst for each run. Rows are whole beats: elements
// between them are not touched.
template <int LANES, typename V, int MAX_DIMS>
static void ft_write_runs(V *port, hls::stream<V> &from, long offset, const ft_runs<MAX_DIMS> &runs, int first, int count)
{
    ft_walk<MAX_DIMS> walk;
    ft_find_run(walk, runs, offset, first);
runs_out:
    for (int done = 0; done < count;) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const int whole = runs.length - walk.part, beats = whole < count - done ? whole : count - done;
        V *to = port + (walk.at / LANES + walk.part);
    write:
        for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
            to[v] = from.read();
        }
        done += beats;
        ft_next_run(walk, runs, beats);
    }
}

// The runs of single elements in rows of `inner` of them, `step` apart.
template <int MAX_DIMS>
static void ft_element_runs(
    ft_runs<MAX_DIMS> &runs, const int shape[MAX_DIMS], const int stride[MAX_DIMS], int dims, int inner, int step)
{
#pragma HLS INLINE
runs_of_elements:
    for (int d = 0; d < dims; d++) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        runs.shape[d] = shape[d];
        runs.stride[d] = stride[d];
    }
    ft_join_runs<1>(runs, dims, inner, step);
}

// Writes `count` elements from element `first` on, in runs of single elements `step` apart: a burst for each run in line.
template <typename T, int MAX_DIMS>
static void ft_write_elements(
    T *port, hls::stream<T> &from, long offset, const ft_runs<MAX_DIMS> &runs, int step, int first, int count)
{
    ft_walk<MAX_DIMS> walk;
    ft_find_run(walk, runs, offset, first);
elements_out:
    for (int done = 0; done < count;) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const int whole = runs.length - walk.part, n = whole < count - done ? whole : count - done;
        T *to = port + (walk.at + (long)walk.part * step);
        if (step == 1) {
        in_line:
            for (int i = 0; i < n; i++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                to[i] = from.read();
            }
        } else {
        apart:
            for (int i = 0; i < n; i++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                to[(long)i * step] = from.read();
            }
        }
        done += n;
        ft_next_run(walk, runs, n);
    }
}
