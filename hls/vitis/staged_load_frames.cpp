// Input $port: overlapping rows, each of which begins $hop beats after the one before. A beat is read once, and
// stays in local memory until the last row that contains it.
static void $name($source, $streams$offset, int rows)
{
    $open
    $beat kept[$beats];
    int place = 0, column = 0;  // index of the beat in local memory, and in its row
    bool first = true;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $beat got = kept[place];
        if (first || column >= $beats - $hop) {
            got = $next;
            kept[place] = got;
        }
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
        const bool ends = column == $beats - 1;
        if (ends) first = false;
        const int step = ends ? $hop + 1 : 1;
        place = place + step >= $beats ? place + step - $beats : place + step;
        column = ends ? 0 : column + 1;
    }
}
