// Input $port: its PERIOD rows, repeated for each block from local memory.
static void $name(const $beat *port, $streams, long offset, int rows)
{
    const $beat *from = port + offset / LANES;
    $beat kept[PERIOD * $beats];
    int at = 0;
    bool first = true;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $beat got = kept[at];
        if (first) {
            got = from[at];
            kept[at] = got;
        }
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
        const bool ends = at == PERIOD * $beats - 1;
        if (ends) first = false;
        at = ends ? 0 : at + 1;
    }
}
