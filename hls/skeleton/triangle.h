// The row and the column indices of a triangle's elements, in row-major order: `out` has `count` rows, then `count`
// columns. Rows `first` to `full` of a lower triangle grow by one element each, beginning with `least`; all later
// ones have `cols`. With `flip` it is that triangle turned by 180 degrees, an upper one.
// Geometry g: TriangleGeometry. An item is a part of the elements, written run by run: the elements of a row.
#define FT_GROWN(r) ((r) < G_FULL(g) ? (r) - G_FIRST(g) : G_FULL(g) - G_FIRST(g))
#define FT_PAST(r) ((r) > G_FULL(g) ? (r) - G_FULL(g) : 0)
// The elements before row r, and those of row r.
#define FT_BEFORE(r) \
    (FT_GROWN(r) * G_LEAST(g) + FT_GROWN(r) * (FT_GROWN(r) - 1) / 2 + FT_PAST(r) * G_COLS(g))
#define FT_LENGTH(r) ((r) < G_FULL(g) ? G_LEAST(g) + (r) - G_FIRST(g) : G_COLS(g))

FT_KERNEL void FT_NAME(FT_GLOBAL long *out, long out_offset, FT_GLOBAL const long *g FT_UNIT_PARAMS)
{
    const long count = G_COUNT(g), flip = G_FLIP(g), chunk = (count + G_ITEMS(g) - 1) / G_ITEMS(g);
    FT_GLOBAL long *rows = out + out_offset, *columns = rows + count;
    FT_FOR_SLAB(item, G_ITEMS(g))
    {
        long at = item * chunk;
        const long end = at + chunk < count ? at + chunk : count;
        if (at >= end) continue;
        const long begin = flip ? count - 1 - at : at;
        long row = G_FIRST(g);
        for (long step = 1L << 40; step > 0; step >>= 1) {
            if (row + step < G_ROWS(g) && FT_BEFORE(row + step) <= begin) row += step;
        }
        const long column = begin - FT_BEFORE(row);
        // The first run begins within a row.
        long run = flip ? column + 1 : FT_LENGTH(row) - column, value = flip ? G_COLS(g) - 1 - column : column;
        while (at < end) {
            const long to = at + run < end ? at + run : end;
            const FT_V here = K(flip ? G_ROWS(g) - 1 - row : row);
            FT_V there = FT_CONVERT(long, FT_INDEX(0)) + K(value);
            for (; at + FT_LANES <= to; at += FT_LANES) {
                FT_VSTORE(here, rows + at);
                FT_VSTORE(there, columns + at);
                there += K(FT_LANES);
                value += FT_LANES;
            }
            for (; at < to; at++) {
                rows[at] = flip ? G_ROWS(g) - 1 - row : row;
                columns[at] = value++;
            }
            row += flip ? -1 : 1;
            run = FT_LENGTH(row);
            value = flip ? G_COLS(g) - run : 0;
        }
    }
}
