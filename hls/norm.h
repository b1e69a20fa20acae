// Parts of rows, m of a vector's lanes: whole vectors but for a row's last.
#define FT_ROW_MEMBERS(k) (k + 1 < steps ? FT_LANES : n - k * FT_LANES)
FT_FN_ONCE FT_WIDE(FT_T) ft_row_part(FT_GLOBAL const FT_T *p, int m)
{
    if (m == FT_LANES) return FT_VLOAD(p);
    return ft_pick(p, 1, m);
}
FT_FN_ONCE void ft_row_made(FT_WIDE(FT_T) v, FT_GLOBAL FT_T *p, int m)
{
    if (m == FT_LANES) {
        FT_VSTORE(v, p);
    } else {
        ft_put(v, p, 1, m);
    }
}
