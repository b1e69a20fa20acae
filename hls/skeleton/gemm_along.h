// Matrix product for boards where the rows of `a` and the columns of `b` are contiguous. An item is a tile of FT_TILE_ROWS
// rows and as many columns. A beat holds FT_LANES terms of one row or column. While the next beats are read, the last ones
// are multiplied in FT_STEPS steps, each of which multiplies every row by FT_SHARE columns; a tree adds the products of a
// beat's lanes. Each step has its own sums, which get their next term with the next beats. After FT_DEPTH beats the sums
// are added to totals, which keeps sums of many terms accurate.
// Geometry g: DotProductGeometry.
#define FT_SHARE (FT_TILE_ROWS * FT_TILE_ROWS / FT_STEPS)
#include "shared/gemm_direct_head.h"
    const int items = G_ITEMS(g), row_blocks = G_ROW_BLOCKS(g), column_blocks = G_COLUMN_BLOCKS(g);
    const int depth = G_DEPTH(g), mode = G_MODE(g), dims = G_DIMS(g), beats = (depth + FT_LANES - 1) / FT_LANES;
    const long a_row = G_A(g) / FT_LANES, b_column = G_B(g) / FT_LANES;
    const int all_rows = G_ROWS(g), all_columns = G_COLUMNS(g);
    const long out_row = G_OUT_ROW(g), out_column = G_OUT_COLUMN(g);
    const long added_row = G_ADDED_ROW(g), added_column = G_ADDED_COLUMN(g);
    FT_GLOBAL const long *shape = G_BATCH(g), *batch_strides = G_BATCH_STRIDES(g);
    FT_FOR_SLAB(item, items)
    {
        const int i = item % column_blocks * FT_TILE_ROWS, row = item / column_blocks % row_blocks * FT_TILE_ROWS;
        const int columns = all_columns - i < FT_TILE_ROWS ? all_columns - i : FT_TILE_ROWS;
        const int rows = all_rows - row < FT_TILE_ROWS ? all_rows - row : FT_TILE_ROWS;
        long at_a = a_offset, at_b = b_offset, at_out = out_offset + row * out_row + i * out_column;
        long at_added = added_offset + row * added_row + i * added_column;
        int rest = item / column_blocks / row_blocks;
        #include "shared/gemm_batch.h"
        const long first_a = at_a / FT_LANES + row * a_row, first_b = at_b / FT_LANES + i * b_column;
        FT_T x[FT_TILE_ROWS][FT_LANES], y[FT_TILE_ROWS][FT_LANES];
        FT_T next_x[FT_TILE_ROWS][FT_LANES], next_y[FT_TILE_ROWS][FT_LANES];
        FT_T sum[FT_STEPS][FT_SHARE], total[FT_STEPS][FT_SHARE], beat_x[FT_LANES], beat_y[FT_LANES];
        FT_ARRAY_PARTITION(x, 1)
        FT_ARRAY_PARTITION(x, 2)
        FT_ARRAY_PARTITION(y, 1)
        FT_ARRAY_PARTITION(y, 2)
        FT_ARRAY_PARTITION(next_x, 1)
        FT_ARRAY_PARTITION(next_x, 2)
        FT_ARRAY_PARTITION(next_y, 1)
        FT_ARRAY_PARTITION(next_y, 2)
        FT_ARRAY_PARTITION(sum, 2)
        FT_ARRAY_PARTITION(total, 2)
        FT_ARRAY_PARTITION(beat_x, 1)
        FT_ARRAY_PARTITION(beat_y, 1)
        for (int l = 0; l < FT_LANES; l++) {
            beat_x[l] = beat_y[l] = 0;
            for (int s = 0; s < FT_TILE_ROWS; s++) x[s][l] = y[s][l] = next_x[s][l] = next_y[s][l] = 0;
        }
        for (int s = 0; s < FT_STEPS; s++) {
            for (int j = 0; j < FT_SHARE; j++) sum[s][j] = total[s][j] = 0;
        }
        int turn = 0, k = 0, since = 0;
        FT_LOOP(depth)
        for (int t = 0; t < (beats + 1) * FT_STEPS; t++) {
            FT_PIPELINE
            FT_DEPENDENCE_DISTANCE(sum, 16)
            FT_DEPENDENCE_DISTANCE(total, 16)
            const int at_row = turn < rows ? turn : 0, at_column = turn < columns ? turn : 0;
            if (turn < FT_TILE_ROWS && k < beats) {
                FT_BEAT_LOAD(beat_x, a, first_a + at_row * a_row + k)
                FT_BEAT_LOAD(beat_y, b, first_b + at_column * b_column + k)
            }
            FT_UNROLL
            for (int s = 0; s < FT_TILE_ROWS; s++) {
                FT_UNROLL
                for (int l = 0; l < FT_LANES; l++) {
                    const int there = k * FT_LANES + l < depth;
                    const FT_T p = beat_x[l], q = beat_y[l];
                    if (turn == s) {
                        next_x[s][l] = there ? p : (FT_T)0;
                        next_y[s][l] = there ? q : (FT_T)0;
                    }
                }
            }
            FT_T own[FT_LANES], dot[FT_SHARE];
            FT_ARRAY_PARTITION(own, 1)
            FT_ARRAY_PARTITION(dot, 1)
            FT_UNROLL
            for (int l = 0; l < FT_LANES; l++) {
                own[l] = x[0][l];
                FT_UNROLL
                for (int s = 1; s < FT_TILE_ROWS; s++) {
                    const FT_T other = x[s][l];
                    if (turn * FT_SHARE / FT_TILE_ROWS == s) own[l] = other;
                }
            }
            FT_UNROLL
            for (int j = 0; j < FT_SHARE; j++) {
                FT_T term[FT_LANES];
                FT_ARRAY_PARTITION(term, 1)
                FT_UNROLL
                for (int l = 0; l < FT_LANES; l++) {
                    FT_T other = y[j][l];
                    FT_UNROLL
                    for (int s = FT_SHARE; s < FT_TILE_ROWS; s += FT_SHARE) {
                        const FT_T later = y[s + j][l];
                        if (turn * FT_SHARE % FT_TILE_ROWS == s) other = later;
                    }
                    term[l] = own[l] * other;
                }
                FT_UNROLL
                for (int level = 1; level <= FT_LEVELS; level++) {
                    FT_UNROLL
                    for (int l = 0; l < FT_LANES / 2; l++) {
                        if (l < FT_LANES >> level) term[l] = term[l] + term[l + (FT_LANES >> level)];
                    }
                }
                dot[j] = term[0];
            }
            FT_UNROLL
            for (int j = 0; j < FT_SHARE; j++) {
                const FT_T before = sum[turn][j], whole = total[turn][j];
                const FT_T joined = since == 0 ? before : (FT_T)0, left = since == 0 ? (FT_T)0 : before;
                sum[turn][j] = left + dot[j];
                total[turn][j] = whole + joined;
            }
            if (turn == FT_STEPS - 1) {
                FT_UNROLL
                for (int s = 0; s < FT_TILE_ROWS; s++) {
                    FT_UNROLL
                    for (int l = 0; l < FT_LANES; l++) {
                        x[s][l] = next_x[s][l];
                        y[s][l] = next_y[s][l];
                    }
                }
                since = since + 1 == FT_DEPTH ? 0 : since + 1;
                k++;
            }
            turn = turn + 1 == FT_STEPS ? 0 : turn + 1;
        }
        int r = 0, c = 0;
        FT_LOOP(results)
        for (int t = 0; t < rows * columns; t++) {
            FT_PIPELINE
            const int place = (r * FT_TILE_ROWS + c) / FT_SHARE, part = c % FT_SHARE;
            const FT_T whole = total[place][part], own = sum[place][part], full_sum = whole + own;
            FT_T before = 0;
            if (mode == 2) before = added[at_added + r * added_row + c * added_column];
            const FT_T scaled = mode == 0 ? full_sum : alpha_re * full_sum;
            out[at_out + r * out_row + c * out_column] = mode == 2 ? beta_re * before + scaled : scaled;
            if (++c == columns) {
                c = 0;
                r++;
            }
        }
    }
}
