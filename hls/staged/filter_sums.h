// All products of a cycle are computed in parallel, and a tree adds the products of a result: first those half of the
// places apart, neighbours last. If a result is due only every few beats, each of these phases multiplies its own samples
// by their taps, and the last levels of the same tree add the sums of the phases. So the order of a sum depends neither on
// the lanes nor on the stride. Distances from the signal's ends are cut to what products reach.
const long ahead = samples - ($at);
const int from_start = ($at) < 2 * $line ? (int)($at) : 2 * $line, to_end = ahead < 2 * $line ? (int)ahead : 2 * $line;
$type results[$results];
FT_REGISTERS(results)
FT_UNROLL
for (int r = 0; r < $results; r++) {
    $type sum[$products], phase_sums[$cell];
    FT_REGISTERS(sum)
    FT_REGISTERS(phase_sums)
    FT_UNROLL
    for (int n = 0; n < $products; n++) {
        const int k = n / $step * $cell + n % $step, sample = r * $stride + k - $before;
        const bool inside = from_start + sample >= 0 && sample < to_end && k + phase * $step >= $first;
        const $type value = $entered[r * $stride + k], none$cleared;
        sum[n] = ft_tap_product(ft_select(inside, value, none), taps[k]);
    }
    FT_UNROLL
    for (int level = 1; level <= $levels; level++) {
        FT_UNROLL
        for (int k = 0; k < $products / 2; k++) {
            if (k < $products >> level) sum[k] = ft_tap_sum(sum[k], sum[k + ($products >> level)]);
        }
    }
    FT_UNROLL
    for (int k = 0; k < $cell - $step; k++) parts[k] = parts[k + $step];
    FT_UNROLL
    for (int k = 0; k < $step; k++) parts[$cell - $step + k] = sum[k];
    FT_UNROLL
    for (int k = 0; k < $cell; k++) phase_sums[k] = parts[k];
    FT_UNROLL
    for (int level = 1; level <= $cell_levels; level++) {
        FT_UNROLL
        for (int k = 0; k < $cell / 2; k++) {
            if (k < $cell >> level) phase_sums[k] = ft_tap_sum(phase_sums[k], phase_sums[k + ($cell >> level)]);
        }
    }
    results[r] = ft_plain_zero(phase_sums[0]);
}
FT_UNROLL
for (int q = 0; q < $places; q += $cell) {  // the taps of the next phase
    $tap turned[$step];
    FT_REGISTERS(turned)
    FT_UNROLL
    for (int l = 0; l < $step; l++) turned[l] = taps[q + l];
    FT_UNROLL
    for (int k = 0; k < $cell - $step; k++) taps[q + k] = taps[q + k + $step];
    FT_UNROLL
    for (int l = 0; l < $step; l++) taps[q + $cell - $step + l] = turned[l];
}
