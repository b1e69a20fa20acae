// A tile of sums in registers: FT_TILE_ROWS rows of FT_TILE_VECTORS vectors.
#define FT_TILE_ZERO(sum)                                                                            \
    FT_UNROLL                                                                                        \
    for (int r = 0; r < FT_TILE_ROWS; r++) {                                                         \
        FT_UNROLL                                                                                    \
        for (int v = 0; v < FT_TILE_VECTORS; v++) { FT_EACH_LANE FT_LANE(sum[r][v]) = FT_ZERO_X; }   \
    }
// Adds the products of a step: of the factor at `factor` of each row r and vector v of `vector`.
#define FT_TILE_STEP(sum, factor, vector)                                                            \
    {                                                                                                \
        FT_WIDE_X b_[FT_TILE_VECTORS];                                                               \
        FT_UNROLL                                                                                    \
        for (int v = 0; v < FT_TILE_VECTORS; v++) b_[v] = vector;                                    \
        FT_UNROLL                                                                                    \
        for (int r = 0; r < FT_TILE_ROWS; r++) {                                                     \
            const FT_X s_ = FT_SPLAT(factor);                                                        \
            FT_UNROLL                                                                                \
            for (int v = 0; v < FT_TILE_VECTORS; v++) {                                              \
                FT_EACH_LANE FT_LANE(sum[r][v]) = ft_xfma(s_, FT_LANE(b_[v]), FT_LANE(sum[r][v]));   \
            }                                                                                        \
        }                                                                                            \
    }
// Adds the tile to totals.
#define FT_TILE_ADD(total, sum)                                                                      \
    FT_UNROLL                                                                                        \
    for (int r = 0; r < FT_TILE_ROWS; r++) {                                                         \
        FT_UNROLL                                                                                    \
        for (int v = 0; v < FT_TILE_VECTORS; v++) {                                                  \
            FT_EACH_LANE FT_LANE(total[r][v]) = ft_xadd(FT_LANE(total[r][v]), FT_LANE(sum[r][v]));   \
        }                                                                                            \
    }
