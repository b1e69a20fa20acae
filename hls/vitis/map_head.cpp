$title

#include <ap_int.h>
#include <hls_math.h>
#include <hls_stream.h>
#include <hls_vector.h>

#include "ftensor/vitis/common.h"
#include "ftensor/vitis/stages.h"
$headers

$types

$tables

$units
