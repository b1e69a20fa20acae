// Input $port: one row of half a spectrum, repeated for every row from local memory. The beats behind its $half
// elements have any values: the FIFOs carry whole rows, of which stores write the first half.
static void $name(const $beat *port, $streams, long offset, int rows)
{
    const $beat *from = port + offset / LANES;
    $beat kept[$half_beats];
$once:
    for (int b = 0; b < $half_beats; b++) {
#pragma HLS PIPELINE II=1
        kept[b] = from[b];
    }
    int column = 0;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const $beat got = kept[column < $half_beats ? column : 0];
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
        column = column == $beats - 1 ? 0 : column + 1;
    }
}
