// Stand-in for Vitis' hls_stream.h: a FIFO between two stages. As in Vitis' own C simulation the
// stages run one after the other, so the FIFO holds as much as the first one writes, whatever its
// DEPTH in hardware.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace hls {

template <typename T, int DEPTH = 0> class stream;

// The FIFO itself: blocks of elements in a chain, aligned as T is (C++14's `new` would not do it).
template <typename T> class stream<T, 0>
{
    static const std::size_t block_size = 256;
    struct block {
        T elements[block_size];
        block *next;
    };
    block *head, *tail;
    std::size_t first, count, last;  // where reading is in `head`, elements held, where writing is in `tail`
    const char *name;

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

  public:
    explicit stream(const char *name = "") : head(fresh()), tail(head), first(0), count(0), last(0), name(name) {}
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;
    ~stream()
    {
        if (count) std::fprintf(stderr, "hls::stream '%s' still holds %zu elements\n", name, count);
        while (head) {
            block *next = head->next;
            std::free(head);
            head = next;
        }
    }

    bool empty() const { return count == 0; }
    bool full() const { return false; }
    std::size_t size() const { return count; }
    void write(const T &x)
    {
        if (last == block_size) {
            tail = tail->next = fresh();
            last = 0;
        }
        tail->elements[last++] = x;
        count++;
    }
    void read(T &x)
    {
        if (empty()) {  // in hardware the reader would wait for ever
            std::fprintf(stderr, "hls::stream '%s' is read while it is empty\n", name);
            std::abort();
        }
        if (first == block_size) {
            block *next = head->next;
            std::free(head);
            head = next;
            first = 0;
        }
        x = head->elements[first++];
        count--;
    }
    T read()
    {
        T x;
        read(x);
        return x;
    }
    bool read_nb(T &x)
    {
        if (empty()) return false;
        read(x);
        return true;
    }
    bool write_nb(const T &x)
    {
        write(x);
        return true;
    }
    void operator<<(const T &x) { write(x); }
    void operator>>(T &x) { read(x); }
};

// With a depth for the hardware; stages take it by its plain form.
template <typename T, int DEPTH> class stream : public stream<T, 0>
{
  public:
    explicit stream(const char *name = "") : stream<T, 0>(name) {}
};

}  // namespace hls
