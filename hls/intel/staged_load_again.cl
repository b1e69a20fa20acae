// Input $port: its PERIOD rows, repeated for each block.
FT_KERNEL void $name($parameters)
{
    $slab
    const long base = $offset / LANES;
    int place = first % PERIOD * $beats;
    for (long v = 0; v < (long)rows * $beats; v++) {
        $beat w;
        FT_UNROLL
        for (int l = 0; l < LANES; l++) {
            const long at = (base + place) * LANES + l;
            w.lane[l] = $take;
        }
        $writes
        place = place == PERIOD * $beats - 1 ? 0 : place + 1;
    }
}
