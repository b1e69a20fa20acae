// Input $port from $above beats before a compute unit's rows on, row by row, then the first rows of the next unit.
// Those begin at the same offset of `next`, and those before end there in `previous`; both are the same memory,
// or another unit's slab. Before the first row of all and behind the last one are zeros, which no result has.
FT_STAGE {
    const long begin = (long)first * $beats, own = (long)(rows - $halo) * $beats, before = begin < $above ? begin : $above;
    const long wanted = (long)rows * $beats - $unread - $above, there = (long)total * $beats - begin;
    const long last = wanted < 0 ? 0 : wanted < there ? wanted : there;
    FT_BASE
    const $beat *behind = next + next_offset / LANES;
    const $beat *above = previous + previous_offset / LANES - before;
$none:
    for (long v = before; v < $above; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=65536
        const ft_vec<$type> w{};
        $writes
    }
$before:
    for (long v = 0; v < before; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=65536
        const $beat got = above[v];
        FT_VALUES
        $writes
    }
    FT_LOOP(long v, (last < own ? last : own)) {
        FT_BEAT(v)
        FT_VALUES
        $writes
    }
$behind:
    for (long v = own; v < last; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=65536
        const $beat got = behind[v];
        FT_VALUES
        $writes
    }
$rest:
    for (long v = last; v < (long)rows * $beats - $above; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=65536
        const ft_vec<$type> w{};
        $writes
    }
}
