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

$stage
extern "C" void $name(
    $parameters)
{
$interfaces
    $body
}
