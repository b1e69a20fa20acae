// Returns how many elements a window has along a dim, if it begins at `first` and the plane has `size`
// elements. Padding counts if `padded` is set.
FT_FN_ONCE int ft_pool_size(int first, int taps, int size, int padding, int padded)
{
    const int most = size + (padded ? padding : 0), end = first + taps < size + padding ? first + taps : size + padding;
    return (end < most ? end : most) - (padded || first > 0 ? first : 0);
}
