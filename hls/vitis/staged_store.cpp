// Result $port, row by row.
static void $name($beat *port, $streams, long offset, int rows)
{
    $beat *to = port + offset / LANES;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const ft_vec<$type> w = $from.read();
        $beat got;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            got[ft_lane] = $give;
        }
        to[v] = got;
    }
}
