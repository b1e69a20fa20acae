// Conversions from floating-point numbers to integers. C leaves NaN and numbers outside the integer type's
// range undefined. Here they become the lowest integer with every compiler, as with x86's instructions. Such a
// value is replaced before the conversion, so that no compiler sees one.
#define FT_TO_INTEGERS(T) \
    FT_FN FT_VEC(int) ft_to_int(FT_VEC(T) x) \
    { \
        const FT_VEC(T) lowest = (FT_VEC(T))(-0x1p31f); \
        return FT_CONVERT(int, ((x > lowest) & (x < -lowest)) ? x : lowest); \
    } \
    FT_FN FT_VEC(long) ft_to_long(FT_VEC(T) x) \
    { \
        const FT_VEC(T) lowest = (FT_VEC(T))(-0x1p63f); \
        return FT_CONVERT(long, ((x > lowest) & (x < -lowest)) ? x : lowest); \
    }
