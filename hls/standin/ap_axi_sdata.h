// Stand-in for Vitis' ap_axi_sdata.h: a beat of an AXI stream with its side channels. A channel of no bits is absent,
// and its use an error. By Xilinx's ap_int.h, which is asked for where it is missing and needed.
#pragma once
#include <cstddef>

#include <ap_int.h>

namespace hls {

// A side channel of so many bits.
template <std::size_t W> struct axis_channel {
    using type = ap_uint<W>;
};
struct axis_absent {
    template <typename T> void operator=(const T &) const
    {
        static_assert(sizeof(T) == 0, "this side channel has a width of 0 in the type of the beat");
    }
};
template <> struct axis_channel<0> {
    using type = axis_absent;
};

// The bytes that `keep` tells of: of a type of any width those of its bits, not of the memory that it takes in C++.
template <typename T, typename = void> struct axis_bytes {
    static const std::size_t value = sizeof(T);
};
template <typename T> struct axis_bytes<T, decltype((void)T::width)> {
    static const std::size_t value = (T::width + 7) / 8;
};

template <typename T, std::size_t WUser = 0, std::size_t WId = 0, std::size_t WDest = 0> struct axis {
    static const std::size_t bytes = axis_bytes<T>::value;
    T data;
    ap_uint<bytes> keep, strb;
    typename axis_channel<WUser>::type user;
    ap_uint<1> last;
    typename axis_channel<WId>::type id;
    typename axis_channel<WDest>::type dest;

    T get_data() const { return data; }
    void set_data(const T &x) { data = x; }
    ap_uint<bytes> get_keep() const { return keep; }
    void set_keep(const ap_uint<bytes> &x) { keep = x; }
    ap_uint<bytes> get_strb() const { return strb; }
    void set_strb(const ap_uint<bytes> &x) { strb = x; }
    ap_uint<1> get_last() const { return last; }
    void set_last(const ap_uint<1> &x) { last = x; }
    typename axis_channel<WUser>::type get_user() const { return user; }
    void set_user(const typename axis_channel<WUser>::type &x) { user = x; }
    typename axis_channel<WId>::type get_id() const { return id; }
    void set_id(const typename axis_channel<WId>::type &x) { id = x; }
    typename axis_channel<WDest>::type get_dest() const { return dest; }
    void set_dest(const typename axis_channel<WDest>::type &x) { dest = x; }
};

}  // namespace hls

template <std::size_t W, std::size_t WUser, std::size_t WId, std::size_t WDest>
using ap_axis = hls::axis<ap_int<W>, WUser, WId, WDest>;
template <std::size_t W, std::size_t WUser, std::size_t WId, std::size_t WDest>
using ap_axiu = hls::axis<ap_uint<W>, WUser, WId, WDest>;
