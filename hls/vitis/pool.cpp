$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes
#include "ftensor/vitis/stored.h"
#include "ftensor/vitis/strip.h"

// Windows of planes, with the results of skeleton/pool.h. Three stages run at the same time: `read` reads a
// band's part of its plane in a burst; `fold` processes one element of each of several adjacent windows per
// cycle, while the next band arrives; `store` writes one result per cycle.
static const int LANES = 16;
static const int LINES = 504;  // beats of a band's part of a plane
static const int GUARD = 2;  // beats before it, for windows that begin in the padding
static const int DEPTH = 512;  // the rest: beats after it
// Groups of windows alternate: a sum is updated every TURNS iterations, longer than it takes to read, add,
// select and write it.
static const int TURNS = 12;
typedef hls::vector<FT_E, LANES> beat;
typedef hls::vector<FT_T, LANES> values;
typedef hls::vector<int, LANES> positions;
static_assert(sizeof(beat) <= 64 && sizeof(values) <= 64, "a port is at most 512 bits wide");

// The geometry of a launch.
struct ft_pool {
    long out, places, in;
    int mean, wants, planes, bands, band, groups, windows, divisor, padded, in_high, in_wide, out_high, out_wide;
    int kernel_high, kernel_wide, stride_high, stride_wide, padding_high, padding_wide, dilation_high, dilation_wide;
};

// One band: its first row of results and their number, the first plane row in its beats, that row's lane in the
// first beat, the first beat, and the number of beats.
struct ft_band {
    int first, rows, top, lead, beats;
    long begin;
};

static inline ft_band band_of(const ft_pool &p, int plane, int band)
{
#pragma HLS INLINE
    ft_band b;
    b.first = band * p.band;
    b.rows = p.out_high - b.first < p.band ? p.out_high - b.first : p.band;
    const int top = b.first * p.stride_high - p.padding_high;
    const int end = top + (b.rows - 1) * p.stride_high + (p.kernel_high - 1) * p.dilation_high + 1;
    b.top = top > 0 ? top : 0;
    const int bottom = end < p.in_high ? end : p.in_high;
    const long begin = p.in + ((long)plane * p.in_high + b.top) * p.in_wide;
    b.begin = begin / LANES;
    b.lead = (int)(begin % LANES);
    b.beats = (b.lead + (bottom - b.top) * p.in_wide + LANES - 1) / LANES;
    return b;
}

static void read(const beat *in, hls::stream<beat> &to, ft_pool p, int first, int end)
{
    int plane = first / p.bands, band = first % p.bands;
items:
    for (int item = first; item < end; item++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_band b = band_of(p, plane, band);
        const beat *from = in + b.begin;
    strip:
        for (int t = 0; t < b.beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=504
            to.write(from[t]);
        }
        if (++band == p.bands) {
            band = 0;
            plane++;
        }
    }
}

// Processes an element of each window of a group, then of the next group. Windows are `stride_wide` apart; a
// group has the windows that begin within LANES adjacent elements. Lanes between windows compute unused values.
static void fold(
    hls::stream<beat> &from, hls::stream<values> &to, hls::stream<positions> &to_places, ft_pool p, int first, int end)
{
    FT_E strip[2][DEPTH][LANES];
    FT_T value[TURNS][LANES];
    int place[TURNS][LANES];
#pragma HLS ARRAY_PARTITION variable=strip dim=1 complete
#pragma HLS ARRAY_PARTITION variable=strip dim=3 complete
#pragma HLS ARRAY_PARTITION variable=value dim=2 complete
#pragma HLS ARRAY_PARTITION variable=place dim=2 complete
    int plane = first / p.bands, band = first % p.bands, half = 0;
    ft_band b = band_of(p, plane, band);
    const int beats = first < end ? b.beats : 0;
first_strip:
    for (int t = 0; t < beats; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=504
        const beat one = from.read();
        for (int l = 0; l < LANES; l++) strip[0][GUARD + t][l] = one[l];
    }
items:
    for (int item = first; item < end; item++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        if (++band == p.bands) {
            band = 0;
            plane++;
        }
        const ft_band behind = band_of(p, plane, band);
        const int coming = item + 1 < end ? behind.beats : 0;
        const int steps = (b.rows * p.groups + TURNS - 1) / TURNS * TURNS * p.kernel_high * p.kernel_wide;
        int arrived = 0, q = 0, a = 0, c = 0, y = 0, group = 0, begin_y = 0, begin_group = 0;
    steps:
        for (int t = 0; t < steps; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=32 max=4096
#pragma HLS DEPENDENCE variable=value inter RAW distance=12 true
#pragma HLS DEPENDENCE variable=place inter RAW distance=12 true
// Arriving elements belong to the next band, so this band does not read them.
#pragma HLS DEPENDENCE variable=strip inter false
            if (arrived < coming) {
                const beat one = from.read();
                for (int l = 0; l < LANES; l++) strip[1 - half][GUARD + arrived][l] = one[l];
                arrived++;
            }
            const bool there = y < b.rows, begins = a == 0 && c == 0;
            const bool ends = a + 1 == p.kernel_high && c + 1 == p.kernel_wide;
            const int row = (b.first + y) * p.stride_high - p.padding_high + a * p.dilation_high;
            const int column = group * p.windows * p.stride_wide - p.padding_wide + c * p.dilation_wide;
            const bool inside = there && row >= 0 && row < p.in_high;
            const int at = inside ? GUARD * LANES + b.lead + (row - b.top) * p.in_wide + column : 0;
            const beat x = ft_load_unaligned<beat>(strip[half], at);
            values folded;
            positions found;
            for (int l = 0; l < LANES; l++) {
                const FT_E e = x[l];
                const FT_T v = FT_ONE(&e), kept = value[q][l], before = begins ? FT_ZERO_X : kept;
                const int kept_place = place[q][l], place_before = begins ? -1 : kept_place;
                const bool wins = place_before < 0 || v > before || v != v;
                const bool takes = inside && column + l >= 0 && column + l < p.in_wide && (p.mean || wins);
                const FT_T sum = ft_xadd(before, v), now = p.mean ? sum : v;
                folded[l] = takes ? now : before;
                found[l] = takes ? row * p.in_wide + column + l : place_before;
                value[q][l] = folded[l];
                place[q][l] = found[l];
            }
            if (there && ends) {
                to.write(folded);
                to_places.write(found);
            }
            if (++group == p.groups) {
                group = 0;
                y++;
            }
            if (++q == TURNS) {
                q = 0;
                if (++c == p.kernel_wide) {
                    c = 0;
                    if (++a == p.kernel_high) {  // the next groups
                        a = 0;
                        begin_y = y;
                        begin_group = group;
                    }
                }
                y = begin_y;
                group = begin_group;
            }
        }
    remaining_beats:
        for (int t = arrived; t < coming; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=504
            const beat one = from.read();
            for (int l = 0; l < LANES; l++) strip[1 - half][GUARD + t][l] = one[l];
        }
        half = 1 - half;
        b = behind;
    }
}


// Writes results, which are contiguous.
static void store(
    FT_E *out, long *places, hls::stream<values> &from, hls::stream<positions> &from_places, ft_pool p, int first, int end)
{
    int plane = first / p.bands, band = first % p.bands;
items:
    for (int item = first; item < end; item++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_band b = band_of(p, plane, band);
        const long at = ((long)plane * p.out_high + b.first) * p.out_wide;
        int x = 0, y = 0, window = 0, lane = 0;
        values v{};
        positions w{};
    results:
        for (int t = 0; t < b.rows * p.out_wide; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=4096
            if (window == 0) {
                v = from.read();
                w = from_places.read();
            }
            FT_T result = v[lane];
#if FT_FLOATING
            const int top = (b.first + y) * p.stride_high - p.padding_high, left = x * p.stride_wide - p.padding_wide;
            const int n = ft_pool_size(top, p.kernel_high, p.in_high, p.padding_high, p.padded)
                * ft_pool_size(left, p.kernel_wide, p.in_wide, p.padding_wide, p.padded);
            const FT_T mean = result / (FT_T)(p.divisor ? p.divisor : n);
            result = p.mean ? mean : result;
#endif
            out[p.out + at + t] = stored(result);
            if (p.wants) places[p.places + at + t] = w[lane];
            lane += p.stride_wide;
            const bool wraps = ++x == p.out_wide;
            if (++window == p.windows || wraps) {
                window = 0;
                lane = 0;
            }
            if (wraps) {
                x = 0;
                y++;
            }
        }
        if (++band == p.bands) {
            band = 0;
            plane++;
        }
    }
}

static void run(FT_E *out, long *places, const beat *in, ft_pool p, int first, int end)
{
#pragma HLS DATAFLOW
    hls::stream<beat, 64> strip_fifo("strip");
    hls::stream<values, 32> values_fifo("values");
    hls::stream<positions, 32> places_fifo("places");
    read(in, strip_fifo, p, first, end);
    fold(strip_fifo, values_fifo, places_fifo, p, first, end);
    store(out, places, values_fifo, places_fifo, p, first, end);
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    int g[G_HEAD];
    ft_read_geometry(g, geometry, G_HEAD);
    const int items = G_ITEMS(g);
    const ft_pool p = {
        out_offset, places_offset, in_offset, G_MEAN(g), G_PLACES(g), G_PLANES(g), G_BANDS(g), G_BAND(g), G_GROUPS(g),
        G_WINDOWS(g), G_DIVISOR(g), G_PADDED(g), G_INPUT_HIGH(g), G_INPUT_WIDE(g), G_OUT_HIGH(g), G_OUT_WIDE(g),
        G_KERNEL_HIGH(g), G_KERNEL_WIDE(g), G_STRIDE_HIGH(g), G_STRIDE_WIDE(g), G_PADDING_HIGH(g), G_PADDING_WIDE(g),
        G_DILATION_HIGH(g), G_DILATION_WIDE(g)};
    run(out, places, in, p, ft_slab(items, ft_unit, ft_units), ft_slab(items, ft_unit + 1, ft_units));
}
