// Reading, arithmetic and writing run at the same time, joined by FIFOs.
static void run(
    $run_pointers,
    $run_offsets, members of, ft_input_use<$inputs> inputs,
    $run_slab)
{
#pragma HLS DATAFLOW
    $fifos
    $reads
    $compute
    $writes
}
