// Input $port: its PERIOD rows, repeated for each block from local memory.
FT_STAGE {
    FT_BASE
    $beat kept[PERIOD * $beats];
    int at = 0;
    bool first = true;
    FT_LOOP(long v, (long)rows * $beats) {
        $beat got = kept[at];
        if (first) {
            got = from[at];
            kept[at] = got;
        }
        FT_VALUES
        $writes
        const bool ends = at == PERIOD * $beats - 1;
        if (ends) first = false;
        at = ends ? 0 : at + 1;
    }
}
