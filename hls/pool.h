// Returns the number of elements of a window along a dim, for a window that begins at `first` and a plane of `size`;
// the zeros around the plane are included if they count.
FT_FN_ONCE int ft_pool_size(int first, int taps, int size, int padding, int padded)
{
    const int most = size + (padded ? padding : 0), end = first + taps < size + padding ? first + taps : size + padding;
    return (end < most ? end : most) - (padded || first > 0 ? first : 0);
}
