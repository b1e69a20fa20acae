// Operands whose rows are whole beats. Beats that follow each other in memory form a run, which is read or written as
// one burst. Each operand has its own runs: a contiguous operand is a single run, whatever the rows are. A run that
// recurs, such as a bias, is read once and then repeated from local memory.
#pragma once
#include "stages.h"

// The longest run, in beats, that is kept for its repetitions: 4 KiB at the full width of a port.
static const int FT_MAX_CACHED_BEATS = 64;

// The layout of an operand: runs of `length` beats, each repeated `times` times, and the dims that lead from run to run,
// outermost first; strides in elements.
template <int MAX_DIMS> struct ft_runs {
    int length, times, dims;
    int shape[MAX_DIMS], stride[MAX_DIMS];
};

// Merges rows that are adjacent in memory (step 1), or that share one element (step 0), into longer runs. Of
// the remaining dims, the innermost ones with stride 0 become repetitions.
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

// The position of a loop over runs.
template <int MAX_DIMS> struct ft_run_cursor {
    int counter[MAX_DIMS];
    int beats_done;  // beats done of the current run
    int repeat;  // index of the repetition
    long at;  // index of the run's first element
};

// Sets the cursor to beat `first`. This is the only division; the loops count.
template <int MAX_DIMS> static void ft_seek_run(ft_run_cursor<MAX_DIMS> &cursor, const ft_runs<MAX_DIMS> &runs, long offset, int first)
{
    int run = first / runs.length;
    cursor.beats_done = first % runs.length;
    cursor.repeat = run % runs.times;
    run /= runs.times;
    cursor.at = offset;
find_run:
    for (int d = runs.dims - 1; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        cursor.counter[d] = run % runs.shape[d];
        run /= runs.shape[d];
        cursor.at += (long)cursor.counter[d] * runs.stride[d];
    }
}

// Advances by `beats` of the current run; at its end, nested counters find the next run.
template <int MAX_DIMS> static void ft_next_run(ft_run_cursor<MAX_DIMS> &cursor, const ft_runs<MAX_DIMS> &runs, int beats)
{
    cursor.beats_done += beats;
    if (cursor.beats_done < runs.length) return;
    cursor.beats_done = 0;
    if (++cursor.repeat < runs.times) return;
    cursor.repeat = 0;
next_run:
    for (int d = runs.dims - 1; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        const bool wraps = ++cursor.counter[d] == runs.shape[d];
        cursor.at += wraps ? runs.stride[d] - (long)runs.shape[d] * runs.stride[d] : runs.stride[d];
        if (!wraps) break;
        cursor.counter[d] = 0;
    }
}

// Reads `count` beats of input INPUT from beat `first`, in one burst for each run.
template <int LANES, int INPUT, typename V, int INPUTS, int MAX_DIMS>
static void ft_read_runs(const V *port, hls::stream<V> &to, ft_input_use<INPUTS> inputs, long offset,
                         const ft_runs<MAX_DIMS> &runs, int first, int count)
{
    if (!inputs.reads[INPUT]) return;
    V kept[FT_MAX_CACHED_BEATS], line{};
    bool keeps = false;
    long held = -1;  // index of the beat in `line`; adjacent rows have their elements in it
    ft_run_cursor<MAX_DIMS> cursor;
    ft_seek_run(cursor, runs, offset, first);
runs_in:
    for (int done = 0; done < count;) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const int left = runs.length - cursor.beats_done, beats = left < count - done ? left : count - done;
        if (inputs.singles[INPUT]) {
            if (cursor.at / LANES != held) {
                held = cursor.at / LANES;
                line = port[held];
            }
            V one;
            ft_broadcast_lane(one, line, (int)(cursor.at % LANES));
        repeat_beat:
            for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                to.write(one);
            }
        } else if (keeps && cursor.repeat > 0) {
        repeat_run:
            for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=64
                to.write(kept[v]);
            }
        } else {
            const V *from = port + (cursor.at / LANES + cursor.beats_done);
        read:
            for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                const V beat = from[v];
                kept[v % FT_MAX_CACHED_BEATS] = beat;
                to.write(beat);
            }
            keeps = cursor.beats_done == 0 && runs.length <= FT_MAX_CACHED_BEATS;
        }
        done += beats;
        ft_next_run(cursor, runs, beats);
    }
}

// Writes `count` beats from beat `first`, in one burst for each run. Single elements may be `step` apart. Rows are whole
// beats, so elements between them are not written.
template <int LANES, typename V, int MAX_DIMS>
static void ft_write_runs(
    V *port, hls::stream<V> &from, long offset, const ft_runs<MAX_DIMS> &runs, int step, int first, int count)
{
    ft_run_cursor<MAX_DIMS> cursor;
    ft_seek_run(cursor, runs, offset, first);
runs_out:
    for (int done = 0; done < count;) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const int left = runs.length - cursor.beats_done, beats = left < count - done ? left : count - done;
        V *to = port + (cursor.at / LANES + (long)cursor.beats_done * step);
        if (LANES > 1 || step == 1) {
        write:
            for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                to[v] = from.read();
            }
        } else {
        strided:
            for (int v = 0; v < beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                to[(long)v * step] = from.read();
            }
        }
        done += beats;
        ft_next_run(cursor, runs, beats);
    }
}

// Returns the runs of rows of `inner` single elements, `step` apart.
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
