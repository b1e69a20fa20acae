// Sort keys: integers of the same width as the elements. A float's bits are mapped from sign and magnitude, so
// that -0 equals 0 and NaN is the largest. With `flip` (all bits set) the order is reversed, and equal elements
// keep their order.
FT_FN_ONCE FT_KEY ft_sort_key(FT_B b, FT_KEY flip)
{
#if FT_BITS_OF_FLOAT
    const FT_KEY magnitude = (FT_KEY)b & FT_MAGNITUDE, value = b < 0 ? -magnitude : magnitude;
    return (magnitude > FT_INFINITE ? FT_MAGNITUDE : value) ^ flip;
#else
    return (FT_KEY)b ^ FT_LEAST ^ flip;
#endif
}
