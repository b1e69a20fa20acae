// Planes of a small convolution's input are copied, with zeros around them, to a private memory, where windows at any
// stride are runs of neighbours (see conv_pack.h).
#define FT_COPIES(n, from, to) FT_CAT(vstore, n)(FT_CAT(vload, n)(0, from), 0, to)
#define FT_COPY_PART(n) \
    if (m - i >= n) { FT_COPIES(n, from + i, to + i); i += n; }
// m neighbours; a run that is no whole vectors of 8 ends with one that is moved back.
#define FT_COPY_ROW(name, from_space, to_space, from_step, to_step)                        \
    FT_FN_ONCE void name(to_space FT_T *to, from_space const FT_T *from, long step, int m) \
    {                                                                                      \
        int i = 0;                                                                         \
        if (step == 1) {                                                                   \
            for (; i + 8 <= m; i += 8) FT_COPIES(8, from + i, to + i);                     \
            if (i < m && m > 8) {                                                          \
                FT_COPIES(8, from + m - 8, to + m - 8);                                    \
                return;                                                                    \
            }                                                                              \
            FT_COPY_PART(4) FT_COPY_PART(2)                                                \
        }                                                                                  \
        for (; i < m; i++) to[i * (to_step)] = from[i * (from_step)];                      \
    }
FT_COPY_ROW(ft_conv_read, FT_GLOBAL, , step, 1)
// The planes of some channels. `steps` are the strides in x of a channel, and of a phase in three dims, `pitch` those of a
// phase in a private plane (two dims); `phase` has the first element of each in x and in the plane, and its sizes.
FT_FN_ONCE void ft_conv_planes(
    FT_T *planes, FT_GLOBAL const FT_E *x, int channels, int plane, FT_GLOBAL const long *steps,
    FT_GLOBAL const long *pitch, int phases, FT_GLOBAL const long *phase)
{
    const long row = steps[2], step = steps[3];
    const int line = (int)pitch[1];
    for (int c = 0; c < channels; c++) {
        for (int p = 0; p < phases; p++) {
            const int deep = (int)phase[5 * p + 2], high = (int)phase[5 * p + 3], m = (int)phase[5 * p + 4];
            for (int d = 0; d < deep; d++) {
                FT_GLOBAL const FT_E *y = x + (c * steps[0] + phase[5 * p] + d * steps[1]);
                FT_T *to = planes + (c * plane + phase[5 * p + 1] + d * pitch[0]);
                if (step == 1 && m == 4) {
                    for (int h = 0; h < high; h++) FT_COPIES(4, y + h * row, to + h * line);
                } else if (step == 1 && m == 8) {
                    for (int h = 0; h < high; h++) FT_COPIES(8, y + h * row, to + h * line);
                } else {
                    for (int h = 0; h < high; h++) ft_conv_read(to + h * line, y + h * row, step, m);
                }
            }
        }
    }
}
