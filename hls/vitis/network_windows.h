// Windows of images, as processes of a DATAFLOW region; the layers of network.h read them. Each process counts
// its own iterations.
#pragma once
#include <hls_math.h>

#include "network_ports.h"

// Returns a pixel outside the image: VALUE, or -infinity for the least int and floating-point elements.
template <typename T, int VALUE> static inline T outside()
{
#pragma HLS INLINE
    return VALUE == -2147483647 - 1 ? (T)(-INFINITY) : (T)VALUE;
}

// Returns the window at (top, left) of the image as one beat; pixels outside the image are OUTSIDE.
template <typename T, int H, int W, int C, int KH, int KW, int OUTSIDE>
static ft_beat<T, KH * KW * C> padded_window(const ft_beat<T, C> (&tap)[KH][KW], int top, int left)
{
#pragma HLS INLINE
    ft_beat<T, KH * KW * C> w;
    for (int r = 0; r < KH; r++) {
        for (int k = 0; k < KW; k++) {
            const bool inside = top + r >= 0 && top + r < H && left + k >= 0 && left + k < W;
            for (int c = 0; c < C; c++) {
                const T seen = tap[r][k].at[c];
                w.at[(r * KW + k) * C + c] = inside ? seen : outside<T, OUTSIDE>();
            }
        }
    }
    return w;
}

// Windows of KH x KW pixels of C channels with strides SH < H, SW < W, and PH < KH rows and PW < KW columns of
// OUTSIDE around the image. Pixels shift through KH - 1 line buffers (`rows`) into registers (`tap`). Padding
// is selected by the window's position and takes no iterations: an image takes H * W, and the last one at most
// PH * W + PW more.
template <typename T, int H, int W, int C, int KH, int KW, int PH, int PW, int SH, int SW, int OUTSIDE>
static void windows(hls::stream<ft_beat<T, C> > &from, hls::stream<ft_beat<T, KH * KW * C> > &to, int n)
{
    static const int HIGH = H + 2 * PH - KH + 1, WIDE = W + 2 * PW - KW + 1;
    ft_beat<T, C> rows[KH > 1 ? KH - 1 : 1][W], tap[KH][KW];  // rows[r][x]: r + 1 rows ago
#pragma HLS ARRAY_PARTITION variable=rows dim=1 complete
#pragma HLS AGGREGATE variable=rows
#pragma HLS ARRAY_PARTITION variable=tap dim=0 complete
    static const int EARLY = (KH - 1 - PH) * W + KW - 1 - PW;  // iterations until the first window is complete
    int column = 0, early = EARLY;
    int y = 0, x = 0, down = 0, across = 0;  // the window's position, and its remainder by the strides
windows:
    for (long v = 0; v < (long)n * H * W + (n > 0 ? (PH * W + PW < EARLY ? PH * W + PW : EARLY) : 0); v++) {
#pragma HLS PIPELINE II=1
// An element of a row is read again W iterations after it was written.
#pragma HLS DEPENDENCE variable=rows inter RAW distance=2 true
        ft_beat<T, C> moved{};
        if (v < (long)n * H * W) moved = from.read();
        for (int r = KH - 1; r >= 0; r--) {
            for (int k = 0; k < KW - 1; k++) tap[r][k] = tap[r][k + 1];
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
            const ft_beat<T, KH * KW * C> w = padded_window<T, H, W, C, KH, KW, OUTSIDE>(tap, y - PH, x - PW);
            if (y < HIGH && x < WIDE && down == 0 && across == 0) to.write(w);
            const bool ends = x == W - 1, last = ends && y == H - 1;
            across = ends || across == SW - 1 ? 0 : across + 1;
            if (ends) down = last || down == SH - 1 ? 0 : down + 1;
            x = ends ? 0 : x + 1;
            if (ends) y = last ? 0 : y + 1;
        }
    }
}

// Like `windows`, for pixels of G > 1 beats of S channels each: a window becomes G beats. The columns of a
// window are in local memory, too, since a pixel's next channels arrive before the next pixel.
template <typename T, int H, int W, int G, int S, int KH, int KW, int PH, int PW, int SH, int SW, int OUTSIDE>
static void channel_windows(hls::stream<ft_beat<T, S> > &from, hls::stream<ft_beat<T, KH * KW * S> > &to, int n)
{
    static const int HIGH = H + 2 * PH - KH + 1, WIDE = W + 2 * PW - KW + 1;
    static const int EARLY = ((KH - 1 - PH) * W + KW - 1 - PW) * G, REST = (PH * W + PW) * G;
    ft_beat<T, S> rows[KH > 1 ? KH - 1 : 1][W * G], columns[KH][KW > 1 ? KW - 1 : 1][G];  // columns[r][KW - 2]: one pixel ago
#pragma HLS ARRAY_PARTITION variable=rows dim=1 complete
#pragma HLS AGGREGATE variable=rows
#pragma HLS ARRAY_PARTITION variable=columns dim=1 complete
#pragma HLS ARRAY_PARTITION variable=columns dim=2 complete
#pragma HLS AGGREGATE variable=columns
    int at = 0, g = 0, early = EARLY, place_g = 0;  // indices in a row and in a pixel; the window's group of channels
    int y = 0, x = 0, down = 0, across = 0;  // the window's position, and its remainder by the strides
channel_windows:
    for (long v = 0; v < (long)n * H * W * G + (n > 0 ? (REST < EARLY ? REST : EARLY) : 0); v++) {
#pragma HLS PIPELINE II=1
// A pixel has at least two beats, so an element is read again two iterations after it was written, at the
// earliest.
#pragma HLS DEPENDENCE variable=rows inter RAW distance=2 true
#pragma HLS DEPENDENCE variable=columns inter RAW distance=2 true
        ft_beat<T, S> moved{}, tap[KH][KW];
#pragma HLS ARRAY_PARTITION variable=tap dim=0 complete
        if (v < (long)n * H * W * G) moved = from.read();
        for (int r = KH - 1; r >= 0; r--) {
            tap[r][KW - 1] = moved;
            for (int k = 0; k < KW - 1; k++) tap[r][k] = columns[r][k][g];
            for (int k = 0; k < KW - 1; k++) columns[r][k][g] = tap[r][k + 1];
            if (r > 0) {
                const ft_beat<T, S> old = rows[KH - 1 - r][at];
                rows[KH - 1 - r][at] = moved;
                moved = old;
            }
        }
        at = at == W * G - 1 ? 0 : at + 1;
        g = g == G - 1 ? 0 : g + 1;
        if (early > 0) {
            early--;
        } else {
            const ft_beat<T, KH * KW * S> w = padded_window<T, H, W, S, KH, KW, OUTSIDE>(tap, y - PH, x - PW);
            if (y < HIGH && x < WIDE && down == 0 && across == 0) to.write(w);
            const bool pixel = place_g == G - 1, ends = x == W - 1, last = ends && y == H - 1;
            place_g = pixel ? 0 : place_g + 1;
            if (pixel) across = ends || across == SW - 1 ? 0 : across + 1;
            if (pixel && ends) down = last || down == SH - 1 ? 0 : down + 1;
            if (pixel && ends) y = last ? 0 : y + 1;
            if (pixel) x = ends ? 0 : x + 1;
        }
    }
}

// Windows of many channels, S channels a beat, from a ring buffer of RING rows (a power of two) in block
// memory. FIRST rows are read before the first step. A step writes the windows of one row of results, KH * KW *
// C / S beats each, and reads the rows that the next step needs, at most COME.
template <typename T, int H, int W, int C, int S, int KH, int KW, int PH, int PW, int SH, int SW, int OUTSIDE, int RING, int COME>
static void window_rows(hls::stream<ft_beat<T, S> > &from, hls::stream<ft_beat<T, S> > &to, int n)
{
    static const int HIGH = (H + 2 * PH - KH) / SH + 1, WIDE = (W + 2 * PW - KW) / SW + 1, PIXEL = C / S;
    static const int FIRST = KH - PH < H ? KH - PH : H, LEAVE = WIDE * KH * KW;
    static const int STEP = (LEAVE > COME * W ? LEAVE : COME * W) * PIXEL;
    ft_beat<T, S> ring[RING * W * PIXEL];
#pragma HLS AGGREGATE variable=ring
    long held = FIRST, image = 0;  // rows read so far; the first row of the step's image
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
// The loop reads no row that it writes.
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
                    const T x = seen.at[s];
                    w.at[s] = inside ? x : outside<T, OUTSIDE>();
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
