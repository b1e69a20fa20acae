// Result $port, row by row.
FT_STAGE {
    FT_BASE
    FT_LOOP(long v, (long)rows * $beats) {
        FT_STORE(v)
    }
}
