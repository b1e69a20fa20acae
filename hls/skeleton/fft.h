// Discrete Fourier transforms, FT_LANES at a time in working memory (fft.h). The launch describes the stages. A stage
// reads a group of transforms, runs its steps, and writes the group. A long transform of a * b numbers has two stages:
// b transforms of a numbers with stride b and their twiddle factors, then a transforms of b numbers.
// A stage of kind 1 or 2 converts a row's transform between complex and real numbers (fft_real.h).
// An item is a call with all of its stages. If there are fewer calls than compute units, a launch has one stage, and
// the units divide its groups.
// Geometry g: FftGeometry, of Stages.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *in, FT_GLOBAL const FT_T *table, FT_GLOBAL FT_T *scratch,
    long out_offset, long in_offset, FT_T scale, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int items = G_ITEMS(g), pieces = G_PIECES(g), dims = G_DIMS(g), stages = G_STAGE_COUNT(g);
    FT_GLOBAL FT_T *mine = scratch + G_WORK(g) * FT_UNIT;
    FT_GLOBAL const long *shape = G_SHAPE(g), *read = G_READ(g), *written = G_WRITTEN(g);
    FT_FOR_SLAB(item, items * pieces)
    {
        const int piece = item % pieces;
        int rest = item / pieces;
        long from = in_offset * G_PARTS_READ(g), to = out_offset * G_PARTS_WRITTEN(g);
        #include "shared/batch_offsets.h"
        FT_GLOBAL const long *s = G_STAGES(g);
        for (int stage = 0; stage < stages; stage++) {
            const int kind = S_KIND(s), lanes = S_LANES(s), n = S_N(s), ends = S_ENDS(s), steps = S_STEP_COUNT(s);
            FT_GLOBAL const FT_T *source = S_READ_MEMORY(s) < 0 ? in + from : mine + S_READ_MEMORY(s);
            FT_GLOBAL FT_T *result = S_WRITTEN_MEMORY(s) < 0 ? out + to : mine + S_WRITTEN_MEMORY(s);
            const FT_T factor = ends & 4 ? scale : (FT_T)1;
            const int groups = (lanes + FT_LANES - 1) / FT_LANES;
            const int begin = ft_slab(groups, piece, pieces), end = ft_slab(groups, piece + 1, pieces);
            if (kind == 1) {
                const int stop = end == groups ? n + 1 : end * FT_LANES;
                ft_fft_row_forth(result, source, table + S_TABLE(s), n, begin * FT_LANES, stop, ends & 8, factor);
            } else if (kind == 2) {
                const int stop = end == groups ? n : end * FT_LANES;
                ft_fft_row_back(result, source, table + S_TABLE(s), n, begin * FT_LANES, stop, ends & 8);
            } else {
                for (int group = begin; group < end; group++) {
                    const int first = group * FT_LANES, m = lanes - first < FT_LANES ? lanes - first : FT_LANES;
                    const int count = (int)S_READ_SIZE(s), mode = S_MODE(s);
                    FT_GLOBAL FT_T *x = mine + S_WORK(s), *y = x + S_HALF(s);
                    ft_fft_read(
                        x, source + first * S_READ_LANE(s), S_READ_STEP(s), S_READ_LANE(s), S_READ_IM(s), m, count, mode & 1,
                        ends & 1);
                    ft_fft_fill(x, count, n, mode & 2, ends & 1);
                    for (int k = 0; k < steps; k++) {
                        const int r = (int)S_STEPS_WHAT(s, k), length = (int)S_STEPS_LENGTH(s, k), size = (int)S_STEPS_N(s, k);
                        FT_GLOBAL const FT_T *w = table + S_STEPS_TABLE(s, k);
                        if (r > 1) {
                            ft_fft_pass(y, x, w, r, size, length);
                        } else if (r == 1) {
                            ft_fft_times_table(y, x, w, size, length & 3);
                            ft_fft_fill(y, size, length >> 2, 0, 0);
                        } else if (r == 0) {
                            ft_fft_real_forth(y, x, w, size, length);
                        } else {
                            ft_fft_real_back(y, x, w, size, length);
                        }
                        FT_GLOBAL FT_T *z = x;
                        x = y;
                        y = z;
                    }
                    const int twiddle = S_TABLE(s) >= 0;
                    FT_GLOBAL const FT_T *w = table + (twiddle ? S_TABLE(s) + (long)first * 2 * n : 0);
                    ft_fft_write(
                        result + first * S_WRITTEN_LANE(s), x, w, S_WRITTEN_STEP(s), S_WRITTEN_LANE(s), S_WRITTEN_IM(s), m,
                        (int)S_WRITTEN_SIZE(s), S_REAL(s), ends & 2, twiddle, factor);
                }
            }
            s += S_SIZE(s);
        }
    }
}
