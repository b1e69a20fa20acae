// What is compared of elements in their order: whole numbers that lie as the elements do. Of a float the bits, as a
// sign and a magnitude, so that -0 is 0, and NaN the largest. With `flip` (all bits set) the order is turned
// around, and equals keep theirs.
FT_FN_ONCE FT_KEY ft_sort_key(FT_B b, FT_KEY flip)
{
#if FT_BITS_OF_FLOAT
    const FT_KEY magnitude = (FT_KEY)b & FT_MAGNITUDE, value = b < 0 ? -magnitude : magnitude;
    return (magnitude > FT_INFINITE ? FT_MAGNITUDE : value) ^ flip;
#else
    return (FT_KEY)b ^ FT_LEAST ^ flip;
#endif
}
