extern "C" void $name(
    $parameters)
{
    $interfaces
    const int beats = n / LANES, first = ft_slab(beats, ft_unit, ft_units);
    const int count = ft_slab(beats, ft_unit + 1, ft_units) - first;
    // The last compute unit also computes the elements after the last whole beat.
    const int rest = ft_unit == ft_units - 1 ? n % LANES : 0;
    $inputs
    out0_beat *to = out0 + (out0_offset / LANES + first);
each_beat:
    for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        $receive
        to[v] = one_beat($beat_arguments);
    }
    if (rest > 0) {
        const int v = count;
        $receive
        // Elements of the last beat beyond n belong to another tensor and must keep their values.
        out0_beat last = to[v];
        ft_merge_lanes(last, one_beat($beat_arguments), rest);
        to[v] = last;
    }
}
