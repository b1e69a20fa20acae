// Input $port, $comment: read once, and kept in local memory.
FT_STAGE {
    FT_BASE
    $beat kept[$size];
    int place = $start;
    FT_LOOP(long v, (long)rows * $beats) {
        $beat got = kept[place];
        if (v < $size) {
            FT_FETCH(place)
            kept[place] = got;
        }
        FT_VALUES
        $writes
        place = place == $size - 1 ? 0 : place + 1;
    }
}
