// Panels of two matrices, as gemm.h reads them: for each step along the depth, the converted elements of
// FT_TILE_ROWS rows (of FT_TILE_COLUMNS columns), and zeros beyond the edge. With one lane, values are copied
// one by one. Geometry g: PackGeometry, with a PackSide for each matrix.
#define FT_DEPTH_CHUNK 256
// Elements are collected in registers before they are stored, since the compiler does not know the alignment of
// a panel.
#define FT_SQUARE 16  // steps at a time: each cache line is read once
#define FT_PANEL_WIDTH (FT_TILE_ROWS > FT_TILE_COLUMNS ? FT_TILE_ROWS : FT_TILE_COLUMNS)
FT_FN_ONCE void ft_pack_panels(
    FT_GLOBAL FT_T *to, FT_GLOBAL const FT_E *from, int width, int m, int depth, long across, long along)
{
    if (m == width && across == 1) {
        for (int k = 0; k < depth; k++) {
            FT_T line[FT_PARTS * FT_PANEL_WIDTH];
            FT_UNROLL
            for (int r = 0; r < width; r++) FT_ELEMENT(line, r, from + FT_PARTS * r)
            FT_UNROLL
            for (int i = 0; i < FT_PARTS * width; i++) to[i] = line[i];
            to += FT_PARTS * width;
            from += FT_PARTS * along;
        }
        return;
    }
    for (int k0 = 0; k0 < depth; k0 += FT_SQUARE) {
        const int n = depth - k0 < FT_SQUARE ? depth - k0 : FT_SQUARE;
        FT_T square[FT_PANEL_WIDTH][FT_PARTS * FT_SQUARE];
        for (int r = 0; r < width; r++) {
            FT_GLOBAL const FT_E *row = from + FT_PARTS * r * across;
            if (r >= m) {
                for (int k = 0; k < n; k++) FT_ELEMENT_ZERO(square[r], k)
            } else if (along == 1 && n == FT_SQUARE) {
                FT_UNROLL
                for (int k = 0; k < FT_SQUARE; k++) FT_ELEMENT(square[r], k, row + FT_PARTS * k)
            } else {
                for (int k = 0; k < n; k++) FT_ELEMENT(square[r], k, row + FT_PARTS * k * along)
            }
        }
        for (int k = 0; k < n; k++) {
            FT_UNROLL
            for (int i = 0; i < FT_PARTS * width; i++) to[i] = square[i / FT_PARTS][FT_PARTS * k + i % FT_PARTS];
            to += FT_PARTS * width;
        }
        from += FT_PARTS * FT_SQUARE * along;
    }
}

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_T *a_panels, FT_GLOBAL FT_T *b_panels, FT_GLOBAL const FT_E *a, FT_GLOBAL const FT_E *b,
    long a_offset, long b_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    FT_GLOBAL const long *first = G_A(g), *other = G_B(g);
    const int depth = S_DEPTH(first), chunks = (depth + FT_DEPTH_CHUNK - 1) / FT_DEPTH_CHUNK;
    const int of_a = S_PANELS(first) * S_MATRICES(first) * chunks;
    const int items = of_a + S_PANELS(other) * S_MATRICES(other) * chunks;
    FT_FOR_SLAB(item, items)
    {
        const int second = item >= of_a, i = second ? item - of_a : item;
        FT_GLOBAL const long *my = second ? other : first, *shape = S_BATCH(my), *strides = S_BATCH_STRIDES(my);
        const int k0 = i % chunks * FT_DEPTH_CHUNK, panels = S_PANELS(my), panel = i / chunks % panels;
        const int width = second ? FT_TILE_COLUMNS : FT_TILE_ROWS, rows = S_ROWS(my) - panel * width;
        const int n = depth - k0 < FT_DEPTH_CHUNK ? depth - k0 : FT_DEPTH_CHUNK, m = rows < width ? rows : width;
        long from = (second ? b_offset : a_offset) + panel * width * S_ACROSS(my) + k0 * S_ALONG(my);
        long rest = i / chunks / panels;
        for (int d = S_DIMS(my) - 1; d >= 0; d--) {
            from += rest % shape[d] * strides[d];
            rest /= shape[d];
        }
        const long to = ((long)(i / chunks) * depth + k0) * width * FT_PARTS;
        if (second) {
            ft_pack_panels(b_panels + to, b + FT_PARTS * from, FT_TILE_COLUMNS, m, n, S_ACROSS(my), S_ALONG(my));
        } else {
            ft_pack_panels(a_panels + to, a + FT_PARTS * from, FT_TILE_ROWS, m, n, S_ACROSS(my), S_ALONG(my));
        }
    }
}
