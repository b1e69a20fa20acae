// Input $port: overlapping rows of several signals, each of which begins $hop beats after the one before in its
// signal. A beat is read once, and stays in local memory until the last row that contains it.
FT_STAGE {
    FT_BASE
    $beat kept[$beats];
    int place = 0, column = 0, row = 0;  // index of the beat in local memory, in its row; of the row in its signal
    long next = 0, signal = 0;
    FT_LOOP(long v, (long)rows * $beats) {
        $beat got = kept[place];
        if (row == 0 || column >= $beats - $hop) {
            FT_FETCH(next)
            kept[place] = got;
            next++;
        }
        FT_VALUES
        $writes
        const bool ends = column == $beats - 1, last = ends && row == PERIOD - 1;
        const int step = ends ? $hop + 1 : 1;
        place = place + step >= $beats ? place + step - $beats : place + step;
        column = ends ? 0 : column + 1;
        if (ends) row = last ? 0 : row + 1;
        if (last) signal += $signal_beats;
        if (last) next = signal;
    }
}
