// Input $port, one element for all rows.
static void $name(const $element *port, $streams, long offset, int rows)
{
    const $element got = port[offset];
    const $type w = $take;
$name:
    for (int row = 0; row < rows; row++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $writes
    }
}
