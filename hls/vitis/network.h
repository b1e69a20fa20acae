// Layers of a network as processes of a DATAFLOW region; network_ports.h has the order of their beats. Each process counts
// its own iterations.
#pragma once
#include <hls_math.h>

#include "network_float.h"
#include "network_weights.h"
#include "network_windows.h"

// True if `next` replaces `most` as the maximum. NaN is greater than any number.
template <typename T> static inline bool exceeds(T next, T most) { return next > most; }
static inline bool exceeds(float next, float most) { return next > most || next != next; }

// The types of the weights of elements T, and of sums of products with them.
template <typename T> struct ft_terms {
    typedef signed char weight;
    typedef int sum;
};
template <> struct ft_terms<float> { typedef float weight, sum; };
template <typename T> using weight_of = typename ft_terms<T>::weight;
template <typename T> using sum_of = typename ft_terms<T>::sum;

// Computes the maximum of each window of TAPS pixels.
template <typename T, int TAPS, int C, long PIXELS>
static void maxima(hls::stream<ft_beat<T, TAPS * C> > &from, hls::stream<ft_beat<T, C> > &to, int n)
{
maxima:
    for (long v = 0; v < n * PIXELS; v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, TAPS * C> seen = from.read();
        ft_beat<T, C> w;
        for (int c = 0; c < C; c++) {
            T most = seen.at[c];
            for (int k = 1; k < TAPS; k++) {
                const T next = seen.at[k * C + c];
                most = exceeds(next, most) ? next : most;
            }
            w.at[c] = most;
        }
        to.write(w);
    }
}

// Returns the mean of TERMS elements from their sum, rounded like the op "quantized_average": in float32 after
// each operation.
template <typename T, int TERMS, int ZERO_IN, int ZERO, int LOW, int HIGH> static inline T averaged(int sum, float factor)
{
#pragma HLS INLINE
    float y = hls::rint((float)(sum - TERMS * ZERO_IN) * factor + (float)ZERO);
    y = y < (float)LOW ? (float)LOW : y;
    return (T)(int)(y > (float)HIGH ? (float)HIGH : y);
}
template <typename T, int TERMS, int ZERO_IN, int ZERO, int LOW, int HIGH> static inline T averaged(float sum, float factor)
{
#pragma HLS INLINE
    return sum * factor;
}

// Computes the mean of each window of TAPS pixels; `factor` is the reciprocal of the divisor.
template <typename T, int TAPS, int C, int ZERO_IN, int ZERO, int LOW, int HIGH, long BEATS>
static void averages(hls::stream<ft_beat<T, TAPS * C> > &from, hls::stream<ft_beat<T, C> > &to, float factor, int n)
{
averages:
    for (long v = 0; v < n * BEATS; v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, TAPS * C> seen = from.read();
        ft_beat<T, C> w;
        for (int c = 0; c < C; c++) {
            sum_of<T> term[TAPS];
            for (int k = 0; k < TAPS; k++) term[k] = seen.at[k * C + c];
            w.at[c] = averaged<T, TAPS, ZERO_IN, ZERO, LOW, HIGH>(ft_tree<sum_of<T>, TAPS>::sum(term), factor);
        }
        to.write(w);
    }
}

// Computes the mean of each image of PIXELS pixels, in G beats of S channels each.
template <typename T, int PIXELS, int G, int S, int ZERO_IN, int ZERO, int LOW, int HIGH>
static void image_averages(hls::stream<ft_beat<T, S> > &from, hls::stream<ft_beat<T, S> > &to, float factor, int n)
{
    int sum[G][S];
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
    int pixel = 0, g = 0;
image_averages:
    for (long v = 0; v < (long)n * PIXELS * G; v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, S> seen = from.read();
        ft_beat<T, S> w;
        for (int s = 0; s < S; s++) {
            const int one = seen.at[s], before = sum[g][s];
            const int more = (pixel == 0 ? 0 : before) + one;
            sum[g][s] = more;
            w.at[s] = averaged<T, PIXELS, ZERO_IN, ZERO, LOW, HIGH>(more, factor);
        }
        if (pixel == PIXELS - 1) to.write(w);
        const bool ends = g == G - 1;
        g = ends ? 0 : g + 1;
        if (ends) pixel = pixel == PIXELS - 1 ? 0 : pixel + 1;
    }
}

// Adds two filters' sums of S products with the same inputs x. A DSP block multiplies both weights, 18 bits
// apart, by an input at once. Four such products are added before the two sums are separated: 4 * 128 * 255 <
// 2^17.
template <typename T, int S>
static inline void paired_products(const signed char *first, const signed char *second, const T *x, int &low, int &high)
{
#pragma HLS INLINE
    low = high = 0;
    for (int s = 0; s < S; s += 4) {
        long both = 0;
        for (int k = 0; k < 4; k++) {
            if (s + k < S) both += (long)((int)second[s + k] * (1 << 18) + (int)first[s + k]) * (long)x[s + k];
        }
        const int lower = ((int)(both & 0x3ffff) ^ 0x20000) - 0x20000;
        low += lower;
        high += (int)((both - lower) >> 18);
    }
}

// Sums of products. The windows of a result are BEATS beats, cut into CUTS steps of S elements; each step takes
// GROUPS iterations of P filters each. The filters' sums start at `begin`, the contribution of the zero point,
// and are written in the last GROUPS iterations. A word of the weights holds those of one iteration, in one
// memory or in BANKS.
template <typename T, int CUTS, int BEATS, int GROUPS, int P, int S, long RESULTS, int BANKS>
static void products(
    hls::stream<ft_beat<T, S * CUTS> > &from, hls::stream<ft_beat<int, P> > &to,
    const ft_beat<signed char, P * S / BANKS> (&weights)[BANKS][CUTS * BEATS * GROUPS], const int (&begin)[GROUPS][P], int n)
{
    static const int WORD = P * S / BANKS;
    int sum[GROUPS][P];
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
#pragma HLS ARRAY_PARTITION variable=weights dim=1 complete
#pragma HLS AGGREGATE variable=weights
#pragma HLS ARRAY_PARTITION variable=begin dim=2 complete
    ft_beat<T, S * CUTS> held{};
    int step = 0, g = 0, cut = 0, place = 0;
products:
    for (long v = 0; v < n * (RESULTS * CUTS * BEATS * GROUPS); v++) {
#pragma HLS PIPELINE II=1
        if (g == 0 && cut == 0) held = from.read();
        signed char by[P][S];
#pragma HLS ARRAY_PARTITION variable=by dim=0 complete
        for (int b = 0; b < BANKS; b++) {
            const ft_beat<signed char, WORD> word = weights[b][place];
            for (int k = 0; k < WORD; k++) by[(b * WORD + k) / S][(b * WORD + k) % S] = word.at[k];
        }
        ft_beat<int, P> w;
        for (int p = 0; p < P; p += 2) {
            int low, high;
            const bool two = p + 1 < P;
            paired_products<T, S>(by[p], by[two ? p + 1 : p], held.at, low, high);
            const int first = begin[g][p], before = sum[g][p];
            w.at[p] = (step == 0 ? first : before) + low;
            sum[g][p] = w.at[p];
            if (two) {
                const int first_too = begin[g][two ? p + 1 : p], before_too = sum[g][two ? p + 1 : p];
                w.at[two ? p + 1 : p] = (step == 0 ? first_too : before_too) + high;
                sum[g][two ? p + 1 : p] = w.at[two ? p + 1 : p];
            }
        }
        if (step == CUTS * BEATS - 1) to.write(w);
        const bool ends = g == GROUPS - 1;
        place = ends && step == CUTS * BEATS - 1 ? 0 : place + 1;
        g = ends ? 0 : g + 1;
        if (ends) {
            for (int s = 0; s < S * (CUTS - 1); s++) held.at[s] = held.at[s + S];
            cut = cut == CUTS - 1 ? 0 : cut + 1;
            step = step == CUTS * BEATS - 1 ? 0 : step + 1;
        }
    }
}

// Like `products`, with weights that a launch passes: in block RAM, or in memory that a pragma selects.
#define FT_LOADED_PRODUCTS(NAME, STORAGE)                                                                    \
    template <typename T, int TAG, int CUTS, int BEATS, int GROUPS, int P, int S, long RESULTS, int... MORE> \
    static void NAME(                                                                                        \
        hls::stream<ft_beat<T, S * CUTS> > &from, hls::stream<ft_beat<sum_of<T>, P> > &to,                   \
        hls::stream<ft_word> &words, hls::stream<ft_word> &words_on, int n)                                  \
    {                                                                                                        \
        static ft_beat<weight_of<T>, S> weights[P][CUTS * BEATS * GROUPS];                                   \
        static sum_of<T> begin[GROUPS][P];                                                                   \
        _Pragma("HLS ARRAY_PARTITION variable=weights dim=1 complete")                                       \
        _Pragma("HLS AGGREGATE variable=weights")                                                            \
        STORAGE                                                                                              \
        _Pragma("HLS ARRAY_PARTITION variable=begin dim=2 complete")                                         \
        fill_weights<CUTS * BEATS, GROUPS, P, S>(words, words_on, weights, begin);                           \
        products<T, CUTS, BEATS, GROUPS, P, S, RESULTS, MORE...>(from, to, weights, begin, n);               \
    }
FT_LOADED_PRODUCTS(loaded_products, )
FT_LOADED_PRODUCTS(uram_products, _Pragma("HLS BIND_STORAGE variable=weights type=ram_2p impl=uram"))

// Multiplies in a DSP block.
static inline int multiplied(int x, int y)
{
#pragma HLS INLINE
    const int product = x * y;
#pragma HLS BIND_OP variable=product op=mul impl=dsp
    return product;
}
static inline float multiplied(float x, float y)
{
#pragma HLS INLINE
    return x * y;
}

// Sums of products of each channel with its own weights, P channels per iteration. A beat of the FIFO has
// windows of C channels; a pixel has GROUPS * P channels.
template <typename T, int TAPS, int C, int P, int GROUPS, long RESULTS, int RELU>
static void channel_products(
    hls::stream<ft_beat<T, TAPS * C> > &from, hls::stream<ft_beat<sum_of<T>, P> > &to,
    const ft_beat<weight_of<T>, TAPS> (&weights)[P][GROUPS], const sum_of<T> (&begin)[GROUPS][P], int n)
{
#pragma HLS ARRAY_PARTITION variable=weights dim=1 complete
#pragma HLS AGGREGATE variable=weights
#pragma HLS ARRAY_PARTITION variable=begin dim=2 complete
    ft_beat<T, TAPS * C> held{};
    int part = 0, g = 0;
channel_products:
    for (long v = 0; v < n * (RESULTS * GROUPS); v++) {
#pragma HLS PIPELINE II=1
        if (part == 0) held = from.read();
        ft_beat<sum_of<T>, P> w;
        for (int p = 0; p < P; p++) {
            const ft_beat<weight_of<T>, TAPS> word = weights[p][g];
            sum_of<T> product[TAPS];
            for (int k = 0; k < TAPS; k++) product[k] = multiplied(word.at[k], held.at[k * C + p]);
            w.at[p] = rectified<sum_of<T>, RELU>(begin[g][p] + ft_tree<sum_of<T>, TAPS>::sum(product));
        }
        to.write(w);
        for (int k = 0; k < TAPS * C - P; k++) held.at[k] = held.at[k + P];
        part = part == C / P - 1 ? 0 : part + 1;
        g = g == GROUPS - 1 ? 0 : g + 1;
    }
}

// Like `channel_products`, with weights that a launch passes.
template <typename T, int TAG, int TAPS, int C, int P, int GROUPS, long RESULTS, int RELU>
static void loaded_channel_products(
    hls::stream<ft_beat<T, TAPS * C> > &from, hls::stream<ft_beat<sum_of<T>, P> > &to,
    hls::stream<ft_word> &words, hls::stream<ft_word> &words_on, int n)
{
    static ft_beat<weight_of<T>, TAPS> weights[P][GROUPS];
    static sum_of<T> begin[GROUPS][P];
#pragma HLS ARRAY_PARTITION variable=weights dim=1 complete
#pragma HLS AGGREGATE variable=weights
#pragma HLS ARRAY_PARTITION variable=begin dim=2 complete
    fill_weights<1, GROUPS, P, TAPS>(words, words_on, weights, begin);
    channel_products<T, TAPS, C, P, GROUPS, RESULTS, RELU>(from, to, weights, begin, n);
}

// Rounds sums to elements like the op "requantize", in float32 after each operation: rint((sum + added) *
// factor) + ZERO, clamped to [LOW, HIGH]. Computes R of a beat's P results per iteration; GROUPS beats have all
// channels.
template <typename T, int P, int R, int GROUPS, int ZERO, int LOW, int HIGH, long BEATS>
static void requantize(
    hls::stream<ft_beat<int, P> > &from, hls::stream<ft_beat<T, P> > &to, const float (&added)[GROUPS][P],
    const float (&factor)[GROUPS][P], int n)
{
#pragma HLS ARRAY_PARTITION variable=added dim=2 complete
#pragma HLS ARRAY_PARTITION variable=factor dim=2 complete
    ft_beat<int, P> held{};
    ft_beat<T, P> w{};
    int part = 0, g = 0;
requantize:
    for (long v = 0; v < n * (BEATS * (P / R)); v++) {
#pragma HLS PIPELINE II=1
        if (part == 0) held = from.read();
        for (int r = 0; r < R; r++) {
            const float sum = (float)held.at[part * R + r], more = added[g][part * R + r], by = factor[g][part * R + r];
            float y = hls::rint((sum + more) * by) + (float)ZERO;
            y = y < (float)LOW ? (float)LOW : y;
            w.at[part * R + r] = (T)(int)(y > (float)HIGH ? (float)HIGH : y);
        }
        const bool ends = part == P / R - 1;
        if (ends) to.write(w);
        part = ends ? 0 : part + 1;
        if (ends) g = g == GROUPS - 1 ? 0 : g + 1;
    }
}

// Like `requantize`, with addends and factors that a launch passes.
template <typename T, int TAG, int P, int R, int GROUPS, int ZERO, int LOW, int HIGH, long BEATS>
static void loaded_requantize(
    hls::stream<ft_beat<int, P> > &from, hls::stream<ft_beat<T, P> > &to, hls::stream<ft_word> &words,
    hls::stream<ft_word> &words_on, int n)
{
    static float added[GROUPS][P], factor[GROUPS][P];
#pragma HLS ARRAY_PARTITION variable=added dim=2 complete
#pragma HLS ARRAY_PARTITION variable=factor dim=2 complete
    fill_factors<GROUPS, P>(words, words_on, added, factor);
    requantize<T, P, R, GROUPS, ZERO, LOW, HIGH, BEATS>(from, to, added, factor, n);
}

// The op "quantized_add", in float32 after each operation: dequantizes both terms, adds them, and rounds the
// sum to an element in [LOW, HIGH].
template <typename T, int WIDE, int FIRST, int SECOND, int ZERO, int LOW, int HIGH, long BEATS>
static void add(
    hls::stream<ft_beat<T, WIDE> > &first, hls::stream<ft_beat<T, WIDE> > &second, hls::stream<ft_beat<T, WIDE> > &to,
    float first_scale, float second_scale, float inverse, int n)
{
add:
    for (long v = 0; v < n * BEATS; v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, WIDE> a = first.read(), b = second.read();
        ft_beat<T, WIDE> w;
        for (int l = 0; l < WIDE; l++) {
            const float left = ((float)a.at[l] - (float)FIRST) * first_scale;
            const float right = ((float)b.at[l] - (float)SECOND) * second_scale;
            float y = hls::rint((left + right) * inverse) + (float)ZERO;
            y = y < (float)LOW ? (float)LOW : y;
            w.at[l] = (T)(int)(y > (float)HIGH ? (float)HIGH : y);
        }
        to.write(w);
    }
}

// Concatenates pixels of FIRST beats of one FIFO and SECOND beats of another. An input with the result's scale
// and zero point is copied (FIRST_SAME, SECOND_SAME); others are rounded like the op "requantize_bytes", in
// float32 after each operation.
template <typename T, int WIDE, int FIRST, int SECOND, int FIRST_SAME, int SECOND_SAME, int FIRST_ZERO, int SECOND_ZERO, int ZERO, int LOW, int HIGH, long PIXELS>
static void concatenate(
    hls::stream<ft_beat<T, WIDE> > &first, hls::stream<ft_beat<T, WIDE> > &second, hls::stream<ft_beat<T, WIDE> > &to,
    float first_scale, float second_scale, float inverse, int n)
{
    int at = 0;
concatenate:
    for (long v = 0; v < n * (PIXELS * (FIRST + SECOND)); v++) {
#pragma HLS PIPELINE II=1
        const bool of_first = at < FIRST;
        const ft_beat<T, WIDE> got = of_first ? first.read() : second.read();
        const float scale = of_first ? first_scale : second_scale, zero = of_first ? (float)FIRST_ZERO : (float)SECOND_ZERO;
        const bool kept = of_first ? FIRST_SAME : SECOND_SAME;
        ft_beat<T, WIDE> w;
        for (int l = 0; l < WIDE; l++) {
            const T x = got.at[l];
            float y = hls::rint(((float)x - zero) * scale * inverse) + (float)ZERO;
            y = y < (float)LOW ? (float)LOW : y;
            w.at[l] = kept ? x : (T)(int)(y > (float)HIGH ? (float)HIGH : y);
        }
        to.write(w);
        at = at == FIRST + SECOND - 1 ? 0 : at + 1;
    }
}
