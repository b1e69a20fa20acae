// $comment
FT_STAGE {
    $kept
    int column = 0;
    int row = first + $row, at = $at;  // the row and the column of the beat's first element
    FT_LOOP(long v, (long)rows * BEATS) {
        $reads
        $item w;
        FT_EACH_LANE {
            const bool next = at + ft_lane >= LENGTH;
            const int r = next ? row + 1 : row, c = next ? at + ft_lane - LENGTH : at + ft_lane;
            const bool inside = r >= $top && r < total - $bottom && c >= $left && c < $right;
            $computed
        }
        $writes
        const bool wraps = at + LANES >= LENGTH;
        row = wraps ? row + 1 : row;
        at = wraps ? at + LANES - LENGTH : at + LANES;
        column = column == BEATS - 1 ? 0 : column + 1;
    }
}
