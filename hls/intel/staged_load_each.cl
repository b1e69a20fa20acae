// Input $port, each of its rows PERIOD times: kept in local memory meanwhile.
FT_KERNEL void $name($parameters)
{
    $slab
    long next = $offset / LANES + (long)(first / PERIOD) * BEATS;
    $beat kept[BEATS];
    int column = 0, turn = first % PERIOD;
    for (long v = 0; v < (long)rows * BEATS; v++) {
        $beat w = kept[column];
        if (turn == 0 || v < BEATS) {
            FT_UNROLL
            for (int l = 0; l < LANES; l++) {
                const long at = next * LANES + l;
                w.lane[l] = $take;
            }
            kept[column] = w;
            next++;
        }
        $writes
        const bool ends = column == BEATS - 1;
        if (ends) turn = turn == PERIOD - 1 ? 0 : turn + 1;
        column = ends ? 0 : column + 1;
    }
}
