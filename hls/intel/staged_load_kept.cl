// Input $port, $comment: read once into local memory.
FT_KERNEL void $name($parameters)
{
    $slab
    const long base = $offset / LANES;
    $beat kept[$size];
    int place = first % ($size / $beats) * $beats;
    for (long v = 0; v < (long)rows * $beats; v++) {
        $beat w = kept[place];
        if (v < $size) {
            FT_UNROLL
            for (int l = 0; l < LANES; l++) {
                const long at = (base + place) * LANES + l;
                w.lane[l] = $take;
            }
            kept[place] = w;
        }
        $writes
        place = place == $size - 1 ? 0 : place + 1;
    }
}
