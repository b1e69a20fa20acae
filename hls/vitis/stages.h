// The stages around an op's arithmetic: from a port into a FIFO, from a FIFO to a port. A beat of a port has
// type V: hls::vector<T, LANES>, or T with one lane.
#pragma once
#include <ap_int.h>
#include <hls_stream.h>

#include "lane_access.h"

// Sets element l of a beat, for both types of beat.
template <typename T, size_t N> static inline void ft_set_lane(hls::vector<T, N> &v, int l, T one) { v[l] = one; }
template <typename T> static inline void ft_set_lane(T &v, int, T one) { v = one; }

// Fills a beat with one element of another. That beat is passed by value, so that the port is read in whole
// beats.
template <typename T, size_t N> static inline void ft_broadcast_lane(hls::vector<T, N> &v, hls::vector<T, N> from, int l)
{
    const T one = from[l];
fill_lanes:
    for (size_t k = 0; k < N; k++) {
#pragma HLS UNROLL
        v[k] = one;
    }
}
template <typename T> static inline void ft_broadcast_lane(T &v, const T &from, int) { v = from; }

// Takes the first m lanes from `next` and keeps the others.
template <typename T, size_t N>
static inline void ft_merge_lanes(hls::vector<T, N> &v, const hls::vector<T, N> &next, int m)
{
keep_lanes:
    for (size_t k = 0; k < N; k++) {
#pragma HLS UNROLL
        if ((int)k < m) v[k] = next[k];
    }
}
template <typename T> static inline void ft_merge_lanes(T &v, const T &next, int) { v = next; }

// How an opcode uses its inputs, one bit for each: whether it reads the input (an unused input costs no
// transfer), and whether the input is a single element, which every lane repeats.
template <int INPUTS> struct ft_input_use {
    ap_uint<INPUTS> reads, singles;
};

// Reads a beat, unless the opcode does not use its input.
template <typename V> static inline V ft_read_if(hls::stream<V> &from, bool reads)
{
#pragma HLS INLINE
    V v{};
    if (reads) v = from.read();
    return v;
}

// Beat v of a FIFO, or of a block in local memory, which ft_read_port fills and ft_write_port empties.
template <typename V> static inline void ft_give_beat(hls::stream<V> &to, int, const V &beat) { to.write(beat); }
template <typename V> static inline void ft_give_beat(V *to, int v, const V &beat) { to[v] = beat; }
template <typename V> static inline V ft_take_beat(hls::stream<V> &from, int) { return from.read(); }
template <typename V> static inline V ft_take_beat(const V *from, int v) { return from[v]; }

// Reads `count` beats of input INPUT from beat `first` on, counted from element `offset`.
template <int LANES, int INPUT, typename V, typename To, int INPUTS>
static void ft_read_port(const V *port, To &to, ft_input_use<INPUTS> inputs, long offset, int first, int count)
{
    static_assert(sizeof(V) <= 64, "a port is at most 512 bits wide");
    if (!inputs.reads[INPUT]) return;
    if (inputs.singles[INPUT]) {
        V one;
        ft_broadcast_lane(one, port[offset / LANES], (int)(offset % LANES));
    repeat_beat:
        for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
            ft_give_beat(to, v, one);
        }
    } else {
        const V *from = port + (offset / LANES + first);
    read:
        for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
            ft_give_beat(to, v, from[v]);
        }
    }
}

// Writes `count` beats and then `rest` elements, less than a beat. The rest of their beat belongs to another
// tensor, so that beat is read, changed and written back.
template <int LANES, typename V, typename From>
static void ft_write_port(V *port, From &from, long offset, int first, int count, int rest)
{
    V *to = port + (offset / LANES + first);
write:
    for (int v = 0; v < count; v++) {
#pragma HLS PIPELINE II=1
#pragma HLS LOOP_TRIPCOUNT min=1 max=65536
        to[v] = ft_take_beat(from, v);
    }
    if (rest > 0) {
        V last = to[count];
        ft_merge_lanes(last, ft_take_beat(from, count), rest);
        to[count] = last;
    }
}

// Reads a beat of an operand directly from its port; see ft_read_port.
template <int LANES, int INPUT, typename V, int INPUTS>
static inline V ft_read_beat(const V *port, ft_input_use<INPUTS> inputs, long offset, int beat)
{
#pragma HLS INLINE
    V v{};
    if (inputs.reads[INPUT] && inputs.singles[INPUT]) {
        ft_broadcast_lane(v, port[offset / LANES], (int)(offset % LANES));
    } else if (inputs.reads[INPUT]) {
        v = port[offset / LANES + beat];
    }
    return v;
}
