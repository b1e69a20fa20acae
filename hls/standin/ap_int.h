// Stand-in for Vitis' ap_int.h: integers of W bits, W at most 64, that wrap as W bits do.
// Only what the kernels use is here: arithmetic through long, comparisons, single bits. Where Vitis' own has
// another width or sign than a long has (-x, ~x, x << k, x - y), there is nothing, so that nobody counts on it.
#pragma once
#include <cstddef>

#include "hls_half.h"

// Global names of Vitis' own that a kernel could take by mistake.
enum ap_q_mode { AP_RND, AP_RND_ZERO, AP_RND_MIN_INF, AP_RND_INF, AP_RND_CONV, AP_TRN, AP_TRN_ZERO };
enum ap_o_mode { AP_SAT, AP_SAT_ZERO, AP_SAT_SYM, AP_WRAP, AP_WRAP_SM };
template <int W> class ap_int;
template <int W> class ap_uint;

// In both: as with Vitis' own, one converts from another of any width, so `c ? x : y` is ambiguous for two widths.
#define FT_AP_MEMBERS(own, word)                                                    \
    static_assert(W >= 1 && W <= 64, "this stand-in holds its bits in one word");   \
    word bits;                                                                      \
                                                                                    \
  public:                                                                           \
    static const int width = W;                                                     \
    constexpr own(word v = 0) : bits(wrap(v)) {}                                    \
    template <int V> constexpr own(const ap_uint<V> &v) : bits(wrap((word)v)) {}    \
    template <int V> constexpr own(const ap_int<V> &v) : bits(wrap((word)v)) {}     \
    constexpr operator word() const { return bits; }                                \
    constexpr bool operator[](int k) const { return bits >> k & 1; }                \
    own &operator+=(word v) { return *this = own(bits + v); }                       \
    own &operator-=(word v) { return *this = own(bits - v); }                       \
    own &operator++() { return *this += 1; }                                        \
    void operator-() const = delete;                                                \
    void operator~() const = delete;                                                \
    template <typename T> void operator<<(const T &) const = delete;                \
    template <typename T> void operator-(const T &) const = delete;

template <int W> class ap_uint
{
    static constexpr unsigned long wrap(unsigned long v) { return W == 64 ? v : v & ((1UL << (W % 64)) - 1); }
    FT_AP_MEMBERS(ap_uint, unsigned long)
    constexpr unsigned long to_ulong() const { return bits; }
};

template <int W> class ap_int
{
    static constexpr long wrap(long v) { return (long)((unsigned long)v << (64 - W)) >> (64 - W); }
    FT_AP_MEMBERS(ap_int, long)
    constexpr long to_long() const { return bits; }
};
#undef FT_AP_MEMBERS
