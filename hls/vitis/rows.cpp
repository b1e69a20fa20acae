$title

#include <ap_int.h>
#include <hls_math.h>

#include "ftensor/vitis/$header"
$includes

static const int OPERANDS = $operands;  // pointers, outputs first
static const int MAX_DIMS = $max_dims;
$words
static const int MAX_GEOMETRY = G_HEAD + MAX_DIMS * (1 + OPERANDS) + OPERANDS;
static_assert(OPERANDS <= 16, "as many as a mask of operands has bits");

$uses
$located

$members

// Any layout: one element per iteration, each operand at an address of its own. Nested counters iterate over
// the outer dims; the innermost counter is part of the pipeline. Divisions occur only at the start of a compute
// unit's slab.
static void walk(
    $results$walk_takes,
    ap_uint<OPERANDS> uses, const int shape[MAX_DIMS], const int strides[OPERANDS][MAX_DIMS],
    const int inner_strides[OPERANDS],
    int dims, int inner, int first, int count)
{
    int counter[MAX_DIMS], at[OPERANDS], down[OPERANDS];
#pragma HLS ARRAY_PARTITION variable=at complete
#pragma HLS ARRAY_PARTITION variable=down complete
    int row = first / inner, i = first % inner;
    for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
        at[k] = 0;
        down[k] = dims > 0 ? strides[k][dims - 1] : 0;
    }
find_start:
    for (int d = dims - 1; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        counter[d] = row % shape[d];
        row /= shape[d];
        for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
            at[k] += counter[d] * strides[k][d];
        }
    }
    const int rows = dims > 0 ? shape[dims - 1] : 1;
    int todo = (rows - (dims > 0 ? counter[dims - 1] : 0)) * inner - i;  // elements until those rows end
$noted
blocks_of_rows:
    for (int left = count; left > 0; left -= todo, todo = rows * inner) {
#pragma HLS LOOP_TRIPCOUNT min=1 max=1024
        if (todo > left) todo = left;
    elements:
        for (int t = 0; t < todo; t++) {
$pipeline
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
            $step
            const bool ends = ++i == inner;
            i = ends ? 0 : i;
            for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
                at[k] += ends ? down[k] : 0;
            }
        }
        for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
            at[k] -= rows * down[k];
        }
    next_block:
        for (int d = dims - 2; d >= 0; d--) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
            const bool wraps = ++counter[d] == shape[d];
            for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
                at[k] += wraps ? strides[k][d] - shape[d] * strides[k][d] : strides[k][d];
            }
            if (!wraps) break;
            counter[d] = 0;
        }
    }
    $note
}

$run
// The geometry has the strides of the opcode's operands, all in elements.
extern "C" void $name(
    $parameters)
{
    $interfaces
    const ap_uint<OPERANDS> uses = $used;
    int g[MAX_GEOMETRY], used = 0;
count_operands:
    for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
        used += uses[k];
    }
    ft_read_geometry(g, geometry, G_SIZE(geometry, used));
    const int dims = G_DIMS(g), inner = G_INNER(g), chunk = G_CHUNK(g), chunks = G_CHUNKS(g), total = G_TOTAL(g);
    int shape[MAX_DIMS], strides[OPERANDS][MAX_DIMS], inner_strides[OPERANDS];
#pragma HLS ARRAY_PARTITION variable=strides dim=1 complete
#pragma HLS ARRAY_PARTITION variable=inner_strides complete
    int next = G_HEAD;
shape_of_rows:
    for (int d = 0; d < dims; d++) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
        shape[d] = g[next++];
    }
strides_of_operands:
    for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
        for (int d = 0; d < dims; d++) {
#pragma HLS LOOP_TRIPCOUNT min=0 max=4
            strides[k][d] = uses[k] ? g[next++] : 0;
        }
    }
steps_of_operands:
    for (int k = 0; k < OPERANDS; k++) {
#pragma HLS UNROLL
        inner_strides[k] = uses[k] ? g[next++] : 0;
    }
    const int begin = ft_slab(total, ft_unit, ft_units), end = ft_slab(total, ft_unit + 1, ft_units);
    const int first = begin / chunks * inner + begin % chunks * chunk;
    const int count = end / chunks * inner + end % chunks * chunk - first;
    const members of = {$scalars};
    $call
}
