// Input $port, row by row, then the first rows of the next compute unit: those begin at the same offset of
// `next`, which is the same memory, or the next unit's slab. The last beats have no reader, and are not read.
static void $name(const $beat *port, const $beat *next, $streams, long offset, long next_offset, int rows)
{
    const $beat *from = port + offset / LANES;
    const $beat *behind = next + next_offset / LANES;
    const long own = (long)(rows - $halo) * $beats, last = (long)rows * $beats - $unread;
$name:
    for (long v = 0; v < (last < own ? last : own); v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const $beat got = from[v];
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
    }
$behind:
    for (long v = own; v < last; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=65536
        const $beat got = behind[v];
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
    }
$rest:
    for (long v = last; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=256
        const ft_vec<$type> w{};
        $writes
    }
}
