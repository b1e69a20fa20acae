// The arithmetic: a beat of each operand in, a beat of the result out, in every cycle.
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
