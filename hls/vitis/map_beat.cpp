// One beat of every port: all lanes side by side.
static out0_beat one_beat($beat_parameters)
{
#pragma HLS INLINE
    out0_beat result;
    $lanes
    return result;
}
