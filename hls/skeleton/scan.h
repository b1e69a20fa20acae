// Running combinations along a dim: each result is the one before it, combined with the next element.
// Neighbouring rows go side by side, FT_COLUMNS at a time, so that a dim of any stride is read in order.
// A row alone has its state in a register; with FT_FOURS, where sums may be grouped, four elements join it at once, and
// FT_GROUP of them where the state would wait for each element: they are combined with each other meanwhile.
// A row that is to feed several units is cut into parts: a launch of mode 1 leaves the totals of all but the last,
// and one of mode 0 then begins each part with the totals of those before it.
// Geometry g: ScanGeometry.
// With FT_STATE_TYPE, states and totals are of that type, wider than an element's.
// Holes: FT_COMBINE(x, y) of the state and an element; with FT_ARG, FT_TAKE(x, y): whether y replaces x, and
//   `places` gets where the element stands that did.
#define FT_COLUMNS 16
FT_FN_ONCE void ft_scan_store(FT_X x, FT_GLOBAL FT_E *p)
{
    FT_WIDE_E w;
    FT_EACH_LANE { FT_LANE(w) = FT_STORED(x); }
    FT_E_PUT(w, p, 1, 1);
}
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

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL long *places, FT_GLOBAL const FT_E *in, FT_GLOBAL FT_STATE_TYPE *totals,
    long out_offset, long places_offset, long in_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(places, gmem1)
    FT_PORT(in, gmem2)
    FT_PORT(totals, gmem3)
    FT_PORT(g, gmem4)
    const int mode = G_MODE(g), items = G_ITEMS(g), parts = G_PARTS(g), part = G_PART(g), n = G_N(g);
    const int blocks = G_BLOCKS(g), columns = G_COLUMNS(g), dims = G_DIMS(g);
    const long in_step = G_READ_STEP(g), in_column = G_READ_COLUMN(g);
    const long out_step = G_WRITTEN_STEP(g), out_column = G_WRITTEN_COLUMN(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *read = G_READ_STRIDES(g), *written = G_WRITTEN_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        const int p = item % parts, block = item / parts % blocks, begin = p * part;
        const int stop = mode == 1 && p == parts - 1 ? begin : n - begin < part ? n : begin + part;
        const int m = columns - block * FT_COLUMNS < FT_COLUMNS ? columns - block * FT_COLUMNS : FT_COLUMNS;
        long from = in_offset + block * FT_COLUMNS * in_column + begin * in_step;
        long to = block * FT_COLUMNS * out_column + begin * out_step;
        int rest = item / parts / blocks;
        for (int d = dims - 1; d >= 0; d--) {
            const int k = rest % (int)shape[d];
            rest /= (int)shape[d];
            from += k * read[d];
            to += k * written[d];
        }
        FT_STATE_OF state[FT_COLUMNS];
        int place[FT_COLUMNS];
        const long before = (long)(item / parts) * FT_COLUMNS * parts;
        int started = 0;
        for (int c = 0; c < FT_COLUMNS; c++) {
            state[c] = FT_TO_STATE(FT_ZERO_X);
            place[c] = 0;
        }
        if (mode == 0 && p > 0) {
            for (int q = 0; q < p; q++) {
                FT_LOOP(before)
                for (int c = 0; c < m; c++) {
                    FT_PIPELINE
                    const FT_STATE_OF x = FT_TOTAL(totals + (before + (long)q * FT_COLUMNS + c) * FT_PARTS);
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
            FT_GLOBAL const FT_E *x_at = in + from * FT_PARTS;
            FT_GLOBAL FT_E *y_at = out + (out_offset + to) * FT_PARTS;
            FT_STATE_OF one = state[0];
#if FT_ARG
            int found = 0;
            FT_GLOBAL long *place_at = places + places_offset + to;
#elif FT_FOURS
            if (mode == 0) {
                if (!started) one = 0;
                for (; k + 4 <= stop; k += 4) {
                    const FT_STATE_OF a = FT_TO_STATE(FT_ONE(x_at)), b = FT_TO_STATE(FT_ONE(x_at + in_step));
                    const FT_STATE_OF c = FT_TO_STATE(FT_ONE(x_at + 2 * in_step));
                    const FT_STATE_OF d = FT_TO_STATE(FT_ONE(x_at + 3 * in_step));
                    const FT_STATE_OF ab = FT_COMBINE(a, b), abcd = FT_COMBINE(ab, FT_COMBINE(c, d));
                    ft_scan_store(FT_FROM_STATE(FT_COMBINE(one, a)), y_at);
                    ft_scan_store(FT_FROM_STATE(FT_COMBINE(one, ab)), y_at + out_step);
                    ft_scan_store(FT_FROM_STATE(FT_COMBINE(one, FT_COMBINE(ab, c))), y_at + 2 * out_step);
                    one = FT_COMBINE(one, abcd);
                    ft_scan_store(FT_FROM_STATE(one), y_at + 3 * out_step);
                    x_at += 4 * in_step;
                    y_at += 4 * out_step;
                    started = 1;
                }
            }
#elif FT_GROUP > 1
            if (!started && k + FT_GROUP <= stop) one = FT_TO_STATE(FT_ZERO_X);
            FT_LOOP(group)
            for (; k + FT_GROUP <= stop; k += FT_GROUP) {
                FT_PIPELINE
                FT_STATE_OF run[FT_GROUP];
                FT_BANKS(run, 1)
                FT_UNROLL
                for (int j = 0; j < FT_GROUP; j++) run[j] = FT_TO_STATE(FT_ONE(x_at + j * in_step * FT_PARTS));
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
                        ft_scan_store(FT_FROM_STATE(FT_COMBINE(one, run[j])), y_at + j * out_step * FT_PARTS);
                    }
                }
                one = FT_COMBINE(one, run[FT_GROUP - 1]);
                x_at += FT_GROUP * in_step * FT_PARTS;
                y_at += FT_GROUP * out_step * FT_PARTS;
                started = 1;
            }
#endif
            FT_LOOP(row)
            for (; k < stop; k++) {
                FT_PIPELINE
                const FT_STATE_OF x = FT_TO_STATE(FT_ONE(x_at));
#if FT_ARG
                if (!started || FT_TAKE(one, x)) {
                    one = x;
                    found = k;
                }
                *place_at = found;
                place_at += out_step;
#else
                if (started) {
                    one = FT_COMBINE(one, x);
                } else {
                    one = x;
                }
#endif
                started = 1;
                if (mode == 0) ft_scan_store(FT_FROM_STATE(one), y_at);
                x_at += in_step * FT_PARTS;
                y_at += out_step * FT_PARTS;
            }
            state[0] = one;
        }
        for (; k < stop; k++) {
            FT_LOOP(elements)
            for (int c = 0; c < m; c++) {
                FT_PIPELINE
                const FT_X element = FT_ONE(in + (from + c * in_column) * FT_PARTS);
                const FT_STATE_OF x = FT_TO_STATE(element);
#if FT_ARG
                if (!started || FT_TAKE(state[c], x)) {
                    state[c] = x;
                    place[c] = k;
                }
                places[places_offset + to + c * out_column] = place[c];
#else
                if (started) {
                    state[c] = FT_COMBINE(state[c], x);
                } else {
                    state[c] = x;
                }
#endif
                if (mode == 0) ft_scan_store(FT_FROM_STATE(state[c]), out + (out_offset + to + c * out_column) * FT_PARTS);
            }
            started = 1;
            from += in_step;
            to += out_step;
        }
        if (mode == 1) {
            FT_LOOP(totals)
            for (int c = 0; c < m; c++) {
                FT_PIPELINE
                FT_KEEP_TOTAL(state[c], totals + (before + (long)p * FT_COLUMNS + c) * FT_PARTS)
            }
        }
    }
}
