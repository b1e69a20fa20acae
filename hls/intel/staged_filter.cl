// $comment
FT_STAGE {
    $tap taps[$places] = {0};
    $type line[$line] = {0}, parts[$stride] = {0};
    $packed packed = {0};
    if (rows > 0) {
        for (int k = 0; k < $count; k++) {
            FT_UNROLL
            for (int m = $first; m < $places - 1; m++) taps[m] = taps[m + 1];
            taps[$places - 1] = $read_tap;
        }
    }
    const long samples = $samples;
    long at = 0;  // index, in its signal, of the beat's first sample
    int beat = 0;  // input beats of the current beat of results
    FT_LOOP(long v, (long)rows * $beats + (rows > 0 ? $delay : 0)) {
        $packed got = {0};
        if (v < (long)rows * $beats) got = $read;
        FT_UNROLL
        for (int k = 0; k < $line - LANES; k++) line[k] = line[k + LANES];
        FT_UNROLL
        for (int l = 0; l < LANES; l++) line[$line - LANES + l] = got.lane[l];
        if (v >= $delay) {
            const int phase = beat % $phases;
            FT_UNROLL
            for (int l = 0; l < LANES - $results && phase == $phases - 1; l++) packed.lane[l] = packed.lane[l + $results];
            FT_UNROLL
            for (int r = 0; r < $results; r++) {
                $type sum[$places / $phases], phase_sums[$stride];
                FT_UNROLL
                for (int n = 0; n < $places / $phases; n++) {
                    const int k = n / $step * $stride + n % $step;
                    const long sample = at + r * $stride + k - $ahead;
                    const bool inside = sample >= 0 && sample < samples && k + phase * $step >= $first;
                    sum[n] = $product(line[r * $stride + k], taps[k], inside);
                }
                // Adds halves of the sum, then of the phases' sums, as in hls/vitis/filter.h.
                FT_UNROLL
                for (int half_ = $places / $phases / 2; half_ >= $step; half_ /= 2) {
                    FT_UNROLL
                    for (int k = 0; k < half_; k++) sum[k] = $sum(sum[k], sum[k + half_]);
                }
                FT_UNROLL
                for (int k = 0; k < $stride - $step; k++) parts[k] = parts[k + $step];
                FT_UNROLL
                for (int k = 0; k < $step; k++) parts[$stride - $step + k] = sum[k];
                FT_UNROLL
                for (int k = 0; k < $stride; k++) phase_sums[k] = parts[k];
                FT_UNROLL
                for (int half_ = $stride / 2; half_ > 0; half_ /= 2) {
                    FT_UNROLL
                    for (int k = 0; k < half_; k++) phase_sums[k] = $sum(phase_sums[k], phase_sums[k + half_]);
                }
                if (phase == $phases - 1) packed.lane[LANES - $results + r] = $plain(phase_sums[0]);
            }
            FT_UNROLL
            for (int q = 0; q < $places; q += $stride) {  // the taps of the next phase
                $tap turned[$step];
                FT_UNROLL
                for (int l = 0; l < $step; l++) turned[l] = taps[q + l];
                FT_UNROLL
                for (int k = 0; k < $stride - $step; k++) taps[q + k] = taps[q + k + $step];
                FT_UNROLL
                for (int l = 0; l < $step; l++) taps[q + $stride - $step + l] = turned[l];
            }
            if (beat == $stride - 1) {
                $writes
            }
            beat = beat == $stride - 1 ? 0 : beat + 1;
            at = at + LANES == samples ? 0 : at + LANES;
        }
    }
}
