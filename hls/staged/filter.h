// $comment
FT_STAGE {
    $head
    $vector packed$cleared;
    int beat = 0;  // input beats of the current beat of results
    FT_LOOP(long v, (long)rows * $beats + $behind) {
        $enter
        if (v >= $delay) {
            const int phase = beat % $phases;
            $sums
            if (phase == $phases - 1) {
                FT_UNROLL
                for (int l = 0; l < LANES - $results; l++) packed.lane[l] = packed.lane[l + $results];
                FT_UNROLL
                for (int r = 0; r < $results; r++) packed.lane[LANES - $results + r] = results[r];
            }
            if (beat == $stride - 1) {
                const $vector w = packed;
                $writes
            }
            beat = beat == $stride - 1 ? 0 : beat + 1;
            at = at + LANES == samples ? 0 : at + LANES;
        }
    }
}
