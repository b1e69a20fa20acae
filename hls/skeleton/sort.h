// Stable sort of rows, with the positions of the elements in the input, for boards: every loop takes an element a
// cycle.
// Mode 0 sorts tiles of a row in local memory. A row of FT_RUN registers sorts FT_RUN elements by insertion, and
// outputs them while the next ones enter. Then passes merge FT_MERGE_WAYS runs at a time, from one half of the memory to the
// other. Mode 1 merges FT_MERGE_WAYS runs of `run` elements in memory into one. Each run has a part of the local memory, for
// the elements of four rounds. A merge begins with three of them filled. While a round of FT_ROUND cycles merges, each
// run is refilled by the number of elements that the previous round took from it, one element a cycle. They are needed
// in the round after next at the earliest, so the port has time to answer.
// A merge is a tree of registers, where each node holds the least element below it. When the root is output, each node
// on the path to that element's leaf takes the lesser of its two children, all in one cycle, since all nodes compare
// their children at the same time. The leaf takes the oldest of its FT_AHEAD prefetched elements. The element that
// replaces it is FT_AHEAD further in the run and arrives three cycles later: the first cycle selects the leaf, the
// second the address, the third reads. So no address depends on an element that was just read. At first all nodes hold
// an element of rank 0, which precedes all others and is dropped; elements behind the end of a run have rank 2 and
// follow all others. Of equal elements the left one is taken, whose position is lower.
// With FT_PROCESSES, a process of its own writes the results, in bursts if they are contiguous.
// Geometry g: SortGeometry.
#define FT_ROUND (FT_PART / 4)
#if FT_PROCESSES
#define FT_SORT_OUT hls::stream<FT_B> &sorted, hls::stream<int> &places
#define FT_SORT_WRITE(x, place, i) \
    {                               \
        sorted.write(x);            \
        places.write(place);        \
    }
#else
#define FT_SORT_OUT                                                                                          \
    FT_GLOBAL FT_B *values, FT_GLOBAL long *indices, FT_GLOBAL FT_B *merged, FT_GLOBAL int *merged_order, int last, \
        long out_step
#define FT_SORT_WRITE(x, place, i)            \
    if (last) {                                \
        values[(long)(i) * out_step] = x;      \
        indices[(long)(i) * out_step] = place; \
    } else {                                   \
        merged[i] = x;                         \
        merged_order[i] = place;               \
    }
#endif
// Sorts one tile, or performs one merge, of `size` elements.
FT_NOINLINE void ft_sort_work(
    FT_SORT_OUT, FT_GLOBAL const FT_B *in, FT_GLOBAL const FT_B *runs, FT_GLOBAL const int *runs_order, long in_step,
    int first, int size, int merges, long run, int passes, FT_KEY flip)
{
    FT_B value[2][FT_TILE];
    int order[2][FT_TILE];
    FT_ARRAY_PARTITION(value, 1)
    FT_ARRAY_PARTITION(order, 1)
    if (!merges) {
        FT_B row_value[FT_RUN], leaving_value[FT_RUN];
        int row_order[FT_RUN], leaving_order[FT_RUN];
        FT_ARRAY_PARTITION(row_value, 1)
        FT_ARRAY_PARTITION(row_order, 1)
        FT_ARRAY_PARTITION(leaving_value, 1)
        FT_ARRAY_PARTITION(leaving_order, 1)
        for (int s = 0; s < FT_RUN; s++) {
            row_value[s] = leaving_value[s] = 0;
            row_order[s] = leaving_order[s] = 0;
        }
        FT_LOOP(insert)
        for (int i = 0; i < size + FT_RUN; i++) {
            FT_PIPELINE
            const int count = i % FT_RUN;
            FT_UNROLL
            for (int s = 0; s < FT_RUN; s++) {
                const int next = s + 1 < FT_RUN ? s + 1 : s;
                const FT_B held = row_value[s], behind = leaving_value[next];
                const int held_order = row_order[s], behind_order = leaving_order[next];
                leaving_value[s] = count == 0 ? held : behind;
                leaving_order[s] = count == 0 ? held_order : behind_order;
            }
            if (i >= FT_RUN) {
                value[0][i - FT_RUN] = leaving_value[0];
                order[0][i - FT_RUN] = leaving_order[0];
            }
            const FT_B x = in[(i < size ? i : 0) * in_step];
            const FT_KEY key = ft_sort_key(x, flip);
            FT_UNROLL
            for (int k = 0; k < FT_RUN; k++) {
                const int s = FT_RUN - 1 - k;
                const int before = s > 0 ? s - 1 : 0;
                const int stays = s < count && ft_sort_key(row_value[s], flip) <= key;
                const int here = s == 0 || (s <= count && ft_sort_key(row_value[before], flip) <= key);
                if (i < size && !stays) {
                    row_value[s] = here ? x : row_value[before];
                    row_order[s] = here ? first + i : row_order[before];
                }
            }
        }
    }
    long width = merges ? run : FT_RUN;
    int side = 0;
    for (int pass = 0; pass < passes; pass++) {
        for (long low = 0; low < size; low += FT_MERGE_WAYS * width) {
            FT_KEY node_key[2 * FT_MERGE_WAYS];
            FT_B node_value[2 * FT_MERGE_WAYS], next_value[FT_MERGE_WAYS][FT_AHEAD];
            int node_order[2 * FT_MERGE_WAYS], node_rank[2 * FT_MERGE_WAYS];
            int next_order[FT_MERGE_WAYS][FT_AHEAD], next_rank[FT_MERGE_WAYS][FT_AHEAD], oldest[FT_MERGE_WAYS];
            // For each run: its length, its start, how many elements were requested, how many were consumed,
            // and how many of them before this round. until[w] is the iteration of this round that ends the
            // refill of run w.
            int length[FT_MERGE_WAYS], start[FT_MERGE_WAYS], filled[FT_MERGE_WAYS], at[FT_MERGE_WAYS], had[FT_MERGE_WAYS], until[FT_MERGE_WAYS];
            FT_ARRAY_PARTITION(node_key, 1)
            FT_ARRAY_PARTITION(node_value, 1)
            FT_ARRAY_PARTITION(node_order, 1)
            FT_ARRAY_PARTITION(node_rank, 1)
            FT_ARRAY_PARTITION(next_value, 1)
            FT_ARRAY_PARTITION(next_value, 2)
            FT_ARRAY_PARTITION(next_order, 1)
            FT_ARRAY_PARTITION(next_order, 2)
            FT_ARRAY_PARTITION(next_rank, 1)
            FT_ARRAY_PARTITION(next_rank, 2)
            FT_ARRAY_PARTITION(oldest, 1)
            FT_ARRAY_PARTITION(length, 1)
            FT_ARRAY_PARTITION(start, 1)
            FT_ARRAY_PARTITION(filled, 1)
            FT_ARRAY_PARTITION(at, 1)
            FT_ARRAY_PARTITION(had, 1)
            FT_ARRAY_PARTITION(until, 1)
            const int begin = (int)(merges ? 0 : low), apart = merges ? FT_PART : (int)width;
            for (int w = 0; w < FT_MERGE_WAYS; w++) {
                const long left = size - low - w * width;
                length[w] = left < 0 ? 0 : left < width ? (int)left : (int)width;
                start[w] = begin + w * apart;
                filled[w] = at[w] = had[w] = until[w] = oldest[w] = 0;
                node_rank[2 * w] = node_rank[2 * w + 1] = 0;
                node_key[2 * w] = node_key[2 * w + 1] = 0;
                node_value[2 * w] = node_value[2 * w + 1] = 0;
                node_order[2 * w] = node_order[2 * w + 1] = 0;
                for (int a = 0; a < FT_AHEAD; a++) {
                    next_rank[w][a] = next_order[w][a] = 0;
                    next_value[w][a] = 0;
                }
            }
            for (int w = 0; w < FT_MERGE_WAYS && merges; w++) {
                filled[w] = length[w] < 3 * FT_ROUND ? length[w] : 3 * FT_ROUND;
                FT_LOOP(fill_leaves)
                for (int i = 0; i < filled[w]; i++) {
                    FT_PIPELINE
                    value[0][w * FT_PART + i] = runs[w * run + i];
                    order[0][w * FT_PART + i] = runs_order[w * run + i];
                }
            }
            const int count = (int)(size - low < FT_MERGE_WAYS * width ? size - low : FT_MERGE_WAYS * width);
            const long turns = FT_LEAD + (long)count;
            const int mask = merges ? FT_PART - 1 : FT_TILE - 1;
            int turn = 0;  // iteration of this round
            // The lookup of the element that follows, in three cycles: which leaf took an element (-1: none
            // yet) and from which slot, the request two cycles ago, the element that arrives now.
            int took = -1, took_slot = 0, asked = -1, asked_slot = 0, asked_rank = 0, asked_place = 0;
            int came = -1, came_slot = 0, came_rank = 0, came_order = 0;
            FT_B came_value = 0;
            FT_LOOP(merge)
            for (long k = 0; k < turns; k++) {
                FT_PIPELINE
                FT_NO_DEPENDENCE(value)
                FT_NO_DEPENDENCE(order)
                if (merges && turn < until[FT_MERGE_WAYS - 1]) {
                    int of = 0;
                    FT_UNROLL
                    for (int w = 0; w < FT_MERGE_WAYS - 1; w++) of += until[w] <= turn;
                    const int next = filled[of] - until[of] + turn, place = of * FT_PART + (next & mask);
                    value[0][place] = runs[of * run + next];
                    order[0][place] = runs_order[of * run + next];
                }
                if (k >= FT_LEAD) {
                    if (pass == passes - 1) {
                        FT_SORT_WRITE(node_value[1], node_order[1], k - FT_LEAD)
                    } else {
                        value[1 - side][begin + (int)(k - FT_LEAD)] = node_value[1];
                        order[1 - side][begin + (int)(k - FT_LEAD)] = node_order[1];
                    }
                }
                FT_UNROLL
                for (int w = 0; w < FT_MERGE_WAYS; w++) {
                    FT_UNROLL
                    for (int a = 0; a < FT_AHEAD; a++) {
                        if (w == came && a == came_slot) {
                            next_value[w][a] = came_value;
                            next_order[w][a] = came_order;
                            next_rank[w][a] = came_rank;
                        }
                    }
                }
                came = asked;
                came_slot = asked_slot;
                came_rank = asked_rank;
                came_value = value[side][asked_place];
                came_order = order[side][asked_place];
                int gone = 0, end = 0, from = 0;
                FT_UNROLL
                for (int w = 0; w < FT_MERGE_WAYS; w++) {
                    if (w == took) {
                        gone = at[w];
                        end = length[w];
                        from = start[w];
                        at[w] += at[w] < length[w];
                    }
                }
                asked = took;
                asked_slot = took_slot;
                asked_rank = gone < end ? 1 : 2;
                asked_place = gone < end ? from + (gone & mask) : 0;
                int taken[2 * FT_MERGE_WAYS];
                FT_ARRAY_PARTITION(taken, 1)
                taken[1] = 1;
                FT_UNROLL
                for (int i = 1; i < FT_MERGE_WAYS; i++) {
                    const int l = 2 * i, r = l + 1;
                    const int second = node_rank[r] < node_rank[l] ||
                                       (node_rank[r] == node_rank[l] && node_key[r] < node_key[l]);
                    taken[l] = taken[i] && !second;
                    taken[r] = taken[i] && second;
                    if (taken[i]) {
                        node_key[i] = second ? node_key[r] : node_key[l];
                        node_value[i] = second ? node_value[r] : node_value[l];
                        node_order[i] = second ? node_order[r] : node_order[l];
                        node_rank[i] = second ? node_rank[r] : node_rank[l];
                    }
                }
                FT_UNROLL
                for (int w = 0; w < FT_MERGE_WAYS; w++) {
                    if (taken[FT_MERGE_WAYS + w]) {
                        const int a = oldest[w];
                        const FT_B x = next_value[w][a];
                        node_key[FT_MERGE_WAYS + w] = ft_sort_key(x, flip);
                        node_value[FT_MERGE_WAYS + w] = x;
                        node_order[FT_MERGE_WAYS + w] = next_order[w][a];
                        node_rank[FT_MERGE_WAYS + w] = next_rank[w][a];
                        took = w;
                        took_slot = a;
                        oldest[w] = a + 1 < FT_AHEAD ? a + 1 : 0;
                    }
                }
                if (++turn == FT_ROUND) {
                    turn = 0;
                    int sum = 0;
                    FT_UNROLL
                    for (int w = 0; w < FT_MERGE_WAYS; w++) {
                        const int used = at[w] - had[w], left = length[w] - filled[w], more = used < left ? used : left;
                        had[w] = at[w];
                        filled[w] += more;
                        sum += more;
                        until[w] = sum;
                    }
                }
            }
        }
        width *= FT_MERGE_WAYS;
        side = 1 - side;
    }
}
#if FT_PROCESSES
FT_NOINLINE void ft_sort_leave(
    FT_B *values, long *indices, FT_B *merged, int *merged_order, hls::stream<FT_B> &sorted, hls::stream<int> &places,
    int last, long out_step, int size)
{
    if (!last) {
        FT_LOOP(write_run)
        for (int i = 0; i < size; i++) {
            FT_PIPELINE
            merged[i] = sorted.read();
            merged_order[i] = places.read();
        }
    } else if (out_step == 1) {
        FT_LOOP(results)
        for (int i = 0; i < size; i++) {
            FT_PIPELINE
            values[i] = sorted.read();
            indices[i] = places.read();
        }
    } else {
        FT_LOOP(strided)
        for (int i = 0; i < size; i++) {
            FT_PIPELINE
            values[i * out_step] = sorted.read();
            indices[i * out_step] = places.read();
        }
    }
}
FT_NOINLINE void ft_sort_run(
    FT_B *values, long *indices, FT_B *merged, int *merged_order, const FT_B *in, const FT_B *runs, const int *runs_order,
    int last, long out_step, long in_step, int first, int size, int merges, long run, int passes, FT_KEY flip)
{
#pragma HLS DATAFLOW
    hls::stream<FT_B, 64> sorted("sorted");
    hls::stream<int, 64> places("places");
    ft_sort_work(sorted, places, in, runs, runs_order, in_step, first, size, merges, run, passes, flip);
    ft_sort_leave(values, indices, merged, merged_order, sorted, places, last, out_step, size);
}
#endif

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_B *values, FT_GLOBAL long *indices, FT_GLOBAL const FT_B *in, FT_GLOBAL const FT_B *runs,
    FT_GLOBAL const int *runs_order, FT_GLOBAL FT_B *merged, FT_GLOBAL int *merged_order, long values_offset,
    long indices_offset, long in_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int merges = G_MERGES(g), last = G_LAST(g), items = G_ITEMS(g), tiles = G_TILES(g), n = G_N(g);
    const int dims = G_DIMS(g), passes = G_PASSES(g);
    const long tile = G_TILE(g), run = G_RUN(g), in_step = G_READ(g), out_step = G_WRITTEN(g);
    const FT_KEY flip = -(FT_KEY)G_DESCENDING(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *read = G_READ_STRIDES(g), *written = G_WRITTEN_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        const int row = item / tiles, first = (int)(item % tiles * tile);
        const int size = (int)(n - first < tile ? n - first : tile);
        const long base = (long)row * n + first;
        long from = in_offset + first * in_step, to = first * out_step;
        int rest = row;
        #include "shared/batch_offsets.h"
#if FT_PROCESSES
        ft_sort_run(
            values + (values_offset + to), indices + (indices_offset + to), merged + base, merged_order + base, in + from,
            runs + base, runs_order + base, last, out_step, in_step, first, size, merges, run, passes, flip);
#else
        ft_sort_work(
            values + (values_offset + to), indices + (indices_offset + to), merged + base, merged_order + base, last,
            out_step, in + from, runs + base, runs_order + base, in_step, first, size, merges, run, passes, flip);
#endif
    }
}
