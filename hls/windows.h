// Adjacent windows along rows: FT_LINE_COUNT lines of FT_LINE_SIZE elements each. FT_LANES windows are computed
// at once; their elements are FT_SIZE contiguous vectors. FT_ROW of the windows are in one row; where rows are
// shorter than the lanes, the next windows are in the rows below. Geometry g: WindowsGeometry.
#define FT_SIZE (FT_LINE_COUNT * FT_LINE_SIZE)
#if !FT_NATIVE_LANES
#define FT_LANES_FROM(p) ft_load(p)
#define FT_LANES_TO(v, p) ft_store(v, p)
#endif
// A vector's first window: its address (`at`), its number, its first element's index in the plane, and its
// entry in `firsts`.
typedef struct { long at; int window, first, entry; } ft_spot;
// The last vector of a row, or of all rows together, is moved back, so that all lanes are used. Windows in two
// vectors are written twice, with equal values.
FT_FN_ONCE ft_spot ft_windows(FT_GLOBAL const int *g, int item)
{
    ft_spot s;
#if FT_ROW < FT_LANES
    s.window = item * FT_LANES < G_WINDOWS(g) - FT_LANES ? item * FT_LANES : G_WINDOWS(g) - FT_LANES;
    const int plane = s.window / G_ENTRIES(g);
    s.entry = s.window - plane * G_ENTRIES(g);
    s.first = G_FIRSTS(g, FT_LINE_COUNT)[s.entry];
#else
    const int across = (G_COLUMNS(g) + FT_LANES - 1) / FT_LANES, row = item / across, i = (item - row * across) * FT_LANES;
    const int part = i < G_COLUMNS(g) - FT_LANES ? i : G_COLUMNS(g) - FT_LANES, plane = row / G_ENTRIES(g);
    s.window = row * G_COLUMNS(g) + part;
    s.entry = row - plane * G_ENTRIES(g);
    s.first = G_FIRSTS(g, FT_LINE_COUNT)[s.entry] + part * FT_LINE_SIZE;
#endif
    s.at = (long)plane * G_PLANE(g) + s.first;
    return s;
}
// The index of each lane's first element in its plane.
FT_FN_ONCE FT_WIDE(int) ft_beginnings(FT_GLOBAL const int *g, ft_spot s)
{
#if FT_ROW < FT_LANES
    return FT_VLOAD(G_FIRSTS(g, FT_LINE_COUNT) + s.entry);
#else
    FT_WIDE(int) first;
    FT_EACH_LANE { FT_LANE(first) = (FT_I)(s.first) + FT_INDEX(0) * (FT_I)(FT_LINE_SIZE); }
    return first;
#endif
}
// The distance of the v-th vector of the windows' elements from the first window's first element.
FT_FN_ONCE long ft_begins(FT_GLOBAL const int *g, int v)
{
    return FT_ROW < FT_LANES ? v * FT_LANES : G_LINES(g)[v / FT_LINE_SIZE] + v % FT_LINE_SIZE * FT_LANES;
}
// The index in these vectors of element x of line y of lane l's window.
FT_FN_ONCE int ft_among(int l, int y, int x)
{
    return (l / FT_ROW * FT_LINE_COUNT + y) * FT_ROW * FT_LINE_SIZE + l % FT_ROW * FT_LINE_SIZE + x;
}
