// Ports and FIFOs of networks: images between memory and beats, other beat widths, beats for two readers. A
// beat in a FIFO has adjacent channels of a pixel. Pixels are in raster order, and images follow without a gap.
#pragma once
#include <hls_stream.h>
#include <hls_vector.h>

// WIDE elements that enter or leave a FIFO together.
template <typename T, int WIDE> struct ft_beat { T at[WIDE]; };

// Reads images whose order in memory is the order in the FIFO: COUNT elements each, WIDE per iteration. WIDE
// divides LANES and COUNT; `offset` is a multiple of LANES.
template <typename T, int LANES, int WIDE, long COUNT>
static void load_line(const hls::vector<T, LANES> *port, hls::stream<ft_beat<T, WIDE> > &to, long offset, int n)
{
    const hls::vector<T, LANES> *from = port + offset / LANES;
    hls::vector<T, LANES> held{};
load_line:
    for (long v = 0; v < n * (COUNT / WIDE); v++) {
#pragma HLS PIPELINE II=1
        if (v % (LANES / WIDE) == 0) held = from[v / (LANES / WIDE)];
        ft_beat<T, WIDE> w;
        for (int l = 0; l < WIDE; l++) w.at[l] = held[l];
        for (int l = 0; l < LANES - WIDE; l++) held[l] = held[l + WIDE];
        to.write(w);
    }
}

// Reads images stored as C contiguous planes of PIXELS elements: one element per iteration, so an iteration
// reads at most one beat of the port. A plane may begin within a beat.
template <typename T, int LANES, int C, int PIXELS>
static void load_planes(const hls::vector<T, LANES> *port, hls::stream<ft_beat<T, C> > &to, long offset, int n)
{
    const hls::vector<T, LANES> *from = port + offset / LANES;
    hls::vector<T, LANES> held[C];
#pragma HLS ARRAY_PARTITION variable=held complete
    ft_beat<T, C> w{};
    int c = 0, pixel = 0;
    long image = 0, at = 0;  // the image's first element, and the element that is read
load_planes:
    for (long v = 0; v < (long)n * PIXELS * C; v++) {
#pragma HLS PIPELINE II=1
        if (pixel == 0 || at % LANES == 0) {
            const hls::vector<T, LANES> beat = from[at / LANES];
            for (int k = 0; k < C; k++) {
                if (k == c) held[k] = beat;
            }
        }
        for (int k = 0; k < C; k++) {
            T seen{};
            for (int l = 0; l < LANES; l++) {
                const T one = held[k][l];
                seen = l == (int)(at % LANES) ? one : seen;
            }
            w.at[k] = k == c ? seen : w.at[k];
        }
        const bool whole = c == C - 1, last = whole && pixel == PIXELS - 1;
        if (whole) to.write(w);
        pixel = last ? 0 : whole ? pixel + 1 : pixel;
        image = last ? image + (long)C * PIXELS : image;
        c = whole ? 0 : c + 1;
        at = whole ? image + pixel : at + PIXELS;
    }
}

// Like `load_planes` for planes that are whole beats, one pixel per iteration: while one beat of each plane is
// used, the next ones are read. C is at most LANES. C more iterations fill the first beats.
template <typename T, int LANES, int C, int PIXELS>
static void load_pixels(const hls::vector<T, LANES> *port, hls::stream<ft_beat<T, C> > &to, long offset, int n)
{
    static const int PLANE = PIXELS / LANES;  // beats of a plane
    const hls::vector<T, LANES> *from = port + offset / LANES;
    hls::vector<T, LANES> held[C], next[C];
#pragma HLS ARRAY_PARTITION variable=held complete
#pragma HLS ARRAY_PARTITION variable=next complete
    int lane = 0, group = 0, filled = 0;  // `group`: the beat of a plane that is read
    long image = 0;  // the first beat of that image
load_pixels:
    for (long v = 0; v < (n > 0 ? (long)n * PIXELS + C : 0); v++) {
#pragma HLS PIPELINE II=1
        const bool first = v < C;
        if (!first && lane == 0) {
            for (int k = 0; k < C; k++) held[k] = next[k];
        }
        if (filled < C && image < (long)n * PLANE * C) {
            const hls::vector<T, LANES> beat = from[image + (long)filled * PLANE + group];
            for (int k = 0; k < C; k++) {
                if (k == filled) next[k] = beat;
            }
        }
        if (!first) {
            ft_beat<T, C> w;
            for (int k = 0; k < C; k++) {
                w.at[k] = held[k][0];
                for (int l = 0; l < LANES - 1; l++) held[k][l] = held[k][l + 1];
            }
            to.write(w);
        }
        // The beats of a group are read in the first iterations of the group before.
        const bool ends = first ? v == C - 1 : lane == LANES - 1, plane = group == PLANE - 1;
        filled = ends ? 0 : filled < C ? filled + 1 : C;
        if (ends && plane) image += (long)PLANE * C;
        if (ends) group = plane ? 0 : group + 1;
        lane = first || lane == LANES - 1 ? 0 : lane + 1;
    }
}

// Writes images whose order in memory is the order in the FIFO: COUNT elements each, WIDE per iteration. In a
// beat of the port that is only partly written, the other elements keep their values.
template <typename T, int LANES, int WIDE, long COUNT>
static void store_line(hls::stream<ft_beat<T, WIDE> > &from, hls::vector<T, LANES> *port, long offset, int n)
{
    hls::vector<T, LANES> *to = port + offset / LANES;
    hls::vector<T, LANES> w{};
    int filled = 0;
    long beat = 0;
store_line:
    for (long v = 0; v < n * (COUNT / WIDE); v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, WIDE> got = from.read();
        for (int l = 0; l < LANES - WIDE; l++) w[l] = w[l + WIDE];
        for (int l = 0; l < WIDE; l++) w[LANES - WIDE + l] = got.at[l];
        const bool whole = filled == LANES - WIDE;
        if (whole) to[beat++] = w;
        filled = whole ? 0 : filled + WIDE;
    }
    if (filled > 0) {
        hls::vector<T, LANES> last = to[beat];
    store_rest:
        for (int l = 0; l < LANES; l++) {
#pragma HLS PIPELINE II=1
            if (l < filled) last[l] = w[LANES - filled + l];
        }
        to[beat] = last;
    }
}

// Splits each beat of MANY * WIDE elements into MANY beats of WIDE.
template <typename T, int MANY, int WIDE, long BEATS>
static void narrow(hls::stream<ft_beat<T, MANY * WIDE> > &from, hls::stream<ft_beat<T, WIDE> > &to, int n)
{
    ft_beat<T, MANY * WIDE> held{};
    int part = 0;
narrow:
    for (long v = 0; v < n * (BEATS * MANY); v++) {
#pragma HLS PIPELINE II=1
        if (part == 0) held = from.read();
        ft_beat<T, WIDE> w;
        for (int l = 0; l < WIDE; l++) w.at[l] = held.at[l];
        for (int l = 0; l < (MANY - 1) * WIDE; l++) held.at[l] = held.at[l + WIDE];
        to.write(w);
        part = part == MANY - 1 ? 0 : part + 1;
    }
}

// Joins MANY beats of WIDE elements into one.
template <typename T, int MANY, int WIDE, long BEATS>
static void widen(hls::stream<ft_beat<T, WIDE> > &from, hls::stream<ft_beat<T, MANY * WIDE> > &to, int n)
{
    ft_beat<T, MANY * WIDE> w{};
    int part = 0;
widen:
    for (long v = 0; v < n * (BEATS * MANY); v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, WIDE> got = from.read();
        for (int l = 0; l < (MANY - 1) * WIDE; l++) w.at[l] = w.at[l + WIDE];
        for (int l = 0; l < WIDE; l++) w.at[(MANY - 1) * WIDE + l] = got.at[l];
        const bool whole = part == MANY - 1;
        if (whole) to.write(w);
        part = whole ? 0 : part + 1;
    }
}

// Copies beats to two readers.
template <typename T, int WIDE, long BEATS>
static void fork(
    hls::stream<ft_beat<T, WIDE> > &from, hls::stream<ft_beat<T, WIDE> > &first, hls::stream<ft_beat<T, WIDE> > &second, int n)
{
fork:
    for (long v = 0; v < n * BEATS; v++) {
#pragma HLS PIPELINE II=1
        const ft_beat<T, WIDE> w = from.read();
        first.write(w);
        second.write(w);
    }
}

// Reorders images to planes, one element per iteration: while one image is read plane by plane, the next
// arrives.
template <typename T, int C, int PIXELS>
static void planes(hls::stream<ft_beat<T, C> > &from, hls::stream<ft_beat<T, 1> > &to, int n)
{
    T held[2][C][PIXELS];
#pragma HLS ARRAY_PARTITION variable=held dim=1 complete
#pragma HLS ARRAY_PARTITION variable=held dim=2 complete
    int which = 0, part = 0, comes = 0, c = 0, leaves = 0;
planes:
    for (long v = 0; v < (n > 0 ? ((long)n + 1) * PIXELS * C : 0); v++) {
#pragma HLS PIPELINE II=1
// A double buffer: one image is written while the other is read.
#pragma HLS DEPENDENCE variable=held inter false
        if (part == 0 && v < (long)n * PIXELS * C) {
            const ft_beat<T, C> got = from.read();
            for (int k = 0; k < C; k++) held[which][k][comes] = got.at[k];
        }
        if (v >= (long)PIXELS * C) {
            ft_beat<T, 1> w;
            w.at[0] = held[1 - which][c][leaves];
            to.write(w);
        }
        const bool pixel = part == C - 1, plane = leaves == PIXELS - 1, image = pixel && comes == PIXELS - 1;
        part = pixel ? 0 : part + 1;
        if (pixel) comes = image ? 0 : comes + 1;
        leaves = plane ? 0 : leaves + 1;
        if (plane) c = c == C - 1 ? 0 : c + 1;
        which = image ? 1 - which : which;
    }
}
