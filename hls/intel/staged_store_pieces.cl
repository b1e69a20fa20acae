// Result $port: joins rows whose length is not a multiple of the lanes. Elements before the first one and after
// the last one belong to other units or tensors.
FT_STAGE {
    long next = offset / LANES;
    int column = 0, filled = offset % LANES;
    $beat held;
    FT_UNROLL
    for (int l = 0; l < LANES; l++) {
        const long at = next * LANES + l;
        if (l < filled) held.lane[l] = $take;
    }
    FT_LOOP(long v, (long)rows * $beats) {
        const int left = $length - column * LANES, size = left < LANES ? left : LANES;
        const $beat w = $from;
        // `joined`: the pending elements, then the next piece. Its second half is the part that exceeds the
        // beat.
        $type joined[2 * LANES];
        FT_UNROLL
        for (int l = 0; l < LANES; l++) {
            const int up = (l + LANES - filled) % LANES;
            joined[l] = l < filled ? held.lane[l] : w.lane[up];
            joined[LANES + l] = w.lane[up];
        }
        filled += size;
        const bool full = filled >= LANES;
        if (full) {
            FT_UNROLL
            for (int l = 0; l < LANES; l++) {
                const long at = next * LANES + l;
                const $type got = joined[l];
                $give
            }
            next++;
            filled -= LANES;
        }
        FT_UNROLL
        for (int l = 0; l < LANES; l++) held.lane[l] = joined[full ? LANES + l : l];
        column = column == $beats - 1 ? 0 : column + 1;
    }
    for (int l = 0; l < filled; l++) {
        const long at = next * LANES + l;
        const $type got = held.lane[l];
        $give
    }
}
