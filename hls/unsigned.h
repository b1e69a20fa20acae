// Conversions from floating-point numbers to uint32 and uint64, through the signed type of the same width
// (convert.h): negative numbers wrap, and numbers that are too large become 0.
#define FT_TO_UNSIGNED(NAME, T, U, S, M, HALF, TOP)                                                 \
    FT_FN FT_VEC(U) NAME(FT_VEC(T) x)                                                               \
    {                                                                                               \
        const FT_VEC(U) low = FT_CONVERT(U, ft_to_##S(x));                                          \
        const FT_VEC(U) rest = FT_CONVERT(U, ft_to_##S(x - (FT_VEC(T))(HALF)));                     \
        return FT_MASK_AS(M, x >= (FT_VEC(T))(HALF)) ? (rest ^ (FT_VEC(U))(TOP)) : low;             \
    }
FT_TO_UNSIGNED(ft_to_uint, float, uint, int, int, 0x1p31f, 0x80000000u)
FT_TO_UNSIGNED(ft_to_ulong, float, ulong, long, long, 0x1p63f, 0x8000000000000000ul)
#if FT_FP64
FT_TO_UNSIGNED(ft_to_uint, double, uint, int, int, 0x1p31f, 0x80000000u)
FT_TO_UNSIGNED(ft_to_ulong, double, ulong, long, long, 0x1p63f, 0x8000000000000000ul)
#endif
