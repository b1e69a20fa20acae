// Stand-in for Vitis' ap_int.h: integers of W bits, W at most 64, that wrap as W bits do.
// Only what the kernels use is here: arithmetic through long, comparisons, single bits.
#pragma once
#include <cstddef>

template <int W> class ap_uint
{
    static_assert(W >= 1 && W <= 64, "this stand-in holds its bits in one word");
    unsigned long bits;
    static constexpr unsigned long wrap(unsigned long v) { return W == 64 ? v : v & ((1UL << (W % 64)) - 1); }

  public:
    static const int width = W;
    constexpr ap_uint(unsigned long v = 0) : bits(wrap(v)) {}
    constexpr operator unsigned long() const { return bits; }
    constexpr unsigned long to_ulong() const { return bits; }
    constexpr bool operator[](int k) const { return bits >> k & 1; }
    ap_uint &operator+=(unsigned long v) { return *this = ap_uint(bits + v); }
    ap_uint &operator-=(unsigned long v) { return *this = ap_uint(bits - v); }
    ap_uint &operator++() { return *this += 1; }
};

template <int W> class ap_int
{
    static_assert(W >= 1 && W <= 64, "this stand-in holds its bits in one word");
    long bits;
    static constexpr long wrap(long v) { return (long)((unsigned long)v << (64 - W)) >> (64 - W); }

  public:
    static const int width = W;
    constexpr ap_int(long v = 0) : bits(wrap(v)) {}
    constexpr operator long() const { return bits; }
    constexpr long to_long() const { return bits; }
    constexpr bool operator[](int k) const { return bits >> k & 1; }
    ap_int &operator+=(long v) { return *this = ap_int(bits + v); }
    ap_int &operator-=(long v) { return *this = ap_int(bits - v); }
    ap_int &operator++() { return *this += 1; }
};
