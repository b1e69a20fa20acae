// Rows in order by digits, the lowest first: each pass puts the elements behind those of smaller digits, equal ones as
// they stood. Elements keep their bits on the way; what is compared are whole numbers made of these: a float's as a
// sign and a magnitude, so that -0 is 0, and NaN the largest. With `flip` (all bits set) the order is turned around.
// Mode 0: a unit sorts whole rows, in memory of its own. Long rows are cut into parts, and a pass takes three launches:
// mode 1 counts the digits of each part, mode 2 says where each part's digits go, mode 3 moves the elements.
// With `lined`, elements are collected, and leave in vectors, past the caches where the result is large.
// A pass in which all digits are equal is left out: sides[0] and sides[1] say where a row is read and written, in `in`
// (0), a (1) or b (2). The last pass writes the results.
// Geometry g: RadixGeometry.
#define FT_DIGITS 2048
#define FT_KEYS FT_VEC(FT_KEY)
#define FT_UNSIGNED_KEYS FT_VEC(FT_UNSIGNED_KEY)
// Indices are vectors of 64 bytes, one or two.
#if FT_LANES == 16 && defined(FT_STREAMED_BYTES) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define FT_INDICES_OUT(v, p)                                               \
    if ((ulong)(p) % 64 == 0) {                                            \
        __builtin_nontemporal_store((v).lo, (FT_GLOBAL long8 *)(p));       \
        __builtin_nontemporal_store((v).hi, (FT_GLOBAL long8 *)((p) + 8)); \
    } else {                                                               \
        vstore16(v, 0, p);                                                 \
    }
#endif
#endif
#ifndef FT_INDICES_OUT
#define FT_INDICES_OUT(v, p) FT_CAT(vstore, FT_N)(v, 0, p);
#endif

// The bits of m elements, and the whole numbers that are compared.
FT_FN_ONCE FT_UNSIGNED_KEYS ft_keys(FT_GLOBAL const FT_B *from, long step, int m, FT_KEY flip, FT_B *bits)
{
    if (step == 1 && m == FT_LANES) {
        FT_CAT(vstore, FT_N)(FT_CAT(vload, FT_N)(0, from), 0, bits);
    } else {
        for (int l = 0; l < FT_LANES; l++) bits[l] = from[(l < m ? l : 0) * step];
    }
    const FT_KEYS b = FT_CONVERT(FT_KEY, FT_CAT(vload, FT_N)(0, bits));
#if FT_BITS_OF_FLOAT
    const FT_KEYS magnitude = b & (FT_KEYS)FT_MAGNITUDE, value = b < (FT_KEYS)0 ? -magnitude : magnitude;
    const FT_KEYS key = magnitude > (FT_KEYS)FT_INFINITE ? (FT_KEYS)FT_MAGNITUDE : value;
#else
    const FT_KEYS key = b;
#endif
    return FT_BITS(FT_UNSIGNED_KEY, (key ^ (FT_KEYS)(FT_SIGN ^ flip)) & (FT_KEYS)FT_WHOLE);
}

FT_FN_ONCE void ft_digits(FT_UNSIGNED_KEYS keys, int shift, int mask, int *digits)
{
    FT_CAT(vstore, FT_N)(FT_CONVERT(int, keys >> (FT_UNSIGNED_KEYS)shift) & mask, 0, digits);
}

// How often each digit is there, of `passes` digits from `shift` on.
FT_FN_ONCE void ft_count(
    FT_GLOBAL const FT_B *from, long step, int begin, int end, FT_KEY flip, int shift, int width, int passes, int *counts)
{
    const int mask = (1 << width) - 1;
    for (int d = 0; d < passes << width; d++) counts[d] = 0;
    for (int i = begin; i < end; i += FT_LANES) {
        FT_B bits[FT_LANES];
        int digits[FT_LANES];
        const int m = end - i < FT_LANES ? end - i : FT_LANES;
        const FT_UNSIGNED_KEYS keys = ft_keys(from + i * step, step, m, flip, bits);
        for (int k = 0; k < passes; k++) {
            int *own = counts + (k << width);
            ft_digits(keys, shift + k * width, mask, digits);
            if (m == FT_LANES) {
                FT_UNROLL
                for (int l = 0; l < FT_LANES; l++) own[digits[l]]++;
            } else {
                for (int l = 0; l < m; l++) own[digits[l]]++;
            }
        }
    }
}

// Elements [begin, end) go to the places `at` of their digits.
FT_FN_ONCE void ft_move(
    FT_GLOBAL const FT_B *from, FT_GLOBAL const int *from_order, int moved, long step, int begin, int end, FT_KEY flip,
    int shift, int mask, int *at, FT_GLOBAL FT_B *to, FT_GLOBAL int *to_order, FT_GLOBAL long *indices, long out_step,
    int last)
{
    for (int i = begin; i < end; i += FT_LANES) {
        FT_B bits[FT_LANES];
        int digits[FT_LANES];
        const int m = end - i < FT_LANES ? end - i : FT_LANES;
        ft_digits(ft_keys(from + i * step, step, m, flip, bits), shift, mask, digits);
        for (int l = 0; l < m; l++) {
            const int p = at[digits[l]]++;
            to[p * out_step] = bits[l];
#if FT_PLACES
            const int place = moved ? from_order[i + l] : i + l;
            if (last) {
                indices[p * out_step] = place;
            } else {
                to_order[p] = place;
            }
#endif
        }
    }
}

// The same, by lines of a vector for each digit.
FT_FN_ONCE void ft_move_lined(
    FT_GLOBAL const FT_B *from, FT_GLOBAL const int *from_order, int moved, long step, int begin, int end, FT_KEY flip,
    int shift, int mask, int *at, FT_GLOBAL FT_B *to, FT_GLOBAL int *to_order, FT_GLOBAL long *indices, int last,
    FT_GLOBAL FT_B *lines, FT_GLOBAL int *places)
{
    FT_STREAMED(0x7fffffff, 0)  // a part that is lined is a large one
    int start[FT_DIGITS];
    for (int d = 0; d <= mask; d++) start[d] = at[d];
    for (int i = begin; i < end; i += FT_LANES) {
        FT_B bits[FT_LANES];
        int digits[FT_LANES];
        const int m = end - i < FT_LANES ? end - i : FT_LANES;
        ft_digits(ft_keys(from + i * step, step, m, flip, bits), shift, mask, digits);
        for (int l = 0; l < m; l++) {
            const int d = digits[l], p = at[d], slot = p & (FT_LANES - 1);
            FT_GLOBAL FT_B *line = lines + d * FT_LANES;
            at[d] = p + 1;
            line[slot] = bits[l];
#if FT_PLACES
            FT_GLOBAL int *place = places + d * FT_LANES;
            place[slot] = moved ? from_order[i + l] : i + l;
#endif
            if (slot < FT_LANES - 1) continue;
            const int first = p - (FT_LANES - 1);
            if (first >= start[d]) {
                FT_VSTREAM(FT_B, (FT_CAT(vload, FT_N)(0, line)), to + first)
#if FT_PLACES
                const FT_VEC(int) whole = FT_CAT(vload, FT_N)(0, place);
                if (!last) {
                    FT_VSTREAM(int, whole, to_order + first)
                } else {
                    FT_INDICES_OUT(FT_CONVERT(long, whole), indices + first)
                }
#endif
            } else {
                for (int k = start[d]; k <= p; k++) {
                    to[k] = line[k & (FT_LANES - 1)];
#if FT_PLACES
                    if (last) {
                        indices[k] = place[k & (FT_LANES - 1)];
                    } else {
                        to_order[k] = place[k & (FT_LANES - 1)];
                    }
#endif
                }
            }
        }
    }
    for (int d = 0; d <= mask; d++) {
        const int whole = at[d] & ~(FT_LANES - 1);
        for (int k = whole < start[d] ? start[d] : whole; k < at[d]; k++) {
            to[k] = lines[d * FT_LANES + (k & (FT_LANES - 1))];
#if FT_PLACES
            const int place = places[d * FT_LANES + (k & (FT_LANES - 1))];
            if (last) {
                indices[k] = place;
            } else {
                to_order[k] = place;
            }
#endif
        }
    }
}

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_B *values,
#if FT_PLACES
    FT_GLOBAL long *indices,
#endif
    FT_GLOBAL const FT_B *in, FT_GLOBAL FT_B *a, FT_GLOBAL FT_B *b, FT_GLOBAL FT_B *lines, FT_GLOBAL int *orders,
    FT_GLOBAL int *told, long values_offset,
#if FT_PLACES
    long indices_offset,
#endif
    long in_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int mode = G_MODE(g), items = G_ITEMS(g), parts = G_PARTS(g), n = G_N(g), width = G_WIDTH(g);
    const int passes = G_PASSES(g), pass = G_TURN(g), mask = (1 << width) - 1, kept = G_KEPT(g), dims = G_DIMS(g);
    const FT_KEY flip = -(FT_KEY)G_DESCENDING(g);
    const long in_step = G_READ(g), out_step = G_WRITTEN(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *read = G_READ_STRIDES(g), *written = G_WRITTEN_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        const int row = mode == 2 ? item : item / parts, part = item % parts;
        const int begin = ft_slab(n, part, parts), end = ft_slab(n, part + 1, parts);
        const long base = (long)(mode == 0 ? FT_UNIT : row) * n;
        FT_GLOBAL FT_B *as[2] = {a + base, b + base};
        FT_GLOBAL int *os[2] = {orders + base, orders + (kept + base)};
        // A row's two sides, and behind them the counts of its parts.
        FT_GLOBAL int *sides = told + (long)row * ((parts << width) + 2), *counts = sides + 2;
        long from = in_offset, to = 0;
        int rest = row;
        for (int d = dims - 1; d >= 0; d--) {
            const int k = rest % (int)shape[d];
            rest /= (int)shape[d];
            from += k * read[d];
            to += k * written[d];
        }
        FT_GLOBAL const FT_B *source = in + from;
        FT_GLOBAL FT_B *made = values + (values_offset + to);
#if FT_PLACES
        FT_GLOBAL long *places = indices + (indices_offset + to);
#else
        FT_GLOBAL long *places = 0;
#endif
        int at[FT_DIGITS];
        if (mode == 0) {
            int side = 0, all[FT_PASSES * FT_DIGITS];
            ft_count(source, in_step, 0, n, flip, 0, width, passes, all);
            for (int k = 0; k < passes; k++) {
                const int last = k == passes - 1, shift = k * width;
                FT_GLOBAL const FT_B *x = side ? as[side - 1] : source;
                const long step = side ? 1 : in_step;
                int sum = 0, alike = 0;
                for (int d = 0; d <= mask; d++) {
                    const int count = all[(k << width) + d];
                    alike |= count == n;
                    at[d] = sum;
                    sum += count;
                }
                if (alike && !last) continue;
                const int next = side == 1 ? 2 : 1;
                ft_move(
                    x, os[side == 2], side, step, 0, n, flip, shift, mask, at, last ? made : as[next - 1], os[next == 2],
                    places, last ? out_step : 1, last);
                side = next;
            }
        }
        const int side = pass ? sides[1] : 0;
        if (mode == 1) {
            ft_count(
                side ? as[side - 1] : source, side ? 1 : in_step, begin, end, flip, pass * width, width, 1, at);
            for (int d = 0; d <= mask; d++) counts[(part << width) + d] = at[d];
        }
        if (mode == 2) {
            int sum = 0, alike = 0;
            for (int d = 0; d <= mask; d++) {
                const int before = sum;
                for (int k = 0; k < parts; k++) {
                    const int count = counts[(k << width) + d];
                    counts[(k << width) + d] = sum;
                    sum += count;
                }
                alike |= sum - before == n;
            }
            sides[0] = side;
            sides[1] = alike && pass < passes - 1 ? side : side == 1 ? 2 : 1;
        }
        if (mode == 3) {
            const int last = pass == passes - 1, was = sides[0], next = sides[1];
            if (was == next && !last) continue;
            for (int d = 0; d <= mask; d++) at[d] = counts[(part << width) + d];
            FT_GLOBAL const FT_B *x = was ? as[was - 1] : source;
            const long step = was ? 1 : in_step;
            FT_GLOBAL FT_B *y = last ? made : as[next - 1];
            if (G_LINED(g) && (!last || out_step == 1)) {
                FT_GLOBAL FT_B *own = lines + ((long)item * FT_LANES << width);
                FT_GLOBAL int *own_places = orders + (2L * kept + ((long)item * FT_LANES << width));
                ft_move_lined(
                    x, os[was == 2], was, step, begin, end, flip, pass * width, mask, at, y, os[next == 2], places, last,
                    own, own_places);
            } else {
                ft_move(
                    x, os[was == 2], was, step, begin, end, flip, pass * width, mask, at, y, os[next == 2], places,
                    last ? out_step : 1, last);
            }
        }
    }
}
