// Stable sort of rows, with the positions of the elements in the input. Runs of a few elements are sorted by counting,
// for each element, those that precede it. Then runs are merged, from a to b and back.
// Mode 0: a unit sorts whole rows, in memory of its own. Long rows take several launches. Mode 1 sorts the tiles of a
// row. Mode 2 merges runs of `run` elements; the start of each result tile is found by bisection. Mode 3 writes the
// results.
// With FT_SELECTS, modes 4 and 5 select by rank: digit by digit, among the elements that share the higher digits. Mode
// 4 writes the first `run` elements, in the order of their positions. Mode 5 writes the element of rank `run` (from 1),
// or the median: NaN if the row has one (run = -1), or of the elements that are not NaN (run = -2).
// Geometry g: SortRowsGeometry.
// Merges runs [i, middle) and [j, end) and writes elements [at, stop) of the result.
FT_FN_ONCE void ft_merge(
    FT_GLOBAL const FT_KEY *keys, FT_GLOBAL const int *order, FT_GLOBAL FT_KEY *to_keys, FT_GLOBAL int *to_order,
    int i, int middle, int j, int end, int at, int stop)
{
    FT_LOOP(merged)
    for (int k = at; k < stop; k++) {
        FT_PIPELINE
        // A run that is used up is still read, at its last element, but that element is not taken.
        const int left = i < middle ? i : middle - 1, right = j < end ? j : end - 1;
        const FT_KEY x = keys[left], y = keys[right];
        const int second = j < end && (i >= middle || y < x);
        to_keys[k] = second ? y : x;
        to_order[k] = order[second ? right : left];
        i += 1 - second;
        j += second;
    }
}

#if FT_SELECTS
#define FT_DIGITS 2048
// Returns the key in a with rank `*rank`; *rank becomes the number of equal keys before it.
FT_FN_ONCE FT_KEY ft_ranked(FT_GLOBAL const FT_KEY *a, FT_GLOBAL FT_KEY *b, int n, int *rank)
{
    int counts[FT_DIGITS];
    int shift = (int)sizeof(FT_KEY) * 8 - 11, kept = n;
    FT_GLOBAL const FT_KEY *from = a;
    for (;;) {
        const int top = from == a;
        for (int k = 0; k < FT_DIGITS; k++) counts[k] = 0;
        for (int i = 0; i < kept; i++) {
            const int digit = (int)(from[i] >> shift);
            counts[top ? digit + FT_DIGITS / 2 : digit & (FT_DIGITS - 1)]++;
        }
        int wanted = 0;
        for (; *rank >= counts[wanted]; wanted++) *rank -= counts[wanted];
        int count = 0;
        for (int i = 0; i < kept; i++) {
            const FT_KEY key = from[i];
            const int digit = (int)(key >> shift);
            b[count] = key;  // the next key overwrites a key that is not kept
            count += (top ? digit + FT_DIGITS / 2 : digit & (FT_DIGITS - 1)) == wanted;
        }
        kept = count;
        if (shift == 0) return b[0];
        from = b;
        shift = shift > 11 ? shift - 11 : 0;
    }
}
#endif

// Merges all runs of [0, n), in pairs.
FT_FN_ONCE void ft_merge_all(
    FT_GLOBAL const FT_KEY *keys, FT_GLOBAL const int *order, FT_GLOBAL FT_KEY *to_keys, FT_GLOBAL int *to_order, int n,
    int run)
{
    for (int low = 0; low < n; low += 2 * run) {
        const int middle = n - low < run ? n : low + run, end = n - middle < run ? n : middle + run;
        ft_merge(keys, order, to_keys, to_order, low, middle, middle, end, low, end);
    }
}

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_B *values, FT_GLOBAL long *indices, FT_GLOBAL const FT_B *in, FT_GLOBAL FT_KEY *a_keys,
    FT_GLOBAL int *a_order, FT_GLOBAL FT_KEY *b_keys, FT_GLOBAL int *b_order, long values_offset, long indices_offset,
    long in_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int mode = G_MODE(g), items = G_ITEMS(g), tiles = G_TILES(g), tile = G_TILE(g), n = G_N(g);
    const int run = G_RUN(g), dims = G_DIMS(g);
    const FT_KEY flip = -(FT_KEY)G_DESCENDING(g);
    const long in_step = G_READ(g), out_step = G_WRITTEN(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *read = G_READ_STRIDES(g), *written = G_WRITTEN_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        const int row = item / tiles, first = item % tiles * tile;
        const int size = n - first < tile ? n - first : tile;
        long from = in_offset, to = 0, base = (long)(mode == 0 || mode > 3 ? FT_UNIT : row) * n;
        int rest = row;
        #include "shared/batch_offsets.h"
#if FT_SELECTS
        if (mode > 3) {
            FT_GLOBAL FT_KEY *keys = a_keys + base;
            int none = 0;
            for (int i = 0; i < n; i++) {
                const FT_KEY key = ft_sort_key(in[from + i * in_step], flip);
                keys[i] = key;
#if FT_BITS_OF_FLOAT
                none += key == FT_MAGNITUDE;
#endif
            }
            int rank = run - 1;
            if (run == -1) rank = none > 0 ? n - none : (n - 1) / 2;
            if (run == -2) rank = none < n ? (n - 1 - none) / 2 : 0;
            const FT_KEY last = ft_ranked(keys, b_keys + base, n, &rank);
            // Of the elements equal to key `last`, only the first `rank` + 1 are selected.
            for (int i = 0; i < n && rank >= 0; i++) {
                const int same = keys[i] == last;
                rank -= same;
                if (mode == 4 ? same || keys[i] < last : rank < 0) {
                    values[values_offset + to] = in[from + i * in_step];
                    indices[indices_offset + to] = i;
                    to += out_step;
                }
                if (rank < 0 && mode == 4) {
                    // All of these are found: only smaller elements follow.
                    for (i++; i < n; i++) {
                        if (keys[i] < last) {
                            values[values_offset + to] = in[from + i * in_step];
                            indices[indices_offset + to] = i;
                            to += out_step;
                        }
                    }
                }
            }
        }
#endif
        if (mode < 2) {
            FT_GLOBAL FT_KEY *ak = a_keys + base + first, *bk = b_keys + base + first;
            FT_GLOBAL int *ao = a_order + base + first, *bo = b_order + base + first;
            for (int low = 0; low < size; low += run) {
                FT_KEY keys[FT_RUN];
                const int m = size - low < run ? size - low : run;
                for (int k = 0; k < FT_RUN; k++) keys[k] = FT_LARGEST;
                FT_LOOP(read)
                for (int i = 0; i < m; i++) {
                    FT_PIPELINE
                    keys[i] = ft_sort_key(in[from + (first + low + i) * in_step], flip);
                }
                FT_LOOP(counted)
                for (int i = 0; i < m; i++) {
                    FT_PIPELINE
                    int before = 0;
                    FT_UNROLL
                    for (int k = 0; k < FT_RUN; k++)
                        before += keys[k] < keys[i] || (keys[k] == keys[i] && k < i) ? 1 : 0;
                    ak[low + before] = keys[i];
                    ao[low + before] = first + low + i;
                }
            }
            for (long width = run; width < size; width *= 4) {
                ft_merge_all(ak, ao, bk, bo, size, (int)width);
                ft_merge_all(bk, bo, ak, ao, size, (int)(2 * width < size ? 2 * width : size));
            }
        }
        if (mode == 2) {
            FT_GLOBAL const FT_KEY *keys = a_keys + base;
            const int low = (int)(first / (2L * run) * (2L * run));
            const int middle = n - low < run ? n : low + run, end = n - middle < run ? n : middle + run;
            // The number of elements before this tile that come from the left run.
            const int before = first - low;
            int least = before < end - middle ? 0 : before - (end - middle);
            int most = before < middle - low ? before : middle - low;
            FT_LOOP(bisect)
            for (; least < most;) {
                const int half_way = (least + most) / 2;
                if (keys[low + half_way] <= keys[middle + before - 1 - half_way]) {
                    least = half_way + 1;
                } else {
                    most = half_way;
                }
            }
            ft_merge(keys, a_order + base, b_keys + base, b_order + base, low + least, middle, middle + before - least, end,
                     first, first + size);
        }
        if (mode == 0 || mode == 3) {
            FT_LOOP(results)
            for (int i = first; i < first + size; i++) {
                FT_PIPELINE
                const int at = a_order[base + i];
                values[values_offset + to + i * out_step] = in[from + at * in_step];
                indices[indices_offset + to + i * out_step] = at;
            }
        }
    }
}
