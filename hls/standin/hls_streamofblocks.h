// Stand-in for Vitis' hls_streamofblocks.h: a FIFO of arrays, each filled and emptied as a whole. As with
// streams, the stages run one after the other, so it holds all blocks that its writer fills, whatever its depth
// in hardware.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>

namespace hls {

template <typename T, int DEPTH = 2> class stream_of_blocks;
template <typename T> class read_lock;
template <typename T> class write_lock;

template <typename T> class stream_of_blocks<T, 0>
{
    struct block {
        T elements;
    };
    std::deque<std::unique_ptr<block>> full_ones;
    friend class read_lock<T>;
    friend class write_lock<T>;

  public:
    stream_of_blocks() = default;
    stream_of_blocks(const stream_of_blocks &) = delete;
    bool empty() const { return full_ones.empty(); }
    bool full() const { return false; }
};
template <typename T, int DEPTH> class stream_of_blocks : public stream_of_blocks<T, 0> {
};

// A block that is being filled; it enters the FIFO at the end of the scope.
template <typename T> class write_lock
{
    stream_of_blocks<T, 0> &to;
    std::unique_ptr<typename stream_of_blocks<T, 0>::block> mine;

  public:
    explicit write_lock(stream_of_blocks<T, 0> &to) : to(to), mine(new typename stream_of_blocks<T, 0>::block()) {}
    write_lock(const write_lock &) = delete;
    ~write_lock() { to.full_ones.push_back(std::move(mine)); }
    operator T &() { return mine->elements; }
    template <typename K> auto operator[](K k) -> decltype((mine->elements[k])) { return mine->elements[k]; }
};

// The oldest block while it is read; it is freed at the end of the scope.
template <typename T> class read_lock
{
    stream_of_blocks<T, 0> &from;

  public:
    explicit read_lock(stream_of_blocks<T, 0> &from) : from(from)
    {
        if (!from.empty()) return;  // in hardware the reader would wait for ever
        std::fprintf(stderr, "hls::stream_of_blocks is read while it is empty\n");
        std::abort();
    }
    read_lock(const read_lock &) = delete;
    ~read_lock() { from.full_ones.pop_front(); }
    operator T &() { return from.full_ones.front()->elements; }
    template <typename K> auto operator[](K k) -> decltype((from.full_ones.front()->elements[k]))
    {
        return from.full_ones.front()->elements[k];
    }
};

}  // namespace hls
