$title

#include <hls_stream.h>
#include <hls_vector.h>

$settings
$includes

// Products of packed matrices, with the sums of skeleton/gemm.h in the same order. Five stages run at the same
// time: `walk` computes the position of each item, `read_a` and `read_b` read panels, `multiply` sums a tile in
// local memory, `store` writes the tile before.
static const int GROUP = 16;  // steps of a panel in one burst, buffered for `multiply`
static const int BEAT = 64;   // bytes of the widest port
// A sum is updated every DISTANCE iterations, which exceeds the latency of an addition. Products are not in the
// recurrence.
static const int DISTANCE = $distance;
static const int SLOTS = FT_BLOCK > DISTANCE ? FT_BLOCK : DISTANCE;
static const int STEP = FT_TILE_COLUMNS * FT_PARTS;  // numbers in a step of a column panel
static const int NUMBERS = BEAT / sizeof(FT_T), B_LANES = STEP < NUMBERS ? STEP : NUMBERS;
typedef hls::vector<FT_T, FT_TILE_ROWS * FT_PARTS> a_step;
typedef hls::vector<FT_T, B_LANES> b_beat;
typedef hls::vector<FT_T, STEP> b_step;  // also the type of a row of sums
typedef hls::vector<FT_E, FT_LANES * FT_PARTS> out_beat;
static_assert(sizeof(a_step) <= BEAT && sizeof(out_beat) <= BEAT, "a port is at most 512 bits wide");
static_assert((sizeof(a_step) & (sizeof(a_step) - 1)) == 0, "a step of a row panel fills its beat");
static_assert(STEP % B_LANES == 0, "a step of a column panel fills its beats");
static_assert(FT_DEPTH % GROUP == 0, "a group lies within one sum");

// One item: its first step in each panel, its first elements in `out` and `added`, and the number of its row
// panels.
namespace {
struct ft_tile {
    long a, b, out, added;
    int first, panels, column;
};
}  // namespace

// ft_value_of: value i of a step or a row. The next function converts a result to its storage type.
template <typename S> static inline FT_X ft_value_of(const S &step, int i)
{
#pragma HLS INLINE
#if FT_COMPLEX
    return FT_PAIR(FT_T, step[2 * i], step[2 * i + 1]);
#else
    return step[i];
#endif
}
template <typename To> static inline void ft_keep_sum(To &to, int i, FT_X x)
{
#pragma HLS INLINE
#if FT_COMPLEX
    to[2 * i] = x.re;
    to[2 * i + 1] = x.im;
#else
    to[i] = x;
#endif
}
template <typename To> static inline void ft_keep_result(To &to, long i, FT_X x)
{
#pragma HLS INLINE
#if FT_COMPLEX
    to[2 * i] = x.re;
    to[2 * i + 1] = x.im;
#elif FT_E_HALF
    to[i] = ft_to_half(x);
#else
    to[i] = FT_STORED(x);
#endif
}

static void walk(
    const long *g, hls::stream<ft_tile> &to_a, hls::stream<ft_tile> &to_b, hls::stream<ft_tile> &to_sums,
    hls::stream<ft_tile> &to_store, long out_offset, long added_offset, int ft_unit, int ft_units)
{
    const int items = G_ITEMS(g), row_panels = G_ROW_BLOCKS(g), column_panels = G_COLUMN_BLOCKS(g), most = G_MOST(g);
    const int depth = G_DEPTH(g), dims = G_DIMS(g), blocks = (row_panels + most - 1) / most;
    const long *shape = G_BATCH(g), *batch_strides = G_BATCH_STRIDES(g);
    const int items_end = ft_slab(items, ft_unit + 1, ft_units);
items:
    for (int item = ft_slab(items, ft_unit, ft_units); item < items_end; item++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        ft_tile p;
        p.column = item % column_panels;
        p.first = item / column_panels % blocks * most;
        p.panels = row_panels - p.first < most ? row_panels - p.first : most;
        long at_a = 0, at_b = 0, rest = item / column_panels / blocks;
        p.out = out_offset;
        p.added = added_offset;
    batch:
        for (int d = dims - 1; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=2
            const long i = rest % shape[d];
            rest /= shape[d];
            at_a += i * batch_strides[d];
            at_b += i * batch_strides[dims + d];
            p.out += i * batch_strides[2 * dims + d];
            p.added += i * batch_strides[3 * dims + d];
        }
        p.a = (at_a * row_panels + p.first) * depth;
        p.b = (at_b * column_panels + p.column) * depth;
        to_a.write(p);
        to_b.write(p);
        to_sums.write(p);
        to_store.write(p);
    }
}

// Reads the row panels of each item: a group of steps of every panel, in one burst each, then the next group.
static void read_a(const a_step *panels, hls::stream<ft_tile> &items, hls::stream<a_step> &to, int count, int depth)
{
    const int groups = depth / GROUP, rest = depth % GROUP;
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
    whole_groups:
        for (int t = 0, q = 0, group = 0; t < groups * p.panels; t++) {
#pragma HLS PIPELINE II=16
#pragma HLS LOOP_TRIPCOUNT min=0 max=1024
            const a_step *from = panels + (p.a + (long)q * depth + group * GROUP);
            for (int k = 0; k < GROUP; k++) to.write(from[k]);
            if (++q == p.panels) {
                q = 0;
                group++;
            }
        }
    last_group:
        for (int t = 0, q = 0, k = 0; t < rest * p.panels; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=240
            to.write(panels[p.a + (long)q * depth + groups * GROUP + k]);
            if (++k == rest) {
                k = 0;
                q++;
            }
        }
    }
}

// Reads the column panel of each item, burst by burst.
static void read_b(const b_beat *panels, hls::stream<ft_tile> &items, hls::stream<b_step> &to, int count, int depth)
{
    const int BEATS = STEP / B_LANES;
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const b_beat *from = panels + items.read().b * BEATS;
        b_step step;
    columns:
        for (int t = 0; t < depth * BEATS; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=8192
            const b_beat beat = from[t];
            for (int l = 0; l < STEP; l++) {
                if (l / B_LANES == t % BEATS) step[l] = beat[l % B_LANES];
            }
            if (t % BEATS == BEATS - 1) to.write(step);
        }
    }
}

// Computes a step along the depth for every row panel, then the next step: FT_TILE_ROWS x FT_TILE_COLUMNS
// products a cycle. A block of few panels is padded to DISTANCE with idle iterations.
static void multiply(
    hls::stream<ft_tile> &items, hls::stream<a_step> &from_a, hls::stream<b_step> &from_b, hls::stream<b_step> &to,
    int count, int rows, int depth)
{
    // A double buffer: one half is used while the next group arrives in the other.
    a_step ahead[2][FT_BLOCK][GROUP];
    FT_X sum[SLOTS][FT_TILE_ROWS][FT_TILE_COLUMNS], total[FT_BLOCK * FT_TILE_ROWS][FT_TILE_COLUMNS];
#pragma HLS ARRAY_PARTITION variable=ahead dim=1 complete
#pragma HLS ARRAY_PARTITION variable=sum dim=2 complete
#pragma HLS ARRAY_PARTITION variable=sum dim=3 complete
#pragma HLS ARRAY_PARTITION variable=total dim=2 complete
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        const int slots = p.panels < DISTANCE ? DISTANCE : p.panels, most = p.panels * FT_TILE_ROWS;
        const int left = rows - p.first * FT_TILE_ROWS, results = left < most ? left : most;
        const int begin = depth < GROUP ? depth : GROUP;
    first_group:
        for (int t = 0, q = 0, k = 0; t < begin * p.panels; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=16 max=256
            ahead[0][q][k] = from_a.read();
            if (++k == begin) {
                k = 0;
                q++;
            }
        }
    sums:
        for (int k0 = 0; k0 == 0 || k0 < depth; k0 += FT_DEPTH) {  // runs once even if depth is 0, to write zeros
#pragma HLS LOOP_TRIPCOUNT min=1 max=16
            const int n = depth - k0 < FT_DEPTH ? depth - k0 : FT_DEPTH;
            int k = 0, q = 0, next_k = 0, next_q = 0, next = 0;
            b_step y{};
        depth:
            for (int t = 0; t < n * slots; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=192 max=4096
// A sum is read `slots` iterations after it was written, and a half of `ahead` as late or later after its
// arrival.
#pragma HLS DEPENDENCE variable=sum inter RAW distance=$distance true
#pragma HLS DEPENDENCE variable=ahead inter RAW distance=$distance true
                const int half = (k0 + k) / GROUP % 2, at = k % GROUP;
                if (q == 0) y = from_b.read();
                if (q == 0 && at == 0) {
                    const int behind = depth - (k0 + k) - GROUP;
                    next = behind < GROUP ? behind : GROUP;
                    next_k = next_q = 0;
                }
                if (next > 0 && next_q < p.panels) {
                    ahead[1 - half][next_q][next_k] = from_a.read();
                    if (++next_k == next) {
                        next_k = 0;
                        next_q++;
                    }
                }
                const a_step x = ahead[half][q < p.panels ? q : 0][at];
                for (int r = 0; r < FT_TILE_ROWS; r++) {
                    for (int c = 0; c < FT_TILE_COLUMNS; c++) {
                        const FT_X before = k == 0 ? FT_ZERO_X : sum[q][r][c];
                        sum[q][r][c] = ft_xfma(ft_value_of(x, r), ft_value_of(y, c), before);
                    }
                }
                if (++q == slots) {
                    q = 0;
                    k++;
                }
            }
            const bool last = k0 + FT_DEPTH >= depth;
        sum_parts:
            for (int r = 0; r < results; r++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=128
                b_step row;
                for (int c = 0; c < FT_TILE_COLUMNS; c++) {
                    const FT_X before = k0 == 0 ? FT_ZERO_X : total[r][c];
                    const FT_X found = sum[r / FT_TILE_ROWS][r % FT_TILE_ROWS][c];
                    const FT_X s = n > 0 ? ft_xadd(before, found) : before;
                    total[r][c] = s;
                    ft_keep_sum(row, c, s);
                }
                if (last) to.write(row);
            }
        }
    }
}

// Writes rows of results: as whole vectors if they begin on beats, else by elements, contiguous ones in one
// burst. Both pointers point to the same memory.
static void store(
    out_beat *out, FT_E *out_elements, const FT_E *added, hls::stream<ft_tile> &items, hls::stream<b_step> &from,
    int count, FT_NUMBER_PARAMS, int rows, int columns, int mode, int whole, long out_row, long out_step,
    long added_row, long added_step)
{
items:
    for (int i = 0; i < count; i++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const ft_tile p = items.read();
        const long row = (long)p.first * FT_TILE_ROWS, column = (long)p.column * FT_TILE_COLUMNS;
        const int below = rows - (int)row, most = p.panels * FT_TILE_ROWS, results = below < most ? below : most;
        const int right = columns - (int)column, wide = right < FT_TILE_COLUMNS ? right : FT_TILE_COLUMNS;
        const long to = p.out + row * out_row + column * out_step, plus = p.added + row * added_row + column * added_step;
        if (whole && mode != 2 && wide % FT_LANES == 0) {
        vectors:
            for (int r = 0; r < results; r++) {
#pragma HLS PIPELINE II=$vectors
#pragma HLS LOOP_TRIPCOUNT min=1 max=128
                const b_step sums = from.read();
                for (int v = 0; v < FT_TILE_VECTORS; v++) {
                    out_beat beat;
                    for (int l = 0; l < FT_LANES; l++) {
                        const FT_X s = ft_value_of(sums, v * FT_LANES + l);
                        ft_keep_result(beat, l, ft_scaled(s, s, mode, FT_NUMBERS));
                    }
                    if (v * FT_LANES < wide) out[(to + r * out_row) / FT_LANES + v] = beat;
                }
            }
        } else if (out_step == 1 && wide == FT_TILE_COLUMNS && mode != 2) {
        lines:
            for (int r = 0; r < results; r++) {
#pragma HLS PIPELINE II=$step
#pragma HLS LOOP_TRIPCOUNT min=1 max=128
                const b_step sums = from.read();
                FT_E *line = out_elements + FT_PARTS * (to + r * out_row);
                for (int c = 0; c < FT_TILE_COLUMNS; c++) {
                    const FT_X s = ft_value_of(sums, c);
                    ft_keep_result(line, c, ft_scaled(s, s, mode, FT_NUMBERS));
                }
            }
        } else {
            b_step sums{};
        elements:
            for (int t = 0, r = 0, c = 0; t < results * wide; t++) {
#pragma HLS PIPELINE II=$parts
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
                if (c == 0) sums = from.read();
                const FT_E *old = added + FT_PARTS * (plus + r * added_row + c * added_step);
                const FT_X s = ft_value_of(sums, c), o = mode == 2 ? FT_ONE(old) : s;
                ft_keep_result(out_elements, to + r * out_row + c * out_step, ft_scaled(s, o, mode, FT_NUMBERS));
                if (++c == wide) {
                    c = 0;
                    r++;
                }
            }
        }
    }
}

static void run(
    out_beat *out, const a_step *a_panels, const b_beat *b_panels, const FT_E *added, FT_E *out_elements,
    long out_offset, long added_offset, FT_NUMBER_PARAMS, const long *g, int count, int rows, int columns, int depth,
    int mode, int whole, long out_row, long out_step, long added_row, long added_step, int ft_unit, int ft_units)
{
#pragma HLS DATAFLOW
    hls::stream<ft_tile, 4> items_a("items_a"), items_b("items_b"), items_sums("items_sums"), items_store("items_store");
    hls::stream<a_step, 64> a_fifo("a");
    hls::stream<b_step, 32> b_fifo("b"), row_fifo("rows");
    walk(g, items_a, items_b, items_sums, items_store, out_offset, added_offset, ft_unit, ft_units);
    read_a(a_panels, items_a, a_fifo, count, depth);
    read_b(b_panels, items_b, b_fifo, count, depth);
    multiply(items_sums, a_fifo, b_fifo, row_fifo, count, rows, depth);
    store(
        out, out_elements, added, items_store, row_fifo, count, FT_NUMBERS, rows, columns, mode, whole, out_row,
        out_step, added_row, added_step);
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    long g[G_HEAD + 5 * FT_MAX_DIMS];
    ft_read_geometry(g, geometry, G_SIZE(geometry));
    const int items = G_ITEMS(geometry);
    const int count = ft_slab(items, ft_unit + 1, ft_units) - ft_slab(items, ft_unit, ft_units);
    run(out, a_panels, b_panels, added, out_elements, out_offset, added_offset, FT_NUMBERS, g, count, G_ROWS(geometry),
        G_COLUMNS(geometry), G_DEPTH(geometry), G_MODE(geometry), G_WHOLE(geometry), G_OUT_ROW(geometry),
        G_OUT_COLUMN(geometry), G_ADDED_ROW(geometry), G_ADDED_COLUMN(geometry), ft_unit, ft_units);
}
