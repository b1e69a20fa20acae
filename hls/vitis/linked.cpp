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

$stage
extern "C" void $name(
    $parameters)
{
$interfaces
    $body
}
