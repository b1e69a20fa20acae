// Discrete Fourier transforms of rows of complex numbers that flow through a chain of stages, two numbers at a time: while
// a row comes in, each stage works on one that came before it, and another goes out. A stage reads what the stage before it
// made of a row in the last turn, at i and i + n / 2, and writes one of the two memories behind it, so that results
// are sorted (Stockham's way, decimation in frequency, radix 2). No memory is read and written in one turn, and each gives
// and takes two numbers a cycle, as block RAM does. Rows are as long as a power of two, FT_POINTS at most: the last stages
// hand on shorter ones as they are.
// Geometry g: FftStreamGeometry.
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *in, FT_GLOBAL const FT_T *table, long out_offset, long in_offset,
    FT_T scale, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(in, gmem1)
    FT_PORT(table, gmem2)
    FT_PORT(g, gmem3)
    const int rows = G_ROWS(g), stages = G_STAGES(g), ends = G_ENDS(g);
    const int half_ = 1 << stages >> 1, apart = FT_POINTS >> stages;
    const long in_step = 2 * G_READ_STEP(g), in_row = 2 * G_READ_ROW(g);
    const long out_step = 2 * G_WRITTEN_STEP(g), out_row = 2 * G_WRITTEN_ROW(g);
    const FT_T factor = ends & 4 ? scale : (FT_T)1;
    FT_T re[FT_STAGES + 1][2][FT_POINTS], im[FT_STAGES + 1][2][FT_POINTS];
    FT_T cosine[FT_STAGES][FT_POINTS / 2], sine[FT_STAGES][FT_POINTS / 2];
    FT_BANKS(re, 1)
    FT_BANKS(re, 2)
    FT_BANKS(im, 1)
    FT_BANKS(im, 2)
    FT_BANKS(cosine, 1)
    FT_BANKS(sine, 1)
    FT_LOOP(roots)
    for (int i = 0; i < FT_POINTS / 2; i++) {
        FT_PIPELINE
        const FT_T c = table[2 * i], s = table[2 * i + 1];
        FT_UNROLL
        for (int k = 0; k < FT_STAGES; k++) {
            cosine[k][i] = c;
            sine[k][i] = s;
        }
    }
    const int begin = ft_slab(rows, FT_UNIT, FT_UNITS), end = ft_slab(rows, FT_UNIT + 1, FT_UNITS);
    const int turns = end > begin ? end - begin + FT_STAGES + 1 : 0;
    for (int turn = 0; turn < turns; turn++) {
        const int now = turn & 1, before = 1 - now, left = turn - FT_STAGES - 1;
        FT_GLOBAL const FT_T *x = in + 2 * in_offset + (begin + turn) * in_row;
        FT_GLOBAL FT_T *y = out + 2 * out_offset + (begin + left) * out_row;
        FT_LOOP(butterflies)
        for (int i = 0; i < half_; i++) {
            FT_PIPELINE
            FT_APART_OF(re)
            FT_APART_OF(im)
            if (begin + turn < end) {
                const long p = 2 * i * in_step, q = p + in_step;
                const FT_T a = x[p], b = x[p + 1], c = x[q], d = x[q + 1];
                re[0][now][2 * i] = ends & 1 ? b : a;
                im[0][now][2 * i] = ends & 1 ? a : b;
                re[0][now][2 * i + 1] = ends & 1 ? d : c;
                im[0][now][2 * i + 1] = ends & 1 ? c : d;
            }
            FT_UNROLL
            for (int s = 0; s < FT_STAGES; s++) {
                const FT_T a = re[s][before][i], b = im[s][before][i];
                const FT_T c = re[s][before][i + half_], d = im[s][before][i + half_];
                const int works = s < stages, inner = i & ((1 << s) - 1);
                const int root = works ? (i - inner) * apart : 0;
                const FT_T w = cosine[s][root], v = sine[s][root], r = a - c, t = b - d;
                const int p = works ? 2 * i - inner : i, q = works ? p + (1 << s) : i + half_;
                re[s + 1][now][p] = works ? a + c : a;
                im[s + 1][now][p] = works ? b + d : b;
                re[s + 1][now][q] = works ? r * w - t * v : c;
                im[s + 1][now][q] = works ? r * v + t * w : d;
            }
            if (left >= 0) {
                const FT_T a = re[FT_STAGES][before][2 * i] * factor, b = im[FT_STAGES][before][2 * i] * factor;
                const FT_T c = re[FT_STAGES][before][2 * i + 1] * factor;
                const FT_T d = im[FT_STAGES][before][2 * i + 1] * factor;
                const long p = 2 * i * out_step, q = p + out_step;
                y[p] = ends & 2 ? b : a;
                y[p + 1] = ends & 2 ? a : b;
                y[q] = ends & 2 ? d : c;
                y[q + 1] = ends & 2 ? c : d;
            }
        }
    }
}
