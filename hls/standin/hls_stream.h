// Stand-in for Vitis' hls_stream.h: a FIFO between two stages. The stages run one after the other, as in Vitis'
// own C simulation, so a FIFO holds everything that its writer writes, whatever its DEPTH in hardware. With
// FT_AT_ONCE each stage of a region is a thread (region.h), and a FIFO holds at most DEPTH elements. With
// FT_FIFOS the accesses are recorded, and the depths are checked after each launch (fifos.h). With FT_SEQUENTIAL
// no other thread accesses the FIFO: g++ compiles such a kernel in half the time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#ifdef FT_AT_ONCE
#include "region.h"
#elif !defined(FT_SEQUENTIAL)
#include "threads.h"
#ifdef FT_FIFOS
#include "fifos.h"
#endif
#endif

namespace hls {

#ifdef FT_AT_ONCE
inline namespace at_once {  // a program may use several kinds of stream
#elif defined(FT_FIFOS)
inline namespace recorded {
#elif defined(FT_SEQUENTIAL)
inline namespace sequential {
struct place {
    place(const char *, std::size_t, const std::size_t &) {}
    bool full() const { return false; }
    bool stopped() const { return false; }
    void polled() const {}
    struct turn {
        turn(place &, bool) {}
    };
};
#else
// The ends of a FIFO without a limit (threads.h).
struct place {
    const char *const name;
    const std::size_t &count;

    place(const char *name, std::size_t, const std::size_t &count) : name(name), count(count) {}
    bool full() const { return false; }
    bool stopped() const { return false; }
    void polled() const { ft_threads::poll(count); }
    static std::function<void()> begin_task(const std::string &)
    {
        return [] {};
    }
    struct __attribute__((visibility("hidden"))) turn {  // as its field's namespace is
        ft_threads::Access access;
        turn(place &at, bool writes) : access(at.name, at.count, writes) {}
    };
};
#endif

template <typename T, int DEPTH = 0> class stream;

// The FIFO: a chain of blocks, aligned like T, which `new` of C++14 would not guarantee.
template <typename T> class stream<T, 0>
{
    static const std::size_t block_size = 256;
    struct block {
        T elements[block_size];
        block *next;
    };
    block *head, *tail;
    std::size_t first, count, last;  // read index in `head`, elements, write index in `tail`
    const char *name;
    place between;

    static block *fresh()
    {
        void *memory = nullptr;
        const std::size_t least = alignof(block) < sizeof(void *) ? sizeof(void *) : alignof(block);
        if (posix_memalign(&memory, least, sizeof(block))) {
            std::fprintf(stderr, "hls::stream: out of memory\n");
            std::abort();
        }
        block *made = ::new (memory) block;
        made->next = nullptr;
        return made;
    }
    void put(const T &x)
    {
        if (last == block_size) {
            tail = tail->next = fresh();
            last = 0;
        }
        tail->elements[last++] = x;
        count++;
    }
    void take(T &x)
    {
        if (first == block_size) {
            block *next = head->next;
            std::free(head);
            head = next;
            first = 0;
        }
        x = head->elements[first++];
        count--;
    }

  protected:
    stream(const char *name, std::size_t depth)
        : head(fresh()), tail(head), first(0), count(0), last(0), name(name), between(name, depth, count)
    {
    }

  public:
    explicit stream(const char *name = "") : stream(name, 0) {}
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;
    ~stream()
    {
        if (count && !between.stopped()) {
            std::fprintf(stderr, "hls::stream '%s' still holds %zu elements\n", name, count);
        }
        while (head) {
            block *next = head->next;
            std::free(head);
            head = next;
        }
    }

#ifdef FT_FIFOS
    place &ft_place() { return between; }
#endif
    bool empty() const
    {
        between.polled();
        return count == 0;
    }
    bool full() const { return between.full(); }
    std::size_t size() const { return count; }
    const std::size_t &held() const { return count; }
    void write(const T &x)
    {
        const place::turn turn(between, true);
        put(x);
    }
    void read(T &x)
    {
        const place::turn turn(between, false);
        if (count == 0) {  // in hardware the reader would wait for ever
            std::fprintf(stderr, "hls::stream '%s' is read while it is empty\n", name);
            std::abort();
        }
        take(x);
    }
    T read()
    {
        T x;
        read(x);
        return x;
    }
    bool read_nb(T &x)
    {
        between.polled();
        if (count == 0) return false;
        read(x);
        return true;
    }
    bool write_nb(const T &x)
    {
        between.polled();
        if (full()) return false;
        write(x);
        return true;
    }
    void operator<<(const T &x) { write(x); }
    void operator>>(T &x) { read(x); }
};

// A stream with the depth of the hardware FIFO; stages take a reference to its base.
template <typename T, int DEPTH> class stream : public stream<T, 0>
{
  public:
    explicit stream(const char *name = "") : stream<T, 0>(name, DEPTH) {}
};

#if defined(FT_AT_ONCE) || defined(FT_FIFOS) || defined(FT_SEQUENTIAL)
}  // namespace at_once, recorded, sequential
#endif
}  // namespace hls
