// $comment
static void $name($streams, int rows)
{
    $memories
$name:
    for (long v = 0; v < (long)rows * $beats + $ahead; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $apart
        $item got{};
        if (v < (long)rows * $beats) got = $from.read();
        $steps
        if (v >= $ahead) {
            $results
            for (int l = 0; l < LANES; l++) {
#pragma HLS UNROLL
                $computed
            }
            $writes
        }
    }
}
