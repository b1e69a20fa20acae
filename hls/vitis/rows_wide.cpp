static const int OPERANDS = $operands;  // pointers, the output first
static const int MAX_DIMS = $max_dims;

// Which operands each opcode has ($operand_names): its geometry lists these and no others.
$uses

// Reading, arithmetic and writing run at the same time, joined by FIFOs.
static void run(
    $run_pointers,
    $run_offsets,
    $run_runs,
    $run_scalars)
{
#pragma HLS DATAFLOW
    $streams
    $reads
    compute($compute_arguments);
    $writes
}

// Rows of whole beats: in the inner dim each operand lies in line and begins on a beat, or is one
// element that all lanes repeat. The work is cut into beats, so a unit may begin within a row.
// Geometry: dims, inner, chunk, chunks, total (rows * chunks), outer shape[dims], then for each
// operand of the opcode its outer strides[dims], then for each its inner stride; all in elements.
extern "C" void $name(
    $parameters)
{
    $interfaces
    const ap_uint<OPERANDS> uses = USES[opcode];
    const int dims = geometry[0], row = geometry[1] / LANES, rows = geometry[4] / geometry[3];
    ft_runs<MAX_DIMS> runs[OPERANDS];
#pragma HLS ARRAY_PARTITION variable=runs complete
    int next = 5;
read_shape:
    for (int d = 0; d < dims; d++) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        const int size = geometry[next++];
        for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
            runs[k].shape[d] = size;
        }
    }
read_strides:
    for (int k = 0; k < OPERANDS; k++) {
        for (int d = 0; d < dims; d++) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
            runs[k].stride[d] = uses[k] ? geometry[next++] : 0;
        }
    }
    unsigned singles = 0;
read_steps:
    for (int k = 0; k < OPERANDS; k++) {
        const int step = uses[k] ? geometry[next++] : 0;
        singles |= (unsigned)(step == 0) << k;
        ft_join_runs<LANES>(runs[k], dims, row, step);
    }
    const int first = ft_slab(rows * row, ft_unit, ft_units);
    const int count = ft_slab(rows * row, ft_unit + 1, ft_units) - first;
    $inputs
    run($run_arguments);
}
