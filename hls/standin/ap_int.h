// Stand-in for Vitis' ap_int.h if Xilinx's own is not installed: integers of at most 64 bits with construction,
// storage, comparison and bit access only. Arithmetic, whose results in Xilinx's types have other widths and
// signs, and everything else that this file lacks is a compile error. The error names the command that fetches
// Xilinx's header.
#pragma once
#include <cstddef>
#include <type_traits>

#include "hls_half.h"

// Global names of Vitis' header, so that a kernel that redefines one fails here, too.
enum ap_q_mode { AP_RND, AP_RND_ZERO, AP_RND_MIN_INF, AP_RND_INF, AP_RND_CONV, AP_TRN, AP_TRN_ZERO };
enum ap_o_mode { AP_SAT, AP_SAT_ZERO, AP_SAT_SYM, AP_WRAP, AP_WRAP_SM };
template <int W> class ap_int;
template <int W> class ap_uint;

#define FT_AP_FETCH \
    "this needs Xilinx's own ap_int.h: fetch it by `ftensor headers --install`, compile with `g++ $(ftensor headers)`"
// The name is so long that no parameter pack of a user has the same one.
#define FT_AP_LACKS(name)                                \
    template <typename... T> long name(T &&...) const    \
    {                                                    \
        static_assert(sizeof...(T) > 1000, FT_AP_FETCH); \
        return 0;                                        \
    }

namespace ft_ap {

// Words of the sizes of Xilinx's types, so that arrays and ports have the same layout.
template <int W> struct words {
    static_assert(W >= 1 && W <= 64, FT_AP_FETCH);
    using small = typename std::conditional<W <= 8, signed char, short>::type;
    using large = typename std::conditional<W <= 32, int, long>::type;
    using of_int = typename std::conditional<W <= 16, small, large>::type;
    using of_uint = typename std::make_unsigned<of_int>::type;
};

// Read-only access to a bit.
class bit
{
    const bool is_set;

  public:
    constexpr explicit bit(bool x) : is_set(x) {}
    constexpr operator bool() const { return is_set; }
    constexpr bool operator~() const { return !is_set; }
    template <typename T> void operator=(T &&) const { static_assert(sizeof(T) == 0, FT_AP_FETCH); }
    void operator=(const bit &) const = delete;  // ftensor headers --install
};

template <typename T> struct is_int : std::false_type {};
template <int W> struct is_int<ap_int<W>> : std::true_type {};
template <int W> struct is_int<ap_uint<W>> : std::true_type {};
template <typename T> struct is_any : is_int<T> {};
template <> struct is_any<bit> : std::true_type {};
template <bool yes> using where = typename std::enable_if<yes>::type;
template <typename T> using number = where<std::is_arithmetic<T>::value || std::is_enum<T>::value>;
template <typename A, typename B>
using comparable = where<(is_int<A>::value && (is_int<B>::value || std::is_integral<B>::value)) ||
                         (is_int<B>::value && std::is_integral<A>::value)>;

// The number of bits, and the sign. Xilinx's types of equal width compare as in C. Of different widths, only a
// signed integer that holds all values of the other type is certain to.
template <typename T> struct form {
    static const int bits = 8 * sizeof(T);
    static const bool sign = std::is_signed<T>::value;
};
template <int W> struct form<ap_int<W>> {
    static const int bits = W;
    static const bool sign = true;
};
template <int W> struct form<ap_uint<W>> {
    static const int bits = W;
    static const bool sign = false;
};
template <typename A, typename B> struct alike {
    static const bool value = form<A>::sign == form<B>::sign ||
                              (form<A>::sign ? form<A>::bits > form<B>::bits : form<B>::bits > form<A>::bits);
};

template <typename T, typename = number<T>> constexpr __int128 wide(T x) { return x; }
template <int W> constexpr __int128 wide(const ap_int<W> &x) { return x.to_long(); }
template <int W> constexpr __int128 wide(const ap_uint<W> &x) { return x.to_ulong(); }

}  // namespace ft_ap

// Members of both types. As in Vitis, each converts from any other width, so `c ? x : y` is ambiguous for two
// widths.
#define FT_AP_MEMBERS(own, kind)                                                                         \
    using word = typename ft_ap::words<W>::kind;                                                         \
    word bits;                                                                                           \
                                                                                                         \
  public:                                                                                                \
    static const int width = W;                                                                          \
    own() = default;                                                                                     \
    template <typename T, typename = ft_ap::number<T>> constexpr own(T x) : bits(wrap((unsigned long)x)) \
    {                                                                                                    \
        static_assert(!std::is_floating_point<T>::value, FT_AP_FETCH);                                   \
    }                                                                                                    \
    template <int V> constexpr own(const ap_uint<V> &x) : bits(wrap(x.to_ulong())) {}                    \
    template <int V> constexpr own(const ap_int<V> &x) : bits(wrap(x.to_ulong())) {}                     \
    constexpr operator word() const { return bits; }                                                     \
    constexpr ft_ap::bit operator[](int k) const { return ft_ap::bit((unsigned long)bits >> k & 1); }    \
    constexpr int length() const { return W; }                                                           \
    constexpr bool to_bool() const { return bits != 0; }                                                 \
    constexpr int to_int() const { return (int)bits; }                                                   \
    constexpr unsigned to_uint() const { return (unsigned)bits; }                                        \
    constexpr long to_long() const { return (long)bits; }                                                \
    constexpr unsigned long to_ulong() const { return (unsigned long)bits; }                             \
    constexpr long long to_int64() const { return (long long)bits; }                                     \
    constexpr unsigned long long to_uint64() const { return (unsigned long long)bits; }                  \
    constexpr float to_float() const { return (float)bits; }                                             \
    constexpr double to_double() const { return (double)bits; }                                          \
    FT_AP_LACKS(operator()) FT_AP_LACKS(range) FT_AP_LACKS(concat) FT_AP_LACKS(bit) FT_AP_LACKS(test)    \
    FT_AP_LACKS(set) FT_AP_LACKS(set_bit) FT_AP_LACKS(get_bit) FT_AP_LACKS(clear) FT_AP_LACKS(invert)    \
    FT_AP_LACKS(reverse) FT_AP_LACKS(countLeadingZeros) FT_AP_LACKS(and_reduce) FT_AP_LACKS(or_reduce)   \
    FT_AP_LACKS(xor_reduce) FT_AP_LACKS(nand_reduce) FT_AP_LACKS(nor_reduce) FT_AP_LACKS(xnor_reduce)    \
    FT_AP_LACKS(lrotate) FT_AP_LACKS(rrotate) FT_AP_LACKS(to_string) FT_AP_LACKS(to_char)                \
    FT_AP_LACKS(to_uchar) FT_AP_LACKS(to_short) FT_AP_LACKS(to_ushort) FT_AP_LACKS(sign)                 \
    FT_AP_LACKS(is_zero) FT_AP_LACKS(set_to_zero)

template <int W> class ap_uint
{
    static constexpr unsigned long wrap(unsigned long v) { return W == 64 ? v : v & ((1UL << (W % 64)) - 1); }
    FT_AP_MEMBERS(ap_uint, of_uint)
};

template <int W> class ap_int
{
    static constexpr long wrap(unsigned long v) { return (long)(v << (64 - W)) >> (64 - W); }
    FT_AP_MEMBERS(ap_int, of_int)
};

#define FT_AP_COMPARE(op)                                                 \
    template <typename A, typename B, typename = ft_ap::comparable<A, B>> \
    constexpr bool operator op(const A &a, const B &b)                    \
    {                                                                     \
        static_assert(ft_ap::alike<A, B>::value, FT_AP_FETCH);            \
        return ft_ap::wide(a) op ft_ap::wide(b);                          \
    }
FT_AP_COMPARE(==) FT_AP_COMPARE(!=) FT_AP_COMPARE(<) FT_AP_COMPARE(<=) FT_AP_COMPARE(>) FT_AP_COMPARE(>=)

#define FT_AP_BINARY(op, is)                                                                               \
    template <typename A, typename B, typename = ft_ap::where<ft_ap::is<A>::value || ft_ap::is<B>::value>> \
    long operator op(const A &, const B &)                                                                 \
    {                                                                                                      \
        static_assert(sizeof(A) == 0, FT_AP_FETCH);                                                        \
        return 0;                                                                                          \
    }
FT_AP_BINARY(+, is_int) FT_AP_BINARY(-, is_int) FT_AP_BINARY(*, is_int) FT_AP_BINARY(/, is_int)
FT_AP_BINARY(%, is_int) FT_AP_BINARY(<<, is_int) FT_AP_BINARY(&, is_int)
FT_AP_BINARY(|, is_int) FT_AP_BINARY(^, is_int)
// The result of a right shift keeps its operand's type. A negative number of places shifts left.
template <typename T> constexpr unsigned long ft_ap_up(const T &x, unsigned long places)
{
    return places < 64 ? x.to_ulong() << places : 0;
}
#define FT_AP_DOWN(own)                                                                                \
    template <int W, typename K, typename = ft_ap::where<std::is_integral<K>::value>>                  \
    constexpr own<W> operator>>(const own<W> &x, K places)                                             \
    {                                                                                                  \
        return places < 0 ? own<W>(ft_ap_up(x, 0 - (unsigned long)places))                             \
                          : own<W>((long)(ft_ap::wide(x) >> (places < 64 ? (int)places : 64)));        \
    }                                                                                                  \
    template <int W, typename K, typename = ft_ap::where<!std::is_integral<K>::value>, typename = void> \
    own<W> operator>>(const own<W> &x, const K &)                                                      \
    {                                                                                                  \
        static_assert(sizeof(K) == 0, FT_AP_FETCH);                                                    \
        return x;                                                                                      \
    }
FT_AP_DOWN(ap_uint) FT_AP_DOWN(ap_int)
#undef FT_AP_DOWN
#define FT_AP_COMMA ,
FT_AP_BINARY(FT_AP_COMMA, is_any)  // Xilinx's comma operator concatenates bits
#define FT_AP_ASSIGNED(op)                                                              \
    template <typename A, typename B, typename = ft_ap::where<ft_ap::is_int<A>::value>> \
    A &operator op(A &a, const B &)                                                     \
    {                                                                                   \
        static_assert(sizeof(A) == 0, FT_AP_FETCH);                                     \
        return a;                                                                       \
    }
FT_AP_ASSIGNED(+=) FT_AP_ASSIGNED(-=) FT_AP_ASSIGNED(*=) FT_AP_ASSIGNED(/=) FT_AP_ASSIGNED(%=)
FT_AP_ASSIGNED(<<=) FT_AP_ASSIGNED(>>=) FT_AP_ASSIGNED(&=) FT_AP_ASSIGNED(|=) FT_AP_ASSIGNED(^=)
#define FT_AP_UNARY(op, ...)                                                \
    template <typename A, typename = ft_ap::where<ft_ap::is_int<A>::value>> \
    long operator op(const A &__VA_ARGS__)                                  \
    {                                                                       \
        static_assert(sizeof(A) == 0, FT_AP_FETCH);                         \
        return 0;                                                           \
    }
FT_AP_UNARY(-) FT_AP_UNARY(+) FT_AP_UNARY(~) FT_AP_UNARY(++) FT_AP_UNARY(--)
FT_AP_UNARY(++, , int) FT_AP_UNARY(--, , int)

#undef FT_AP_MEMBERS
#undef FT_AP_LACKS
#undef FT_AP_COMPARE
#undef FT_AP_BINARY
#undef FT_AP_COMMA
#undef FT_AP_ASSIGNED
#undef FT_AP_UNARY
