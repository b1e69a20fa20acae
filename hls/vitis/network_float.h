// Layers of floating-point numbers T as processes of a DATAFLOW region. Each process counts its own iterations.
//
// The order of a sum: an iteration adds its products by a tree. The sums of iterations are added to STATES
// partial sums in turn, of which the first begins with the bias; an addition takes several iterations, so a
// partial sum is updated at most once in 10. A tree adds the partial sums.
#pragma once
#include <hls_math.h>

#include "network_weights.h"

// Adds N numbers by a tree: the sum of the first half, which is larger if N is odd, and that of the second.
template <typename T, int N> struct ft_tree {
    static inline T sum(const T *x)
    {
#pragma HLS INLINE
        return ft_tree<T, (N + 1) / 2>::sum(x) + ft_tree<T, N / 2>::sum(x + (N + 1) / 2);
    }
};
template <typename T> struct ft_tree<T, 1> {
    static inline T sum(const T *x)
    {
#pragma HLS INLINE
        return x[0];
    }
};

// Returns max(y, 0) for RELU 1, also at most 6 for RELU 6, else y.
template <typename T, int RELU> static inline T rectified(T y)
{
#pragma HLS INLINE
    if (RELU > 0) y = y < (T)0 ? (T)0 : y;
    if (RELU == 6) y = y > (T)6 ? (T)6 : y;
    return y;
}

// Sums of products, like `products` of network.h. In the last STATES steps a result's partial sums are written,
// those of all filters together.
template <typename T, int CUTS, int BEATS, int GROUPS, int P, int S, long RESULTS, int STATES, int RELU>
static void products(
    hls::stream<ft_beat<T, S * CUTS> > &from, hls::stream<ft_beat<T, P> > &to,
    const ft_beat<T, S> (&weights)[P][CUTS * BEATS * GROUPS], const T (&begin)[GROUPS][P], int n)
{
    static const int STEPS = CUTS * BEATS;
    T sum[STATES * GROUPS][P];
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
#pragma HLS ARRAY_PARTITION variable=weights dim=1 complete
#pragma HLS AGGREGATE variable=weights
#pragma HLS ARRAY_PARTITION variable=begin dim=2 complete
    ft_beat<T, S * CUTS> held{};
    int step = 0, g = 0, cut = 0, place = 0, state = 0;  // `state`: the index of a partial sum
products:
    for (long v = 0; v < n * (RESULTS * STEPS * GROUPS); v++) {
#pragma HLS PIPELINE II=1
// Either STATES * GROUPS is at least 10, or no partial sum is updated twice.
#pragma HLS DEPENDENCE variable=sum inter RAW distance=10 true
        if (g == 0 && cut == 0) held = from.read();
        ft_beat<T, P> w;
        for (int p = 0; p < P; p++) {
            const ft_beat<T, S> word = weights[p][place];
            T product[S];
            for (int s = 0; s < S; s++) product[s] = word.at[s] * held.at[s];
            const T first = step == 0 ? begin[g][p] : (T)0, before = sum[state][p];
            const T more = (step < STATES ? first : before) + ft_tree<T, S>::sum(product);
            sum[state][p] = more;
            w.at[p] = STATES == 1 ? rectified<T, RELU>(more) : more;
        }
        if (step >= STEPS - STATES) to.write(w);
        const bool ends = g == GROUPS - 1, last = step == STEPS - 1;
        place = ends && last ? 0 : place + 1;
        state = (ends && last) || state == STATES * GROUPS - 1 ? 0 : state + 1;
        g = ends ? 0 : g + 1;
        if (ends) {
            for (int s = 0; s < S * (CUTS - 1); s++) held.at[s] = held.at[s + S];
            cut = cut == CUTS - 1 ? 0 : cut + 1;
            step = last ? 0 : step + 1;
        }
    }
}

// Adds the STATES partial sums of each result, which come as GROUPS beats for each state.
template <typename T, int STATES, int GROUPS, int P, int RELU, long RESULTS>
static void join_states(hls::stream<ft_beat<T, P> > &from, hls::stream<ft_beat<T, P> > &to, int n)
{
    ft_beat<T, P> held[STATES - 1][GROUPS];
#pragma HLS ARRAY_PARTITION variable=held dim=1 complete
#pragma HLS AGGREGATE variable=held
    int state = 0, g = 0;
join_states:
    for (long v = 0; v < n * (RESULTS * STATES * GROUPS); v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, P> got = from.read();
        ft_beat<T, P> w, terms[STATES];
        for (int s = 0; s < STATES - 1; s++) {
            terms[s] = held[s][g];
            if (s == state) held[s][g] = got;
        }
        terms[STATES - 1] = got;
        for (int p = 0; p < P; p++) {
            T one[STATES];
            for (int s = 0; s < STATES; s++) one[s] = terms[s].at[p];
            w.at[p] = rectified<T, RELU>(ft_tree<T, STATES>::sum(one));
        }
        if (state == STATES - 1) to.write(w);
        const bool ends = g == GROUPS - 1;
        g = ends ? 0 : g + 1;
        if (ends) state = state == STATES - 1 ? 0 : state + 1;
    }
}

// Sums each image of PIXELS pixels, in G beats of S channels each, to STATES partial sums in turn. Writes
// these, times `factor`.
template <typename T, int PIXELS, int G, int S, int STATES>
static void float_image_sums(hls::stream<ft_beat<T, S> > &from, hls::stream<ft_beat<T, S> > &to, T factor, int n)
{
    T sum[STATES * G][S];
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
    int pixel = 0, g = 0, state = 0;
float_image_sums:
    for (long v = 0; v < (long)n * PIXELS * G; v++) {
#pragma HLS PIPELINE II=1
// As in `products`.
#pragma HLS DEPENDENCE variable=sum inter RAW distance=10 true
        const ft_beat<T, S> seen = from.read();
        ft_beat<T, S> w;
        for (int s = 0; s < S; s++) {
            const T before = sum[state][s], more = (pixel < STATES ? (T)0 : before) + seen.at[s];
            sum[state][s] = more;
            w.at[s] = more * factor;
        }
        if (pixel >= PIXELS - STATES) to.write(w);
        const bool ends = g == G - 1, last = ends && pixel == PIXELS - 1;
        state = last || state == STATES * G - 1 ? 0 : state + 1;
        g = ends ? 0 : g + 1;
        if (ends) pixel = last ? 0 : pixel + 1;
    }
}

// Adds two images.
template <typename T, int WIDE, int RELU, long BEATS>
static void float_add(
    hls::stream<ft_beat<T, WIDE> > &first, hls::stream<ft_beat<T, WIDE> > &second, hls::stream<ft_beat<T, WIDE> > &to, int n)
{
float_add:
    for (long v = 0; v < n * BEATS; v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, WIDE> a = first.read(), b = second.read();
        ft_beat<T, WIDE> w;
        for (int l = 0; l < WIDE; l++) w.at[l] = rectified<T, RELU>(a.at[l] + b.at[l]);
        to.write(w);
    }
}

// Returns the bits of a number as an integer of the same order; NaN is the greatest or the least.
static inline int ordered(float x)
{
#pragma HLS INLINE
    union {
        float value;
        int bits;
    } as;
    as.value = x;
    return as.bits ^ (as.bits < 0 ? 0x7fffffff : 0);
}

// Computes exp(x - max) / sum over the COUNT elements of each image, an element per iteration: three passes. The
// exponentials are added to 10 partial sums in turn, and these by a tree.
template <typename T, int COUNT>
static void softmax(hls::stream<ft_beat<T, 1> > &from, hls::stream<ft_beat<T, 1> > &to, int n)
{
    static const int STATES = 10;
    T held[COUNT], grown[COUNT];
    for (int image = 0; image < n; image++) {
        T most = 0, sum[STATES];
#pragma HLS ARRAY_PARTITION variable=sum complete
        int greatest = 0;
    softmax_most:
        for (int k = 0; k < COUNT; k++) {
#pragma HLS PIPELINE II=1
            const T x = from.read().at[0];
            const int place = ordered(x);
            held[k] = x;
            if (k == 0 || place > greatest) {
                greatest = place;
                most = x;
            }
        }
        for (int s = 0; s < STATES; s++) {
#pragma HLS UNROLL
            sum[s] = 0;
        }
        int state = 0;
    softmax_sums:
        for (int k = 0; k < COUNT; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS DEPENDENCE variable=sum inter RAW distance=10 true
            const T x = hls::exp(held[k] - most), before = sum[state];
            grown[k] = x;
            sum[state] = before + x;
            state = state == STATES - 1 ? 0 : state + 1;
        }
        const T total = ft_tree<T, STATES>::sum(sum);
    softmax_results:
        for (int k = 0; k < COUNT; k++) {
#pragma HLS PIPELINE II=1
            ft_beat<T, 1> w;
            w.at[0] = grown[k] / total;
            to.write(w);
        }
    }
}
