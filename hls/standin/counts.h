// Counters of pipelined loops and of ports. ftensor/toolchain/counting.py inserts FT_COUNTED_LOOP and ft_trip into a
// kernel's text. g++ inserts the calls of its thread sanitizer, one for each access to memory, which are defined here
// instead of by its library.
#pragma once
#include <sys/mman.h>

struct ft_loop_counts {
    long trips, entries, reads;
};
struct ft_port_counts {
    long width;  // bytes of a beat
    long beats, requests, low, high;  // the bytes [low, high) were accessed
};
static const int FT_STAGES = 32, FT_MOST_LOOPS = 256, FT_MOST_PORTS = 32;
extern "C" {
ft_loop_counts ft_loops[FT_STAGES][FT_MOST_LOOPS];
ft_port_counts ft_ports[FT_MOST_PORTS];
int ft_stage;
}
static ft_loop_counts ft_outside;
// Volatile: g++ assumes that the sanitizer's calls read no variables.
static ft_loop_counts *volatile ft_loop = &ft_outside;
static volatile long ft_starts;
static long ft_port_starts[FT_MOST_PORTS], ft_next[FT_MOST_PORTS];
// Each port has a part of one range of addresses, whose pages are zeros until they are written.
static char *ft_memory;
static unsigned long ft_count;
static const int FT_PORT_BITS = 36;

#define FT_COUNTED_LOOP for (bool ft_entry = true, ft_runs = true; ft_runs; ft_runs = ft_left())
static inline void ft_trip(int loop, bool &first)
{
    ft_loop_counts &c = ft_loops[ft_stage][loop];
    c.trips++;
    if (!first) return;
    c.entries++;
    ft_loop = &c;
    ft_starts = ft_starts + 1;
    first = false;
}
static inline bool ft_left()
{
    ft_loop = &ft_outside;
    return false;
}

// Returns the memory of all ports, or null. Port k begins k + 1/2 parts after it: lower addresses are its own, too.
extern "C" char *ft_reserve(int ports)
{
    ft_count = ports;
    void *p = mmap(nullptr, ft_count << FT_PORT_BITS, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return ft_memory = p == MAP_FAILED ? nullptr : (char *)p;
}
extern "C" void ft_release()
{
    munmap(ft_memory, ft_count << FT_PORT_BITS);
    ft_count = 0;
}

#define FT_QUIET __attribute__((visibility("hidden"), no_sanitize("thread")))
extern "C" {
FT_QUIET void ft_access(void *p, long size, bool read)
{
    const unsigned long at = (char *)p - ft_memory, port = at >> FT_PORT_BITS;
    if (port >= ft_count) return;
    ft_port_counts &c = ft_ports[port];
    const long first = at & ((1L << FT_PORT_BITS) - 1), last = first + size, beat = first / c.width;
    if (read) ft_loop->reads = 1;
    // The parts of a beat, one after another, are one access.
    if (size < c.width && c.beats && beat == ft_next[port] - 1 && ft_port_starts[port] == ft_starts) return;
    if (!c.beats || beat != ft_next[port] || ft_port_starts[port] != ft_starts) c.requests++;
    const long beats = size > c.width ? size / c.width : 1;
    c.low = c.beats && c.low < first ? c.low : first;
    c.high = c.beats && c.high > last ? c.high : last;
    c.beats += beats;
    ft_next[port] = beat + beats;
    ft_port_starts[port] = ft_starts;
}
#define FT_ACCESS(n)                                                     \
    FT_QUIET void __tsan_read##n(void *p) { ft_access(p, n, true); }     \
    FT_QUIET void __tsan_write##n(void *p) { ft_access(p, n, false); }   \
    FT_QUIET void __tsan_unaligned_read##n(void *p) { ft_access(p, n, true); } \
    FT_QUIET void __tsan_unaligned_write##n(void *p) { ft_access(p, n, false); }
FT_ACCESS(1)
FT_ACCESS(2)
FT_ACCESS(4)
FT_ACCESS(8)
FT_ACCESS(16)
FT_QUIET void __tsan_read_range(void *p, long size) { ft_access(p, size, true); }
FT_QUIET void __tsan_write_range(void *p, long size) { ft_access(p, size, false); }
FT_QUIET void __tsan_vptr_update(void *, void *) {}
FT_QUIET void __tsan_vptr_read(void *) {}
FT_QUIET void __tsan_func_entry(void *) {}
FT_QUIET void __tsan_func_exit(void *) {}
FT_QUIET void __tsan_init() {}
FT_QUIET unsigned char __tsan_atomic8_load(const volatile void *p, int) { return *(const volatile unsigned char *)p; }
FT_QUIET unsigned __tsan_atomic32_load(const volatile void *p, int) { return *(const volatile unsigned *)p; }
}
