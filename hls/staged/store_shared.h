// Result $port: the last row.
FT_STAGE {
    FT_BASE
    const long first = (long)(rows - 1) * $beats;
    FT_LOOP(long v, (long)rows * $beats) {
        FT_READ_FIFO
        if (v >= first) {
            FT_PUT(v - first)
        }
    }
}
