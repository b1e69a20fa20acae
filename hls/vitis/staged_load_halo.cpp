// Input $port, row by row, then the first rows of the next compute unit: those begin at the same offset of
// `next`, which is the same memory, or the next unit's slab. The last beats have no reader, and are not read.
FT_STAGE {
    FT_BASE
    const $beat *behind = next + next_offset / LANES;
    const long own = (long)(rows - $halo) * $beats, last = (long)rows * $beats - $unread;
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
    for (long v = last; v < (long)rows * $beats; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=256
        const ft_vec<$type> w{};
        $writes
    }
}
