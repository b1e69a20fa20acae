// $comment
FT_STAGE {
    $kept
    int column = 0, ft_lane = 0;
    FT_LOOP(long v, (long)rows * $length) {
        const bool ends = column == $length - 1, ends_beat = ends || ft_lane == LANES - 1;
        $reads
        $computed
        $writes
        ft_lane = ends_beat ? 0 : ft_lane + 1;
        column = ends ? 0 : column + 1;
    }
}
