// hls::vector for the check of the kernels' IR: a copy of one is a single access as wide as it is, and an
// element taken by reference is an access of its own, as a port has them. There is no copy here that the
// optimizer could take apart into elements.
#pragma once
#include <cstddef>
#include <type_traits>

namespace hls {

template <typename T, std::size_t N> class alignas(sizeof(T) * N) vector
{
    // A vector of the compiler has no structs, so a complex number is words there.
    typedef typename std::conditional<std::is_arithmetic<T>::value, T, unsigned long>::type word;
    typedef word beat __attribute__((ext_vector_type(sizeof(T) * N / sizeof(word))));
    union {
        beat whole;
        T elements[N];
    };

  public:
    vector() : whole(0) {}
    vector(const T &all)
    {
        for (std::size_t k = 0; k < N; k++) elements[k] = all;
    }
    vector(const vector &other) : whole(other.whole) {}
    vector &operator=(const vector &other)
    {
        whole = other.whole;
        return *this;
    }
    T &operator[](std::size_t k) { return elements[k]; }
    const T &operator[](std::size_t k) const { return elements[k]; }
};

}  // namespace hls
