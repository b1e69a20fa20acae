static inline $beat ft_load_beat$width(__global const $word *p, int m)
{
    if (m == FT_LANES) return *(__global const $beat *)p;
    $word t[$count];
    for (int k = 0; k < $count; k++) t[k] = k < $words ? p[k] : 0;
    return vload$count(0, t);
}
static inline void ft_store_beat$width($beat v, __global $word *p, int m)
{
    if (m == FT_LANES) {
        *(__global $beat *)p = v;
    } else {
        $word t[$count];
        vstore$count(v, 0, t);
        for (int k = 0; k < $words; k++) p[k] = t[k];
    }
}
