// Parts of rows: m lanes of a vector. All vectors of a row except the last are full.
#define FT_ROW_MEMBERS(k) (k + 1 < steps ? FT_LANES : n - k * FT_LANES)
FT_FN_ONCE FT_WIDE(FT_T) ft_row_part(FT_GLOBAL const FT_T *p, int m)
{
    if (m == FT_LANES) return FT_VLOAD(p);
    return ft_load_strided(p, 1, m);
}
// Loads a part of a row times a factor, if there is one.
FT_FN_ONCE FT_WIDE(FT_T) ft_row_times(FT_GLOBAL const FT_T *p, FT_GLOBAL const FT_T *factor, int weighted, int m)
{
    FT_WIDE(FT_T) v = ft_row_part(p, m);
    if (weighted) {
        const FT_WIDE(FT_T) w = ft_row_part(factor, m);
        FT_EACH_LANE { FT_LANE(v) = FT_LANE(v) * FT_LANE(w); }
    }
    return v;
}
FT_FN_ONCE void ft_row_made(FT_WIDE(FT_T) v, FT_GLOBAL FT_T *p, int m)
{
    if (m == FT_LANES) {
        FT_VSTORE(v, p);
    } else {
        ft_store_strided(v, p, 1, m);
    }
}
