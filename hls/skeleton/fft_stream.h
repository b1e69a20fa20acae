// Discrete Fourier transforms of rows of complex numbers, for boards. A row flows through a chain of stages, two
// numbers a cycle. While one row is read, each stage works on an earlier row, and the first of them is written. Each
// stage is a step of Stockham's algorithm (radix 2, decimation in frequency), so results come in order: it reads
// elements i and i + n / 2 of the memory before it, and writes the memory behind it. Row lengths are powers of two,
// FT_POINTS at most; shorter rows pass the last stages unchanged.
// All rows are one loop. A slot has FT_LEAST pairs or more: one row, or several short ones. A stage runs half a slot
// and FT_LEAST steps behind the stage before it. So each element that it reads was written at least FT_LEAST steps
// earlier, which is longer than the pipeline of a butterfly. A memory holds three slots. It is two block RAMs: one for
// indices with an even number of set bits, one for the others. The two indices of a butterfly differ in one bit, so
// each RAM has one read and one write a cycle.
// The input may be shorter than a transform (zeros follow), and the output too. Input and output may be multiplied by
// factors. With both, two launches compute a transform of any length as a convolution with a chirp (Bluestein's
// algorithm).
// Contiguous rows are read and written in beats of FT_LANES real numbers. Other rows take one complex number a cycle,
// which doubles the number of cycles. With FT_PROCESSES, a process of its own reads the beats, and another one writes
// the results: contiguous rows in one burst. A beat waits in a FIFO, so a number is in the memory of the first stage a
// few cycles after its step begins, sooner than FT_LEAST. No stage waits for what another one writes in the same step.
// Geometry g: FftStreamGeometry.
#include "shared/beat_fifos.h"
#if FT_PROCESSES
#define FT_STREAM_IN hls::stream<ft_beat> &beats, const ft_beat
#define FT_STREAM_OUT hls::stream<ft_beat> &results, hls::vector<FT_T, 2> *out_numbers
#else
#define FT_STREAM_IN FT_GLOBAL const FT_T *in, FT_GLOBAL const FT_T
#define FT_STREAM_OUT FT_GLOBAL FT_T *out
#endif
// True if the input is no single run of numbers: then each row begins with a new beat, and if its numbers are not
// adjacent, each number has a beat of its own.
#define FT_STREAM_APART (in_step != 1 || (in_row != come && end - begin > 1))
FT_FN_ONCE int ft_odd(int place)
{
    const int a = place ^ (place >> 8), b = a ^ (a >> 4), c = b ^ (b >> 2);
    return (c ^ (c >> 1)) & 1;
}
// Multiplies number k (a, b) and number k + 1 (c, d) by their factors, if there are any.
#define FT_STREAM_FACTORS(side, k)                                                                              \
    {                                                                                                           \
        const int odd_ = ft_odd(k), at_ = (k) >> 1;                                                             \
        const FT_T even_re_ = factor_re[side][0][at_], even_im_ = factor_im[side][0][at_];                      \
        const FT_T odd_re_ = factor_re[side][1][at_], odd_im_ = factor_im[side][1][at_];                        \
        const FT_T e = odd_ ? odd_re_ : even_re_, f = odd_ ? odd_im_ : even_im_;                                \
        const FT_T u = odd_ ? even_re_ : odd_re_, w = odd_ ? even_im_ : odd_im_;                                \
        const FT_T p_ = a * e - b * f, q_ = a * f + b * e, r_ = c * u - d * w, s_ = c * w + d * u;              \
        a = factors ? p_ : a;                                                                                   \
        b = factors ? q_ : b;                                                                                   \
        c = factors ? r_ : c;                                                                                   \
        d = factors ? s_ : d;                                                                                   \
    }

// Transforms the rows from `begin` to `end`.
FT_NOINLINE void ft_stream_rows(
    FT_STREAM_OUT, FT_STREAM_IN *table, long out_offset, long in_offset, FT_T scale, int begin, int end, int stages, int ends,
    int come, int leave, long in_step, long in_row, long out_step, long out_row, int in_line, int out_line, long to)
{
    const int n = 1 << stages, half_ = n >> 1, apart = FT_POINTS >> stages;
    const int many = half_ < FT_LEAST ? FT_LEAST / half_ : 1, length = half_ * many;
    const int factors = ends & 16, trips = in_line && out_line ? length : 2 * length;
    const int in_apart = FT_STREAM_APART;
    const FT_T factor = ends & 4 ? scale : (FT_T)1;
    FT_T re[FT_STAGES + 1][2][3 * FT_SLOT], im[FT_STAGES + 1][2][3 * FT_SLOT];
    FT_T cosine[FT_STAGES][FT_POINTS / 2], sine[FT_STAGES][FT_POINTS / 2];
    FT_T factor_re[2][2][FT_POINTS / 2], factor_im[2][2][FT_POINTS / 2];  // of the input, of the output
    FT_T beat[FT_LANES], out_beat[FT_LANES], number[2];
    FT_ARRAY_PARTITION(re, 1)
    FT_ARRAY_PARTITION(re, 2)
    FT_ARRAY_PARTITION(im, 1)
    FT_ARRAY_PARTITION(im, 2)
    FT_ARRAY_PARTITION(cosine, 1)
    FT_ARRAY_PARTITION(sine, 1)
    FT_ARRAY_PARTITION(factor_re, 1)
    FT_ARRAY_PARTITION(factor_re, 2)
    FT_ARRAY_PARTITION(factor_im, 1)
    FT_ARRAY_PARTITION(factor_im, 2)
    FT_ARRAY_PARTITION(beat, 1)
    FT_ARRAY_PARTITION(out_beat, 1)
    FT_ARRAY_PARTITION(number, 1)
#if !FT_PROCESSES
    if (out_line) FT_BEAT_LOAD(out_beat, out, to / FT_LANES)
#endif
    // A memory takes two of a beat's roots in a cycle, or one of its factors.
    const int behind = FT_POINTS < FT_LANES ? 1 : FT_POINTS / FT_LANES;
    FT_LOOP(roots)
    for (int t = 0; t < behind; t++) {
        FT_PIPELINE_EVERY(FT_ROOT_CYCLES)
        FT_BEAT_LOAD(beat, table, t)
        FT_UNROLL
        for (int l = 0; l < FT_LANES; l += 2) {
            const int i = (t * FT_LANES + l) / 2;
            FT_UNROLL
            for (int k = 0; k < FT_STAGES; k++) {
                if (i < FT_POINTS / 2) {
                    cosine[k][i] = beat[l];
                    sine[k][i] = beat[l + 1];
                }
            }
        }
    }
    const int factor_beats = factors ? 4 * FT_POINTS / FT_LANES : 0;
    FT_LOOP(factors)
    for (int t = 0; t < factor_beats; t++) {
        FT_PIPELINE_EVERY(FT_FACTOR_CYCLES)
        FT_BEAT_LOAD(beat, table, behind + t)
        FT_UNROLL
        for (int l = 0; l < FT_LANES; l += 2) {
            const int i = (t * FT_LANES + l) / 2, k = i & (FT_POINTS - 1), odd = ft_odd(k);
            factor_re[i / FT_POINTS][odd][k >> 1] = beat[l];
            factor_im[i / FT_POINTS][odd][k >> 1] = beat[l + 1];
        }
    }
    const int turns = (end - begin + many - 1) / many, lag = trips / 2 + FT_LEAST;
    const long all = turns > 0 ? (long)turns * trips + (FT_STAGES + 1) * lag : 0;
    long held = -1, where = to / FT_LANES;
    int turn = 0, left = 0, lane = (int)(to & (FT_LANES - 1));
    // The step within its turn of the input, of each stage, and of the output; negative before the first turn.
    int step[FT_STAGES + 2], slot[FT_STAGES + 2];
    FT_ARRAY_PARTITION(step, 1)
    FT_ARRAY_PARTITION(slot, 1)
    for (int k = 0; k < FT_STAGES + 2; k++) {
        step[k] = -k * lag;
        slot[k] = 0;
    }
    FT_LOOP(butterflies)
    for (long v = 0; v < all; v++) {
        FT_PIPELINE
        FT_INDEPENDENT(re)
        FT_INDEPENDENT(im)
        // Reads a number or two of the row that enters.
        const int own = in_line ? 2 * step[0] : step[0], row = begin + turn * many + (own >> stages);
        if (row < end && (step[0] < length || !in_line)) {
            const int k = own & (n - 1);
            const long at = 2 * (in_offset + row * in_row + k * in_step);
            const int first = (int)(at & (FT_LANES - 1)), second = (first + 2) & (FT_LANES - 1);
            if (k < come && (at / FT_LANES != held || (in_apart && (k == 0 || in_step != 1)))) {
                held = at / FT_LANES;
                FT_NEXT_BEAT
            }
            FT_T a = ends & 1 ? beat[first + 1] : beat[first], b = ends & 1 ? beat[first] : beat[first + 1];
            FT_T c = ends & 1 ? beat[second + 1] : beat[second], d = ends & 1 ? beat[second] : beat[second + 1];
            FT_STREAM_FACTORS(0, k)
            if (k >= come) a = b = 0;
            if (k + 1 >= come) c = d = 0;
            const int odd = ft_odd(own), place = slot[0] * FT_SLOT + (own >> 1);
            if (in_line || !odd) {
                re[0][0][place] = odd ? c : a;
                im[0][0][place] = odd ? d : b;
            }
            if (in_line || odd) {
                re[0][1][place] = odd ? a : c;
                im[0][1][place] = odd ? b : d;
            }
        }
        FT_UNROLL
        for (int s = 0; s < FT_STAGES; s++) {
            const int pairs = step[s + 1] >= 0 && step[s + 1] < length, i = pairs ? step[s + 1] : 0;
            const int low = slot[s + 1] * FT_SLOT, j = i & (half_ - 1), base = (i - j) << 1;
            const int x = base + j, y = x + half_, odd = ft_odd(x);
            const int even_at = low + ((odd ? y : x) >> 1), odd_at = low + ((odd ? x : y) >> 1);
            const FT_T even_re = re[s][0][even_at], odd_re = re[s][1][odd_at];
            const FT_T even_im = im[s][0][even_at], odd_im = im[s][1][odd_at];
            const FT_T a = odd ? odd_re : even_re, b = odd ? odd_im : even_im;
            const FT_T c = odd ? even_re : odd_re, d = odd ? even_im : odd_im;
            const int works = s < stages, inner = j & ((1 << s) - 1);
            const int root = works ? (j - inner) * apart : 0;
            const FT_T w = cosine[s][root], v_ = sine[s][root], r = a - c, t = b - d;
            const FT_T sum_re = works ? a + c : a, sum_im = works ? b + d : b;
            const FT_T turned_re = works ? r * w - t * v_ : c, turned_im = works ? r * v_ + t * w : d;
            const int p = works ? x + j - inner : x, q = works ? p + (1 << s) : y, swapped = ft_odd(p);
            const int even_to = low + ((swapped ? q : p) >> 1), odd_to = low + ((swapped ? p : q) >> 1);
            if (pairs) {
                re[s + 1][0][even_to] = swapped ? turned_re : sum_re;
                im[s + 1][0][even_to] = swapped ? turned_im : sum_im;
                re[s + 1][1][odd_to] = swapped ? sum_re : turned_re;
                im[s + 1][1][odd_to] = swapped ? sum_im : turned_im;
            }
        }
        // Writes a number or two of the row that leaves.
        const int last = step[FT_STAGES + 1], its = out_line ? 2 * last : last;
        const int to_row = begin + left * many + (its >> stages), its_k = its & (n - 1);
        if (last >= 0 && to_row < end && its_k < leave && (last < length || !out_line)) {
            const int odd = ft_odd(its), place = slot[FT_STAGES + 1] * FT_SLOT + (its >> 1);
            const FT_T even_re = re[FT_STAGES][0][place], odd_re = re[FT_STAGES][1][place];
            const FT_T even_im = im[FT_STAGES][0][place], odd_im = im[FT_STAGES][1][place];
            FT_T a = odd ? odd_re : even_re, b = odd ? odd_im : even_im;
            FT_T c = odd ? even_re : odd_re, d = odd ? even_im : odd_im;
            FT_STREAM_FACTORS(1, its_k)
            a *= factor;
            b *= factor;
            c *= factor;
            d *= factor;
            if (out_line) {
                FT_UNROLL
                for (int l = 0; l < FT_LANES; l += 4) {
                    if (l == lane) {
                        out_beat[l] = ends & 2 ? b : a;
                        out_beat[l + 1] = ends & 2 ? a : b;
                        out_beat[l + 2] = ends & 2 ? d : c;
                        out_beat[l + 3] = ends & 2 ? c : d;
                    }
                }
                if (lane == FT_LANES - 4) FT_WRITE_BEAT
                where += lane == FT_LANES - 4;
                lane = lane == FT_LANES - 4 ? 0 : lane + 4;
            } else {
                number[0] = ends & 2 ? b : a;
                number[1] = ends & 2 ? a : b;
                FT_BEAT_STORE(number, FT_SECOND_PORT(out, out_numbers), out_offset + to_row * out_row + its_k * out_step)
            }
        }
        turn += step[0] + 1 == trips;
        left += last + 1 == trips;
        FT_UNROLL
        for (int k = 0; k < FT_STAGES + 2; k++) {
            const int ends_here = step[k] + 1 == trips, next = slot[k] == 2 ? 0 : slot[k] + 1;
            step[k] = ends_here ? 0 : step[k] + 1;
            slot[k] = ends_here ? next : slot[k];
        }
    }
    if (out_line && lane > 0 && turns > 0) {
#if !FT_PROCESSES
        FT_BEAT_LOAD(beat, out, where)
        for (int l = lane; l < FT_LANES; l++) out_beat[l] = beat[l];
#endif
        FT_WRITE_BEAT
    }
}
#if FT_PROCESSES
// Reads the beats in the order in which `ft_stream_rows` takes them.
FT_NOINLINE void ft_stream_read(
    const ft_beat *in, hls::stream<ft_beat> &beats, long in_offset, int begin, int end, int come, long in_step, long in_row)
{
    const long first = 2 * (in_offset + begin * in_row);
    if (FT_STREAM_APART) {
        const long advance = in_step == 1 ? FT_LANES : 2 * in_step;
        const int one_each = in_step != 1;
        long row_at = first, at = first;
        int left = one_each ? come : (int)((row_at + 2 * come - 1) / FT_LANES - row_at / FT_LANES) + 1;
        FT_LOOP(read_rows)
        for (int row = begin; row < end;) {
            FT_PIPELINE
            beats.write(in[at / FT_LANES]);
            const int last = left == 1;
            const long next_row = row_at + 2 * in_row;
            const int next_left = one_each ? come : (int)((next_row + 2 * come - 1) / FT_LANES - next_row / FT_LANES) + 1;
            at = last ? next_row : at + advance;
            left = last ? next_left : left - 1;
            row_at = last ? next_row : row_at;
            row += last;
        }
    } else {
        const long behind = first + 2L * (end - begin) * come;
        const int many = end > begin ? (int)((behind - 1) / FT_LANES - first / FT_LANES) + 1 : 0;
        const ft_beat *from = in + first / FT_LANES;
        FT_LOOP(read_beats)
        for (int t = 0; t < many; t++) {
            FT_PIPELINE
            beats.write(from[t]);
        }
    }
}
FT_NOINLINE void ft_stream_run(
    ft_beat *out, hls::vector<FT_T, 2> *out_numbers, const ft_beat *in, const ft_beat *table, long out_offset, long in_offset,
    FT_T scale, int begin, int end, int stages, int ends, int come, int leave, long in_step, long in_row, long out_step,
    long out_row, int in_line, int out_line, long to, long to_end)
{
#pragma HLS DATAFLOW
    hls::stream<ft_beat, 64> results("results"), beats("beats");
    ft_stream_read(in, beats, in_offset, begin, end, come, in_step, in_row);
    ft_stream_rows(
        results, out_numbers, beats, table, out_offset, in_offset, scale, begin, end, stages, ends, come, leave, in_step, in_row,
        out_step, out_row, in_line, out_line, to);
    ft_write_line(out, results, to, to_end);
}
#endif

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *in, FT_GLOBAL const FT_T *table, long out_offset, long in_offset,
    FT_T scale, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int rows = G_ROWS(g), come = G_COME(g), leave = G_LEAVE(g);
    const long in_step = G_READ_STEP(g), in_row = G_READ_ROW(g), out_step = G_WRITTEN_STEP(g), out_row = G_WRITTEN_ROW(g);
    const int in_line = in_step == 1 && ((in_offset | in_row) & 1) == 0;
    const int out_line = out_step == 1 && ((out_offset | leave) & 1) == 0 && (out_row == leave || rows == 1);
    const int begin = ft_slab(rows, FT_UNIT, FT_UNITS), end = ft_slab(rows, FT_UNIT + 1, FT_UNITS);
    const long to = 2 * (out_offset + begin * out_row);
#if FT_PROCESSES
    ft_stream_run(
        out, out_numbers, in, table, out_offset, in_offset, scale, begin, end, G_STAGES(g), G_ENDS(g), come, leave, in_step,
        in_row, out_step, out_row, in_line, out_line, to, out_line ? to + 2L * (end - begin) * leave : to);
#else
    ft_stream_rows(
        out, in, table, out_offset, in_offset, scale, begin, end, G_STAGES(g), G_ENDS(g), come, leave, in_step, in_row, out_step,
        out_row, in_line, out_line, to);
#endif
}
