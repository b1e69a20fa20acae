// Products of packed matrices (see gemm_pack.h). An item is a block of row panels times one column panel. Its tiles of
// FT_TILE_ROWS x FT_TILE_COLUMNS are summed in registers along FT_DEPTH steps, then added to totals in the cache. So
// all row panels reuse the column panel's part, and long sums stay accurate.
// Geometry g: ProductGeometry. Its batch strides count matrices of a_panels and of b_panels, and elements of out and of added.
#include "shared/tile.h"

FT_KERNEL void FT_NAME(
    FT_GLOBAL FT_E *out, FT_GLOBAL const FT_T *a_panels, FT_GLOBAL const FT_T *b_panels,
    FT_GLOBAL const FT_E *added, long out_offset, long added_offset, FT_NUMBER_PARAMS,
    FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const int items = G_ITEMS(g), row_panels = G_ROW_BLOCKS(g), column_panels = G_COLUMN_BLOCKS(g), most = G_MOST(g);
    const int depth = G_DEPTH(g), mode = G_MODE(g), whole = G_WHOLE(g), dims = G_DIMS(g);
    const int blocks = (row_panels + most - 1) / most;
    FT_GLOBAL const long *shape = G_BATCH(g), *batch_strides = G_BATCH_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        const int column = item % column_panels, first = item / column_panels % blocks * most;
        const int panels = row_panels - first < most ? row_panels - first : most;
        long at_a = 0, at_b = 0, at_out = out_offset, at_added = added_offset;
        int rest = item / column_panels / blocks;
        #include "shared/gemm_batch.h"
        FT_WIDE_X total[FT_BLOCK][FT_TILE_ROWS][FT_TILE_VECTORS];
        for (int p = 0; p < panels; p++)
            for (int r = 0; r < FT_TILE_ROWS; r++)
                for (int v = 0; v < FT_TILE_VECTORS; v++) { FT_EACH_LANE FT_LANE(total[p][r][v]) = FT_ZERO_X; }
        for (int k0 = 0; k0 < depth; k0 += FT_DEPTH) {
            const int n = depth - k0 < FT_DEPTH ? depth - k0 : FT_DEPTH;
            FT_GLOBAL const FT_T *columns =
                b_panels + ((at_b * column_panels + column) * depth + k0) * (FT_TILE_COLUMNS * FT_PARTS);
            for (int p = 0; p < panels; p++) {
                FT_GLOBAL const FT_T *x =
                    a_panels + ((at_a * row_panels + first + p) * depth + k0) * (FT_TILE_ROWS * FT_PARTS);
                FT_GLOBAL const FT_T *y = columns;
                FT_WIDE_X sum[FT_TILE_ROWS][FT_TILE_VECTORS];
                FT_TILE_ZERO(sum)
                FT_LOOP(depth)
                for (int k = 0; k < n; k++) {
                    FT_PIPELINE
                    FT_TILE_STEP(sum, x + r * FT_PARTS, FT_PANEL_LOAD(y + v * FT_LANES * FT_PARTS))
                    x += FT_TILE_ROWS * FT_PARTS;
                    y += FT_TILE_COLUMNS * FT_PARTS;
                }
                FT_TILE_ADD(total[p], sum)
            }
        }
        for (int p = 0; p < panels; p++) {
            for (int r = 0; r < FT_TILE_ROWS; r++) {
                const long row = (long)(first + p) * FT_TILE_ROWS + r;
                if (row >= G_ROWS(g)) break;
                for (int v = 0; v < FT_TILE_VECTORS; v++) {
                    const long i = (long)column * FT_TILE_COLUMNS + v * FT_LANES;
                    const int m = G_COLUMNS(g) - i < FT_LANES ? (int)(G_COLUMNS(g) - i) : FT_LANES;
                    if (m <= 0) break;
                    ft_result(
                        total[p][r][v], mode, FT_NUMBERS,
                        added + FT_PARTS * (at_added + row * G_ADDED_ROW(g) + i * G_ADDED_COLUMN(g)), (int)G_ADDED_COLUMN(g),
                        out + FT_PARTS * (at_out + row * G_OUT_ROW(g) + i * G_OUT_COLUMN(g)), (int)G_OUT_COLUMN(g), m, whole);
                }
            }
        }
    }
}
