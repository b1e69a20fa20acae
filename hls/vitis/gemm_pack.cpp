$title

#include <hls_vector.h>

$settings
$includes

// Panels of two matrices as gemm.cpp reads them: for each step along the depth the converted elements of
// FT_TILE_ROWS rows (of FT_TILE_COLUMNS columns), and zeros beyond the edge. Both matrices are packed at the
// same time, one chunk of a panel after another. Elements arrive by rows; local memory transposes them to
// steps, which are written as vectors.
static const int CHUNK = 256;  // steps
static const int GROUP = 16;  // elements in a burst
static const int STEP = FT_TILE_COLUMNS * FT_PARTS, NUMBERS = 64 / sizeof(FT_T);
typedef hls::vector<FT_T, FT_TILE_ROWS * FT_PARTS> a_step;
typedef hls::vector<FT_T, (STEP < NUMBERS ? STEP : NUMBERS)> b_beat;
static_assert(sizeof(a_step) <= 64, "a port is at most 512 bits wide");

template <int WIDTH, typename beat>
static void pack(
    beat *panels, const FT_E *matrix, long offset, const long *g, int second, int ft_unit, int ft_units)
{
    const int LANES = sizeof(beat) / sizeof(FT_T), BEATS = WIDTH * FT_PARTS / LANES;
    const long *my = second ? G_B(g) : G_A(g), *shape = S_BATCH(my), *strides = S_BATCH_STRIDES(my);
    const int rows = S_ROWS(my), count = S_PANELS(my), depth = S_DEPTH(my), dims = S_DIMS(my);
    const long across = S_ACROSS(my), along = S_ALONG(my);
    const int chunks = (depth + CHUNK - 1) / CHUNK, items = count * S_MATRICES(my) * chunks;
    const int items_end = ft_slab(items, ft_unit + 1, ft_units);
    FT_X block[CHUNK][WIDTH];
#pragma HLS ARRAY_PARTITION variable=block dim=2 complete
items:
    for (int item = ft_slab(items, ft_unit, ft_units); item < items_end; item++) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        const int k0 = item % chunks * CHUNK, panel = item / chunks % count, left = rows - panel * WIDTH;
        const int n = depth - k0 < CHUNK ? depth - k0 : CHUNK, m = left < WIDTH ? left : WIDTH;
        const int whole = n / GROUP * GROUP;
        long first = offset + panel * WIDTH * across + k0 * along, rest = item / chunks / count;
    batch:
        for (int d = dims - 1; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=2
            first += rest % shape[d] * strides[d];
            rest /= shape[d];
        }
        const FT_E *from = matrix + FT_PARTS * first;
        if (along == 1) {
        rows_in_line:
            for (int t = 0, r = 0, k = 0; t < m * (n / GROUP); t++) {
#pragma HLS PIPELINE II=16
#pragma HLS LOOP_TRIPCOUNT min=0 max=512
                const FT_E *row = from + FT_PARTS * (r * across + k);
                for (int i = 0; i < GROUP; i++) block[k + i][r] = FT_ONE(row + FT_PARTS * i);
                k += GROUP;
                if (k == whole) {
                    k = 0;
                    r++;
                }
            }
        ends_of_rows:
            for (int t = 0, r = 0, k = whole; t < m * (n - whole); t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=0 max=480
                block[k][r] = FT_ONE(from + FT_PARTS * (r * across + k));
                if (++k == n) {
                    k = whole;
                    r++;
                }
            }
        } else if (across == 1 && m == WIDTH) {
        columns_in_line:
            for (int k = 0; k < n; k++) {
#pragma HLS PIPELINE II=WIDTH
#pragma HLS LOOP_TRIPCOUNT min=1 max=256
                for (int r = 0; r < WIDTH; r++) block[k][r] = FT_ONE(from + FT_PARTS * (k * along + r));
            }
        } else {
        elements:
            for (int t = 0, r = 0, k = 0; t < m * n; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=8192
                block[k][r] = FT_ONE(from + FT_PARTS * (r * across + k * along));
                if (++r == m) {
                    r = 0;
                    k++;
                }
            }
        }
        beat *to = panels + ((long)(item / chunks) * depth + k0) * BEATS;
    steps:
        for (int t = 0; t < n * BEATS; t++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=512
            beat step;
            for (int l = 0; l < LANES; l++) {
                const int r = (t % BEATS * LANES + l) / FT_PARTS;
                const FT_X x = r < m ? block[t / BEATS][r] : FT_ZERO_X;
#if FT_COMPLEX
                step[l] = l % 2 ? x.im : x.re;
#else
                step[l] = x;
#endif
            }
            to[t] = step;
        }
    }
}

static void run(
    a_step *a_panels, b_beat *b_panels, const FT_E *a, const FT_E *b, long a_offset, long b_offset, const long *g_a,
    const long *g_b, int ft_unit, int ft_units)
{
#pragma HLS DATAFLOW
    pack<FT_TILE_ROWS>(a_panels, a, a_offset, g_a, 0, ft_unit, ft_units);
    pack<FT_TILE_COLUMNS>(b_panels, b, b_offset, g_b, 1, ft_unit, ft_units);
}

extern "C" void $name(
    $parameters)
{
    $interfaces
    long g_a[2 * S_HEAD + 4 * FT_MAX_DIMS], g_b[2 * S_HEAD + 4 * FT_MAX_DIMS];
    const int size = G_SIZE(geometry);
read_geometry:
    for (int k = 0; k < size; k++) {
#pragma HLS LOOP_TRIPCOUNT min=14 max=22
        g_a[k] = g_b[k] = geometry[k];
    }
    run(a_panels, b_panels, a, b, a_offset, b_offset, g_a, g_b, ft_unit, ft_units);
}
