// Input $port, row by row.
FT_KERNEL void $name($parameters)
{
    $slab
    const long base = $offset / LANES + (long)first * $beats;
    for (long v = 0; v < (long)rows * $beats; v++) {
        $beat w;
        FT_UNROLL
        for (int l = 0; l < LANES; l++) {
            const long at = (base + v) * LANES + l;
            w.lane[l] = $take;
        }
        $writes
    }
}
