// A reduction with the lanes along a kept dim, in the order of hls/skeleton/reduce_outer.h.
// Two stages run at the same time, joined by FIFOs: `fetch` reads memory, `fold_rows` computes. In each row the
// VECTORS vectors take turns, so a state recurs after VECTORS iterations.
static_assert((VECTORS & (VECTORS - 1)) == 0, "a power of two: which vector it is are bits of a step's number");
$beats

// One item: its split, its index among the kept rows, its first element and their number, and its reduced rows.
struct part { int split, place, first, width, begin, end; };
static part part_of(const int *g, int item)
{
#pragma HLS INLINE
    const int splits = G_SPLITS(g), inner = G_INNER(g), chunks = G_CHUNKS(g), work = G_WORK(g);
    const int split = item % splits, first = item / splits % chunks * (VECTORS * LANES);
    const int left = inner - first, width = left < VECTORS * LANES ? left : VECTORS * LANES;
    return {split, item / splits / chunks, first, width, ft_slab(work, split, splits), ft_slab(work, split + 1, splits)};
}

static void next_row(int (&at)[OPERANDS], const int (&along)[OPERANDS])
{
#pragma HLS INLINE
    for (int k = OUTPUTS; k < OPERANDS; k++) {
#pragma HLS UNROLL
        at[k] += along[k];
    }
}

// Reads the rows of every item, in a burst of VECTORS beats each. Rows along the innermost reduced dim are one
// run of the pipelined loop; the outer dims advance between the runs.
static void fetch(
    $in_pointers,
    $streams_to,
    $in_offsets, int operands, const int *g, int ft_unit, int ft_units)
{
    const int kept = G_KEPT(g), reduced = G_REDUCED(g), items = G_ITEMS(g), last = reduced - 1;
    const int *kept_shape = G_KEPT_SHAPE(g), *kept_strides = G_KEPT_STRIDES(g);
    const int *shape = G_SHAPE(g, operands), *strides = G_STRIDES(g, operands);
    const int *inner_strides = G_INNER_STRIDES(g, operands);
    int counter[MAX_DIMS], at[OPERANDS], along[OPERANDS];
#pragma HLS ARRAY_PARTITION variable=at complete
#pragma HLS ARRAY_PARTITION variable=along complete
    for (int k = 0; k < OPERANDS; k++) along[k] = k < operands ? strides[k * reduced + last] : 0;
    const int items_end = ft_slab(items, ft_unit + 1, ft_units);
items:
    for (int item = ft_slab(items, ft_unit, ft_units); item < items_end; item++) {
        const part p = part_of(g, item);
        for (int k = 0; k < OPERANDS; k++) at[k] = 0;
        int rest = p.place;
    find_outputs:
        for (int d = kept - 1; d >= 0; d--) {
            for (int k = OUTPUTS; k < operands; k++) at[k] += rest % kept_shape[d] * kept_strides[k * kept + d];
            rest /= kept_shape[d];
        }
        rest = p.begin;
    find_start:
        for (int d = last; d >= 0; d--) {
            counter[d] = rest % shape[d];
            rest /= shape[d];
            for (int k = OUTPUTS; k < operands; k++) at[k] += counter[d] * strides[k * reduced + d];
        }
    runs:
        for (int row = p.begin; row < p.end;) {
            const int left = shape[last] - counter[last], rows = left < p.end - row ? left : p.end - row;
            if (p.width == VECTORS * LANES) {
            whole_rows:
                for (int r = 0; r < rows; r++) {
#pragma HLS PIPELINE II=$vectors
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
                    $places
                    for (int v = 0; v < VECTORS; v++) {
                        $read_whole
                    }
                    next_row(at, along);
                }
            } else {
            edge_rows:
                for (int r = 0; r < rows; r++) {
#pragma HLS PIPELINE II=$vectors
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
                    $places
                    for (int v = 0; v < VECTORS; v++) {
                        const int m = p.width - v * LANES;
                        $read_edge
                    }
                    next_row(at, along);
                }
            }
            row += rows;
            counter[last] += rows;
        next_run:
            for (int d = last; d > 0 && counter[d] == shape[d]; d--) {
                counter[d] = 0;
                counter[d - 1]++;
                for (int k = OUTPUTS; k < operands; k++)
                    at[k] += strides[k * reduced + d - 1] - shape[d] * strides[k * reduced + d];
            }
        }
    }
}

// Folds the rows of every item and writes the results.
template <typename fold>
static void fold_rows(
    $out_pointers,
    $streams_from,
    $out_offsets, fold of, int operands, const int *g, int ft_unit, int ft_units)
{
    typedef typename fold::state state;
    // The sums of the last rows, and of 16, 256 and 4096 rows. Each restarts at the first row of its block.
    state sum[VECTORS][LANES], middle[VECTORS][LANES], top[VECTORS][LANES], high[VECTORS][LANES];
#pragma HLS ARRAY_PARTITION variable=sum dim=0 complete
#pragma HLS ARRAY_PARTITION variable=middle dim=0 complete
#pragma HLS ARRAY_PARTITION variable=top dim=0 complete
#pragma HLS ARRAY_PARTITION variable=high dim=0 complete
    const int kept = G_KEPT(g), items = G_ITEMS(g), split_step = G_RESULTS(g);
    const int *kept_shape = G_KEPT_SHAPE(g), *kept_strides = G_KEPT_STRIDES(g);
    const int *inner_strides = G_INNER_STRIDES(g, operands);
    const state nothing = of.identity();
    const int items_end = ft_slab(items, ft_unit + 1, ft_units);
items:
    for (int item = ft_slab(items, ft_unit, ft_units); item < items_end; item++) {
        const part p = part_of(g, item);
        const int rows = p.end - p.begin;
        const long steps = (long)rows * VECTORS;
    rows:
        for (long i = 0; i < steps; i++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=524288
// An iteration reads states that were written VECTORS iterations before, none later.
#pragma HLS DEPENDENCE variable=sum inter RAW distance=$vectors true
#pragma HLS DEPENDENCE variable=middle inter RAW distance=$vectors true
#pragma HLS DEPENDENCE variable=top inter RAW distance=$vectors true
#pragma HLS DEPENDENCE variable=high inter RAW distance=$vectors true
            const int v = (int)(i % VECTORS), row = (int)(i / VECTORS);
            $receive
            for (int lane = 0; lane < LANES; lane++) {
                const state lifted = $lift;
                const state one = of.combine(ft_select(row % 16 != 0, sum[v][lane], nothing), lifted);
                sum[v][lane] = one;
                if (row % 16 != 15) continue;
                const state some = of.combine(ft_select(row % 256 < 16, nothing, middle[v][lane]), one);
                middle[v][lane] = some;
                if (row % 256 != 255) continue;
                const state many = of.combine(ft_select(row % 4096 < 256, nothing, top[v][lane]), some);
                top[v][lane] = many;
                if (row % 4096 != 4095) continue;
                high[v][lane] = of.combine(ft_select(row < 4096, nothing, high[v][lane]), many);
            }
        }
        int at[OUTPUTS], rest = p.place;
        for (int k = 0; k < OUTPUTS; k++) at[k] = p.split * split_step;
    find_outputs:
        for (int d = kept - 1; d >= 0; d--) {
            for (int k = 0; k < OUTPUTS; k++) at[k] += rest % kept_shape[d] * kept_strides[k * kept + d];
            rest /= kept_shape[d];
        }
    // Writes results one by one, so that one instance of each operator is enough.
    results:
        for (int i = 0; i < p.width; i++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=128
            const int v = i / LANES, lane = i % LANES;
            const state one = ft_select(rows % 16 != 0, sum[v][lane], nothing);
            const state some = ft_select(rows % 256 < 16, nothing, middle[v][lane]);
            const state many = ft_select(rows % 4096 < 256, nothing, top[v][lane]);
            const state most = ft_select(rows < 4096, nothing, high[v][lane]);
            const state all = of.combine(most, of.combine(many, of.combine(some, one)));
            $result
            $finish
            $write
        }
    }
}

template <typename fold>
static void stages(
    $pointers,
    $offsets, fold of, int operands, const int *fetch_g, const int *fold_g, int ft_unit, int ft_units)
{
#pragma HLS DATAFLOW
    $fifos
    fetch($fetched, operands, fetch_g, ft_unit, ft_units);
    fold_rows<fold>($folded, operands, fold_g, ft_unit, ft_units);
}

// Runs the stages for one type of state. Each stage has its own copy of the geometry.
template <typename fold>
static void run(
    $pointers,
    $offsets, fold of, const int *geometry, int ft_unit, int ft_units)
{
    const int operands = $operand_count;
    int fetch_g[MAX_GEOMETRY], fold_g[MAX_GEOMETRY];
    const int size = G_SIZE(geometry, operands);
read_geometry:
    for (int k = 0; k < size; k++) {
#pragma HLS LOOP_TRIPCOUNT min=11 max=64
        fetch_g[k] = fold_g[k] = geometry[k];
    }
    stages<fold>($arguments, operands, fetch_g, fold_g, ft_unit, ft_units);
}
