// Input $port, row by row; rows are no whole beats, and each goes on from its own first lane.
static void $name(const $beat *port, $streams, long offset, int rows)
{
    const $beat *from = port + offset / LANES;
    $beat low{}, high{};
    long at = 0, next = 0;  // where a piece begins, and the beat that is read next
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
