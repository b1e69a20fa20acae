// Input $port: each row PERIOD times, from local memory.
FT_STAGE {
    FT_BASE
    $beat kept[$beats];
    long next = 0;
    int column = 0, turn = $start;
    FT_LOOP(long v, (long)rows * $beats) {
        $beat got = kept[column];
        if ($fetches) {
            FT_FETCH(next)
            kept[column] = got;
            next++;
        }
        FT_VALUES
        $writes
        const bool ends = column == $beats - 1;
        if (ends) turn = turn == PERIOD - 1 ? 0 : turn + 1;
        column = ends ? 0 : column + 1;
    }
}
