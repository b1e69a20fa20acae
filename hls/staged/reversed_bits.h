// Reverses the lowest `bits` bits of a number.
static inline int ft_reversed(int x, int bits)
{
    FT_INLINE
    int y = 0;
    FT_UNROLL
    for (int bit = 0; bit < bits; bit++) y |= ((x >> bit) & 1) << (bits - 1 - bit);
    return y;
}
