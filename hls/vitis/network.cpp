$title
// $comment

#include "ftensor/vitis/process.h"
#include "ftensor/vitis/network.h"

typedef $element T;
static const int LANES = $lanes;  // of a port

$tables

static void run($taken)
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
    $body
}
