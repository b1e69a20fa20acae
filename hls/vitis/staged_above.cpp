// First the $above beats before the unit's rows, which end at the offset of `previous`: the same memory, or another
// unit's slab. Before the first row of all and behind the last one are zeros, which no result has.
const long begin = (long)first * $beats, before = begin < $above ? begin : $above;
const long wanted = (long)rows * $beats - $unread - $above, there = (long)total * $beats - begin;
const long last = wanted < 0 ? 0 : wanted < there ? wanted : there;
const $beat *above = previous + previous_offset / LANES - before;
FT_SPAN(none, before, $above) {
    const ft_vec<$type> w{};
    $writes
}
FT_SPAN(before, 0, before) {
    const $beat got = above[v];
    FT_VALUES
    $writes
}
