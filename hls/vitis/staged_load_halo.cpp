// Input $port, row by row, then the first rows of the next compute unit: those begin at the same offset of
// `next`, which is the same memory, or the next unit's slab. The last beats have no reader, and are not read.
FT_STAGE {
    FT_BASE
    const $beat *behind = next + next_offset / LANES;
    const long own = (long)(rows - $halo) * $beats;
    $before
    FT_LOOP(long v, (last < own ? last : own)) {
        FT_BEAT(v)
        FT_VALUES
        $writes
    }
    FT_SPAN(behind, own, last) {
        const $beat got = behind[v];
        FT_VALUES
        $writes
    }
    FT_SPAN(rest, last, $end) {
        const ft_vec<$type> w{};
        $writes
    }
}
