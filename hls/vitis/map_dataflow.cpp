// Reading, arithmetic and writing run at the same time, joined by FIFOs.
static void run(
    $run_pointers,
    $run_offsets,
    $run_scalars)
{
#pragma HLS DATAFLOW
    $streams
    $reads
    compute($compute_arguments);
    $writes
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    const int beats = n / LANES, first = ft_slab(beats, ft_unit, ft_units);
    const int count = ft_slab(beats, ft_unit + 1, ft_units) - first;
    // The last compute unit also computes the elements after the last whole beat.
    const int rest = ft_unit == ft_units - 1 ? n % LANES : 0;
    $inputs
    run($run_arguments);
}
