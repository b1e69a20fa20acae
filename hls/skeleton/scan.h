// Scan along a dim: each result is the previous result combined with the next element.
// Up to FT_COLUMNS neighbouring rows are processed at a time, so that a dim of any stride is read in the order of
// memory. Boards (FT_WAIT) keep the states of many rows in block memory, and all elements of a block are one pipeline.
// A state recurs after FT_WAIT iterations or more, when its previous combination is done; fewer columns wait.
// A single row has its state in a register. With FT_FOURS, where the order of sums is free, four elements are combined
// at once, and with FT_EIGHTS eight: a vector is added to itself, shifted by one, two and four lanes. With FT_GROUP,
// where each element would wait for the state, that number of elements are first combined with each other.
// A row that several units share is divided into parts: a launch of mode 1 writes the totals of all parts but the last,
// and a launch of mode 0 begins each part with the totals of the earlier parts.
// With FT_PROCESSES, a process of its own writes the results, in bursts if they are contiguous; results of short rows
// that follow each other are first joined in block memory.
// Geometry g: ScanGeometry.
// With FT_STATE_TYPE, states and totals have this type, which is wider than an element's.
// Holes: FT_COMBINE(x, y) of the state and an element; with FT_ARG, FT_REPLACES(x, y) is true if y replaces x, and
//   `places` gets the position of the element that replaced the state last.
#ifdef FT_STATE_TYPE
typedef FT_STATE_TYPE FT_STATE_OF;
#define FT_TO_STATE(x) ((FT_STATE_OF)(x))
#define FT_FROM_STATE(s) ((FT_X)(s))
#else
typedef FT_X FT_STATE_OF;
#define FT_STATE_TYPE FT_T
#define FT_TO_STATE(x) (x)
#define FT_FROM_STATE(s) (s)
#endif
#if FT_COMPLEX
#define FT_TOTAL(p) FT_PAIR(FT_T, (p)[0], (p)[1])
#define FT_KEEP_TOTAL(x, p) { (p)[0] = (x).re; (p)[1] = (x).im; }
#else
#define FT_TOTAL(p) (*(p))
#define FT_KEEP_TOTAL(x, p) *(p) = (x);
#endif

#if FT_ARG
#define FT_SCAN_TAKE(state, place, x, k)       \
    if (!started || FT_REPLACES(state, x)) {       \
        state = x;                             \
        place = k;                             \
    }
#else
#define FT_SCAN_TAKE(state, place, x, k)  \
    if (started) {                        \
        state = FT_COMBINE(state, x);     \
    } else {                              \
        state = x;                        \
    }
#endif
#if FT_PROCESSES
#define FT_SCAN_OUT hls::stream<FT_E> &results, hls::stream<int> &found
#define FT_SCAN_WRITE(x, at) ft_scan_send(x, results);
#define FT_SCAN_PLACE(place, at) found.write(place);
FT_FN_ONCE void ft_scan_send(FT_X x, hls::stream<FT_E> &results)
{
    FT_E parts[FT_PARTS];
    FT_ARRAY_PARTITION(parts, 1)
    ft_store_one(x, parts);
    for (int part = 0; part < FT_PARTS; part++) results.write(parts[part]);
}
#else
#define FT_SCAN_OUT FT_GLOBAL FT_E *out, FT_GLOBAL long *places
#define FT_SCAN_WRITE(x, at) ft_store_one(x, out + (at) * FT_PARTS);
#define FT_SCAN_PLACE(place, at) places[at] = place;
#endif
#if FT_ARG
#define FT_SCAN_WRITE_POSITION(place, at) FT_SCAN_PLACE(place, at)
#else
#define FT_SCAN_WRITE_POSITION(place, at)
#endif
#define FT_SCAN_STEP                                                                              \
    {                                                                                             \
        const FT_X element = FT_ONE(in + (from + c * in_column) * FT_PARTS);                      \
        const FT_STATE_OF x = FT_TO_STATE(element);                                               \
        FT_SCAN_TAKE(state[c], place[c], x, k)                                                    \
        FT_SCAN_WRITE_POSITION(place[c], to + c * out_column)                                              \
        if (mode == 0) FT_SCAN_WRITE(FT_FROM_STATE(state[c]), to + c * out_column)               \
    }
// Scans elements `begin` to `stop` of m adjacent rows. The state begins with the totals of p earlier parts; a
// launch of mode 1 leaves the totals of this part in `total`.
FT_NOINLINE void ft_scan_work(
    FT_SCAN_OUT, FT_GLOBAL const FT_E *in, FT_GLOBAL const FT_STATE_TYPE *before, FT_GLOBAL FT_STATE_TYPE *total, int mode,
    int p, int side, int begin, int stop, int m, long in_step, long in_column, long out_step, long out_column)
{
    FT_STATE_OF state[FT_COLUMNS];
    int place[FT_COLUMNS], started = 0;
    long from = 0, to = 0;
    state[0] = FT_TO_STATE(FT_ZERO_X);
    if (mode == 0 && p > 0) {
        for (int q = 0; q < p; q++) {
            FT_LOOP(before)
            for (int c = 0; c < m; c++) {
                FT_PIPELINE
                const FT_STATE_OF x = FT_TOTAL(before + ((long)q * side + c) * FT_PARTS);
                if (q == 0) {
                    state[c] = x;
                } else {
                    state[c] = FT_COMBINE(state[c], x);
                }
            }
        }
        started = 1;
    }
    int k = begin;
    if (m == 1) {
        FT_STATE_OF one = state[0];
        int last = 0;
#if FT_FOURS
        if (mode == 0) {
            if (!started) one = 0;
#if FT_EIGHTS
            if (in_step == 1 && out_step == 1) {
                double8 before_all = (double8)(one);
                for (; k + 8 <= stop; k += 8) {
                    double8 run = convert_double8(vload8(0, in + from));
                    run += (double8)(0.0, run.s0, run.s12, run.s3456);
                    run += (double8)(0.0, 0.0, run.s01, run.s2345);
                    run += (double8)((double4)(0.0), run.s0123);
                    vstore8(convert_float8(before_all + run), 0, out + to);
                    before_all += (double8)(run.s7);
                    from += 8;
                    to += 8;
                    started = 1;
                }
                one = before_all.s0;
            }
#endif
            for (; k + 4 <= stop; k += 4) {
                FT_GLOBAL const FT_E *x_at = in + from;
                const FT_STATE_OF a = FT_TO_STATE(FT_ONE(x_at)), b = FT_TO_STATE(FT_ONE(x_at + in_step));
                const FT_STATE_OF c = FT_TO_STATE(FT_ONE(x_at + 2 * in_step));
                const FT_STATE_OF d = FT_TO_STATE(FT_ONE(x_at + 3 * in_step));
                const FT_STATE_OF ab = FT_COMBINE(a, b), abcd = FT_COMBINE(ab, FT_COMBINE(c, d));
                FT_SCAN_WRITE(FT_FROM_STATE(FT_COMBINE(one, a)), to)
                FT_SCAN_WRITE(FT_FROM_STATE(FT_COMBINE(one, ab)), to + out_step)
                FT_SCAN_WRITE(FT_FROM_STATE(FT_COMBINE(one, FT_COMBINE(ab, c))), to + 2 * out_step)
                one = FT_COMBINE(one, abcd);
                FT_SCAN_WRITE(FT_FROM_STATE(one), to + 3 * out_step)
                from += 4 * in_step;
                to += 4 * out_step;
                started = 1;
            }
        }
#elif FT_GROUP > 1
        if (!started && k + FT_GROUP <= stop) one = FT_TO_STATE(FT_ZERO_X);
        FT_LOOP(group)
        for (; k + FT_GROUP <= stop; k += FT_GROUP) {
            FT_PIPELINE
            FT_STATE_OF run[FT_GROUP];
            FT_ARRAY_PARTITION(run, 1)
            FT_UNROLL
            for (int j = 0; j < FT_GROUP; j++) run[j] = FT_TO_STATE(FT_ONE(in + (from + j * in_step) * FT_PARTS));
            FT_UNROLL
            for (int level = 0; level < FT_LEVELS; level++) {
                FT_UNROLL
                for (int j = FT_GROUP - 1; j > 0; j--) {
                    if (j >= 1 << level) run[j] = FT_COMBINE(run[j - (1 << level)], run[j]);
                }
            }
            if (mode == 0) {
                FT_UNROLL
                for (int j = 0; j < FT_GROUP; j++) {
                    FT_SCAN_WRITE(FT_FROM_STATE(FT_COMBINE(one, run[j])), to + j * out_step)
                }
            }
            one = FT_COMBINE(one, run[FT_GROUP - 1]);
            from += FT_GROUP * in_step;
            to += FT_GROUP * out_step;
            started = 1;
        }
#endif
        FT_LOOP(row)
        for (; k < stop; k++) {
            FT_PIPELINE
            const FT_STATE_OF x = FT_TO_STATE(FT_ONE(in + from * FT_PARTS));
            FT_SCAN_TAKE(one, last, x, k)
            FT_SCAN_WRITE_POSITION(last, to)
            started = 1;
            if (mode == 0) FT_SCAN_WRITE(FT_FROM_STATE(one), to)
            from += in_step;
            to += out_step;
        }
        state[0] = one;
    }
#if FT_WAIT
    const int wide = m < FT_WAIT ? FT_WAIT : m;
    const long turns = (long)(stop - k) * wide;
    int c = 0;
    FT_LOOP(elements)
    for (long t = 0; t < turns; t++) {
        FT_PIPELINE
        FT_DEPENDENCE_DISTANCE(state, FT_WAIT)
        FT_DEPENDENCE_DISTANCE(place, FT_WAIT)
        if (c < m) FT_SCAN_STEP
        if (++c == wide) {
            c = 0;
            k++;
            started = 1;
            from += in_step;
            to += out_step;
        }
    }
#else
    for (; k < stop; k++) {
        for (int c = 0; c < m; c++) FT_SCAN_STEP
        started = 1;
        from += in_step;
        to += out_step;
    }
#endif
    if (mode == 1 && stop > begin) {
        FT_LOOP(totals)
        for (int c = 0; c < m; c++) {
            FT_PIPELINE
            FT_KEEP_TOTAL(state[c], total + (long)c * FT_PARTS)
        }
    }
}
#if FT_PROCESSES
#define FT_SCAN_WORK ft_scan_run
#if FT_ARG
#define FT_SCAN_FOUND(place) place = found.read();
#define FT_SCAN_READ_POSITION(place, position) place = position;
#else
#define FT_SCAN_FOUND(place)
#define FT_SCAN_READ_POSITION(place, position)
#endif
// Writes results in the order in which they arrive: one of each of the m rows, then the next of each.
FT_NOINLINE void ft_scan_leave(
    FT_E *out, long *places, hls::stream<FT_E> &results, hls::stream<int> &found, int m, int rows, long out_step,
    long out_column)
{
    const int all = m * rows, joined = m == 1 || (out_column == 1 && out_step == m), length = joined ? all : m;
    const long step = m == 1 ? out_step : out_column;
    if (m > 1 && out_step == 1 && out_column == rows && all <= FT_TILE) {
        FT_E tile[FT_TILE * FT_PARTS];
        int tile_places[FT_TILE];
        int at = 0, row = 0;
        FT_LOOP(gathered)
        for (int t = 0; t < all; t++) {
            FT_PIPELINE
            for (int part = 0; part < FT_PARTS; part++) tile[at * FT_PARTS + part] = results.read();
            FT_SCAN_FOUND(tile_places[at])
            at += rows;
            if (at >= all) at = ++row;
        }
        FT_LOOP(together)
        for (int t = 0; t < all; t++) {
            FT_PIPELINE
            for (int part = 0; part < FT_PARTS; part++) out[t * FT_PARTS + part] = tile[t * FT_PARTS + part];
            FT_SCAN_READ_POSITION(places[t], tile_places[t])
        }
    } else if (step == 1) {
        for (int r = 0; r < all / length; r++) {
            FT_E *to = out + r * out_step * FT_PARTS;
            FT_LOOP(contiguous)
            for (int i = 0; i < length; i++) {
                FT_PIPELINE
                for (int part = 0; part < FT_PARTS; part++) to[i * FT_PARTS + part] = results.read();
                FT_SCAN_FOUND(places[r * out_step + i])
            }
        }
    } else {
        int c = 0;
        long at = 0, row = 0;
        FT_LOOP(strided)
        for (int t = 0; t < all; t++) {
            FT_PIPELINE
            for (int part = 0; part < FT_PARTS; part++) out[at * FT_PARTS + part] = results.read();
            FT_SCAN_FOUND(places[at])
            at += step;
            if (++c == length) {
                c = 0;
                row += out_step;
                at = row;
            }
        }
    }
}
FT_NOINLINE void ft_scan_run(
    FT_E *out, long *places, const FT_E *in, const FT_STATE_TYPE *before, FT_STATE_TYPE *total, int mode, int p, int side,
    int begin, int stop, int m, long in_step, long in_column, long out_step, long out_column)
{
#pragma HLS DATAFLOW
    hls::stream<FT_E, 64> results("results");
    hls::stream<int, 64> found("found");
    ft_scan_work(
        results, found, in, before, total, mode, p, side, begin, stop, m, in_step, in_column, out_step, out_column);
    ft_scan_leave(out, places, results, found, m, mode == 0 ? stop - begin : 0, out_step, out_column);
}
#else
#define FT_SCAN_WORK ft_scan_work
#endif

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL long *places, FT_GLOBAL const FT_E *in, FT_GLOBAL FT_STATE_TYPE *totals,
    long out_offset, long places_offset, long in_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int mode = G_MODE(g), items = G_ITEMS(g), parts = G_PARTS(g), part = G_PART(g), n = G_N(g);
    const int blocks = G_BLOCKS(g), columns = G_COLUMNS(g), side = G_SIDE(g), dims = G_DIMS(g);
    const long in_step = G_READ_STEP(g), in_column = G_READ_COLUMN(g);
    const long out_step = G_WRITTEN_STEP(g), out_column = G_WRITTEN_COLUMN(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *read = G_READ_STRIDES(g), *written = G_WRITTEN_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        const int p = item % parts, block = item / parts % blocks, begin = p * part;
        const int stop = mode == 1 && p == parts - 1 ? begin : n - begin < part ? n : begin + part;
        const int m = columns - block * side < side ? columns - block * side : side;
        long from = in_offset + block * side * in_column + begin * in_step;
        long to = block * side * out_column + begin * out_step;
        int rest = item / parts / blocks;
        #include "shared/batch_offsets.h"
        FT_GLOBAL FT_STATE_TYPE *before = totals + (long)(item / parts) * side * parts * FT_PARTS;
        FT_SCAN_WORK(
            out + (out_offset + to) * FT_PARTS, places + (places_offset + to), in + from * FT_PARTS, before,
            before + (long)p * side * FT_PARTS, mode, p, side, begin, stop, m, in_step, in_column, out_step, out_column);
    }
}
