FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL const FT_E *a, FT_GLOBAL const FT_E *b, FT_GLOBAL const FT_E *added,
    long out_offset, long a_offset, long b_offset, long added_offset, FT_NUMBER_PARAMS,
    FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
