// Stand-in for Vitis' hls_burst_maxi.h: a port whose bursts the kernel requests itself. A request that would
// hang the hardware, or write elsewhere, ends the simulation with a message. Unaligned requests, as in Vitis 2026.1,
// have an offset in bytes and elements of their own type; read<U>() and write<U>() serve them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>

namespace hls {

template <typename T> class burst_maxi
{
    // The only member, so that a kernel's argument has the layout of a pointer. Copies are the same port.
    T *memory;

    struct burst {
        std::size_t at, left, size;  // `at` and the size of an element in bytes
    };
    struct requests {
        std::deque<burst> reads, writes;
        std::size_t unanswered = 0;
    };
    requests &asked() const
    {
        static thread_local std::map<const T *, requests> ports;
        return ports[memory];
    }
    static void require(bool right, const char *wrong)
    {
        if (right) return;
        std::fprintf(stderr, "hls::burst_maxi: %s\n", wrong);
        std::abort();
    }

    char *place(std::size_t at) const { return (char *)(void *)memory + at; }
    static void request(std::deque<burst> &bursts, std::size_t at, std::size_t length, std::size_t size, const char *empty)
    {
        require(length > 0, empty);
        bursts.push_back({at, length, size});
    }
    template <typename U> struct only {  // an argument that does not decide U
        using type = U;
    };

  public:
    burst_maxi(T *memory) : memory(memory) {}

    void read_request(std::size_t offset, std::size_t length)
    {
        request(asked().reads, offset * sizeof(T), length, sizeof(T), "a burst of no elements is read");
    }
    template <typename U> void read_request_unaligned(std::size_t byte, std::size_t length)
    {
        request(asked().reads, byte, length, sizeof(U), "a burst of no elements is read");
    }
    template <typename U> U read()
    {
        std::deque<burst> &reads = asked().reads;
        require(!reads.empty(), "read() of an element that no read_request() asked for");
        require(reads.front().size == sizeof(U), "read() of another type than read_request() asked for");
        U x;
        std::memcpy((void *)&x, place(reads.front().at), sizeof x);
        reads.front().at += sizeof x;
        if (!--reads.front().left) reads.pop_front();
        return x;
    }
    T read() { return read<T>(); }
    void write_request(std::size_t offset, std::size_t length)
    {
        request(asked().writes, offset * sizeof(T), length, sizeof(T), "a burst of no elements is written");
    }
    template <typename U> void write_request_unaligned(std::size_t byte, std::size_t length)
    {
        request(asked().writes, byte, length, sizeof(U), "a burst of no elements is written");
    }
    template <typename U> void write(const typename only<U>::type &x)
    {
        std::deque<burst> &writes = asked().writes;
        require(!writes.empty(), "write() of an element that no write_request() asked for");
        require(writes.front().size == sizeof(U), "write() of another type than write_request() asked for");
        std::memcpy(place(writes.front().at), (const void *)&x, sizeof x);
        writes.front().at += sizeof x;
        if (--writes.front().left) return;
        writes.pop_front();
        asked().unanswered++;
    }
    void write(const T &x) { write<T>(x); }
    void write_response()
    {
        require(asked().unanswered > 0, "write_response() of a burst that is not written to its end");
        asked().unanswered--;
    }
};

}  // namespace hls
