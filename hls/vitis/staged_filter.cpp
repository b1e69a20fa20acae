// $comment
FT_STAGE {
    typedef ft_filter<$constants> filter;
    $tap taps[filter::PLACES]{};
    $type line[filter::LINE]{};
    float parts[filter::PARTS][filter::CELL]{};
    ft_vec<$type> packed{};
#pragma HLS ARRAY_PARTITION variable=taps complete
#pragma HLS ARRAY_PARTITION variable=line complete
#pragma HLS ARRAY_PARTITION variable=parts dim=0 complete
$entering:
    for (int k = 0; k < filter::TAPS; k++) {
#pragma HLS PIPELINE II=1
        filter::shift_in_tap(taps, $taps.read());
    }
    const long samples = $samples;
    long at = 0;  // index, in its signal, of the beat's first sample
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
