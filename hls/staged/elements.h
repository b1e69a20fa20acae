// $comment
FT_STAGE {
    $kept
    int column = 0;
    FT_LOOP(long v, (long)rows * $beats) {
        $reads
        $results
        FT_EACH_LANE {
            $computed
        }
        $writes
        column = column == $beats - 1 ? 0 : column + 1;
    }
}
