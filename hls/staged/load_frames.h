// Input $port: overlapping rows, each of which begins $hop beats after the one before. A beat is read once, and
// stays in local memory until the last row that contains it.
FT_STAGE {
    $open
    $beat kept[$beats];
    int place = 0, column = 0;  // index of the beat in local memory, and in its row
    bool first = true;
    FT_LOOP(long v, (long)rows * $beats) {
        $beat got = kept[place];
        if (first || column >= $beats - $hop) {
            $fetch
            kept[place] = got;
        }
        FT_VALUES
        $writes
        const bool ends = column == $beats - 1;
        if (ends) first = false;
        const int step = ends ? $hop + 1 : 1;
        place = place + step >= $beats ? place + step - $beats : place + step;
        column = ends ? 0 : column + 1;
    }
}
