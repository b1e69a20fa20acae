// Input $port: its PERIOD rows, repeated for each block.
static void $name(const $beat *port, $streams, long offset, int rows)
{
    const $beat *from = port + offset / LANES;
    int at = 0;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const $beat got = from[at];
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
        at = at == PERIOD * $beats - 1 ? 0 : at + 1;
    }
}
