typedef ft_filter<$constants> filter;
$tap taps[filter::PLACES]{};
$type line[filter::LINE]{};
float parts[filter::PARTS][filter::CELL]{};
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
