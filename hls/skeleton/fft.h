// Discrete Fourier transforms, FT_LANES side by side in working memory (fft.h), as the stages that a launch is told.
// A stage takes its transforms group by group: it reads them, runs its steps, and writes them. A long transform of
// a * b numbers is two stages: b transforms of a numbers that are b apart, times roots, and then a of b.
// A stage of kind 1 or 2 joins a row's transform to real numbers, or parts it from them (fft_real.h).
// Items are whole calls of all stages; where they are fewer than the units, a launch has one stage, whose groups
// are cut into pieces.
// Geometry g (long): items, pieces, dims, stages, working memory of a unit, then shape[dims], strides[dims] of the
// input, strides[dims] of the output, all in real numbers, then the stages (read below).
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *in, FT_GLOBAL const FT_T *table, FT_GLOBAL FT_T *scratch,
    long out_offset, long in_offset, FT_T scale, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(in, gmem1)
    FT_PORT(table, gmem2)
    FT_PORT(scratch, gmem3)
    FT_PORT(g, gmem4)
    const int items = (int)g[0], pieces = (int)g[1], dims = (int)g[2], stages = (int)g[3];
    FT_GLOBAL FT_T *mine = scratch + g[4] * FT_UNIT;
    FT_GLOBAL const long *shape = g + 7;
    FT_FOR_SLAB(item, items * pieces)
    {
        const int piece = item % pieces;
        int rest = item / pieces;
        long from = in_offset * g[5], to = out_offset * g[6];
        for (int d = dims - 1; d >= 0; d--) {
            const int k = rest % (int)shape[d];
            rest /= (int)shape[d];
            from += k * shape[dims + d];
            to += k * shape[2 * dims + d];
        }
        FT_GLOBAL const long *s = shape + 3 * dims;
        for (int stage = 0; stage < stages; stage++) {
            const int kind = (int)s[1], lanes = (int)s[2], n = (int)s[3], ends = (int)s[4], steps = (int)s[5];
            FT_GLOBAL const FT_T *source = s[6] < 0 ? in + from : mine + s[6];
            FT_GLOBAL FT_T *result = s[13] < 0 ? out + to : mine + s[13];
            const FT_T factor = ends & 4 ? scale : (FT_T)1;
            const int groups = (lanes + FT_LANES - 1) / FT_LANES;
            const int begin = ft_slab(groups, piece, pieces), end = ft_slab(groups, piece + 1, pieces);
            if (kind == 1) {
                const int stop = end == groups ? n + 1 : end * FT_LANES;
                ft_fft_row_forth(result, source, table + s[20], n, begin * FT_LANES, stop, ends & 8, factor);
            } else if (kind == 2) {
                const int stop = end == groups ? n : end * FT_LANES;
                ft_fft_row_back(result, source, table + s[20], n, begin * FT_LANES, stop, ends & 8);
            } else {
                for (int group = begin; group < end; group++) {
                    const int first = group * FT_LANES, m = lanes - first < FT_LANES ? lanes - first : FT_LANES;
                    const int count = (int)s[10], mode = (int)s[11];
                    FT_GLOBAL FT_T *x = mine + s[12], *y = x + s[19];
                    ft_fft_read(x, source + first * s[8], s[7], s[8], s[9], m, count, mode & 1, ends & 1);
                    ft_fft_fill(x, count, n, mode & 2, ends & 1);
                    for (int k = 0; k < steps; k++) {
                        FT_GLOBAL const long *t = s + 22 + 4 * k;
                        const int r = (int)t[0], length = (int)t[1];
                        FT_GLOBAL const FT_T *w = table + t[3];
                        if (r > 1) {
                            ft_fft_pass(y, x, w, r, (int)t[2], length);
                        } else if (r == 1) {
                            ft_fft_times_table(y, x, w, (int)t[2], length & 3);
                            ft_fft_fill(y, (int)t[2], length >> 2, 0, 0);
                        } else if (r == 0) {
                            ft_fft_real_forth(y, x, w, (int)t[2], length);
                        } else {
                            ft_fft_real_back(y, x, w, (int)t[2], length);
                        }
                        FT_GLOBAL FT_T *z = x;
                        x = y;
                        y = z;
                    }
                    const int twiddle = s[20] >= 0;
                    FT_GLOBAL const FT_T *w = table + (twiddle ? s[20] + (long)first * 2 * n : 0);
                    ft_fft_write(result + first * s[15], x, w, s[14], s[15], s[16], m, (int)s[17], (int)s[18], ends & 2, twiddle, factor);
                }
            }
            s += s[0];
        }
    }
}
