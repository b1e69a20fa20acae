// A reduction with the lanes along the innermost reduced dim, in the order of hls/skeleton/reduce_inner.h. A pipelined
// loop starts an iteration as soon as the state of the one before is ready. So its initiation interval follows from the
// latency of `combine`, and the pragma requests none.
template <typename fold>
static void run(
    $pointers,
    $offsets, fold of, const int *geometry, int ft_unit, int ft_units)
{
    typedef typename fold::state state;
    const int operands = $operand_count;
    $advance
    int g[MAX_GEOMETRY];
    ft_read_geometry(g, geometry, G_SIZE(geometry, operands));
    $short_rows
    const int kept = G_KEPT(g), reduced = G_REDUCED(g), splits = G_SPLITS(g), items = G_ITEMS(g), inner = G_INNER(g);
    const int chunk = G_CHUNK(g), chunks = G_CHUNKS(g), work = G_WORK(g), split_step = G_RESULTS(g);
    const int *kept_shape = G_KEPT_SHAPE(g), *kept_strides = G_KEPT_STRIDES(g);
    const int *shape = G_SHAPE(g, operands), *strides = G_STRIDES(g, operands);
    const int *inner_strides = G_INNER_STRIDES(g, operands);
    int counter[MAX_DIMS], at[OPERANDS];
    const int items_end = ft_slab(items, ft_unit + 1, ft_units);
items:
    for (int item = ft_slab(items, ft_unit, ft_units); item < items_end; item++) {
        const int split = item % splits;
        for (int k = 0; k < operands; k++) at[k] = k < OUTPUTS ? split * split_step : 0;
        int rest = item / splits;
        for (int d = kept - 1; d >= 0; d--) {
            for (int k = 0; k < operands; k++) at[k] += rest % kept_shape[d] * kept_strides[k * kept + d];
            rest /= kept_shape[d];
        }
        const int begin = ft_slab(work, split, splits), end = ft_slab(work, split + 1, splits);
        int row = begin / chunks, part = begin % chunks;
        rest = row;
        for (int d = reduced - 1; d >= 0; d--) {
            counter[d] = rest % shape[d];
            rest /= shape[d];
            for (int k = OUTPUTS; k < operands; k++) at[k] += counter[d] * strides[k * reduced + d];
        }
        state sum[VECTORS][LANES], middle[LANES], top[LANES], high[LANES];
#pragma HLS ARRAY_PARTITION variable=sum complete dim=0
#pragma HLS ARRAY_PARTITION variable=middle complete
#pragma HLS ARRAY_PARTITION variable=top complete
#pragma HLS ARRAY_PARTITION variable=high complete
        ft_begin_lanes(middle, of);
        ft_begin_lanes(top, of);
        ft_begin_lanes(high, of);
        int blocks = 0;
        for (int w = begin; w < end; w++) {
            const int stop = inner - part * chunk < chunk ? inner : (part + 1) * chunk;
            int i = part * chunk;
            $beats
            for (int v = 0; v < VECTORS; v++) {
#pragma HLS UNROLL
                ft_begin_lanes(sum[v], of);
            }
        side_by_side:
            for (; VECTORS > 1 && i + VECTORS * LANES <= stop; i += VECTORS * LANES) {
#pragma HLS PIPELINE
                for (int v = 0; v < VECTORS; v++) {
                    const int j = i + v * LANES;
                    ft_fold_lanes(sum[v], of, row * inner + j, LANES$read_aside);
                }
            }
        vectors:
            for (; i + LANES <= stop; i += LANES) {
#pragma HLS PIPELINE
                ft_fold_lanes(sum[0], of, row * inner + i, LANES$read_whole);
            }
            if (i < stop) {
                ft_fold_lanes(sum[0], of, row * inner + i, stop - i$read_part);
            }
            for (int v = 0; v < VECTORS; v++) {
#pragma HLS UNROLL
                ft_combine_lanes(middle, sum[v], of);
            }
            if (++blocks % 16 == 0) {
                ft_combine_lanes(top, middle, of);
                ft_begin_lanes(middle, of);
                if (blocks % 256 == 0) {
                    ft_combine_lanes(high, top, of);
                    ft_begin_lanes(top, of);
                }
            }
            if (++part == chunks) {
                part = 0;
                row++;
                for (int d = reduced - 1; d >= 0; d--) {
                    for (int k = OUTPUTS; k < operands; k++) at[k] += strides[k * reduced + d];
                    if (++counter[d] < shape[d]) break;
                    for (int k = OUTPUTS; k < operands; k++) at[k] -= shape[d] * strides[k * reduced + d];
                    counter[d] = 0;
                }
            }
        }
        ft_combine_lanes(top, middle, of);
        ft_combine_lanes(high, top, of);
        ft_fold_tree(high, of);
        $result
        of.finish(high[0]$finished);
        $write
    }
}
