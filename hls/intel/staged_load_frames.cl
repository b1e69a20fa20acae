// Input $port: overlapping rows, each of which begins $hop beats after the one before. A beat is read once, and
// stays in local memory until the last row that contains it.
FT_KERNEL void $name($parameters)
{
    $slab
    long next = $offset / LANES + (long)first * $hop;
    $beat kept[$beats];
    int place = 0, column = 0;  // index of the beat in local memory, and in its row
    for (long v = 0; v < (long)rows * $beats; v++) {
        $beat w = kept[place];
        if (v < $beats || column >= $beats - $hop) {
            FT_UNROLL
            for (int l = 0; l < LANES; l++) {
                const long at = next * LANES + l;
                w.lane[l] = $take;
            }
            kept[place] = w;
            next++;
        }
        $writes
        const bool ends = column == $beats - 1;
        const int step = ends ? $hop + 1 : 1;
        place = place + step >= $beats ? place + step - $beats : place + step;
        column = ends ? 0 : column + 1;
    }
}
