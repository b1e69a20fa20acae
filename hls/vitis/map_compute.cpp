// The arithmetic: reads one beat of each operand and writes one beat of the result per cycle.
static void compute(
    $compute_streams,
    $compute_scalars)
{
compute:
    for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $receive
        out0_to.write(one_beat($beat_arguments));
    }
}
