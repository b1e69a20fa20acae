$title

#include <ap_int.h>
#include <hls_math.h>
#include <hls_stream.h>
#include <hls_vector.h>

#include "ftensor/vitis/common.h"
#include "ftensor/vitis/map.h"
$headers

static const int LANES = $lanes;
$beats

$tables

$members
