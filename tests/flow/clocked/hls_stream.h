// An hls_stream.h that counts clock cycles. Each process has a clock. An iteration of a pipelined loop advances it by
// one (network_cycles.py), and it waits for elements that are not written yet and for space that is not free yet.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
#define FT_REGIONS 1

namespace hls {

// Cycles from the read of an iteration to its write.
static const long LATENCY = 12;

inline long &now()
{
    static thread_local long cycle = 0;
    return cycle;
}

// The end of a pipelined loop: the last iteration leaves the pipeline before the process continues.
struct drain {
    explicit operator bool() const { return true; }
    ~drain() { now() += FT_DRAIN; }
};

struct region {
    std::vector<std::thread> processes;
    std::mutex mutex;
    region() { last() = 0; }  // g++ shares it with programs that were loaded earlier
    static long &last()
    {
        static long cycle = 0;
        return cycle;
    }
    template <typename F> void process(F call)
    {
        processes.emplace_back([this, call] {
            call();
            const std::lock_guard<std::mutex> lock(mutex);
            last() = std::max(last(), now());
        });
    }
    void join()
    {
        for (std::thread &one : processes) one.join();
    }
};

template <typename T, int DEPTH = 0> class stream;

template <typename T> class stream<T, 0>
{
    const std::size_t depth;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<T> held;
    std::vector<long> written, taken;  // cycles

  protected:
    explicit stream(std::size_t depth) : depth(depth) {}

  public:
    void write(const T &x)
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [this] { return held.size() < depth; });
        const std::size_t k = written.size();
        if (k >= depth) now() = std::max(now(), taken[k - depth] + 1 - LATENCY);
        written.push_back(now() + LATENCY);
        held.push_back(x);
        changed.notify_all();
    }
    T read()
    {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [this] { return !held.empty(); });
        now() = std::max(now(), written[taken.size()] + 1);
        taken.push_back(now());
        const T x = held.front();
        held.pop_front();
        changed.notify_all();
        return x;
    }
};

template <typename T, int DEPTH> class stream : public stream<T, 0>
{
  public:
    explicit stream(const char *) : stream<T, 0>(DEPTH) {}
};

}  // namespace hls
