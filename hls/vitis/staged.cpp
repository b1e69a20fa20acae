$title
// $comment

$settings
#include "ftensor/vitis/process.h"
#include "ftensor/dialect/vitis.h"
#include "ftensor/fused.h"
#include "ftensor/vitis/end_compute.h"
#include "ftensor/vitis/row_pieces.h"
$headers

$units

// A row, its beats, the states that a fold of it has side by side, and the rows of a block.
static const int LENGTH = $length, LANES = $lanes, BEATS = $beats, STATES = $states, PERIOD = $period;
// The least rows that begin and end on beats and on blocks: compute units share the rows in multiples of it.
static const int TOGETHER = $together;

$stages

static void run(
    $pointers,
    $scalars)
{
#pragma HLS DATAFLOW
    FT_REGION
    $fifos
    $processes
    FT_JOIN
}

extern "C" void $name(
    $parameters)
{
$interfaces
    const int parts = n / TOGETHER;
    const int begin = ft_slab(parts, ft_unit, ft_units) * TOGETHER;
    const int end = ft_unit == ft_units - 1 ? n : ft_slab(parts, ft_unit + 1, ft_units) * TOGETHER;
    if (end > begin) run($passed);
}
