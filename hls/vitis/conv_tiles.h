// Shared by convolutions: the position of each item, the readers of its planes and panels, and where its results are.
// Define before: DISTANCE. The elements define BEAT, the positions of a beat.
#pragma once
#if FT_BEAT
static const int BEAT = FT_BEAT;
#else
static const int BEAT = FT_LANES;
#endif
typedef hls::vector<FT_T, BEAT> beat;
typedef hls::vector<FT_T, FT_TILE_ROWS> step;
static_assert(sizeof(beat) <= 64 && sizeof(step) <= 64, "a port is at most 512 bits wide");

// The results of a launch: the positions of a filter; of a row of a plane, and those with results; of a plane's rows,
// and those with results; how results leave; the zero of bytes; the steps between results.
struct ft_results {
    int positions, pitch, width, middle, high, whole, lines, zero;
    long filter, plane, row, step;
};

// One item: its first beat of planes, first step of panels, first result, first position, filters and vectors.
namespace {
struct ft_tile {
    long planes, panels, out;
    int begin, rows, vectors, slots;
};
}  // namespace

static void walk(
    const long *g, hls::stream<ft_tile> &to_planes, hls::stream<ft_tile> &to_panels, hls::stream<ft_tile> &to_sums,
    hls::stream<ft_tile> &to_store, long out_offset, long planes_offset, int ft_unit, int ft_units)
{
    const int items = G_ITEMS(g), filter_panels = G_PANELS(g), groups = G_GROUPS(g), tiles = G_TILES(g);
    const int positions = G_POSITIONS(g), filters = G_FILTERS(g), channels = G_CHANNELS(g), taps = G_TAPS(g), dims = G_DIMS(g);
    const long *shape = G_BATCH(g), *read = G_READ(g), *written = G_WRITTEN(g);
    const int beats = G_BEATS(g), at_least = taps > 0 ? (beats + taps - 1) / taps : 0;
    const int items_end = ft_slab(items, ft_unit + 1, ft_units);
items:
    for (int item = ft_slab(items, ft_unit, ft_units); item < items_end; item++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const int panel = item % filter_panels, tile = item / filter_panels % tiles;
        const int group = item / filter_panels / tiles % groups, filter = panel * FT_TILE_ROWS;
        long from = planes_offset + (long)group * channels * G_CHANNEL(g);
        ft_tile p;
        p.out = out_offset + (long)(group * filters + filter) * G_OUT_FILTER(g);
        long rest = item / filter_panels / tiles / groups;
    batch:
        for (int d = dims - 1; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=3
            const long i = rest % shape[d];
            rest /= shape[d];
            from += i * read[d];
            p.out += i * written[d];
        }
        p.begin = tile * FT_TILE_COLUMNS;
        p.planes = (from + p.begin) / BEAT;
        p.panels = (long)(group * filter_panels + panel) * (1 + channels * taps);
        p.rows = filters - filter < FT_TILE_ROWS ? filters - filter : FT_TILE_ROWS;
        const int left = (positions - p.begin + BEAT - 1) / BEAT;
        p.vectors = left < FT_TILE_VECTORS ? left : FT_TILE_VECTORS;
        // While this strip is used (slots * taps iterations), the next one arrives, one beat per iteration.
        p.slots = p.vectors < DISTANCE ? DISTANCE : p.vectors;
        if (p.slots < at_least) p.slots = at_least;
        to_planes.write(p);
        to_panels.write(p);
        to_sums.write(p);
        to_store.write(p);
    }
}

// Reads each channel's strip, run by run.
static void read_planes(
    const beat *planes, const long *strip, int runs, hls::stream<ft_tile> &items, hls::stream<beat> &to, int count, int channels,
    long channel_beats)
{
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        // If strips are single runs, one loop reads those of all channels, so memory latency occurs once.
        const beat *first = planes + (p.planes + strip[0]);
        const int one = runs == 1 ? (int)strip[1] : 0;
    channels:
        for (int t = 0, at = 0; t < one * channels; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=32768
            to.write(first[at]);
            if (++at == one) {
                at = 0;
                first += channel_beats;
            }
        }
    channel_strips:
        for (int c = 0; c < channels && runs > 1; c++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=256
        runs:
            for (int r = 0; r < runs; r++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=9
                const beat *from = planes + (p.planes + c * channel_beats + strip[2 * r]);
                const int n = (int)strip[2 * r + 1];
            strip:
                for (int t = 0; t < n; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=128
                    to.write(from[t]);
                }
            }
        }
    }
}

// Reads the bias and the weights of each item, in one burst.
static void read_panels(const step *panels, hls::stream<ft_tile> &items, hls::stream<step> &to, int count, int steps)
{
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const step *from = panels + items.read().panels;
    weights:
        for (int k = 0; k < steps; k++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=10 max=2305
            to.write(from[k]);
        }
    }
}

// Returns the number of results of a filter before a position, without the sums between results.
static inline int before(int position, const ft_results &g)
{
    const int first = position / g.pitch, at = position - first * g.pitch;
    const int plane = first / g.middle, h = first - plane * g.middle;
    return h < g.high ? (plane * g.high + h) * g.width + (at < g.width ? at : g.width) : (plane + 1) * g.high * g.width;
}

// The results of a filter in a tile: how many precede them, and how many there are.
struct ft_result_range {
    int done, many;
};
static inline ft_result_range result_range(const ft_tile &p, const ft_results &g)
{
    const int end = p.begin + p.vectors * BEAT, last = end < g.positions ? end : g.positions;
    ft_result_range line;
    line.done = before(p.begin, g);
    line.many = before(last, g) - line.done;
    return line;
}

// A position: its index in the row, the row in the plane, the plane, and the number of positions from there on.
struct ft_position {
    int at, h, plane, left;
};
static inline ft_position position_of(int position, const ft_results &g)
{
    ft_position now;
    const int row = position / g.pitch;
    now.at = position - row * g.pitch;
    now.plane = row / g.middle;
    now.h = row - now.plane * g.middle;
    now.left = g.positions - position;
    return now;
}
static inline ft_position next_position(ft_position now, const ft_results &g)
{
#pragma HLS INLINE
    now.left--;
    if (++now.at == g.pitch) {
        now.at = 0;
        if (++now.h == g.middle) {
            now.h = 0;
            now.plane++;
        }
    }
    return now;
}
// True if the position is a result and not a sum between results.
static inline bool is_result(const ft_position &now, const ft_results &g)
{
#pragma HLS INLINE
    return now.left > 0 && now.at < g.width && now.h < g.high;
}
static inline long offset_of(const ft_position &now, const ft_results &g)
{
#pragma HLS INLINE
    return now.plane * g.plane + now.h * g.row + now.at * g.step;
}

// The first result at or after a tile's beginning: the positions skipped, its index in the row, the row.
struct ft_first_result {
    int skipped, at, h;
};
static inline ft_first_result first_result(const ft_tile &p, const ft_results &g)
{
    ft_first_result first;
    first.skipped = 0;
    first.at = p.begin % g.pitch;
    first.h = p.begin / g.pitch % g.middle;
    if (first.at >= g.width && first.h < g.high) {
        first.skipped = g.pitch - first.at;
        first.at = 0;
        first.h++;
    }
    if (first.h >= g.high) {
        first.skipped += (g.middle - first.h) * g.pitch - first.at;
        first.at = 0;
        first.h = 0;
    }
    return first;
}

// Moves on from the last element of a row of results by `count` elements: `place` counts positions, also those without
// results.
static inline void next_result(int &place, int &at, int &h, int count, const ft_results &g)
{
#pragma HLS INLINE
    place += count;
    at += count;
    if (at == g.width) {
        at = 0;
        place += g.pitch - g.width;
        if (++h == g.high) {
            h = 0;
            place += (g.middle - g.high) * g.pitch;
        }
    }
}

// Stores the results of a tile one by one, without the sums between them. Rows of sums arrive in pieces of OUT.
template <int OUT, typename V, typename E>
static void store_elements(E *out, hls::stream<V> &from, const ft_tile &p, const ft_results &g)
{
#pragma HLS INLINE
    // The position of the vector, and of the current element.
    ft_position vector = position_of(p.begin, g), now = vector;
    V some{};
elements:
    for (int t = 0, r = 0, l = 0; t < p.vectors * p.rows * BEAT; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=256 max=16384
        if (l % OUT == 0) some = from.read();
        if (is_result(now, g)) out[p.out + r * g.filter + offset_of(now, g)] = stored(some[l % OUT]);
        now = next_position(now, g);
        if (++l == BEAT) {
            l = 0;
            if (++r == p.rows) {  // the next vector begins here
                r = 0;
                vector = now;
            }
            now = vector;
        }
    }
}
