static const int OPERANDS = $operands;  // pointers, the output first
static const int MAX_DIMS = $max_dims;
$words
static const int MAX_GEOMETRY = G_HEAD + MAX_DIMS * (1 + OPERANDS) + OPERANDS;

$uses

$run

// In the inner dim each operand is contiguous, or one element that all lanes repeat. Rows of whole, aligned
// beats are read in runs. Other rows, of at most four dims, pass the lanes in pieces (row_pieces.h); then the
// results are contiguous. Short runs of whole beats also pass in pieces, since each run would pay the memory
// latency. The work is cut into beats of results, so a unit may begin within a row. The geometry has the
// strides of the opcode's operands, all in elements.
extern "C" void $name(
    $parameters)
{
    $interfaces
    const ap_uint<OPERANDS> uses = $used;
    int g[MAX_GEOMETRY], used = 0;
count_operands:
    for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
        used += uses[k];
    }
    ft_read_geometry(g, geometry, G_SIZE(geometry, used));
    const int dims = G_DIMS(g), length = G_INNER(g);
    const long elements = (long)(G_TOTAL(g) / G_CHUNKS(g)) * length, offsets[OPERANDS] = {$offsets};
    // Each operand's runs are separate registers. All functions on them are inlined and unrolled, so that no
    // index into them depends on a value at run time.
    ft_runs<MAX_DIMS> runs[OPERANDS];
#pragma HLS ARRAY_PARTITION variable=runs complete
    int at = G_AT_STRIDES(g), at_inner = G_AT_INNER_STRIDES(g, used);
    unsigned singles = 0;
    bool pieces = length % LANES != 0, apart = false;
read_runs:
    for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
        const int inner_stride = uses[k] ? g[at_inner++] : 0;
        pieces = pieces || (inner_stride != 0 && offsets[k] % LANES != 0);
        for (int d = 0; d < dims; d++) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
            const int stride = uses[k] ? g[at + d] : 0;
            runs[k].shape[d] = G_SHAPE(g)[d];
            runs[k].stride[d] = stride;
            pieces = pieces || (inner_stride != 0 && stride % LANES != 0);
        }
        at += uses[k] ? dims : 0;
        singles |= (unsigned)(inner_stride == 0) << k;
        ft_join_runs<LANES>(runs[k], dims, length / LANES, inner_stride);
        apart = apart ||
            (inner_stride != 0 && runs[k].dims > 0 && runs[k].times == 1 && runs[k].length <= FT_MAX_CACHED_BEATS);
    }
    pieces = pieces || (apart && dims <= 3 && runs[0].dims == 0);
    const int beats = (int)(elements / LANES), first = ft_slab(beats, ft_unit, ft_units);
    const int count = ft_slab(beats, ft_unit + 1, ft_units) - first;
    // The last compute unit also computes the elements after the last whole beat.
    const long rest = ft_unit == ft_units - 1 ? elements % LANES : 0;
    const int inner = dims > 1 ? G_SHAPE(g)[dims - 1] : FT_UNBOUNDED, outer = dims > 2 ? G_SHAPE(g)[dims - 2] : FT_UNBOUNDED;
    const ft_row_slab rows = {pieces, length, inner, outer, (long)first * LANES, (long)count * LANES + rest};
    const ft_input_use<$inputs> inputs = {uses >> 1, singles >> 1};
    const members of = {$scalars};
    run($run_arguments);
}
