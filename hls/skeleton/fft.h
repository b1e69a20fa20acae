// Discrete Fourier transforms of rows of complex numbers: passes of small radices (fft_pass.h).
// A launch runs all passes on whole rows, each unit in memory of its own between them, or one pass on pieces of
// rows, in as many launches as there are passes.
// Geometry g (int): rows, pieces of each, n, ends (fft.h), passes, then for each its radix, the length of the
//   transforms before it, where its roots begin, and its vectors.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *in, FT_GLOBAL const FT_T *roots, FT_GLOBAL FT_T *scratch,
    long out_offset, long in_offset, long roots_offset, FT_T scale, FT_GLOBAL const int *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(in, gmem1)
    FT_PORT(roots, gmem2)
    FT_PORT(scratch, gmem3)
    FT_PORT(g, gmem4)
    const int pieces = g[1], n = g[2], ends = g[3], passes = g[4], last = passes - 1;
    const long near = 4L * n * FT_UNIT, far = near + 2L * n;
    FT_FOR_SLAB(item, g[0] * pieces)
    {
        const int piece = item % pieces;
        FT_GLOBAL const FT_T *x = in + 2 * (in_offset + (long)(item / pieces) * n);
        FT_GLOBAL FT_T *y = out + 2 * (out_offset + (long)(item / pieces) * n);
        for (int p = 0; p < passes; p++) {
            FT_GLOBAL const int *pass = g + 5 + 4 * p;
            const int r = pass[0], length = pass[1];
            const int begin = ft_slab(pass[3], piece, pieces), end = ft_slab(pass[3], piece + 1, pieces);
            FT_GLOBAL const FT_T *w = roots + 2 * (roots_offset + pass[2]);
            const long here = p & 1 ? near : far, there = p & 1 ? far : near;
            if (p == 0 && last == 0) {
                ft_fft_pass(y, x, w, r, n, length, begin, end, ends, scale);
            } else if (p == 0) {
                ft_fft_pass(scratch + there, x, w, r, n, length, begin, end, ends & 1, scale);
            } else if (p == last) {
                ft_fft_pass(y, scratch + here, w, r, n, length, begin, end, ends & 6, scale);
            } else {
                ft_fft_pass(scratch + there, scratch + here, w, r, n, length, begin, end, 0, scale);
            }
        }
    }
}
