// $comment
static void $name($streams, $scalars)
{
$name:
    for (int row = 0; row < rows; row++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $reads
        $computed
        $writes
    }
}
