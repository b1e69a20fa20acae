// $comment
static void $name($streams, int first, int total, int rows)
{
    $kept
    int column = 0;
    int row = first + $row, at = $at;  // the row and the column of the beat's first element
$name:
    for (long v = 0; v < (long)rows * BEATS; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $reads
        $item w;
        for (int ft_lane = 0; ft_lane < LANES; ft_lane++) {
#pragma HLS UNROLL
            const bool next = at + ft_lane >= LENGTH;
            const int r = next ? row + 1 : row, c = next ? at + ft_lane - LENGTH : at + ft_lane;
            const bool inside = r >= $top && r < total - $bottom && c >= $left && c < $right;
            $computed
        }
        $writes
        const bool wraps = at + LANES >= LENGTH;
        row = wraps ? row + 1 : row;
        at = wraps ? at + LANES - LENGTH : at + LANES;
        column = column == BEATS - 1 ? 0 : column + 1;
    }
}
