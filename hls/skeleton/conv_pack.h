// Packs the operands of conv.h: planes of an input, with zeros around and between them, and panels of filters. A plane
// has a part for each phase of the stride. Along the last dim, the first part holds elements 0, s, 2s, ..., the second
// 1, s + 1, .... So one step of the window moves one element in each part. For FT_TILE_ROWS filters, a panel holds
// their bias, then their weights for each channel and tap, and zeros for absent filters.
// Geometry g: ConvPackGeometry.
#define FT_CHANNELS 16
#if FT_LANES > 1
FT_FN_ONCE FT_WIDE_X ft_values(FT_WIDE_E w)
{
    FT_WIDE_X v;
    FT_EACH_LANE { FT_LANE(v) = FT_VALUE(FT_LANE(w)); }
    return v;
}
#endif
#if FT_NATIVE_LANES && FT_LANES > 1
// Stores the first or the second elements of FT_LANES pairs.
FT_FN_ONCE void ft_pack_pairs(FT_GLOBAL FT_T *to, FT_GLOBAL const FT_E *from, int second)
{
    FT_T t[2 * FT_LANES], half_[FT_LANES];
    FT_LANES_TO(ft_values(FT_E_LOAD(from)), t);
    FT_LANES_TO(ft_values(FT_E_LOAD(from + FT_LANES)), t + FT_LANES);
    FT_UNROLL
    for (int l = 0; l < FT_LANES; l++) half_[l] = t[2 * l + second];
    FT_VSTORE(FT_LANES_FROM(half_), to);
}
#endif
#define FT_PARTS_OF_16 (FT_NATIVE_LANES && FT_LANES == 16 && !FT_E_HALF && !FT_E_BFLOAT16)
#define FT_PACK_PART(n) \
    if (m - i >= n) { FT_CAT(vstore, n)(FT_CAT(vload, n)(0, from + i), 0, to + i); i += n; }
// Stores m values from elements `step` apart. With unaligned vector access, a run whose length is not a
// multiple of the lanes ends with a vector that overlaps the one before.
FT_FN_ONCE void ft_pack_values(FT_GLOBAL FT_T *to, FT_GLOBAL const FT_E *from, long step, int m)
{
    int i = 0;
    if (step == 1) {
        FT_LOOP(values)
        for (; i + FT_LANES <= m; i += FT_LANES) {
            FT_PIPELINE
#if FT_LANES == 1
            to[i] = FT_ONE(from + i);
#else
            FT_VSTORE(ft_values(FT_E_LOAD(from + i)), to + i);
#endif
        }
#if FT_NATIVE_LANES && FT_LANES > 1
        if (i < m && m > FT_LANES) {
            FT_VSTORE(ft_values(FT_E_LOAD(from + m - FT_LANES)), to + m - FT_LANES);
            return;
        }
#endif
#if FT_PARTS_OF_16
        FT_PACK_PART(8) FT_PACK_PART(4) FT_PACK_PART(2)
        if (i < m) to[i] = from[i];
        return;
#endif
    }
#if FT_NATIVE_LANES && FT_LANES > 1
    if (step == 2 && m > FT_LANES) {  // reads nothing beyond the last element
        for (; i + FT_LANES < m; i += FT_LANES) ft_pack_pairs(to + i, from + 2 * i, 0);
        ft_pack_pairs(to + m - FT_LANES, from + 2 * (m - FT_LANES) - 1, 1);
        return;
    }
#endif
#if FT_PARTS_OF_16
    for (; i < m; i++) to[i] = from[i * step];
    return;
#endif
    FT_LOOP(picked_values)
    for (; i < m; i += FT_LANES) {
        FT_PIPELINE
#if FT_LANES == 1
        to[i] = FT_ONE(from + i * step);
#else
        const int n = m - i < FT_LANES ? m - i : FT_LANES;
        ft_store_strided(ft_values(FT_E_PICK(from + i * step, (int)step, n)), to + i, 1, n);
#endif
    }
}
FT_FN_ONCE void ft_pack_zeros(FT_GLOBAL FT_T *to, int m)
{
    FT_LOOP(zeros)
    for (int i = 0; i < m; i++) {
        FT_PIPELINE
        to[i] = (FT_T)0;
    }
}
// Stores a step of a panel: m values, then zeros.
FT_FN_ONCE void ft_pack_step(FT_GLOBAL FT_T *to, FT_GLOBAL const FT_E *from, long step, int m)
{
#if FT_NATIVE_LANES && FT_LANES > 1 && !FT_E_HALF && !FT_E_BFLOAT16
    if (m == FT_TILE_ROWS) {
        FT_T values[FT_TILE_ROWS];
        FT_UNROLL
        for (int r = 0; r < FT_TILE_ROWS; r++) values[r] = from[r * step];
        FT_UNROLL
        for (int r = 0; r < FT_TILE_ROWS; r++) to[r] = values[r];
        return;
    }
#endif
    FT_LOOP(filters)
    for (int r = 0; r < FT_TILE_ROWS; r += FT_LANES) {
        FT_PIPELINE
#if FT_LANES == 1
        const FT_X v = FT_ONE(from + (r < m ? r * step : 0));
        to[r] = r < m ? v : FT_ZERO_X;
#else
        const int most = FT_TILE_ROWS - r < FT_LANES ? FT_TILE_ROWS - r : FT_LANES;
        const int n = m - r < 0 ? 0 : m - r < most ? m - r : most;
        ft_store_strided(ft_values(FT_E_PICK(from + r * step, (int)step, n)), to + r, 1, most);
#endif
    }
}

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *planes, FT_GLOBAL FT_T *panels, FT_GLOBAL const FT_E *x, FT_GLOBAL const FT_E *weight,
    FT_GLOBAL const FT_E *bias, long x_offset, long weight_offset, long bias_offset,
    FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int rows = G_ROWS(g), all = G_CHANNELS(g), blocks = (all + FT_CHANNELS - 1) / FT_CHANNELS;
    const int filter_panels = G_PANELS(g), filters = G_FILTERS(g), channels = G_OWN(g), taps = G_TAP_COUNT(g), some = G_SOME(g);
    const int chunks = (channels + some - 1) / some, of_planes = G_BATCH(g) * rows * blocks;
    FT_GLOBAL const long *weights = G_TAPS(g);
    FT_FOR_SLAB(item, of_planes + G_GROUPS(g) * filter_panels * chunks)
    {
        if (item < of_planes) {
            const int block = item % blocks, row = item / blocks % rows, n = item / blocks / rows;
            const int deep = (int)G_PART_DEEP(g), high = (int)G_PART_HIGH(g);
            const int h = row % high, d = row / high % deep, phase = row / high / deep;
            const int at_w = phase % G_WIDE_PHASES(g), at_dh = phase / G_WIDE_PHASES(g);
            const int at_h = at_dh % G_HIGH_PHASES(g), at_d = at_dh / G_HIGH_PHASES(g);
            const long y = d * G_STEP_DEEP(g) + G_DEEP(g)[at_d], z = h * G_STEP_HIGH(g) + G_HIGH(g)[at_h];
            const long first = G_WIDE(g)[at_w];
            const int size = (int)G_PART_WIDE(g), step = (int)G_STEP_WIDE(g), width = (int)G_INPUT_WIDE(g);
            // Elements [begin, end) of the row are inside the input.
            int begin = first < 0 ? (int)((step - 1 - first) / step) : 0;
            int end = first < width ? (int)((width - first + step - 1) / step) : 0;
            if (y < 0 || y >= G_INPUT_DEEP(g) || z < 0 || z >= G_INPUT_HIGH(g)) end = 0;
            if (end > size) end = size;
            if (begin > end) begin = end;
            const int left = all - block * FT_CHANNELS, many = left < FT_CHANNELS ? left : FT_CHANNELS;
            FT_GLOBAL FT_T *to = planes + (((long)n * all + block * FT_CHANNELS) * G_PLANE(g) + (long)row * size);
            FT_GLOBAL const FT_E *from =
                x + (x_offset + n * G_X_SAMPLE(g) + block * FT_CHANNELS * G_X_CHANNEL(g) + y * G_X_DEEP(g) + z * G_X_HIGH(g)
                     + (first + (long)begin * step) * G_X_WIDE(g));
            for (int c = 0; c < many; c++) {
                ft_pack_zeros(to, begin);
                ft_pack_values(to + begin, from, step * G_X_WIDE(g), end - begin);
                ft_pack_zeros(to + end, size - end);
                to += G_PLANE(g);
                from += G_X_CHANNEL(g);
            }
        } else {
            const int i = item - of_planes, group = i / chunks / filter_panels;
#if FT_NATIVE_LANES && FT_LANES > 1
            // Neighbouring filters are neighbours in memory, unless the weights of a filter are contiguous.
            const int chunk = G_LINE(g) == 1 ? i % chunks : i / filter_panels % chunks;
            const int panel = G_LINE(g) == 1 ? i / chunks % filter_panels : i % filter_panels;
#else
            const int chunk = i % chunks, panel = i / chunks % filter_panels;
#endif
            const int left = filters - panel * FT_TILE_ROWS;
            const int m = left < FT_TILE_ROWS ? left : FT_TILE_ROWS, c0 = chunk * some;
            const int n = channels - c0 < some ? channels - c0 : some;
            FT_GLOBAL FT_T *to = panels + (long)(group * filter_panels + panel) * (1 + channels * taps) * FT_TILE_ROWS;
            if (chunk == 0) {
                const long step = G_BIAS(g) < 0 ? 0 : G_BIAS(g);
                ft_pack_step(
                    to, bias + (bias_offset + (group * filters + panel * FT_TILE_ROWS) * step), step, G_BIAS(g) < 0 ? 0 : m);
            }
            to += (1 + c0 * taps) * FT_TILE_ROWS;
            FT_GLOBAL const FT_E *from =
                weight + (weight_offset + group * G_W_GROUP(g) + panel * FT_TILE_ROWS * G_W_FILTER(g) + c0 * G_W_CHANNEL(g));
            int k = 0, t = 0;
#if FT_NATIVE_LANES && FT_LANES > 1
            // If the weights of a filter (or of each of its channels) are contiguous, reads vectors and
            // transposes them.
            for (const int run = G_LINE(g) == 1 ? n * taps : taps; G_LINE(g) && k < n * taps; k += run) {
                int i = 0;
                for (; i + FT_LANES <= run; i += FT_LANES) {
                    FT_T block[FT_TILE_ROWS][FT_LANES];
                    for (int r = 0; r < FT_TILE_ROWS; r++) {
                        const FT_WIDE_X v = r < m ? ft_values(FT_E_LOAD(from + r * G_W_FILTER(g) + i)) : K(0);
                        FT_LANES_TO(v, block[r]);
                    }
                    FT_UNROLL
                    for (int l = 0; l < FT_LANES; l++) {
                        FT_UNROLL
                        for (int r = 0; r < FT_TILE_ROWS; r++) to[l * FT_TILE_ROWS + r] = block[r][l];
                    }
                    to += FT_LANES * FT_TILE_ROWS;
                }
                for (; i < run; i++) {
                    ft_pack_step(to, from + i, G_W_FILTER(g), m);
                    to += FT_TILE_ROWS;
                }
                from += G_W_CHANNEL(g);
            }
#endif
            for (; k < n * taps; k++) {
                ft_pack_step(to, from + weights[t], G_W_FILTER(g), m);
                to += FT_TILE_ROWS;
                if (++t == taps) {
                    t = 0;
                    from += G_W_CHANNEL(g);
                }
            }
        }
    }
}
