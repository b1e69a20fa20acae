// Copies planes of a small convolution's input, with zeros around them, to private memory, where the windows of any
// stride are contiguous (see conv_pack.h).
#define FT_COPIES(n, from, to) FT_CAT(vstore, n)(FT_CAT(vload, n)(0, from), 0, to)
#define FT_COPY_PART(n) \
    if (m - i >= n) { FT_COPIES(n, from + i, to + i); i += n; }
// Copies m neighbours. A run whose length is not a multiple of 8 ends with a vector that overlaps the one
// before.
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
// Copies the planes of some channels. The geometry g has `x`, the stride of a channel (and of a phase in three
// dims); `planes`, the stride of a phase in a private plane (two dims); and `phases`.
FT_FN_ONCE void ft_conv_planes(
    FT_T *planes, FT_GLOBAL const FT_E *x, int channels, int plane, FT_GLOBAL const long *g)
{
    const long row = G_X_HIGH(g), step = G_X_WIDE(g);
    const int line = (int)G_PLANES_HIGH(g), phases = G_PHASE_COUNT(g);
    for (int c = 0; c < channels; c++) {
        for (int p = 0; p < phases; p++) {
            const int deep = (int)G_PHASES_DEEP(g, p), high = (int)G_PHASES_HIGH(g, p), m = (int)G_PHASES_WIDE(g, p);
            for (int d = 0; d < deep; d++) {
                FT_GLOBAL const FT_E *y = x + (c * G_X_CHANNEL(g) + G_PHASES_FIRST(g, p) + d * G_X_DEEP(g));
                FT_T *to = planes + (c * plane + G_PHASES_PLACE(g, p) + d * G_PLANES_DEEP(g));
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
