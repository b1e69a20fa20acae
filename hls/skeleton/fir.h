// Filters of few taps along the rows of a tensor, for boards. A sample enters a row of registers each cycle, all taps
// multiply in parallel, and a tree adds the products. Every `stride`-th sum is a result. Contiguous samples enter up to
// FT_PACE at a time: as many as the stride allows, and those in one beat. The taps are an operand; unused taps, and
// those between dilated ones, are zero. A row has zeros around it.
// Ports move FT_LANES numbers at a time. A new beat is fetched when its first sample is needed. Samples that are more
// than a beat apart, or in descending order, fetch a beat each. Results are collected until they fill a beat. The other
// elements in the first and last beat of a row keep their values.
// A complex number is two neighbouring numbers (FT_PARTS). The circuit of complex numbers also filters real ones, whose
// imaginary parts are zero: PARTS of the geometry.
// With FT_PROCESSES, a process of its own reads the beats in bursts, and another one writes the results in bursts.
// Geometry g: FirGeometry.

// The geometry and the offsets of a launch, in registers. Steps are in real numbers.
typedef struct {
    int parts, blocks, block, groups, filters, samples, count, taps, dilation, stride, before, pace, biased;
    long out, in, weight, bias, out_row, out_filter, x_row, x_group, w_group, w_filter, step, tap_step, bias_step;
} ft_fir;
// A block of a row's results: their number and first address, the addresses of its taps and its bias, and what the
// loop over samples begins with. `place` is the sample's index in its row, `at` its address.
typedef struct {
    int results, turns, period, place, pace, pace_bits, late, filled, apart;
    long to, taps_at, bias_at, at, advance;
} ft_fir_block;

FT_FN_ONCE ft_fir_block ft_fir_block_of(ft_fir f, int item)
{
    ft_fir_block b;
    const int cover = (f.taps - 1) * f.dilation + 1;
    const int row = item / f.blocks, begin = item % f.blocks * f.block;
    const int filter = row % (f.groups * f.filters), outside = row / (f.groups * f.filters);
    const int group = filter / f.filters, own = filter % f.filters;
    const long row_at = f.in + outside * f.x_row + group * f.x_group;
    b.results = f.count - begin < f.block ? f.count - begin : f.block;
    b.to = f.out + outside * f.out_row + filter * f.out_filter + (long)begin * f.parts;
    b.taps_at = f.weight + group * f.w_group + own * f.w_filter;
    b.bias_at = f.bias + filter * f.bias_step;
    // `pace` samples enter per cycle. The last of them comes `late` samples after the newest one that a
    // result uses.
    const int newest = begin * f.stride - f.before + cover - 1, number = f.parts == 2 ? 1 : 0;
    b.pace = f.pace;
    b.late = 0;
    for (; b.pace > 1; b.pace /= 2) {
        b.late = (int)(-((row_at >> number) + newest + 1) & (b.pace - 1));
        if (cover + b.late <= FT_TAPS) break;
    }
    if (b.pace == 1) b.late = 0;
    b.pace_bits = b.pace == 8 ? 3 : b.pace == 4 ? 2 : b.pace == 2 ? 1 : 0;
    b.filled = (cover + b.late + b.pace - 1) & -b.pace;
    b.period = f.stride >> b.pace_bits;
    b.turns = (b.results - 1) * b.period + (b.filled >> b.pace_bits);
    b.place = newest + b.late + 1 - b.filled;
    b.at = row_at + b.place * f.step;
    b.advance = b.pace * f.step;
    b.apart = f.step < 0 || f.step > FT_LANES;
    return b;
}

#include "shared/beat_fifos.h"
#if FT_PROCESSES
#define FT_FIR_OUT hls::stream<ft_beat> &results
#define FT_FIR_IN hls::stream<ft_beat> &beats
// Reads the beats of the samples of each item. Turns before and behind the row read none.
FT_NOINLINE void ft_fir_read(const ft_beat *in, hls::stream<ft_beat> &beats, ft_fir f, int begin, int end)
{
    FT_LOOP(items)
    for (int item = begin; item < end; item++) {
        const ft_fir_block b = ft_fir_block_of(f, item);
        const int skip = b.place < 0 ? -b.place >> b.pace_bits : 0;
        const int stop = (f.samples - b.place + b.pace - 1) >> b.pace_bits;
        const int turns = (stop < b.turns ? stop : b.turns) - skip;
        const long first = b.at + skip * b.advance, last = first + (turns - 1) * b.advance;
        if (b.apart) {
            long at = first;
            FT_LOOP(read_samples)
            for (int t = 0; t < turns; t++) {
                FT_PIPELINE
                beats.write(in[at / FT_LANES]);
                at += b.advance;
            }
        } else {
            const int many = turns > 0 ? (int)(last / FT_LANES - first / FT_LANES) + 1 : 0;
            const ft_beat *from = in + first / FT_LANES;
            FT_LOOP(read_beats)
            for (int t = 0; t < many; t++) {
                FT_PIPELINE
                beats.write(from[t]);
            }
        }
    }
}
#else
#define FT_FIR_OUT FT_GLOBAL FT_T *out
#define FT_FIR_IN FT_GLOBAL const FT_T *in
#endif

// Sets x to register k after n samples have entered.
#define FT_FIR_SHIFT(n)                                                                                        \
    {                                                                                                      \
        const FT_T old_ = line[p][k >= n ? k - n : 0], new_ = entering[p][k < FT_PACE ? k : 0];             \
        x = k >= n ? old_ : new_;                                                                          \
    }
FT_NOINLINE void ft_fir_filter(
    FT_FIR_OUT, FT_FIR_IN, FT_GLOBAL const FT_T *weight, FT_GLOBAL const FT_T *bias, ft_fir f, int first, int end)
{
    const int parts = FT_PARTS == 2 ? f.parts : 1;
    FT_LOOP(items)
    for (int item = first; item < end; item++) {
        const ft_fir_block b = ft_fir_block_of(f, item);
        FT_T tap[FT_PARTS][FT_TAPS], line[FT_PARTS][FT_TAPS], more[FT_PARTS];
        int used[FT_TAPS];
        FT_ARRAY_PARTITION(tap, 1)
        FT_ARRAY_PARTITION(tap, 2)
        FT_ARRAY_PARTITION(line, 1)
        FT_ARRAY_PARTITION(line, 2)
        FT_ARRAY_PARTITION(used, 1)
        FT_ARRAY_PARTITION(more, 1)
        for (int p = 0; p < FT_PARTS; p++) {
            const FT_T shift = bias[b.bias_at + (p < parts ? p : 0)];
            more[p] = f.biased ? shift : (FT_T)0;
            for (int k = 0; k < FT_TAPS; k++) {
                tap[p][k] = line[p][k] = 0;
                used[k] = 0;
            }
        }
        int left = f.taps - 1, since = 0, still = b.late;
        FT_LOOP(taps)
        for (int k = 0; k < FT_TAPS; k++) {  // from the last tap, which multiplies the newest sample, to the first
            FT_PIPELINE
            const int here = left >= 0 && since == 0 && still == 0;
            const long at = b.taps_at + (left < 0 ? 0 : left) * f.tap_step;
            FT_UNROLL
            for (int m = 0; m < FT_TAPS - 1; m++) used[m] = used[m + 1];
            used[FT_TAPS - 1] = here;
            FT_UNROLL
            for (int p = 0; p < FT_PARTS; p++) {
                const FT_T w = weight[at + (p < parts ? p : 0)];
                FT_UNROLL
                for (int m = 0; m < FT_TAPS - 1; m++) tap[p][m] = tap[p][m + 1];
                tap[p][FT_TAPS - 1] = p < parts ? w : (FT_T)0;
            }
            left -= here;
            if (still == 0) since = since + 1 == f.dilation ? 0 : since + 1;
            if (still > 0) still--;
        }
        FT_T beat[FT_LANES], out_beat[FT_LANES];
        FT_ARRAY_PARTITION(beat, 1)
        FT_ARRAY_PARTITION(out_beat, 1)
        for (int l = 0; l < FT_LANES; l++) beat[l] = 0;
#if FT_PROCESSES
        for (int l = 0; l < FT_LANES; l++) out_beat[l] = 0;
#else
        FT_BEAT_LOAD(out_beat, out, b.to / FT_LANES)
#endif
        int place = b.place, wait = (b.filled >> b.pace_bits) - 1, lane = (int)(b.to % FT_LANES);
        long at = b.at, held = -1, where = b.to / FT_LANES;
        FT_LOOP(samples)
        for (int i = 0; i < b.turns; i++) {
            FT_PIPELINE
            const int from = (int)(at & (FT_LANES - 1));
            if (place + b.pace > 0 && place < f.samples && (b.apart || at / FT_LANES != held)) {
                held = at / FT_LANES;
                FT_NEXT_BEAT
            }
            FT_T sum[FT_PARTS][FT_TAPS], entering[FT_PARTS][FT_PACE];
            FT_UNROLL
            for (int p = 0; p < FT_PARTS; p++) {
                FT_UNROLL
                for (int k = 0; k < FT_PACE; k++) {  // the newest first
                    const int j = b.pace - 1 - k;
                    const int inside = place + j >= 0 && place + j < f.samples && p < parts;
                    const FT_T x = beat[(from + j * parts + p) & (FT_LANES - 1)];
                    entering[p][k] = inside ? x : (FT_T)0;
                }
                FT_UNROLL
                for (int k = FT_TAPS - 1; k >= 0; k--) {
                    FT_T x;
                    FT_FIR_SHIFT(1)
                    if (FT_PACE >= 2 && b.pace == 2) FT_FIR_SHIFT(2)
                    if (FT_PACE >= 4 && b.pace == 4) FT_FIR_SHIFT(4)
                    if (FT_PACE >= 8 && b.pace == 8) FT_FIR_SHIFT(8)
                    line[p][k] = x;
                }
            }
            FT_UNROLL
            for (int k = 0; k < FT_TAPS; k++) {
#if FT_PARTS == 2
                const FT_T re = line[0][k] * tap[0][k] - line[1][k] * tap[1][k];
                const FT_T im = line[0][k] * tap[1][k] + line[1][k] * tap[0][k];
                sum[1][k] = used[k] ? im : (FT_T)0;
#else
                const FT_T re = line[0][k] * tap[0][k];
#endif
                sum[0][k] = used[k] ? re : (FT_T)0;
            }
            FT_UNROLL
            for (int level = 1; level <= FT_LEVELS; level++) {
                FT_UNROLL
                for (int k = 0; k < FT_TAPS / 2; k++) {
                    FT_UNROLL
                    for (int p = 0; p < FT_PARTS; p++) {
                        if (k < FT_TAPS >> level) sum[p][k] = sum[p][k] + sum[p][k + (FT_TAPS >> level)];
                    }
                }
            }
            if (wait == 0) {
                FT_UNROLL
                for (int p = 0; p < FT_PARTS; p++) {
                    const FT_T y = sum[p][0] + more[p];
                    FT_UNROLL
                    for (int l = 0; l < FT_LANES; l++) {
                        if (l == lane + p && p < parts) out_beat[l] = y;
                    }
                }
                if (lane == FT_LANES - parts) FT_WRITE_BEAT
                where += lane == FT_LANES - parts;
                lane = lane == FT_LANES - parts ? 0 : lane + parts;
            }
            wait = wait == 0 ? b.period - 1 : wait - 1;
            place += b.pace;
            at += b.advance;
        }
        if (lane > 0) {
#if !FT_PROCESSES
            FT_T kept[FT_LANES];
            FT_ARRAY_PARTITION(kept, 1)
            FT_BEAT_LOAD(kept, out, where)
            for (int l = lane; l < FT_LANES; l++) out_beat[l] = kept[l];
#endif
            FT_WRITE_BEAT
        }
    }
}
#if FT_PROCESSES
FT_NOINLINE void ft_fir_store(ft_beat *out, hls::stream<ft_beat> &results, ft_fir f, int begin, int end)
{
    FT_LOOP(items)
    for (int item = begin; item < end; item++) {
        const ft_fir_block b = ft_fir_block_of(f, item);
        ft_write_line(out, results, b.to, b.to + (long)b.results * f.parts);
    }
}
FT_NOINLINE void ft_fir_run(
    ft_beat *out, const ft_beat *in, const FT_T *weight, const FT_T *bias, ft_fir f, int begin, int end)
{
#pragma HLS DATAFLOW
    hls::stream<ft_beat, 64> beats("beats"), results("results");
    ft_fir_read(in, beats, f, begin, end);
    ft_fir_filter(results, beats, weight, bias, f, begin, end);
    ft_fir_store(out, results, f, begin, end);
}
#else
#define ft_fir_run ft_fir_filter
#endif

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *in, FT_GLOBAL const FT_T *weight, FT_GLOBAL const FT_T *bias,
    long out_offset, long in_offset, long weight_offset, long bias_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int items = G_ITEMS(g), parts = FT_PARTS == 2 ? G_PARTS(g) : 1;
    const ft_fir f = {
        parts, G_BLOCKS(g), G_BLOCK(g), G_GROUPS(g), G_FILTERS(g), G_SAMPLES(g), G_COUNT(g), G_TAPS(g), G_DILATION(g),
        G_STRIDE(g), G_BEFORE(g), G_PACE(g), G_BIASED(g), parts * out_offset, parts * in_offset, parts * weight_offset,
        parts * bias_offset, parts * G_OUT_ROW(g), parts * G_OUT_FILTER(g), parts * G_X_ROW(g), parts * G_X_GROUP(g),
        parts * G_W_GROUP(g), parts * G_W_FILTER(g), parts * G_STEP(g), parts * G_W_TAP(g), parts * G_BIAS(g)};
    ft_fir_run(out, in, weight, bias, f, ft_slab(items, FT_UNIT, FT_UNITS), ft_slab(items, FT_UNIT + 1, FT_UNITS));
}
