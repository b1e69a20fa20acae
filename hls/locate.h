// Positions selected by index tensors. Negative indices count from the end; with a negative `size` they are out
// of range. An index out of range is recorded in `bad` (1, index tensor, value, size) and gives position -1,
// which is never written.
FT_FN_ONCE long ft_locate(long there, long index, long size, long stride, FT_GLOBAL long *bad, int which)
{
    const long n = size < 0 ? -size : size;
    const long wrapped = index < 0 && size > 0 ? index + size : index;
    if (wrapped < 0 || wrapped >= n) {
        bad[1] = which;
        bad[2] = index;
        bad[3] = n;
        bad[0] = 1;
        return -1;
    }
    return there < 0 ? there : there + wrapped * stride;
}
