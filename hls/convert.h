// Conversions from floating-point numbers to integers. Cases that C leaves undefined are defined here, the same for
// every compiler: NaN, and numbers outside the range of the integer type, become the lowest integer, as with x86's
// instructions. Such a value is replaced before the conversion, so that no compiler sees one.
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
