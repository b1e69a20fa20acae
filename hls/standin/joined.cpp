// The graph $graph for g++: its kernels are threads of a region, their streams FIFOs with the depths of
// link.cfg.

$headers
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
