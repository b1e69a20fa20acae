// Input $port: each row PERIOD times, from local memory.
FT_KERNEL void $name($parameters)
{
    $slab
    long next = $offset / LANES + (long)(first / PERIOD) * $beats;
    $beat kept[$beats];
    int column = 0, turn = first % PERIOD;
    for (long v = 0; v < (long)rows * $beats; v++) {
        $beat w = kept[column];
        if (turn == 0 || v < $beats) {
            FT_UNROLL
            for (int l = 0; l < LANES; l++) {
                const long at = next * LANES + l;
                w.lane[l] = $take;
            }
            kept[column] = w;
            next++;
        }
        $writes
        const bool ends = column == $beats - 1;
        if (ends) turn = turn == PERIOD - 1 ? 0 : turn + 1;
        column = ends ? 0 : column + 1;
    }
}
