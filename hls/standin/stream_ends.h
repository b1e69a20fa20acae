// Tensors at the ends of a kernel's streams, for g++. A text of the generated source of users' kernels
// (ftensor/toolchain/stream_ends.py).
#pragma once
#include <cstdio>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <hls_stream.h>
namespace ft_ends {
namespace {

template <typename F> struct parameters;
template <typename... A> struct parameters<void(A...)> {
    template <std::size_t N>
    using at = typename std::remove_reference<typename std::tuple_element<N, std::tuple<A...>>::type>::type;
};
template <typename T, typename = void> struct bits {
    static const std::size_t value = 8 * sizeof(T);
};
template <typename T> struct bits<T, decltype((void)T::width)> {
    static const std::size_t value = T::width;
};
// The data of a beat, and its side channels.
template <typename T, typename = void> struct beat {
    typedef T data_type;
    static T &data(T &x) { return x; }
    static void side(T &, std::size_t, bool) {}
};
template <typename T> struct beat<T, decltype((void)T::has_last)> {
    typedef decltype(std::declval<T &>().data) data_type;
    static data_type &data(T &x) { return x.data; }
    template <typename U> static void last(U &x, bool is_last, std::true_type) { x.last = is_last; }
    template <typename U> static void last(U &, bool, std::false_type) {}
    template <typename U> static void keep(U &x, std::size_t bytes, std::true_type)
    {
        x.keep = 0;
        for (std::size_t k = 0; k < bytes; k++) x.keep[k] = 1;
    }
    template <typename U> static void keep(U &, std::size_t, std::false_type) {}
    template <typename U> static void strb(U &x, std::size_t bytes, std::true_type)
    {
        x.strb = 0;
        for (std::size_t k = 0; k < bytes; k++) x.strb[k] = 1;
    }
    template <typename U> static void strb(U &, std::size_t, std::false_type) {}
    static void side(T &x, std::size_t bytes, bool is_last)
    {
        last(x, is_last, std::integral_constant<bool, T::has_last>());
        keep(x, bytes, std::integral_constant<bool, T::has_keep>());
        strb(x, bytes, std::integral_constant<bool, T::has_strb>());
    }
};
#ifdef FT_FIFOS
// The ends are of no kernel: their FIFOs are not checked.
struct unrecorded {
    const bool before = ft_fifos::trace().records;
    unrecorded() { ft_fifos::trace().records = false; }
    ~unrecorded() { ft_fifos::trace().records = before; }
};
template <typename S> void without_limit(S &stream) { ft_fifos::set_depth(stream, std::size_t(1) << 30); }
#else
struct unrecorded {
    ~unrecorded() {}
};
template <typename S> void without_limit(S &) {}
#endif

template <typename S> class end
{
    typedef decltype(std::declval<S &>().read()) T;
    typedef typename beat<T>::data_type D;
    static_assert(bits<D>::value == 8 * sizeof(D), "a beat has whole bytes, a power of two of them");
    static const std::size_t each = sizeof(D);
    const char *const name;
    char *const at;
    const std::size_t bytes, filled;

  public:
    S stream;
    end(const char *name, void *at, std::size_t bytes)
        : name(name), at((char *)at), bytes(bytes), filled((bytes + each - 1) / each), stream(name)
    {
        const unrecorded now;
        without_limit(stream);
        for (std::size_t k = 0; k < filled; k++) {
            const std::size_t left = bytes - k * each, size = left < each ? left : each;
            T x = T();
            std::memcpy((void *)&beat<T>::data(x), this->at + k * each, size);
            beat<T>::side(x, size, k + 1 == filled);
            stream.write(x);
        }
    }
    std::size_t held() const { return stream.size(); }
    bool is_input() const { return held() < filled; }
    ~end()
    {
        const unrecorded now;
        if (is_input()) return;  // the stream reports beats that nobody has read
        const std::size_t written = held() - filled, most = (bytes + each - 1) / each;
        for (std::size_t k = 0; k < filled; k++) stream.read();
        for (std::size_t k = 0; k < written; k++) {
            T x = stream.read();
            const std::size_t left = k < most ? bytes - k * each : 0;
            std::memcpy(at + k * each, (const void *)&beat<T>::data(x), left < each ? left : each);
        }
        if (written > most) {
            const char *text = "stream '%s': the kernel has sent %zu beats, and the tensor holds %zu\n";
            std::fprintf(stderr, text, name, written, most);
        }
        if (!written && filled) std::fprintf(stderr, "stream '%s' is neither read nor written\n", name);
    }
};

}  // namespace
}  // namespace ft_ends
