// Radix sort of rows, lowest digit first: each pass moves the elements behind those of smaller digits, in the order of
// the pass before. Elements keep their bits. The keys are integers out_values of these bits: of a float its sign and
// magnitude, so that -0 equals 0, and NaN is the largest. With `flip` (all bits set) the order is descending.
// Mode 0: a unit sorts whole rows, in memory of its own. Long rows are divided into parts, and a pass takes three
// launches: mode 1 counts the digits of each part, mode 2 computes where each part's digits go, and mode 3 moves the
// elements.
// With `lined`, elements are collected per digit and written as vectors, past the caches if the result is large.
// With FT_PACKED, an element and its position are one word; otherwise the positions have a buffer of their own.
// A pass in which all digits are equal is skipped: sides[0] and sides[1] select where a row is read and written, in
// `in` (0), a (1) or b (2). The last pass writes the results.
// Geometry g: RadixGeometry.
#define FT_DIGITS 2048
#define FT_KEYS FT_VEC(FT_KEY)
#define FT_UNSIGNED_KEYS FT_VEC(FT_UNSIGNED_KEY)
#if FT_PACKED
#define FT_W ulong
#else
#define FT_W FT_B
#endif
#define FT_WS FT_VEC(FT_W)
#define FT_SEPARATE_POSITIONS (FT_WITH_POSITIONS && !FT_PACKED)
// Stores vectors of 64 bytes, one or two; FT_VSTORE_NONTEMPORAL bypasses the caches if the target can.
#define FT_LONGS_OUT(T, v, p) FT_CAT(vstore, FT_N)(v, 0, p);
#if FT_LANES == 16 && defined(FT_STREAMED_BYTES) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#undef FT_LONGS_OUT
#define FT_LONGS_OUT(T, v, p)                                                     \
    if (streamed && (ulong)(p) % 64 == 0) {                                       \
        __builtin_nontemporal_store((v).lo, (FT_GLOBAL FT_CAT(T, 8) *)(p));       \
        __builtin_nontemporal_store((v).hi, (FT_GLOBAL FT_CAT(T, 8) *)((p) + 8)); \
    } else {                                                                      \
        vstore16(v, 0, p);                                                        \
    }
#endif
#endif
#if FT_PACKED
#define FT_WORDS_OUT(v, p) FT_LONGS_OUT(ulong, v, p)
#else
#define FT_WORDS_OUT(v, p) FT_VSTORE_NONTEMPORAL(FT_B, v, p)
#endif

// The bits of m elements; the lanes after them repeat the first.
FT_FN_ONCE FT_VEC(FT_B) ft_bits(FT_GLOBAL const FT_B *from, long step, int m)
{
    if (step == 1 && m == FT_LANES) return FT_CAT(vload, FT_N)(0, from);
    FT_B bits[FT_LANES];
    for (int l = 0; l < FT_LANES; l++) bits[l] = from[(l < m ? l : 0) * step];
    return FT_CAT(vload, FT_N)(0, bits);
}

// The sort keys, and the words, of m elements from index i: from the input, or from words once `moved` is set.
FT_FN_ONCE FT_UNSIGNED_KEYS ft_keys(
    FT_GLOBAL const FT_B *in, long step, FT_GLOBAL const FT_W *moved_to, int moved, int i, int m, FT_KEY flip, FT_W *words)
{
#if FT_PACKED
    FT_WS whole;
    if (!moved) {
        whole = FT_CONVERT(ulong, FT_BITS(FT_UNSIGNED_B, ft_bits(in + i * step, step, m)));
        whole |= FT_CONVERT(ulong, (FT_I)i + FT_IOTA) << (FT_WS)32;
    } else if (m == FT_LANES) {
        whole = FT_CAT(vload, FT_N)(0, moved_to + i);
    } else {
        for (int l = 0; l < FT_LANES; l++) words[l] = moved_to[i + (l < m ? l : 0)];
        whole = FT_CAT(vload, FT_N)(0, words);
    }
    const FT_VEC(FT_B) bits = FT_BITS(FT_B, FT_CONVERT(FT_UNSIGNED_B, whole & (FT_WS)FT_LOW));
#else
    const FT_WS whole = moved ? ft_bits(moved_to + i, 1, m) : ft_bits(in + i * step, step, m), bits = whole;
#endif
    FT_CAT(vstore, FT_N)(whole, 0, words);
    const FT_KEYS b = FT_CONVERT(FT_KEY, bits);
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

// Counts how often each digit occurs, for `passes` digits from bit `shift` on.
FT_FN_ONCE void ft_count(
    FT_GLOBAL const FT_B *in, long step, FT_GLOBAL const FT_W *moved_to, int moved, int begin, int end, FT_KEY flip,
    int shift, int width, int passes, int *counts)
{
    const int mask = (1 << width) - 1;
    for (int d = 0; d < passes << width; d++) counts[d] = 0;
    for (int i = begin; i < end; i += FT_LANES) {
        FT_W words[FT_LANES];
        int digits[FT_LANES];
        const int m = end - i < FT_LANES ? end - i : FT_LANES;
        const FT_UNSIGNED_KEYS keys = ft_keys(in, step, moved_to, moved, i, m, flip, words);
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

// Stores an element's word at index p of the results, or of the next pass's input.
FT_FN_ONCE void ft_put_word(
    FT_W word, int place, int p, FT_GLOBAL FT_W *to, FT_GLOBAL int *to_order, FT_GLOBAL FT_B *values,
    FT_GLOBAL long *indices, long out_step, int last)
{
    if (!last) {
        to[p] = word;
#if FT_SEPARATE_POSITIONS
        to_order[p] = place;
#endif
        return;
    }
    values[p * out_step] = (FT_B)word;
#if FT_PACKED
    indices[p * out_step] = word >> 32;
#elif FT_WITH_POSITIONS
    indices[p * out_step] = place;
#endif
}

// Moves elements [begin, end) to the places `at` of their digits.
FT_FN_ONCE void ft_move(
    FT_GLOBAL const FT_B *in, long step, FT_GLOBAL const FT_W *moved_to, FT_GLOBAL const int *order, int moved, int begin,
    int end, FT_KEY flip, int shift, int mask, int *at, FT_GLOBAL FT_W *to, FT_GLOBAL int *to_order,
    FT_GLOBAL FT_B *values, FT_GLOBAL long *indices, long out_step, int last)
{
    for (int i = begin; i < end; i += FT_LANES) {
        FT_W words[FT_LANES];
        int digits[FT_LANES];
        const int m = end - i < FT_LANES ? end - i : FT_LANES;
        ft_digits(ft_keys(in, step, moved_to, moved, i, m, flip, words), shift, mask, digits);
        for (int l = 0; l < m; l++) {
            const int p = at[digits[l]]++;
            const int place = moved && FT_SEPARATE_POSITIONS ? order[i + l] : i + l;
            ft_put_word(words[l], place, p, to, to_order, values, indices, out_step, last);
        }
    }
}

#if FT_PACKED
// Unpacks n sorted words to values and indices.
FT_FN_ONCE void ft_unpack(
    FT_GLOBAL const FT_W *words, int n, FT_GLOBAL FT_B *values, FT_GLOBAL long *indices, long out_step)
{
    int i = 0;
    for (; out_step == 1 && i + FT_LANES <= n; i += FT_LANES) {
        const FT_WS whole = FT_CAT(vload, FT_N)(0, words + i);
        FT_CAT(vstore, FT_N)(FT_BITS(FT_B, FT_CONVERT(FT_UNSIGNED_B, whole & (FT_WS)FT_LOW)), 0, values + i);
        FT_CAT(vstore, FT_N)(FT_BITS(long, whole >> (FT_WS)32), 0, indices + i);
    }
    for (; i < n; i++) ft_put_word(words[i], 0, i, 0, 0, values, indices, out_step, 1);
}
#endif

// Like ft_move for contiguous results: collects a vector per digit before it stores one.
FT_FN_ONCE void ft_move_lined(
    FT_GLOBAL const FT_B *in, long step, FT_GLOBAL const FT_W *moved_to, FT_GLOBAL const int *order, int moved, int begin,
    int end, FT_KEY flip, int shift, int mask, int *at, FT_GLOBAL FT_W *to, FT_GLOBAL int *to_order,
    FT_GLOBAL FT_B *values, FT_GLOBAL long *indices, int last, FT_GLOBAL FT_W *lines, FT_GLOBAL int *places)
{
    FT_STREAMED(0x7fffffff, 0)  // a lined part is large
    int start[FT_DIGITS];
    for (int d = 0; d <= mask; d++) start[d] = at[d];
    for (int i = begin; i < end; i += FT_LANES) {
        FT_W words[FT_LANES];
        int digits[FT_LANES];
        const int m = end - i < FT_LANES ? end - i : FT_LANES;
        ft_digits(ft_keys(in, step, moved_to, moved, i, m, flip, words), shift, mask, digits);
        for (int l = 0; l < m; l++) {
            const int d = digits[l], p = at[d], slot = p & (FT_LANES - 1);
            FT_GLOBAL FT_W *line = lines + d * FT_LANES;
            FT_GLOBAL int *place = places + FT_SEPARATE_POSITIONS * d * FT_LANES;
            at[d] = p + 1;
            line[slot] = words[l];
#if FT_SEPARATE_POSITIONS
            place[slot] = moved ? order[i + l] : i + l;
#endif
            if (slot < FT_LANES - 1) continue;
            const int first = p - (FT_LANES - 1);
            if (first < start[d]) {
                for (int k = start[d]; k <= p; k++) {
                    const int s = k & (FT_LANES - 1);
                    ft_put_word(
                        line[s], FT_SEPARATE_POSITIONS ? place[s] : 0, k, to, to_order, values, indices, 1, last);
                }
                continue;
            }
            const FT_WS whole = FT_CAT(vload, FT_N)(0, line);
            if (!last) {
                FT_WORDS_OUT(whole, to + first)
#if FT_SEPARATE_POSITIONS
                FT_VSTORE_NONTEMPORAL(int, (FT_CAT(vload, FT_N)(0, place)), to_order + first)
#endif
                continue;
            }
#if FT_PACKED
            FT_VSTORE_NONTEMPORAL(FT_B, FT_BITS(FT_B, FT_CONVERT(FT_UNSIGNED_B, whole & (FT_WS)FT_LOW)), values + first)
            FT_LONGS_OUT(long, FT_BITS(long, whole >> (FT_WS)32), indices + first)
#else
            FT_VSTORE_NONTEMPORAL(FT_B, whole, values + first)
#if FT_SEPARATE_POSITIONS
            FT_LONGS_OUT(long, FT_CONVERT(long, FT_CAT(vload, FT_N)(0, place)), indices + first)
#endif
#endif
        }
    }
    for (int d = 0; d <= mask; d++) {
        const int whole = at[d] & ~(FT_LANES - 1);
        for (int k = whole < start[d] ? start[d] : whole; k < at[d]; k++) {
            const int s = d * FT_LANES + (k & (FT_LANES - 1));
            ft_put_word(lines[s], FT_SEPARATE_POSITIONS ? places[s] : 0, k, to, to_order, values, indices, 1, last);
        }
    }
}

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_B *values,
#if FT_WITH_POSITIONS
    FT_GLOBAL long *indices,
#endif
    FT_GLOBAL const FT_B *in, FT_GLOBAL FT_W *a, FT_GLOBAL FT_W *b, FT_GLOBAL FT_W *lines, FT_GLOBAL int *orders,
    FT_GLOBAL int *digit_counts, long values_offset,
#if FT_WITH_POSITIONS
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
        FT_GLOBAL FT_W *as[2] = {a + base, b + base};
        FT_GLOBAL int *os[2] = {orders + FT_SEPARATE_POSITIONS * base, orders + FT_SEPARATE_POSITIONS * (kept + base)};
        // `sides`: where a row is read and written. The digit counts of its parts follow.
        FT_GLOBAL int *sides = digit_counts + (long)row * ((parts << width) + 2), *counts = sides + 2;
        long from = in_offset, to = 0;
        int rest = row;
        #include "shared/batch_offsets.h"
        FT_GLOBAL const FT_B *source = in + from;
        FT_GLOBAL FT_B *out_values = values + (values_offset + to);
#if FT_WITH_POSITIONS
        FT_GLOBAL long *places = indices + (indices_offset + to);
#else
        FT_GLOBAL long *places = 0;
#endif
        int at[FT_DIGITS];
        if (mode == 0) {
            int side = 0, all[FT_PASSES * FT_DIGITS];
            ft_count(source, in_step, a, 0, 0, n, flip, 0, width, passes, all);
            for (int k = 0; k < passes; k++) {
                const int last = k == passes - 1, shift = k * width;
                int sum = 0, alike = 0;
                for (int d = 0; d <= mask; d++) {
                    const int count = all[(k << width) + d];
                    alike |= count == n;
                    at[d] = sum;
                    sum += count;
                }
                if (alike && !last) continue;
                const int next = side == 1 ? 2 : 1;
                // Words stay packed until the last pass: one store each instead of two for value and index.
                ft_move(
                    source, in_step, as[side == 2], os[side == 2], side, 0, n, flip, shift, mask, at, as[next == 2],
                    os[next == 2], out_values, places, out_step, last && !FT_PACKED);
                side = next;
            }
#if FT_PACKED
            ft_unpack(as[side == 2], n, out_values, places, out_step);
#endif
        }
        const int side = pass ? sides[1] : 0;
        if (mode == 1) {
            ft_count(source, in_step, as[side == 2], side, begin, end, flip, pass * width, width, 1, at);
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
            if (G_LINED(g) && (!last || out_step == 1)) {
                const long first_line = (long)item * FT_LANES << width;
                FT_GLOBAL FT_W *own = lines + first_line;
                FT_GLOBAL int *own_places = orders + FT_SEPARATE_POSITIONS * (2L * kept + first_line);
                ft_move_lined(
                    source, in_step, as[was == 2], os[was == 2], was, begin, end, flip, pass * width, mask, at,
                    as[next == 2], os[next == 2], out_values, places, last, own, own_places);
            } else {
                ft_move(
                    source, in_step, as[was == 2], os[was == 2], was, begin, end, flip, pass * width, mask, at,
                    as[next == 2], os[next == 2], out_values, places, out_step, last);
            }
        }
    }
}
