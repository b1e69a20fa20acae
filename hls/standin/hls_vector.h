// Stand-in for Vitis' hls_vector.h, so that g++ compiles kernels unchanged. N elements, aligned to the largest
// power of two that divides their size, as in Vitis: a vector whose size is a power of two is one beat of a
// port. Operators work element by element, also with one number for all elements. A comparison has one result: that
// of the first elements that differ.
#pragma once
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace hls {

namespace details {
// The largest power of two that divides n.
constexpr std::size_t power_of_two(std::size_t n) { return n & (~n + 1); }
}  // namespace details

template <typename T, std::size_t N> class alignas(details::power_of_two(sizeof(T) * N)) vector
{
    static_assert(N > 0, "a vector has elements");
    std::array<T, N> data;

    using array = std::array<T, N>;

  public:
    using value_type = T;
    using size_type = typename array::size_type;
    using difference_type = typename array::difference_type;
    using reference = T &;
    using const_reference = const T &;
    using pointer = T *;
    using const_pointer = const T *;
    using iterator = typename array::iterator;
    using const_iterator = typename array::const_iterator;
    using reverse_iterator = typename array::reverse_iterator;
    using const_reverse_iterator = typename array::const_reverse_iterator;

    vector() = default;
    vector(const T &all) { data.fill(all); }
    vector(const array &data) : data(data) {}
    // Element k is made(k).
    template <typename F, typename = typename std::enable_if<!std::is_convertible<F, T>::value>::type,
              typename = decltype(T(std::declval<F &>()(std::size_t(0))))>
    vector(F made)
    {
        for (std::size_t k = 0; k < N; k++) data[k] = made(k);
    }
    vector(std::initializer_list<T> list)
    {
        assert(list.size() == N);
        std::size_t k = 0;
        for (const T &x : list) data[k++] = x;
    }
    // The elements first, first + 1, ...
    static vector iota(T first = T())
    {
        return vector([first](std::size_t k) { return (T)(first + k); });
    }
    template <std::size_t M = N, typename = typename std::enable_if<M == 1>::type> operator T() const { return data[0]; }

    std::size_t size() const { return N; }
    std::size_t max_size() const { return N; }
    bool empty() const { return false; }
    iterator begin() { return data.begin(); }
    iterator end() { return data.end(); }
    const_iterator begin() const { return data.begin(); }
    const_iterator end() const { return data.end(); }
    const_iterator cbegin() const { return data.begin(); }
    const_iterator cend() const { return data.end(); }
    reverse_iterator rbegin() { return data.rbegin(); }
    reverse_iterator rend() { return data.rend(); }
    const_reverse_iterator rbegin() const { return data.rbegin(); }
    const_reverse_iterator rend() const { return data.rend(); }
    const_reverse_iterator crbegin() const { return data.rbegin(); }
    const_reverse_iterator crend() const { return data.rend(); }
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

#define HLS_VECTOR_STEP(op)                   \
    vector &operator op()                     \
    {                                         \
        for (T & x : data) op x;              \
        return *this;                         \
    }                                         \
    vector operator op(int)                   \
    {                                         \
        const vector before = *this;          \
        op *this;                             \
        return before;                        \
    }
    HLS_VECTOR_STEP(++)
    HLS_VECTOR_STEP(--)
#undef HLS_VECTOR_STEP

#define HLS_VECTOR_COMPARISON(op, if_equal)                                \
    friend bool operator op(const vector &x, const vector &y)              \
    {                                                                      \
        for (std::size_t k = 0; k < N; k++)                                \
            if (!(x.data[k] == y.data[k])) return x.data[k] op y.data[k];  \
        return if_equal;                                                   \
    }
    HLS_VECTOR_COMPARISON(==, true)
    HLS_VECTOR_COMPARISON(!=, false)
    HLS_VECTOR_COMPARISON(<, false)
    HLS_VECTOR_COMPARISON(<=, true)
    HLS_VECTOR_COMPARISON(>, false)
    HLS_VECTOR_COMPARISON(>=, true)
#undef HLS_VECTOR_COMPARISON

    // Combines all elements, from the first to the last.
#define HLS_VECTOR_REDUCE(name, op)                                \
    T reduce_##name() const                                        \
    {                                                              \
        T all = data[0];                                           \
        for (std::size_t k = 1; k < N; k++) all op##= data[k];    \
        return all;                                                \
    }
    HLS_VECTOR_REDUCE(add, +)
    HLS_VECTOR_REDUCE(mult, *)
    HLS_VECTOR_REDUCE(and, &)
    HLS_VECTOR_REDUCE(or, |)
    HLS_VECTOR_REDUCE(xor, ^)
#undef HLS_VECTOR_REDUCE
};

}  // namespace hls
