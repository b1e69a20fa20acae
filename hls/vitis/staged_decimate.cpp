// $comment
FT_STAGE {
    $head
    $type waiting[filter::WAITING]{};
#pragma HLS ARRAY_PARTITION variable=waiting complete
    int first = 0, held = 0;  // the next result's first sample, counted from the beat's; results that wait
    FT_LOOP(long v, (long)rows * $beats + filter::DELAY) {
        ft_vec<$type> got{};
        if (v < (long)rows * $beats) got = $from.read();
        filter::shift_in_beat(line, got);
        if (v >= filter::DELAY) {
            $type shifted[filter::LINE], results[filter::RESULTS];
#pragma HLS ARRAY_PARTITION variable=shifted complete
#pragma HLS ARRAY_PARTITION variable=results complete
            filter::shift_line(line, shifted, first);
            filter::compute(taps, shifted, parts, results, 0, at + first, samples);
            filter::wait(waiting, results, held);
            const bool most = first + (filter::MOST - 1) * filter::STRIDE < LANES;
            held = most ? held + filter::MOST : held + filter::MOST - 1;
            first = first - LANES + (most ? filter::MOST * filter::STRIDE : (filter::MOST - 1) * filter::STRIDE);
            if (held >= LANES) {
                ft_vec<$type> w;
                filter::take_beat(waiting, w);
                $writes
                held -= LANES;
            }
            at = at + LANES == samples ? 0 : at + LANES;
        }
    }
}
