// Maps over beats, as templates over `members`, which `ftensor build` writes: an opcode and its scalars, the number of
// lanes, a beat of results, and apply(elements..., position). In is the type of each input's beat, K its number.
#pragma once
#include "stages.h"

// A compute unit's beats. The last unit also computes the elements after the last whole beat.
struct ft_beat_slab {
    int first, count, rest, total;
};
template <int LANES> static ft_beat_slab ft_beat_slab_of(int n, int unit, int units)
{
#pragma HLS INLINE
    static_assert(LANES > 0 && (LANES & (LANES - 1)) == 0, "a power of two, so that an offset is a shift");
    const int beats = n / LANES, first = ft_slab(beats, unit, units), count = ft_slab(beats, unit + 1, units) - first;
    const int rest = unit == units - 1 ? n % LANES : 0;
    return {first, count, rest, count + (rest > 0)};
}

// Computes one beat: all lanes in parallel.
template <typename Members, typename... In>
static typename Members::beat ft_map_beat(const Members &of, long position, const In &...in)
{
#pragma HLS INLINE
    typename Members::beat result;
lanes:
    for (int lane = 0; lane < Members::lanes; lane++) {
#pragma HLS UNROLL
        ft_set_lane(result, lane, of.apply(ft_lane(in, lane)..., position + lane));
    }
    return result;
}

// Structure "dataflow": reads one beat of each input and writes one beat of the result per cycle.
template <typename Members, int... K, int INPUTS, typename... In>
static void ft_map_compute(hls::stream<typename Members::beat> &to, Members of, ft_input_use<INPUTS> inputs,
                           long offset, int first, int count, hls::stream<In> &...from)
{
    (void)inputs;  // which some kernels lack
compute:
    for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const long position = offset + (first + (long)v) * Members::lanes;
        to.write(ft_map_beat(of, position, ft_read_if(from, inputs.reads[K])...));
    }
}

// Structure "burst": the same between blocks in local memory.
template <typename Members, typename... In>
static void ft_map_block(typename Members::beat *to, Members of, long offset, int first, int count, const In *...block)
{
compute:
    for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=4096
        to[v] = ft_map_beat(of, offset + (first + (long)v) * Members::lanes, block[v]...);
    }
}

// Structure "loop": one pipelined loop reads, computes and writes. `offsets` are those of the result and the inputs.
template <typename Members, int... K, int INPUTS, typename... In>
static void ft_map_loop(typename Members::beat *out, Members of, ft_input_use<INPUTS> inputs, ft_beat_slab slab,
                        const long (&offsets)[1 + sizeof...(K)], const In *...port)
{
#pragma HLS INLINE
    (void)inputs;
    const int lanes = Members::lanes;
    typename Members::beat *to = out + (offsets[0] / lanes + slab.first);
each_beat:
    for (int v = 0; v < slab.count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        const int at = slab.first + v;
        to[v] = ft_map_beat(of, offsets[0] + (long)at * lanes, ft_read_beat<lanes, K>(port, inputs, offsets[1 + K], at)...);
    }
    if (slab.rest > 0) {
        const int at = slab.first + slab.count;
        // Elements of the last beat beyond n belong to another tensor and must keep their values.
        typename Members::beat last = to[slab.count];
        ft_merge_lanes(last, ft_map_beat(of, offsets[0] + (long)at * lanes,
                                         ft_read_beat<lanes, K>(port, inputs, offsets[1 + K], at)...), slab.rest);
        to[slab.count] = last;
    }
}
