FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL const FT_E *a, FT_GLOBAL const FT_E *b, FT_GLOBAL const FT_E *added,
    long out_offset, long a_offset, long b_offset, long added_offset, FT_NUMBER_PARAMS,
    FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(a, gmem1)
    FT_PORT(b, gmem2)
    FT_PORT(added, gmem3)
    FT_PORT(g, gmem4)
