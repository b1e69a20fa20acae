// $comment
FT_STAGE {
    $tables
    $memories
    FT_LOOP(long v, (long)rows * BEATS + $behind) {
        $cleared
        if (v < (long)rows * BEATS) {
            $reads
        }
        $steps
        if (v >= $behind) {
            $writes
        }
    }
}
