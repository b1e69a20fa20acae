// The graph $graph for g++: its kernels as threads of a region, their streams as FIFOs as deep as link.cfg has them.

$settings
#include "ftensor/vitis/process.h"
#include "ftensor/dialect/vitis.h"
#include "ftensor/fused.h"
#include <hls_vector.h>
#include <joined.h>

$declared

namespace {

struct fifos {
    $fifos
};
fifos *at;
hls::meeting meeting($started);

void run(const hls::meeting::calls &started)
{
    hls::region region;
    fifos all;
    at = &all;
    for (const auto &call : started) region.process(call);
    $alone
    region.join();
}

}  // namespace

$wrappers
