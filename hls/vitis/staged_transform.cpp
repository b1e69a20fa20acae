// $comment
static void $name($streams, $scalars)
{
    $tables
    $memories
$name:
    for (long v = 0; v < (long)rows * BEATS + $behind; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $apart
        ft_vec<$type> w{};
        if (v < (long)rows * BEATS) {
            $reads
        }
        $steps
        if (v >= $behind) {
            $writes
        }
    }
}
