// $comment
FT_STAGE {
    $head
    ft_vec<$type> packed{};
    int beat = 0;  // input beats of the current beat of results
    FT_LOOP(long v, (long)rows * $beats + filter::DELAY) {
        ft_vec<$type> got{};
        if (v < (long)rows * $beats) got = $from.read();
        filter::shift_in_beat(line, got);
        if (v >= filter::DELAY) {
            const int phase = beat % filter::PHASES;
            $type results[filter::RESULTS];
#pragma HLS ARRAY_PARTITION variable=results complete
            filter::compute(taps, line, parts, results, phase, at, samples);
            if (phase == filter::PHASES - 1) filter::append(packed, results);
            if (beat == filter::STRIDE - 1) {
                const ft_vec<$type> w = packed;
                $writes
            }
            beat = beat == filter::STRIDE - 1 ? 0 : beat + 1;
            at = at + LANES == samples ? 0 : at + LANES;
        }
    }
}
