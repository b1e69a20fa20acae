$title
// A loop with feedback: the states of a signal stay in registers from one step to the next. A step begins when the
// step before has its states, INTERVAL cycles after it by the model.

$settings
#include "ftensor/dialect/vitis.h"
#include "ftensor/fused.h"
#include "ftensor/vitis/end_compute.h"

$units

extern "C" void $name(
    $parameters)
{
$interfaces
    $setup
    const int items = $items;
    const long count = $count, first = $first, stride = $stride;
    const int end = ft_slab(items, ft_unit + 1, ft_units);
signals:
    for (int item = ft_slab(items, ft_unit, ft_units); item < end; item++) {
        $read_states
    steps:
        for (long t = 0; t < count; t++) {
#pragma HLS PIPELINE II=$interval
            const long i = first + t * stride + item;
            $read
            $results
            FT_EACH_LANE
            {
                $compute
            }
            $write
            $keep
        }
        $write_states
    }
}
