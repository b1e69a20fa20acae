$title
// $comment

#include "ftensor/vitis/process.h"
#include "ftensor/vitis/network.h"

typedef $element T;
static const int LANES = $lanes;  // of a port

$tables

static void run(const hls::vector<T, LANES> *in_0, hls::vector<T, LANES> *out0,$weights long in_0_offset, long out0_offset, int n)
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
    if (n > 0) run(in_0, out0,$passed in_0_offset, out0_offset, n);
}
