// Input $port, row by row. The row length is not a multiple of the lanes, so lanes beyond a row's end hold
// unused elements.
FT_KERNEL void $name($parameters)
{
    $slab
    long next = $offset + (long)first * $length;
    int column = 0;
    for (long v = 0; v < (long)rows * $beats; v++) {
        $beat w;
        FT_UNROLL
        for (int l = 0; l < LANES; l++) {
            const long at = next + l;
            w.lane[l] = $take;
        }
        $writes
        const bool ends = column == $beats - 1;
        next += ends ? $length - ($beats - 1) * LANES : LANES;
        column = ends ? 0 : column + 1;
    }
}
