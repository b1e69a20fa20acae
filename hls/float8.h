// float8 by its bits: a sign, exponent and fraction in a byte. e5m2 is the upper half of a float16. e4m3fn has
// no infinities: its largest exponent is that of numbers too, and only the largest fraction is a NaN. The
// functions work on any number of lanes. BIAS: the exponent's bias; BITS: the fraction's width; TINY: the
// smallest positive number.

// A subnormal is converted as an integer times TINY, because a subnormal float32 might be flushed to zero.
// SPECIAL is the smallest magnitude that is not a finite number; a NaN becomes quiet.
#define FT_FROM_FLOAT8(NAME, BITS, BIAS, TINY, SPECIAL, MADE)                                         \
    FT_FN_ONCE FT_VEC(float) NAME(FT_VEC(uchar) v)                                                    \
    {                                                                                                 \
        const FT_VEC(uint) u = FT_CONVERT(uint, v), sign = (u & 0x80u) << 24, rest = u & 0x7fu;       \
        const FT_VEC(float) small = FT_CONVERT(float, rest) * (FT_VEC(float))(TINY);                  \
        const FT_VEC(uint) whole = (rest << (23 - BITS)) + ((127u - BIAS) << 23);                     \
        const FT_VEC(uint) size = rest < (1u << BITS) ? FT_BITS(uint, small) : whole;                 \
        return FT_BITS(float, sign | (rest >= SPECIAL ? (MADE) : size));                              \
    }
FT_FROM_FLOAT8(ft_from_float8_e4m3fn, 3, 7u, 0x1p-9f, (FT_VEC(uint))(0x7fu), (FT_VEC(uint))(0x7ff00000u))
FT_FROM_FLOAT8(ft_from_float8_e5m2, 2, 15u, 0x1p-16f, (FT_VEC(uint))(0x7cu),
               ((rest << 21) + 0x70000000u) | (rest > 0x7cu ? (FT_VEC(uint))(0x400000u) : (FT_VEC(uint))(0u)))

// Rounds to nearest, ties to even. A number beyond the range becomes TOP; a NaN has all bits set except its
// sign. Below the smallest normal number, the sum LIFT + |x| rounds: TINY is the last bit of LIFT's fraction.
#define FT_TO_FLOAT8(NAME, BITS, BIAS, LIFT, TOP)                                                     \
    FT_FN_ONCE FT_VEC(uchar) NAME(FT_VEC(float) v)                                                    \
    {                                                                                                 \
        const FT_VEC(uint) u = FT_BITS(uint, v), sign = (u >> 24) & 0x80u, size = u & 0x7fffffffu;    \
        const FT_VEC(float) lifted = FT_BITS(float, size) + (FT_VEC(float))(LIFT);                    \
        const FT_VEC(uint) odd = (size >> (23 - BITS)) & 1u, half_ = (1u << (22 - BITS)) - 1u + odd;  \
        const FT_VEC(uint) whole = (size - ((127u - BIAS) << 23) + half_) >> (23 - BITS);             \
        const FT_VEC(uint) low = FT_BITS(uint, lifted) - FT_BITS(uint, (FT_VEC(float))(LIFT));        \
        const FT_VEC(uint) near = size < ((128u - BIAS) << 23) ? low : whole;                         \
        const FT_VEC(uint) held = near > TOP || size > ((127u + BIAS + 2u) << 23)                     \
            ? (FT_VEC(uint))(TOP) : near;                                                             \
        return FT_CONVERT(uchar, sign | (size > 0x7f800000u ? (FT_VEC(uint))(0x7fu) : held));         \
    }
FT_TO_FLOAT8(ft_to_float8_e4m3fn, 3, 7u, 0x1p14f, (FT_VEC(uint))(0x7eu))
FT_TO_FLOAT8(ft_to_float8_e5m2, 2, 15u, 0x1p7f, (FT_VEC(uint))(0x7cu))
