FT_KERNEL void FT_NAME(FT_GLOBAL FT_T *a, FT_GLOBAL FT_T *v, FT_GLOBAL FT_T *values, FT_GLOBAL int *info,
                       long a_offset, long v_offset, long values_offset, long info_offset, int items, int n, int lead,
                       long step, int vectors FT_UNIT_PARAMS)
{
    FT_FOR_SLAB(item, items)
    {
        FT_GLOBAL FT_T *x = FT_AT(a, a_offset + item * step);
        FT_GLOBAL FT_T *y = FT_AT(v, v_offset + (vectors ? item * step : 0));
        FT_GLOBAL FT_T *sizes = values + values_offset + (long)item * n;
