// Input $port, an element for each row.
static void $name(const $element *port, $streams, long offset, int rows)
{
$name:
    for (int row = 0; row < rows; row++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const $element got = port[offset + row];
        const $type w = $take;
        $writes
    }
}
