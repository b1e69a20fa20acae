// Input $port: each row PERIOD times, from local memory.
static void $name(const $beat *port, $streams, long offset, int rows)
{
    const $beat *from = port + offset / LANES;
    $beat kept[$beats];
    long next = 0;
    int column = 0, turn = 0;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $beat got = kept[column];
        if (turn == 0) {
            got = from[next];
            kept[column] = got;
            next++;
        }
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
        const bool ends = column == $beats - 1;
        if (ends) turn = turn == PERIOD - 1 ? 0 : turn + 1;
        column = ends ? 0 : column + 1;
    }
}
