// Stand-in for Vitis' hls_half.h: IEEE's 16-bit numbers. Each operation is computed in float and rounded to
// nearest even. That equals the exact result rounded once, because float has more than twice the bits.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

class half
{
    std::uint16_t bits;

    static std::uint16_t rounded(float x)
    {
        std::uint32_t word;
        std::memcpy(&word, &x, sizeof word);
        const std::uint32_t sign = word >> 16 & 0x8000, size = word & 0x7fffffff;
        if (size > 0x7f800000) return (std::uint16_t)(sign | 0x7e00 | (size >> 13 & 0x1ff));  // NaN
        if (size >= 0x477ff000) return (std::uint16_t)(sign | 0x7c00);  // 65520 and more
        const int exponent = (int)(size >> 23) - 127;
        if (exponent < -25) return (std::uint16_t)sign;
        // A subnormal result drops more bits of the fraction.
        const std::uint32_t drop = exponent < -14 ? -1 - exponent : 13;
        const std::uint32_t fraction = exponent < -14 ? (size & 0x7fffff) | 0x800000 : size - 0x38000000;
        const std::uint32_t kept = fraction >> drop, rest = fraction & ((1u << drop) - 1), tie = 1u << (drop - 1);
        return (std::uint16_t)(sign | (kept + (rest > tie || (rest == tie && (kept & 1)))));
    }

  public:
    half() = default;
    // Converts from other numbers as C does: through float if that holds them; double and wide integers are
    // rounded once.
    template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
    half(T x) : bits(rounded(odd(x))) {}
    template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>
    half &operator=(T x) { return *this = half(x); }

    operator float() const
    {
        const std::uint32_t sign = (std::uint32_t)(bits & 0x8000) << 16, size = bits & 0x7fff;
        float x;
        if (size < 0x400) {  // a subnormal number is a multiple of 2^-24
            x = (float)size * 5.9604644775390625e-08f;
        } else {
            const std::uint32_t word = (size << 13) + (size < 0x7c00 ? 0x38000000 : 0x70000000);
            std::memcpy(&x, &word, sizeof x);
        }
        std::uint32_t word;
        std::memcpy(&word, &x, sizeof word);
        word |= sign;
        std::memcpy(&x, &word, sizeof x);
        return x;
    }

    std::uint16_t get_bits() const { return bits; }
    void set_bits(std::uint16_t x) { bits = x; }
    half operator+() const { return *this; }
    half operator-() const
    {
        half x;
        x.bits = bits ^ 0x8000;
        return x;
    }
    half &operator++() { return *this = half((float)*this + 1.0f); }
    half &operator--() { return *this = half((float)*this - 1.0f); }

  private:
    // A float that rounds to the same half as `x`: rounded to odd, so that it is never a tie.
    static float odd(float x) { return x; }
    template <typename T> static float odd(T x)
    {
        const float near = (float)x;
        const long double left = (long double)x - (long double)near;
        if (!(left > 0 || left < 0) || near - near != 0) return near;
        std::uint32_t word;
        std::memcpy(&word, &near, sizeof word);
        if (word & 1) return near;
        word += (left > 0) == (near > 0) ? 1 : -1;
        float x_odd;
        std::memcpy(&x_odd, &word, sizeof x_odd);
        return near == 0 ? 0 * near : x_odd;
    }
};

#define FT_HALF_OPERATOR(op)                                                                                         \
    inline half operator op(half a, half b) { return half((float)a op (float)b); }                                   \
    inline half &operator op##=(half &a, half b) { return a = a op b; }                                              \
    template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>                    \
    half operator op(half, T)                                                                                        \
    {                                                                                                                \
        static_assert(sizeof(T) == 0, "half and another type: say in which of them to compute, half(x) or float(h)"); \
        return half();                                                                                               \
    }                                                                                                                \
    template <typename T, typename = typename std::enable_if<std::is_arithmetic<T>::value>::type>                    \
    half operator op(T, half b)                                                                                      \
    {                                                                                                                \
        return b op T();                                                                                             \
    }
FT_HALF_OPERATOR(+) FT_HALF_OPERATOR(-) FT_HALF_OPERATOR(*) FT_HALF_OPERATOR(/)
#undef FT_HALF_OPERATOR
