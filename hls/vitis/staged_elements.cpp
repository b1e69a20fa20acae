// $comment
static void $name($streams, $scalars)
{
    $kept
    int column = 0;
$name:
    for (long v = 0; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $reads
        $results
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            $computed
        }
        $writes
        column = column == $beats - 1 ? 0 : column + 1;
    }
}
