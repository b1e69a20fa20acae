$title

#include <hls_math.h>

#include "ftensor/vitis/lanes.h"
#include "ftensor/vitis/words.h"

static const int LANES = $lanes;
static const int VECTORS = $vectors;  // states that are folded side by side
static const int OUTPUTS = $outputs;
static const int OPERANDS = $operands;  // pointers, outputs first
static const int MAX_DIMS = $max_dims;
static const int MAX_GEOMETRY = 9 + 2 * MAX_DIMS * (1 + OPERANDS) + OPERANDS;
static_assert((LANES & (LANES - 1)) == 0, "a power of two, for the tree that folds the lanes");
$tables

$states

$units
namespace {
$folds
}  // namespace

// The loop below, for any of these. A pipelined loop starts a step as soon as the state of the one
// before is there: its interval is what the latency of `combine` leaves, so it is not asked for.
//
$comment
template <typename fold>
static void run(
    $run_pointers,
    $run_scalars)
$body

extern "C" void $name(
    $parameters)
{
    $interfaces
    $dispatch
}
