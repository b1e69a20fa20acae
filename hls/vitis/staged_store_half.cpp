// Result $port: joins the first $size elements of each row. Elements after the last one belong to other
// tensors.
static void $name($beat *port, $streams, long offset, int rows)
{
    $beat *to = port + offset / LANES;
    $beat held{};
    long next = 0;
    int column = 0, filled = 0;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const int left = $left, most = left < LANES ? left : LANES, size = most > 0 ? most : 0;
        const ft_vec<$type> w = $from.read();
        $beat got;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            got[ft_lane] = $give;
        }
        $beat joined;
        const bool full = ft_append_piece<LANES>(held, filled, got, size, joined);
        if (full) to[next] = joined;
        next += full ? 1 : 0;
        column = column == $length - LANES ? 0 : column + LANES;
    }
    if (filled > 0) {
        $beat last = to[next];
        ft_merge_lanes(last, held, filled);
        to[next] = last;
    }
}
