$title

#include <hls_math.h>
$streams

#include "ftensor/vitis/fold.h"
$turns

static const int LANES = $lanes;
static const int VECTORS = $vectors;  // states that are folded in turn
static const int OUTPUTS = $outputs;
static const int OPERANDS = $operands;  // pointers, outputs first
static const int MAX_DIMS = $max_dims;
$words
static const int MAX_GEOMETRY = G_HEAD + 2 * MAX_DIMS * (1 + OPERANDS) + OPERANDS;
static_assert((LANES & (LANES - 1)) == 0, "a power of two, for the tree that folds the lanes");
$tables

$states

$units
namespace {
$folds
}  // namespace

$loops

extern "C" void $name(
    $parameters)
{
    $interfaces
    $dispatch
}
