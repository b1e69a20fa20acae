// The stage of a filter that decimates, one beat of samples per cycle (kernels/row_filter.py).
//
// Samples shift through a row of registers. All products of a cycle are computed in parallel, and a tree adds
// the products of a result: first those PLACES / 2 apart, neighbours last. If a result is due only every few
// beats, it is computed in that number of PHASES: each beat multiplies its own samples by their taps, and the
// last levels of the same tree add the sums of the phases. So the order of a sum depends neither on the lanes
// nor on the stride.
//
// If the stride is no power of two, a beat has MOST results or one less, and the first begins at any of its
// samples: the line is shifted to that sample, and results wait until they fill a beat.
#pragma once
#include "common.h"

// Sets a part of a sample: 0 for the real part, 1 for the imaginary one.
static inline void ft_set_part(float &x, int, float to) { x = to; }
static inline void ft_set_part(ft_cfloat &x, int part, float to) { (part == 0 ? x.re : x.im) = to; }
// Multiplies a part of a sample by a tap.
static inline float ft_tap_product(float x, float w, int) { return x * w; }
static inline float ft_tap_product(ft_cfloat x, float w, int part) { return (part == 0 ? x.re : x.im) * w; }
static inline float ft_tap_product(ft_cfloat x, ft_cfloat w, int part)
{
    return part == 0 ? x.re * w.re - x.im * w.im : x.re * w.im + x.im * w.re;
}

// Adds COUNT values, a power of two, into the first STEP: element k gets the sum of the values k, k + STEP, ...
template <int COUNT, int STEP> static inline void ft_sum_halves(float (&sum)[COUNT])
{
#pragma HLS INLINE
    for (int level = 1; level <= 10; level++) {
        const int half = COUNT >> level;
        for (int k = 0; k < COUNT / 2; k++) {
            if (half >= STEP && k < half) sum[k] = sum[k] + sum[k + half];
        }
    }
}

// T: the type of samples, W: of taps. A result's sum begins BEFORE samples before its own STRIDE samples.
template <typename T, typename W, int LANES, int TAPS_, int STRIDE_, int BEFORE> struct ft_filter {
    static constexpr int ft_power(int n, int p) { return p >= n ? p : ft_power(n, 2 * p); }
    static constexpr int ft_gcd(int a, int b) { return b == 0 ? a : ft_gcd(b, a % b); }
    static const int TAPS = TAPS_, STRIDE = STRIDE_;
    static const bool EVEN = (STRIDE & (STRIDE - 1)) == 0;
    static const int CELL = EVEN ? STRIDE : 1;  // adjacent products that the phases share
    static const int PLACES = ft_power(TAPS > CELL ? TAPS : CELL, 1);
    static const int PARTS = sizeof(T) / sizeof(float);
    static const int FIRST = PLACES - TAPS;  // the place of the first tap
    static const int STEP = LANES < CELL ? LANES : CELL, PHASES = CELL / STEP;
    static const int MOST = (LANES + STRIDE - 1) / STRIDE, RESULTS = EVEN ? LANES / STEP : MOST;
    static const int APART = EVEN ? STRIDE : ft_gcd(STRIDE, LANES);  // between the places where results begin
    static const int AHEAD = TAPS - BEFORE - APART, DELAY = AHEAD > 0 ? (AHEAD + LANES - 1) / LANES : 0;
    static const int LINE = LANES * (1 + DELAY) + FIRST + BEFORE, ROWS = PLACES / CELL, WAITING = LANES + MOST - 1;

    // Shifts a tap into the last place.
    static inline void shift_in_tap(W (&taps)[PLACES], W tap)
    {
#pragma HLS INLINE
        for (int k = FIRST; k < PLACES - 1; k++) taps[k] = taps[k + 1];
        taps[PLACES - 1] = tap;
    }

    // Shifts a beat into the end of the line.
    static inline void shift_in_beat(T (&line)[LINE], const ft_vec<T> &got)
    {
#pragma HLS INLINE
        for (int k = 0; k < LINE - LANES; k++) line[k] = line[k + LANES];
        for (int l = 0; l < LANES; l++) line[LINE - LANES + l] = got[l];
    }

    // Computes RESULTS results in a cycle, or one of the PHASES of a result. `at` is the index in the signal of
    // the first sample that belongs to the first result.
    static inline void compute(
        W (&taps)[PLACES], const T (&line)[LINE], float (&parts)[PARTS][CELL], T (&results)[RESULTS], int phase, long at, long samples)
    {
#pragma HLS INLINE
        const int FAR = 2 * LINE;  // distances from an end of the signal are cut to this: no product reaches farther
        const long more = samples - at;
        const int from_start = at < FAR ? (int)at : FAR, to_end = more < FAR ? (int)more : FAR;
        for (int r = 0; r < RESULTS; r++) {
            for (int part = 0; part < PARTS; part++) {
                float sum[ROWS * STEP], phase_sums[CELL];
#pragma HLS ARRAY_PARTITION variable=sum complete
#pragma HLS ARRAY_PARTITION variable=phase_sums complete
                for (int q = 0; q < ROWS; q++) {
                    for (int l = 0; l < STEP; l++) {
                        const int k = r * STRIDE + q * CELL + l, sample = k - FIRST - BEFORE;
                        const bool tapped = q * CELL + phase * STEP + l >= FIRST;
                        const bool inside = from_start + sample >= 0 && sample < to_end;
                        const T value = line[k], x = ft_select(tapped && inside, value, T{});
                        sum[q * STEP + l] = ft_tap_product(x, taps[q * CELL + l], part);
                    }
                }
                ft_sum_halves<ROWS * STEP, STEP>(sum);
                for (int k = 0; k < CELL; k++) {
                    const bool earlier = k < CELL - STEP;
                    const float before = parts[part][earlier ? k + STEP : k], own = sum[earlier ? 0 : k + STEP - CELL];
                    phase_sums[k] = earlier ? before : own;
                }
                for (int k = 0; k < CELL; k++) parts[part][k] = phase_sums[k];
                ft_sum_halves<CELL, 1>(phase_sums);
                // Turns a negative zero into zero: a sum of negative zeros only would be -0.
                ft_set_part(results[r], part, phase_sums[0] == 0 ? 0 : phase_sums[0]);
            }
        }
        for (int q = 0; q < ROWS; q++) rotate_taps(taps, q * CELL);
    }

    // Appends results to the beat `packed`.
    static inline void append(ft_vec<T> &packed, const T (&results)[RESULTS])
    {
#pragma HLS INLINE
        for (int l = 0; l < LANES; l++) {
            const T before = packed[l + RESULTS < LANES ? l + RESULTS : l], own = results[l + RESULTS < LANES ? 0 : l + RESULTS - LANES];
            packed[l] = ft_select(l + RESULTS < LANES, before, own);
        }
    }

    // Shifts the line so that the first result begins `first` samples later, 0 to LANES - 1.
    static inline void shift_line(const T (&line)[LINE], T (&shifted)[LINE], int first)
    {
#pragma HLS INLINE
        for (int k = 0; k < LINE; k++) {
            T value = line[k];
            for (int by = APART; by < LANES && by < STRIDE; by += APART) {
                value = ft_select(first == by, line[k + by < LINE ? k + by : k], value);
            }
            shifted[k] = value;
        }
    }

    // Puts results behind the `held` ones that wait. The next ones replace those that are not due.
    static inline void wait(T (&waiting)[WAITING], const T (&results)[RESULTS], int held)
    {
#pragma HLS INLINE
        for (int l = 0; l < WAITING; l++) {
            T value = waiting[l];
            for (int r = 0; r < RESULTS; r++) value = ft_select(l == held + r, results[r], value);
            waiting[l] = value;
        }
    }

    // Moves a beat of results out of those that wait.
    static inline void take_beat(T (&waiting)[WAITING], ft_vec<T> &packed)
    {
#pragma HLS INLINE
        for (int l = 0; l < LANES; l++) packed[l] = waiting[l];
        for (int l = 0; l < MOST - 1; l++) waiting[l] = waiting[l + LANES];
    }

    // Moves the taps of the next phase to the first STEP of every CELL places.
    static inline void rotate_taps(W (&taps)[PLACES], int from)
    {
#pragma HLS INLINE
        W first[STEP];
#pragma HLS ARRAY_PARTITION variable=first complete
        for (int l = 0; l < STEP; l++) first[l] = taps[from + l];
        for (int k = 0; k < CELL; k++) {
            const W next = taps[from + (k < CELL - STEP ? k + STEP : k)], kept = first[k < CELL - STEP ? 0 : k + STEP - CELL];
            taps[from + k] = k < CELL - STEP ? next : kept;
        }
    }
};
