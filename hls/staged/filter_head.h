$tap taps[$places]$cleared;
$type line[$line]$cleared, parts[$cell]$cleared;
FT_REGISTERS(taps)
FT_REGISTERS(line)
FT_REGISTERS(parts)
FT_SPAN(taps, 0, $count) {
    FT_UNROLL
    for (int k = $first; k < $places - 1; k++) taps[k] = taps[k + 1];
    taps[$places - 1] = $read_tap;
}
const long samples = $samples;
long at = 0;  // index, in its signal, of the beat's first sample
