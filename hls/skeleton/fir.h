// Filters of few taps along the rows of a tensor, for boards. A sample enters a row of registers each cycle, all taps
// multiply in parallel, and a tree adds the products. Every `stride`-th sum is a result. Contiguous samples enter up to
// FT_PACE at a time: as many as the stride allows, and those in one beat. The taps are an operand; unused taps, and
// those between dilated ones, are zero. A row has zeros around it.
// Ports move FT_LANES numbers at a time. A beat is read when its first sample is needed, for any step between samples,
// and results are collected until they fill a beat. The other elements in the first and last beat of a row keep their
// values. A complex number is two neighbouring numbers (FT_PARTS).
// Geometry g: FirGeometry.
// Sets x to register k after n samples have entered.
#define FT_FIR_SHIFT(n)                                                                                        \
    {                                                                                                      \
        const FT_T old_ = line[p][k >= n ? k - n : 0], new_ = entering[p][k < FT_PACE ? k : 0];             \
        x = k >= n ? old_ : new_;                                                                          \
    }
FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *out, FT_GLOBAL const FT_T *in, FT_GLOBAL const FT_T *weight, FT_GLOBAL const FT_T *bias,
    long out_offset, long in_offset, long weight_offset, long bias_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_PORT(out, gmem0)
    FT_PORT(in, gmem1)
    FT_PORT(weight, gmem2)
    FT_PORT(bias, gmem3)
    FT_PORT(g, gmem4)
    const int items = G_ITEMS(g), blocks = G_BLOCKS(g), block = G_BLOCK(g), groups = G_GROUPS(g), filters = G_FILTERS(g);
    const int samples = G_SAMPLES(g), count = G_COUNT(g), many = G_TAPS(g), dilation = G_DILATION(g), stride = G_STRIDE(g);
    const int cover = (many - 1) * dilation + 1, biased = G_BIASED(g);
    const long step = FT_PARTS * G_STEP(g), tap_step = FT_PARTS * G_W_TAP(g);
    FT_FOR_SLAB(item, items)
    {
        const int row = item / blocks, begin = item % blocks * block;
        const int end = count - begin < block ? count : begin + block;
        const int filter = row % (groups * filters), outside = row / (groups * filters);
        const int group = filter / filters, own = filter % filters;
        const long to = FT_PARTS * (out_offset + outside * G_OUT_ROW(g) + filter * G_OUT_FILTER(g) + begin);
        const long taps_at = FT_PARTS * (weight_offset + group * G_W_GROUP(g) + own * G_W_FILTER(g));
        const long bias_at = FT_PARTS * (bias_offset + filter * G_BIAS(g));
        const long row_at = in_offset + outside * G_X_ROW(g) + group * G_X_GROUP(g);
        // `pace` samples enter per cycle. The last of them comes `late` samples after the newest one that a
        // result uses.
        int pace = G_PACE(g), late = 0;
        const int newest = begin * stride - G_BEFORE(g) + cover - 1;
        for (; pace > 1; pace /= 2) {
            late = (int)(-(row_at + newest + 1) & (pace - 1));
            if (cover + late <= FT_TAPS) break;
        }
        if (pace == 1) late = 0;
        const int filled = (cover + late + pace - 1) & -pace;
        FT_T tap[FT_PARTS][FT_TAPS], line[FT_PARTS][FT_TAPS], more[FT_PARTS];
        int used[FT_TAPS];
        FT_ARRAY_PARTITION(tap, 1)
        FT_ARRAY_PARTITION(tap, 2)
        FT_ARRAY_PARTITION(line, 1)
        FT_ARRAY_PARTITION(line, 2)
        FT_ARRAY_PARTITION(used, 1)
        FT_ARRAY_PARTITION(more, 1)
        for (int p = 0; p < FT_PARTS; p++) {
            const FT_T b = bias[bias_at + p];
            more[p] = biased ? b : (FT_T)0;
            for (int k = 0; k < FT_TAPS; k++) {
                tap[p][k] = line[p][k] = 0;
                used[k] = 0;
            }
        }
        int left = many - 1, since = 0, still = late;
        FT_LOOP(taps)
        for (int k = 0; k < FT_TAPS; k++) {  // from the last tap, which multiplies the newest sample, to the first
            FT_PIPELINE
            const int here = left >= 0 && since == 0 && still == 0;
            const long at = taps_at + (left < 0 ? 0 : left) * tap_step;
            FT_UNROLL
            for (int m = 0; m < FT_TAPS - 1; m++) used[m] = used[m + 1];
            used[FT_TAPS - 1] = here;
            FT_UNROLL
            for (int p = 0; p < FT_PARTS; p++) {
                FT_UNROLL
                for (int m = 0; m < FT_TAPS - 1; m++) tap[p][m] = tap[p][m + 1];
                tap[p][FT_TAPS - 1] = weight[at + p];
            }
            left -= here;
            if (still == 0) since = since + 1 == dilation ? 0 : since + 1;
            if (still > 0) still--;
        }
        FT_T beat[FT_LANES], out_beat[FT_LANES];
        FT_ARRAY_PARTITION(beat, 1)
        FT_ARRAY_PARTITION(out_beat, 1)
        for (int l = 0; l < FT_LANES; l++) beat[l] = 0;
        FT_BEAT_LOAD(out_beat, out, to / FT_LANES)
        const int period = stride / pace, turns = (end - begin - 1) * period + filled / pace;
        int place = newest + late + 1 - filled, wait = filled / pace - 1, lane = (int)(to % FT_LANES);
        long at = FT_PARTS * row_at + place * step;
        long held = -1, where = to / FT_LANES;
        FT_LOOP(samples)
        for (int i = 0; i < turns; i++) {
            FT_PIPELINE
            const int from = (int)(at & (FT_LANES - 1));
            if (place + pace > 0 && place < samples && at / FT_LANES != held) {
                held = at / FT_LANES;
                FT_BEAT_LOAD(beat, in, held)
            }
            FT_T sum[FT_PARTS][FT_TAPS], entering[FT_PARTS][FT_PACE];
            FT_UNROLL
            for (int p = 0; p < FT_PARTS; p++) {
                FT_UNROLL
                for (int k = 0; k < FT_PACE; k++) {  // the newest first
                    const int j = pace - 1 - k;
                    const int inside = place + j >= 0 && place + j < samples;
                    const FT_T x = beat[(from + j * FT_PARTS + p) & (FT_LANES - 1)];
                    entering[p][k] = inside ? x : (FT_T)0;
                }
                FT_UNROLL
                for (int k = FT_TAPS - 1; k >= 0; k--) {
                    FT_T x;
                    FT_FIR_SHIFT(1)
                    if (FT_PACE >= 2 && pace == 2) FT_FIR_SHIFT(2)
                    if (FT_PACE >= 4 && pace == 4) FT_FIR_SHIFT(4)
                    if (FT_PACE >= 8 && pace == 8) FT_FIR_SHIFT(8)
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
                for (int l = 0; l < FT_LANES; l += FT_PARTS) {
                    FT_UNROLL
                    for (int p = 0; p < FT_PARTS; p++) {
                        const FT_T y = sum[p][0] + more[p];
                        if (l == lane) out_beat[l + p] = y;
                    }
                }
                if (lane == FT_LANES - FT_PARTS) FT_BEAT_STORE(out_beat, out, where)
                where += lane == FT_LANES - FT_PARTS;
                lane = lane == FT_LANES - FT_PARTS ? 0 : lane + FT_PARTS;
            }
            wait = wait == 0 ? period - 1 : wait - 1;
            place += pace;
            at += pace * step;
        }
        if (lane > 0) {
            FT_T kept[FT_LANES];
            FT_ARRAY_PARTITION(kept, 1)
            FT_BEAT_LOAD(kept, out, where)
            for (int l = 0; l < FT_LANES; l++) {
                const FT_T old = kept[l], own = out_beat[l];
                kept[l] = l < lane ? own : old;
            }
            FT_BEAT_STORE(kept, out, where)
        }
    }
}
