// Stand-in for Vitis' hls_burst_maxi.h: a port whose bursts the kernel requests itself. A request that would
// hang the hardware, or write elsewhere, ends the simulation with a message.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>

namespace hls {

template <typename T> class burst_maxi
{
    // The only member, so that a kernel's argument has the layout of a pointer. Copies are the same port.
    T *memory;

    struct burst {
        std::size_t at, left;
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

  public:
    burst_maxi(T *memory) : memory(memory) {}

    void read_request(std::size_t offset, std::size_t length)
    {
        require(length > 0, "a burst of no elements is read");
        asked().reads.push_back({offset, length});
    }
    T read()
    {
        std::deque<burst> &reads = asked().reads;
        require(!reads.empty(), "read() of an element that no read_request() asked for");
        const T x = memory[reads.front().at++];
        if (!--reads.front().left) reads.pop_front();
        return x;
    }
    void write_request(std::size_t offset, std::size_t length)
    {
        require(length > 0, "a burst of no elements is written");
        asked().writes.push_back({offset, length});
    }
    void write(const T &x)
    {
        std::deque<burst> &writes = asked().writes;
        require(!writes.empty(), "write() of an element that no write_request() asked for");
        memory[writes.front().at++] = x;
        if (--writes.front().left) return;
        writes.pop_front();
        asked().unanswered++;
    }
    void write_response()
    {
        require(asked().unanswered > 0, "write_response() of a burst that is not written to its end");
        asked().unanswered--;
    }
};

}  // namespace hls
