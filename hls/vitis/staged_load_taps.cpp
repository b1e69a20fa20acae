// Input $port, the taps of a filter.
static void $name(const $element *port, $streams, long offset)
{
$name:
    for (int k = 0; k < $count; k++) {
#pragma HLS PIPELINE II=1
        const $element got = port[offset + k];
        const $type w = $take;
        $writes
    }
}
