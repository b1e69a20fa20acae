// A separate process writes the results, in bursts if they are contiguous.
static void run(
    $element *out0, long out0_offset,
    $walk_takes,
    ap_uint<OPERANDS> uses, const int shape[MAX_DIMS], const int strides[OPERANDS][MAX_DIMS],
    const int inner_strides[OPERANDS],
    int dims, int inner, int first, int count, const ft_runs<MAX_DIMS> &runs, int apart)
{
#pragma HLS DATAFLOW
    hls::stream<$element, 32> results("results");
    walk(results, $walk_names, $walk, first, count);
    ft_write_runs<1>(out0, results, out0_offset, runs, apart, first, count);
}
