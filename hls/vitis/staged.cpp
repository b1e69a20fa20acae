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

// LENGTH of a row, its LANES and BEATS, the STATES of a fold, and the rows of a block (PERIOD).
static const int LENGTH = $length, LANES = $lanes, BEATS = $beats, STATES = $states, PERIOD = $period;
// The fewest rows that begin and end on beats and on blocks. A compute unit gets a multiple of it.
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
