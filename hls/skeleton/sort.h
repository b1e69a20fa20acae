// Rows in order, stably, with the places that their elements had, for boards: every loop takes an element a cycle.
// Mode 0 sorts tiles of a row in local memory. FT_RUN elements are inserted into a row of registers, each at once where
// it belongs, and leave in order while the next ones come; then FT_WAYS runs at a time are merged, from one side of the
// memory to the other. Mode 1 merges FT_WAYS runs of `run` elements in memory into one, in rounds: each run has a part
// of the local memory, which is filled again in bursts before it could be used up in a round, and what a round
// gives is written in a burst.
// A merge is a tree of registers, where each node holds the least of what is below. When the root leaves, each node on the
// way to the leaf that it came from takes the lesser of the two below it, all in one cycle: which is the lesser, all nodes
// know at the same time. A leaf takes the element that waits beside it, in whose place the next one of its run is
// read. In the beginning all hold what goes before every element (rank 0) and is not kept; behind a run's end comes what
// goes after all (rank 2). Of equals the left one is taken, whose places are lower.
// Geometry g: SortGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_B *values, FT_GLOBAL long *indices, FT_GLOBAL const FT_B *in, FT_GLOBAL const FT_B *runs,
    FT_GLOBAL const int *runs_order, FT_GLOBAL FT_B *merged, FT_GLOBAL int *merged_order, long values_offset,
    long indices_offset, long in_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_PORT(values, gmem0)
    FT_PORT(indices, gmem1)
    FT_PORT(in, gmem2)
    FT_PORT(runs, gmem3)
    FT_PORT(runs_order, gmem4)
    FT_PORT(merged, gmem5)
    FT_PORT(merged_order, gmem6)
    FT_PORT(g, gmem7)
    const int merges = G_MERGES(g), last = G_LAST(g), items = G_ITEMS(g), tiles = G_TILES(g), n = G_N(g);
    const int dims = G_DIMS(g), passes = G_PASSES(g);
    const long tile = G_TILE(g), run = G_RUN(g), in_step = G_READ(g), out_step = G_WRITTEN(g);
    const FT_KEY flip = -(FT_KEY)G_DESCENDING(g);
    FT_GLOBAL const long *shape = G_SHAPE(g), *read = G_READ_STRIDES(g), *written = G_WRITTEN_STRIDES(g);
    FT_B value[2][FT_TILE];
    int order[2][FT_TILE];
    FT_BANKS(value, 1)
    FT_BANKS(order, 1)
    FT_FOR_SLAB(item, items)
    {
        const int row = item / tiles, first = (int)(item % tiles * tile);
        const int size = (int)(n - first < tile ? n - first : tile);
        const long base = (long)row * n + first;
        long from = in_offset + first * in_step, to = first * out_step;
        int rest = row;
        for (int d = dims - 1; d >= 0; d--) {
            const int k = rest % (int)shape[d];
            rest /= (int)shape[d];
            from += k * read[d];
            to += k * written[d];
        }
        if (!merges) {
            FT_LOOP(read)
            for (int i = 0; i < size; i++) {
                FT_PIPELINE
                value[1][i] = in[from + i * in_step];
            }
            FT_B row_value[FT_RUN], leaving_value[FT_RUN];
            int row_order[FT_RUN], leaving_order[FT_RUN];
            FT_BANKS(row_value, 1)
            FT_BANKS(row_order, 1)
            FT_BANKS(leaving_value, 1)
            FT_BANKS(leaving_order, 1)
            for (int s = 0; s < FT_RUN; s++) {
                row_value[s] = leaving_value[s] = 0;
                row_order[s] = leaving_order[s] = 0;
            }
            FT_LOOP(inserted)
            for (int i = 0; i < size + FT_RUN; i++) {
                FT_PIPELINE
                FT_APART_OF(value)
                FT_APART_OF(order)
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
                const FT_B x = value[1][i < size ? i : 0];
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
            for (long low = 0; low < size; low += FT_WAYS * width) {
                FT_KEY node_key[2 * FT_WAYS], next_key[FT_WAYS];
                FT_B node_value[2 * FT_WAYS], next_value[FT_WAYS];
                int node_order[2 * FT_WAYS], node_rank[2 * FT_WAYS], next_order[FT_WAYS], next_rank[FT_WAYS];
                int length[FT_WAYS], filled[FT_WAYS], at[FT_WAYS];
                FT_BANKS(node_key, 1)
                FT_BANKS(node_value, 1)
                FT_BANKS(node_order, 1)
                FT_BANKS(node_rank, 1)
                FT_BANKS(next_key, 1)
                FT_BANKS(next_value, 1)
                FT_BANKS(next_order, 1)
                FT_BANKS(next_rank, 1)
                FT_BANKS(length, 1)
                FT_BANKS(filled, 1)
                FT_BANKS(at, 1)
                for (int w = 0; w < FT_WAYS; w++) {
                    const long left = size - low - w * width;
                    length[w] = left < 0 ? 0 : left < width ? (int)left : (int)width;
                    filled[w] = at[w] = 0;
                    node_rank[2 * w] = node_rank[2 * w + 1] = next_rank[w] = 0;
                    node_key[2 * w] = node_key[2 * w + 1] = next_key[w] = 0;
                    node_value[2 * w] = node_value[2 * w + 1] = next_value[w] = 0;
                    node_order[2 * w] = node_order[2 * w + 1] = next_order[w] = 0;
                }
                const int count = (int)(size - low < FT_WAYS * width ? size - low : FT_WAYS * width);
                const long turns = FT_LEAD + (long)count;
                const long round = merges ? FT_PART / 2 : turns;
                const int begin = (int)(merges ? 0 : low), apart = merges ? FT_PART : (int)width;
                const int mask = merges ? FT_PART - 1 : FT_TILE - 1;
                for (long done = 0; done < turns; done += round) {
                    for (int w = 0; w < FT_WAYS && merges; w++) {
                        const int left = length[w] - filled[w], more = left < FT_PART / 2 ? left : FT_PART / 2;
                        if (filled[w] - at[w] < FT_PART / 2) {
                            const long next = base + w * run + filled[w];
                            FT_LOOP(refilled)
                            for (int i = 0; i < more; i++) {
                                FT_PIPELINE
                                const int place = w * FT_PART + ((filled[w] + i) & mask);
                                value[0][place] = runs[next + i];
                                order[0][place] = runs_order[next + i];
                            }
                            filled[w] += more;
                        }
                    }
                    const long stop = turns - done < round ? turns : done + round;
                    const long start = done < FT_LEAD ? FT_LEAD : done;
                    FT_LOOP(merged)
                    for (long k = done; k < stop; k++) {
                        FT_PIPELINE
                        FT_APART_OF(value)
                        FT_APART_OF(order)
                        if (k >= FT_LEAD) {
                            value[1 - side][begin + (int)(k - start)] = node_value[1];
                            order[1 - side][begin + (int)(k - start)] = node_order[1];
                        }
                        int taken[2 * FT_WAYS], way = 0;
                        FT_BANKS(taken, 1)
                        taken[1] = 1;
                        FT_UNROLL
                        for (int i = 1; i < FT_WAYS; i++) {
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
                        for (int w = 0; w < FT_WAYS; w++) {
                            if (taken[FT_WAYS + w]) {
                                node_key[FT_WAYS + w] = next_key[w];
                                node_value[FT_WAYS + w] = next_value[w];
                                node_order[FT_WAYS + w] = next_order[w];
                                node_rank[FT_WAYS + w] = next_rank[w];
                                way = w;
                            }
                        }
                        const int ended = at[way] >= length[way];
                        const int place = ended ? 0 : begin + way * apart + (at[way] & mask);
                        const FT_B x = value[side][place];
                        const int where = order[side][place];
                        FT_UNROLL
                        for (int w = 0; w < FT_WAYS; w++) {
                            if (taken[FT_WAYS + w]) {
                                next_key[w] = ft_sort_key(x, flip);
                                next_value[w] = x;
                                next_order[w] = where;
                                next_rank[w] = ended ? 2 : 1;
                                at[w] += 1 - ended;
                            }
                        }
                    }
                    const long out = start - FT_LEAD, made = stop - start;
                    if (last && pass == passes - 1) {
                        FT_LOOP(results)
                        for (int i = 0; i < made; i++) {
                            FT_PIPELINE
                            values[values_offset + to + (out + i) * out_step] = value[1 - side][i];
                            indices[indices_offset + to + (out + i) * out_step] = order[1 - side][i];
                        }
                    } else if (pass == passes - 1) {
                        FT_LOOP(handed_on)
                        for (int i = 0; i < made; i++) {
                            FT_PIPELINE
                            merged[base + out + i] = value[1 - side][i];
                            merged_order[base + out + i] = order[1 - side][i];
                        }
                    }
                }
            }
            width *= FT_WAYS;
            side = 1 - side;
        }
    }
}
