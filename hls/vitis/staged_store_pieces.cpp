// Result $port: joins $joined. Elements after the last one belong to
// other tensors.
FT_STAGE {
    FT_BASE
    $beat held{};
    long next = 0;
    int column = 0, filled = 0;
    FT_LOOP(long v, (long)rows * $beats) {
        const int $sizes;
        FT_RESULT
        $beat joined;
        const bool full = ft_append_piece<LANES>(held, filled, got, size, joined);
        if (full) to[next] = joined;
        next += full ? 1 : 0;
        column = $ends ? 0 : column + LANES;
    }
    if (filled > 0) {
        $beat last = to[next];
        ft_merge_lanes(last, held, filled);
        to[next] = last;
    }
}
