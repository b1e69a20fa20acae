// Input $port: its PERIOD rows, repeated for each block.
FT_STAGE {
    FT_BASE
    int at = $start;
    FT_LOOP(long v, (long)rows * $beats) {
        FT_BEAT(at)
        FT_VALUES
        $writes
        at = at == PERIOD * $beats - 1 ? 0 : at + 1;
    }
}
