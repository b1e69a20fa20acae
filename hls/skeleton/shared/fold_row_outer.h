// A row of a fold across rows: every lane takes an element; then sums of 16, 256 and 4096 rows move up.
#if FT_FOLDS
#define FT_ADD_ELEMENT FT_LANE(sum[v]) = ft_combine(FT_LANE(sum[v]), lifted);
#else
#define FT_ADD_ELEMENT
#endif
#define FT_ROW_VECTOR(read, put)    \
    read                            \
    FT_EACH_LANE                    \
    {                               \
        FT_ELEMENT((FT_I)(row))     \
        FT_ADD_ELEMENT              \
    }                               \
    put
#define FT_MOVE_UP(more, less)                                        \
    FT_EACH_VECTOR                                                    \
    FT_EACH_LANE                                                      \
    {                                                                 \
        FT_LANE(more[v]) = ft_combine(FT_LANE(more[v]), FT_LANE(less[v])); \
        FT_LANE(less[v]) = ft_identity();                             \
    }
if (width == FT_VECTORS * FT_LANES) {
    FT_EACH_VECTOR
    {
        const int i = first_column + v * FT_LANES;
        FT_ROW_VECTOR(FT_READ(i), FT_PUT(i))
    }
} else {
    FT_EACH_VECTOR
    {
        const int i = first_column + v * FT_LANES, m = width - v * FT_LANES;
        if (m >= FT_LANES) {
            FT_ROW_VECTOR(FT_READ(i), FT_PUT(i))
        } else if (m > 0) {
            FT_ROW_VECTOR(FT_READ_PART(i, m), FT_PUT_PART(i, m))
        }
    }
}
#if FT_FOLDS
if (done % 16 == 0) {
    FT_MOVE_UP(middle, sum)
    if (done % 256 == 0) {
        FT_MOVE_UP(top, middle)
        if (done % 4096 == 0) { FT_MOVE_UP(high, top) }
    }
}
#endif
#undef FT_ADD_ELEMENT
#undef FT_ROW_VECTOR
#undef FT_MOVE_UP
