// Input $port, row by row. The row length is not a multiple of the lanes, so each row is shifted to lane 0.
FT_STAGE {
    FT_BASE
    $beat low{}, high{};
    long at = 0, next = 0;  // the first element of a piece, and the next beat to read
    int column = 0;
    FT_LOOP(long v, (long)rows * $beats) {
        const int left = $length - column, size = left < LANES ? left : LANES;
        if (next <= (at + size - 1) / LANES) {
            low = high;
            high = from[next];
            next++;
        }
        const $beat first = ft_select(at / LANES == next - 1, high, low);
        const $beat got = ft_shift_lanes<$beat, $element, LANES>(first, high, (int)(at % LANES));
        FT_VALUES
        $writes
        at += size;
        column = left <= LANES ? 0 : column + LANES;
    }
}
