// Stand-in for Vitis' hls_vector.h, so that g++ compiles kernels unchanged. N elements, aligned to the largest
// power of two that divides their size, as in Vitis: a vector whose size is a power of two is one beat of a
// port. Operators work element by element, also with one number for all elements. Comparisons of whole vectors
// are missing.
#pragma once
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace hls {

namespace details {
// The largest power of two that divides n.
constexpr std::size_t power_of_two(std::size_t n) { return n & (~n + 1); }
}  // namespace details

template <typename T, std::size_t N> class alignas(details::power_of_two(sizeof(T) * N)) vector
{
    static_assert(N > 0, "a vector has elements");
    std::array<T, N> data;

  public:
    vector() = default;
    vector(const T &all) { data.fill(all); }
    vector(std::initializer_list<T> list)
    {
        assert(list.size() == N);
        std::size_t k = 0;
        for (const T &x : list) data[k++] = x;
    }
    std::size_t size() const { return N; }
    T &operator[](std::size_t k) { return data[k]; }
    const T &operator[](std::size_t k) const { return data[k]; }

#define HLS_VECTOR_OPERATOR(op)                                          \
    vector &operator op##=(const vector &other)                          \
    {                                                                    \
        for (std::size_t k = 0; k < N; k++) data[k] op##= other.data[k]; \
        return *this;                                                    \
    }                                                                    \
    friend vector operator op(vector x, const vector &y) { return x op##= y; }
    HLS_VECTOR_OPERATOR(+)
    HLS_VECTOR_OPERATOR(-)
    HLS_VECTOR_OPERATOR(*)
    HLS_VECTOR_OPERATOR(/)
    HLS_VECTOR_OPERATOR(%)
    HLS_VECTOR_OPERATOR(&)
    HLS_VECTOR_OPERATOR(|)
    HLS_VECTOR_OPERATOR(^)
    HLS_VECTOR_OPERATOR(<<)
    HLS_VECTOR_OPERATOR(>>)
#undef HLS_VECTOR_OPERATOR

    // Combines all elements, from the first to the last.
#define HLS_VECTOR_REDUCE(name, op)                                \
    T reduce_##name() const                                        \
    {                                                              \
        T all = data[0];                                           \
        for (std::size_t k = 1; k < N; k++) all = all op data[k];  \
        return all;                                                \
    }
    HLS_VECTOR_REDUCE(and, &)
    HLS_VECTOR_REDUCE(or, |)
    HLS_VECTOR_REDUCE(xor, ^)
#undef HLS_VECTOR_REDUCE
    // For floating point the order changes the last bits, and Vitis' order is not known.
    T reduce_add() const { return folded(false); }
    T reduce_mult() const { return folded(true); }

  private:
    T folded(bool product) const
    {
        static_assert(!std::is_floating_point<T>::value,
                      "reduce_add and reduce_mult of floating point: write the loop, in the order that you want");
        T all = data[0];
        for (std::size_t k = 1; k < N; k++) all = product ? all * data[k] : all + data[k];
        return all;
    }
};

}  // namespace hls
