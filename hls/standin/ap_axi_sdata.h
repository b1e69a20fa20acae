// Stand-in for Vitis' ap_axi_sdata.h: a beat of an AXI stream with its side channels. A channel that a type
// omits is absent, and any use of it is a compile error. ap_int.h is Xilinx's own; if it is needed and missing,
// the error names the command that fetches it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ap_int.h>
#include <hls_stream.h>

// The channels of a beat, one bit each.
#define AXIS_ENABLE_DATA 0x01
#define AXIS_ENABLE_DEST 0x02
#define AXIS_ENABLE_ID 0x04
#define AXIS_ENABLE_KEEP 0x08
#define AXIS_ENABLE_LAST 0x10
#define AXIS_ENABLE_STRB 0x20
#define AXIS_ENABLE_USER 0x40
#define AXIS_ENABLE_ALL 0x7f
#define AXIS_DISABLE_ALL 0x00
#define AXIS_DISABLE_DATA (0xff ^ (AXIS_ENABLE_DATA | AXIS_ENABLE_KEEP | AXIS_ENABLE_STRB))

namespace hls {

// A channel that the type omits.
struct axis_absent {
    template <typename T> void operator=(const T &) const
    {
        static_assert(sizeof(T) == 0, "the type of the beat has no such side channel");
    }
};
template <bool there, typename T> using axis_channel = typename std::conditional<there, T, axis_absent>::type;

// The number of bytes that `keep` describes: for integers of any width those of the bits, not sizeof in C++.
template <typename T, typename = void> struct axis_bytes {
    static const std::size_t value = sizeof(T);
};
template <typename T> struct axis_bytes<T, decltype((void)T::width)> {
    static const std::size_t value = (T::width + 7) / 8;
};
template <> struct axis_bytes<void> {
    static const std::size_t value = 1;
};

// For a side channel: its name, whether the type has it, and its width in bits.
#define FT_AXIS_CHANNEL(name, there, bits)                           \
    static const bool has_##name = there;                            \
    axis_channel<has_##name, ap_uint<(bits) ? (bits) : 1>> name;     \
    decltype(name) get_##name() const { return name; }               \
    void set_##name(const decltype(name) &x) { name = x; }

// With `strict`, `enabled` and the widths must agree.
template <typename T, std::size_t WUser = 0, std::size_t WId = 0, std::size_t WDest = 0,
          std::uint8_t enabled = AXIS_ENABLE_KEEP | AXIS_ENABLE_LAST | AXIS_ENABLE_STRB, bool strict = false>
struct axis {
    static const std::size_t bytes = axis_bytes<T>::value;
    static const bool has_data = !std::is_void<T>::value;
    static_assert(enabled <= AXIS_ENABLE_ALL, "there are seven channels, AXIS_ENABLE_ALL");
    static_assert(!strict || has_data == bool(enabled & AXIS_ENABLE_DATA), "AXIS_ENABLE_DATA and the type of data");
    static_assert(!strict || (WUser > 0) == bool(enabled & AXIS_ENABLE_USER), "AXIS_ENABLE_USER and the width of user");
    static_assert(!strict || (WId > 0) == bool(enabled & AXIS_ENABLE_ID), "AXIS_ENABLE_ID and the width of id");
    static_assert(!strict || (WDest > 0) == bool(enabled & AXIS_ENABLE_DEST), "AXIS_ENABLE_DEST and the width of dest");

    axis_channel<has_data, T> data;
    decltype(data) get_data() const { return data; }
    void set_data(const decltype(data) &x) { data = x; }
    FT_AXIS_CHANNEL(keep, bool(enabled & AXIS_ENABLE_KEEP), bytes)
    FT_AXIS_CHANNEL(strb, bool(enabled & AXIS_ENABLE_STRB), bytes)
    FT_AXIS_CHANNEL(user, (WUser > 0), WUser)
    FT_AXIS_CHANNEL(last, bool(enabled & AXIS_ENABLE_LAST), 1)
    FT_AXIS_CHANNEL(id, (WId > 0), WId)
    FT_AXIS_CHANNEL(dest, (WDest > 0), WDest)
    void keep_all() { keep = -1; }
};
#undef FT_AXIS_CHANNEL

// Data and the named side channels.
template <typename T, std::uint8_t enabled = AXIS_ENABLE_DATA, std::size_t WUser = 0, std::size_t WId = 0,
          std::size_t WDest = 0, bool strict = true>
using axis_data = axis<T, WUser, WId, WDest, enabled | AXIS_ENABLE_DATA, strict>;
// Side channels without data.
template <std::size_t WUser, std::uint8_t enabled = AXIS_ENABLE_USER, std::size_t WId = 0, std::size_t WDest = 0,
          bool strict = true>
using axis_user = axis<void, WUser, WId, WDest, enabled & AXIS_DISABLE_DATA, strict>;

}  // namespace hls

template <std::size_t W, std::size_t WUser, std::size_t WId, std::size_t WDest,
          std::uint8_t enabled = AXIS_ENABLE_KEEP | AXIS_ENABLE_LAST | AXIS_ENABLE_STRB, bool strict = false>
using ap_axis = hls::axis<ap_int<W>, WUser, WId, WDest, enabled, strict>;
template <std::size_t W, std::size_t WUser, std::size_t WId, std::size_t WDest,
          std::uint8_t enabled = AXIS_ENABLE_KEEP | AXIS_ENABLE_LAST | AXIS_ENABLE_STRB, bool strict = false>
using ap_axiu = hls::axis<ap_uint<W>, WUser, WId, WDest, enabled, strict>;
// For queues between a host and a board, which have no `strb`.
template <std::size_t W, std::size_t WUser, std::size_t WId, std::size_t WDest>
using qdma_axis = hls::axis<ap_uint<W>, WUser, WId, WDest, AXIS_ENABLE_ALL ^ AXIS_ENABLE_STRB>;
