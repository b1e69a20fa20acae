// Products of matrices too small to be worth packing: an item is FT_TILE_ROWS rows by one vector of columns,
// summed FT_DEPTH terms at a time.
// Geometry g: DirectGeometry.
// Products are rounded before they are added unless FT_FUSED: BLAS does one or the other, by shape.
#if FT_FUSED
#define FT_TERM(x, y, sum) ft_xfma(x, y, sum)
#else
#define FT_TERM(x, y, sum) ft_xadd(sum, ft_xmul(x, y))
#endif
#include "shared/gemm_direct_head.h"
    const int items = G_ITEMS(g), row_blocks = G_ROW_BLOCKS(g), column_blocks = G_COLUMN_BLOCKS(g);
    const int depth = G_DEPTH(g), mode = G_MODE(g), whole = G_WHOLE(g), dims = G_DIMS(g), wide = G_IN_VECTORS(g);
    const int all_rows = G_ROWS(g), all_columns = G_COLUMNS(g);
    const long a_line = G_A_ROW(g), b_column = G_B_COLUMN(g), out_row = G_OUT_ROW(g), out_column = G_OUT_COLUMN(g);
    const long added_row = G_ADDED_ROW(g), added_column = G_ADDED_COLUMN(g);
    const long a_row = a_line * FT_PARTS, a_step = G_A_DEPTH(g) * FT_PARTS, b_step = G_B_DEPTH(g) * FT_PARTS;
    FT_GLOBAL const long *shape = G_BATCH(g), *batch_strides = G_BATCH_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        const int i = item % column_blocks * FT_LANES, row = item / column_blocks % row_blocks * FT_TILE_ROWS;
        const int m = all_columns - i < FT_LANES ? all_columns - i : FT_LANES;
        const int rows = all_rows - row < FT_TILE_ROWS ? all_rows - row : FT_TILE_ROWS;
        long at_a = a_offset + row * a_line, at_b = b_offset + i * b_column;
        long at_out = out_offset + row * out_row + i * out_column;
        long at_added = added_offset + row * added_row + i * added_column;
        int rest = item / column_blocks / row_blocks;
        #include "shared/gemm_batch.h"
        FT_GLOBAL const FT_E *x = a + FT_PARTS * at_a, *y = b + FT_PARTS * at_b;
        long lead[FT_TILE_ROWS];  // rows beyond the edge repeat the first one
        FT_UNROLL
        for (int r = 0; r < FT_TILE_ROWS; r++) lead[r] = r < rows ? r * a_row : 0;
        FT_WIDE_X total[FT_TILE_ROWS];
        FT_UNROLL
        for (int r = 0; r < FT_TILE_ROWS; r++) { FT_EACH_LANE FT_LANE(total[r]) = FT_ZERO_X; }
        for (int k0 = 0; k0 < depth; k0 += FT_DEPTH) {
            const int n = depth - k0 < FT_DEPTH ? depth - k0 : FT_DEPTH;
            FT_WIDE_X sum[FT_TILE_ROWS];
            FT_UNROLL
            for (int r = 0; r < FT_TILE_ROWS; r++) { FT_EACH_LANE FT_LANE(sum[r]) = FT_ZERO_X; }
            if (wide > 1 || (wide && m == FT_LANES)) {
                FT_LOOP(depth)
                for (int k = 0; k < n; k++) {
                    FT_PIPELINE
                    const FT_WIDE_E w = FT_E_LOAD(y);
                    FT_UNROLL
                    for (int r = 0; r < FT_TILE_ROWS; r++) {
                        const FT_X s = FT_ONE(x + lead[r]);
                        FT_EACH_LANE FT_LANE(sum[r]) = FT_TERM(s, FT_VALUE(FT_LANE(w)), FT_LANE(sum[r]));
                    }
                    x += a_step;
                    y += b_step;
                }
            } else {
                FT_LOOP(picked_depth)
                for (int k = 0; k < n; k++) {
                    FT_PIPELINE
                    const FT_WIDE_E w = FT_E_PICK(y, (int)b_column, m);
                    FT_UNROLL
                    for (int r = 0; r < FT_TILE_ROWS; r++) {
                        const FT_X s = FT_ONE(x + lead[r]);
                        FT_EACH_LANE FT_LANE(sum[r]) = FT_TERM(s, FT_VALUE(FT_LANE(w)), FT_LANE(sum[r]));
                    }
                    x += a_step;
                    y += b_step;
                }
            }
            FT_UNROLL
            for (int r = 0; r < FT_TILE_ROWS; r++) {
                FT_EACH_LANE FT_LANE(total[r]) = ft_xadd(FT_LANE(total[r]), FT_LANE(sum[r]));
            }
        }
        FT_UNROLL
        for (int r = 0; r < FT_TILE_ROWS; r++) {
            if (r < rows) {
                ft_result(
                    total[r], mode, FT_NUMBERS, added + FT_PARTS * (at_added + r * added_row),
                    (int)added_column, out + FT_PARTS * (at_out + r * out_row), (int)out_column, m, whole);
            }
        }
    }
}
