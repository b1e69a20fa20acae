// $comment. A beat has $results results or one less, and the first begins at any of its samples.
FT_STAGE {
    $head
    $type waiting[LANES + $results - 1]{};
    FT_REGISTERS(waiting)
    int first = 0, held = 0;  // the next result's first sample, counted from the beat's; results that wait
    const int phase = 0;
    FT_LOOP(long v, (long)rows * $beats + $behind) {
        $enter
        if (v >= $delay) {
            $type shifted[$line];  // from the first result's first sample on
            FT_REGISTERS(shifted)
            for (int k = 0; k < $line; k++) {
                $type value = line[k];
                for (int by = $spacing; by < LANES && by < $stride; by += $spacing) {
                    value = ft_select(first == by, line[k + by < $line ? k + by : k], value);
                }
                shifted[k] = value;
            }
            $sums
            // Results wait until they fill a beat. The next ones replace those that are not due.
            for (int l = 0; l < LANES + $results - 1; l++) {
                $type value = waiting[l];
                for (int r = 0; r < $results; r++) value = ft_select(l == held + r, results[r], value);
                waiting[l] = value;
            }
            const bool most = first + ($results - 1) * $stride < LANES;
            held = most ? held + $results : held + $results - 1;
            first = first - LANES + (most ? $results * $stride : ($results - 1) * $stride);
            if (held >= LANES) {
                $vector w;
                for (int l = 0; l < LANES; l++) w.lane[l] = waiting[l];
                for (int l = 0; l < $results - 1; l++) waiting[l] = waiting[l + LANES];
                $writes
                held -= LANES;
            }
            at = at + LANES == samples ? 0 : at + LANES;
        }
    }
}
