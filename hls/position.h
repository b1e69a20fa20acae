// Values computed from positions: ranges and index lists, which read no memory. The position of an element is
// its index in the contiguous output. If a tensor is too large for one launch, the output's offset is that of
// the launch.
#define FT_POSITION (FT_CONVERT(long, FT_INDEX(i)) + (FT_VEC(long))(out0_offset))

#if !FT_FLOATING
// The number of elements before row r of a lower triangle: rows `first` to `full` grow by one element each,
// beginning with `count`; all later rows have `cols`.
FT_FN_ONCE FT_V ft_triangle_before(FT_V r, FT_V first, FT_V full, FT_V count, FT_V cols)
{
    const FT_V grown = ft_min(r, full) - first;
    return grown * count + ((grown * (grown - K(1))) >> 1) + ft_max(r - full, K(0)) * cols;
}
// The row of the triangle's element k, by bisection: a square root would not be exact.
FT_FN_ONCE FT_V ft_triangle_row(FT_V k, FT_V first, FT_V full, FT_V count, FT_V cols)
{
    FT_V r = first;
    for (int bit = 30; bit >= 0; bit--) {
        const FT_V next = r + K((FT_T)1 << bit);
        r = ft_triangle_before(next, first, full, count, cols) <= k ? next : r;
    }
    return r;
}
#endif
