// Result $port, row by row.
FT_KERNEL void $name($parameters)
{
    $slab
    const long base = $offset / LANES + (long)first * $beats;
    for (long v = 0; v < (long)rows * $beats; v++) {
        const $beat w = $read;
        FT_UNROLL
        for (int l = 0; l < LANES; l++) {
            const long at = (base + v) * LANES + l;
            const $type got = w.lane[l];
            $give
        }
    }
}
