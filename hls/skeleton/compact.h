// The positions of the true elements of a contiguous mask, in two launches over the same slabs. In the first
// each unit counts its true elements. In the second it writes their positions, from the sum of the counts of
// the units before it.
FT_KERNEL void FT_NAME(FT_GLOBAL const uchar *mask, FT_GLOBAL long *out, FT_GLOBAL const long *starts,
                       long mask_offset, long first, int n, int count FT_UNIT_PARAMS)
{
    const int begin = ft_slab(n, FT_UNIT, FT_UNITS), end = ft_slab(n, FT_UNIT + 1, FT_UNITS);
    mask += mask_offset;
    if (count) {
        long found = 0;
        FT_LOOP(counted)
        for (int i = begin; i < end; i++) {
            FT_PIPELINE
            found += mask[i] != 0;
        }
        out[FT_UNIT] = found;
    } else {
        long at = starts[FT_UNIT];
        FT_LOOP(elements)
        for (int i = begin; i < end; i++) {
            FT_PIPELINE
            if (mask[i] != 0) out[at++] = first + i;
        }
    }
}
