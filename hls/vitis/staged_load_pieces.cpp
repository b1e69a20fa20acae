// Input $port, row by row. The row length is not a multiple of the lanes, so each row is shifted to lane 0.
static void $name(const $beat *port, $streams, long offset, int rows)
{
    const $beat *from = port + offset / LANES;
    $beat low{}, high{};
    long at = 0, next = 0;  // the first element of a piece, and the next beat to read
    int column = 0;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const int left = $length - column, size = left < LANES ? left : LANES;
        if (next <= (at + size - 1) / LANES) {
            low = high;
            high = from[next];
            next++;
        }
        const $beat first = ft_select(at / LANES == next - 1, high, low);
        const $beat got = ft_shift_lanes<$beat, $element, LANES>(first, high, (int)(at % LANES));
        ft_vec<$type> w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            w[ft_lane] = $take;
        }
        $writes
        at += size;
        column = left <= LANES ? 0 : column + LANES;
    }
}
