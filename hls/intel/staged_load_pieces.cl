// Input $port, row by row. The row length is not a multiple of the lanes, so lanes beyond a row's end hold
// unused elements.
FT_STAGE {
    long next = offset;
    int column = 0;
    FT_LOOP(long v, (long)rows * $beats) {
        $beat w;
        FT_EACH_LANE {
            const long at = next + ft_lane;
            w.lane[ft_lane] = $take;
        }
        $writes
        const bool ends = column == $beats - 1;
        next += ends ? $length - ($beats - 1) * LANES : LANES;
        column = ends ? 0 : column + 1;
    }
}
