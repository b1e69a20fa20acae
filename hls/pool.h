// How many elements a window has along a dim that begins at `first`, of a plane of `size`: with the zeros around it where
// these count.
FT_FN_ONCE int ft_pool_size(int first, int taps, int size, int padding, int padded)
{
    const int most = size + (padded ? padding : 0), end = first + taps < size + padding ? first + taps : size + padding;
    return (end < most ? end : most) - (padded || first > 0 ? first : 0);
}
