// Input $port: one row, repeated for every row from local memory. If it is half a spectrum, only its beats are kept:
// the FIFOs carry whole rows, of which stores write the first half.
static void $name(const $beat *port, $streams, long offset, int rows)
{
    const $beat *from = port + offset / LANES;
    $beat kept[$kept_beats];
$once:
    for (int b = 0; b < $kept_beats; b++) {
#pragma HLS PIPELINE II=1
        kept[b] = from[b];
    }
    int column = 0;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const $beat got = kept[$kept_beat];
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
        column = column == $beats - 1 ? 0 : column + 1;
    }
}
