// $comment
FT_STAGE {
    FT_LOOP(int row, rows) {
        $reads
        $computed
        $writes
    }
}
