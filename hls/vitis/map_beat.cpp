// Computes one beat: all lanes in parallel.
static out0_beat one_beat($beat_parameters)
{
#pragma HLS INLINE
    out0_beat result;
    $lanes
    return result;
}
