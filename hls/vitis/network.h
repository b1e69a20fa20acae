// Layers of a network as processes of a DATAFLOW region; network_ports.h has the order of their beats. Each process counts
// its own iterations.
#pragma once
#include <hls_math.h>

#include "network_ports.h"

// Windows of KH x KW pixels of C channels at strides SH, SW, with PH <= (KH - 1) / 2 rows and PW <= (KW - 1) / 2 columns of
// OUTSIDE around the image. Pixels shift through KH - 1 line buffers (`rows`) into registers (`tap`). Padding is chosen by
// the window's place and takes no iteration: H * W iterations an image, and PH * W + PW more behind the last image.
template <typename T, int H, int W, int C, int KH, int KW, int PH, int PW, int SH, int SW, int OUTSIDE>
static void windows(hls::stream<ft_beat<T, C> > &from, hls::stream<ft_beat<T, KH * KW * C> > &to, int n)
{
    static const int HIGH = H + 2 * PH - KH + 1, WIDE = W + 2 * PW - KW + 1;
    ft_beat<T, C> rows[KH > 1 ? KH - 1 : 1][W], tap[KH][KW];  // rows[r][x]: r + 1 rows ago
#pragma HLS ARRAY_PARTITION variable=rows dim=1 complete
#pragma HLS AGGREGATE variable=rows
#pragma HLS ARRAY_PARTITION variable=tap dim=0 complete
    int column = 0, early = (KH - 1 - PH) * W + KW - 1 - PW;  // iterations until the first window is whole
    int y = 0, x = 0, down = 0, across = 0;                   // the window's place, and its rest by the strides
windows:
    for (long v = 0; v < (long)n * H * W + (n > 0 ? PH * W + PW : 0); v++) {
#pragma HLS PIPELINE II=1
// An element of a row is read again W iterations after it was written.
#pragma HLS DEPENDENCE variable=rows inter RAW distance=2 true
        ft_beat<T, C> moved{};
        if (v < (long)n * H * W) moved = from.read();
        for (int r = KH - 1; r >= 0; r--) {
#pragma HLS UNROLL
            for (int k = 0; k < KW - 1; k++) {
#pragma HLS UNROLL
                tap[r][k] = tap[r][k + 1];
            }
            tap[r][KW - 1] = moved;
            if (r > 0) {
                const ft_beat<T, C> old = rows[KH - 1 - r][column];
                rows[KH - 1 - r][column] = moved;
                moved = old;
            }
        }
        column = column == W - 1 ? 0 : column + 1;
        if (early > 0) {
            early--;
        } else {
            ft_beat<T, KH * KW * C> w;
            for (int r = 0; r < KH; r++) {
#pragma HLS UNROLL
                for (int k = 0; k < KW; k++) {
#pragma HLS UNROLL
                    const int row = y + r - PH, at = x + k - PW;
                    const bool inside = row >= 0 && row < H && at >= 0 && at < W;
                    for (int c = 0; c < C; c++) {
#pragma HLS UNROLL
                        const T seen = tap[r][k].at[c];
                        w.at[(r * KW + k) * C + c] = inside ? seen : (T)OUTSIDE;
                    }
                }
            }
            if (y < HIGH && x < WIDE && down == 0 && across == 0) to.write(w);
            const bool ends = x == W - 1, last = ends && y == H - 1;
            across = ends || across == SW - 1 ? 0 : across + 1;
            if (ends) down = last || down == SH - 1 ? 0 : down + 1;
            x = ends ? 0 : x + 1;
            if (ends) y = last ? 0 : y + 1;
        }
    }
}

// Windows of many channels, S channels a beat, from a ring of RING rows (a power of two) in block memory. FIRST rows are
// read before the first step. A step writes the windows of one row of results, KH * KW * C / S beats each, and reads the
// rows that the next step needs, at most COME.
template <typename T, int H, int W, int C, int S, int KH, int KW, int PH, int PW, int SH, int SW, int OUTSIDE, int RING, int COME>
static void window_rows(hls::stream<ft_beat<T, S> > &from, hls::stream<ft_beat<T, S> > &to, int n)
{
    static const int HIGH = (H + 2 * PH - KH) / SH + 1, WIDE = (W + 2 * PW - KW) / SW + 1, PIXEL = C / S;
    static const int FIRST = KH - PH < H ? KH - PH : H, LEAVE = WIDE * KH * KW;
    static const int STEP = (LEAVE > COME * W ? LEAVE : COME * W) * PIXEL;
    ft_beat<T, S> ring[RING * W * PIXEL];
#pragma HLS AGGREGATE variable=ring
    long held = FIRST, image = 0;  // rows that have come in; the first row of the step's image
    int oy = 0;
first_rows:
    for (int v = 0; v < (n > 0 ? FIRST * W * PIXEL : 0); v++) {
#pragma HLS PIPELINE II=1
        ring[v] = from.read();
    }
    for (long step = 0; step < (long)n * HIGH; step++) {
        const bool last = oy == HIGH - 1;
        const long here = image + ((oy + 1) * SH + FIRST < H ? (oy + 1) * SH + FIRST : H), next = last ? image + H + FIRST : here;
        const long wanted = next < (long)n * H ? next : (long)n * H;
        const int coming = (int)(wanted - held) * W * PIXEL;
        int to_place = (int)(held % RING) * W * PIXEL, ox = 0, r = 0, k = 0, c = 0;
    window_rows:
        for (int v = 0; v < STEP; v++) {
#pragma HLS PIPELINE II=1
// Rows that come in are others than those that leave.
#pragma HLS DEPENDENCE variable=ring inter false
            if (v < coming) {
                ring[to_place] = from.read();
                to_place = to_place == RING * W * PIXEL - 1 ? 0 : to_place + 1;
            }
            if (v < LEAVE * PIXEL) {
                const int row = oy * SH + r - PH, at = ox * SW + k - PW;
                const bool inside = row >= 0 && row < H && at >= 0 && at < W;
                const ft_beat<T, S> seen = ring[inside ? ((int)((image + row) % RING) * W + at) * PIXEL + c : 0];
                ft_beat<T, S> w;
                for (int s = 0; s < S; s++) {
#pragma HLS UNROLL
                    const T x = seen.at[s];
                    w.at[s] = inside ? x : (T)OUTSIDE;
                }
                to.write(w);
                const bool c_ends = c == PIXEL - 1, k_ends = c_ends && k == KW - 1, r_ends = k_ends && r == KH - 1;
                c = c_ends ? 0 : c + 1;
                if (c_ends) k = k_ends ? 0 : k + 1;
                if (k_ends) r = r_ends ? 0 : r + 1;
                if (r_ends) ox++;
            }
        }
        held = wanted;
        if (last) image += H;
        oy = last ? 0 : oy + 1;
    }
}

// Maxima of windows of TAPS pixels.
template <typename T, int TAPS, int C, long PIXELS>
static void maxima(hls::stream<ft_beat<T, TAPS * C> > &from, hls::stream<ft_beat<T, C> > &to, int n)
{
maxima:
    for (long v = 0; v < n * PIXELS; v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, TAPS * C> seen = from.read();
        ft_beat<T, C> w;
        for (int c = 0; c < C; c++) {
#pragma HLS UNROLL
            T most = seen.at[c];
            for (int k = 1; k < TAPS; k++) {
#pragma HLS UNROLL
                const T next = seen.at[k * C + c];
                most = next > most ? next : most;
            }
            w.at[c] = most;
        }
        to.write(w);
    }
}

// Two filters' sums of S products with the same inputs x. A DSP block multiplies both weights by an input at once, 18 bits
// apart, and four such products are added before the two sums are taken apart: 4 * 128 * 255 < 2^17.
template <typename T, int S>
static inline void paired_products(const signed char *first, const signed char *second, const T *x, int &low, int &high)
{
#pragma HLS INLINE
    low = high = 0;
    for (int s = 0; s < S; s += 4) {
#pragma HLS UNROLL
        long both = 0;
        for (int k = 0; k < 4; k++) {
#pragma HLS UNROLL
            if (s + k < S) both += (long)((int)second[s + k] * (1 << 18) + (int)first[s + k]) * (long)x[s + k];
        }
        const int lower = ((int)(both & 0x3ffff) ^ 0x20000) - 0x20000;
        low += lower;
        high += (int)((both - lower) >> 18);
    }
}

// Sums of products with the weights of the text. A result takes BEATS beats of the FIFO, cut into CUTS steps of S elements;
// each step takes GROUPS iterations, of P filters each. The filters' sums begin with `begin`, the share of the zero point,
// and are written in the last GROUPS iterations.
template <typename T, int CUTS, int BEATS, int GROUPS, int P, int S, long RESULTS>
static void products(
    hls::stream<ft_beat<T, S * CUTS> > &from, hls::stream<ft_beat<int, P> > &to,
    const signed char weights[CUTS * BEATS][GROUPS][P][S], const int begin[GROUPS][P], int n)
{
    int sum[GROUPS][P];
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
#pragma HLS ARRAY_PARTITION variable=weights dim=3 complete
#pragma HLS ARRAY_PARTITION variable=weights dim=4 complete
#pragma HLS ARRAY_PARTITION variable=begin dim=2 complete
    ft_beat<T, S * CUTS> held{};
    int step = 0, g = 0, cut = 0;
products:
    for (long v = 0; v < n * (RESULTS * CUTS * BEATS * GROUPS); v++) {
#pragma HLS PIPELINE II=1
        if (g == 0 && cut == 0) held = from.read();
        ft_beat<int, P> w;
        for (int p = 0; p < P; p += 2) {
#pragma HLS UNROLL
            int low, high;
            const bool two = p + 1 < P;
            paired_products<T, S>(weights[step][g][p], weights[step][g][two ? p + 1 : p], held.at, low, high);
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
        g = ends ? 0 : g + 1;
        if (ends) {
            for (int s = 0; s < S * (CUTS - 1); s++) {
#pragma HLS UNROLL
                held.at[s] = held.at[s + S];
            }
            cut = cut == CUTS - 1 ? 0 : cut + 1;
            step = step == CUTS * BEATS - 1 ? 0 : step + 1;
        }
    }
}

// Sums of products of each channel with weights of its own, P of C channels an iteration.
template <typename T, int TAPS, int C, int P, long RESULTS>
static void channel_products(
    hls::stream<ft_beat<T, TAPS * C> > &from, hls::stream<ft_beat<int, P> > &to,
    const signed char weights[C / P][P][TAPS], const int begin[C / P][P], int n)
{
#pragma HLS ARRAY_PARTITION variable=weights dim=2 complete
#pragma HLS ARRAY_PARTITION variable=weights dim=3 complete
#pragma HLS ARRAY_PARTITION variable=begin dim=2 complete
    ft_beat<T, TAPS * C> held{};
    int g = 0;
channel_products:
    for (long v = 0; v < n * (RESULTS * (C / P)); v++) {
#pragma HLS PIPELINE II=1
        if (g == 0) held = from.read();
        ft_beat<int, P> w;
        for (int p = 0; p < P; p++) {
#pragma HLS UNROLL
            int sum = begin[g][p];
            for (int k = 0; k < TAPS; k++) {
#pragma HLS UNROLL
                const int by = weights[g][p][k], x = held.at[k * C + p];
                sum += by * x;
            }
            w.at[p] = sum;
        }
        to.write(w);
        for (int k = 0; k < TAPS * C - P; k++) {
#pragma HLS UNROLL
            held.at[k] = held.at[k + P];
        }
        g = g == C / P - 1 ? 0 : g + 1;
    }
}

// Sums as elements, as the op "requantize" rounds them, in float32 at each step: rint((sum + added) * factor) + ZERO, at
// least LOW and at most HIGH. R of a beat's P results an iteration; GROUPS beats have all channels.
template <typename T, int P, int R, int GROUPS, int ZERO, int LOW, int HIGH, long BEATS>
static void requantize(
    hls::stream<ft_beat<int, P> > &from, hls::stream<ft_beat<T, P> > &to, const float added[GROUPS][P],
    const float factor[GROUPS][P], int n)
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
#pragma HLS UNROLL
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

// The op "quantized_add", in float32 at each step: both terms as numbers, their sum as an element, at least LOW, at most HIGH.
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
#pragma HLS UNROLL
            const float left = ((float)a.at[l] - (float)FIRST) * first_scale;
            const float right = ((float)b.at[l] - (float)SECOND) * second_scale;
            float y = hls::rint((left + right) * inverse) + (float)ZERO;
            y = y < (float)LOW ? (float)LOW : y;
            w.at[l] = (T)(int)(y > (float)HIGH ? (float)HIGH : y);
        }
        to.write(w);
    }
}
