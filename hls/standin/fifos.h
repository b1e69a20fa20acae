// Checks the depths of FIFOs without a board. The stages of a DATAFLOW region run one after the other. Each
// records its stream accesses in order, if `ft_fifos_record` was called before the launch. After the launch, the
// accesses are replayed (fifo_replay.h) with all stages at the same time and FIFOs of any depths: a read of an
// empty FIFO waits, and so does a write to a full one. Whether a region deadlocks depends only on the depths,
// not on the speed of the stages, so one replay is enough.
//
// `ftensor` inserts calls of `region`, `set_depth` and `set_name` into the preprocessed source, after the
// pragmas. Everything is private to a library, as several may be loaded; the files of one library share it.
#pragma once
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "fifo_replay.h"
#include "threads.h"

namespace ft_fifos __attribute__((visibility("hidden"))) {

// What a thread records: a launch has a trace of its own, or one with other threads.
struct Recorder {
    Trace own;
    Trace *trace = &own;
    int current = 0;  // the process
    const char *callee = nullptr;  // the INLINE function that the current statement of a region calls
    std::string report;  // of kernels that streams connect
};
inline Recorder &recorder()
{
    static thread_local Recorder one;
    return one;
}
inline Trace &trace() { return *recorder().trace; }

inline int add_process(Trace &t, const std::string &name)
{
    const auto lock = ft_threads::guard();
    t.processes.push_back({name, {}});
    return (int)t.processes.size() - 1;
}
// Returns what the thread of a new task does first.
inline std::function<void()> begin_task(const std::string &name)
{
    Recorder &r = recorder();
    Trace *const trace = r.trace;
    int process = r.current;  // the statement of a region that declares the task
    if (!process) process = add_process(*trace, name);
    return [trace, process] { recorder().trace = trace, recorder().current = process; };
}

// A running DATAFLOW region. Each statement is a process, the same one each time the region runs.
class region
{
    const int outer;
    const char *const where;
    const bool active;  // false for an INLINE function that is called elsewhere: a part of its caller's process
    std::map<int, int> turns;  // of each unrolled loop

    static bool is_callee(const char *function)
    {
        const char *const callee = recorder().callee;
        recorder().callee = nullptr;
        return callee && !std::strcmp(callee, function);
    }
    void begin(int statement, int turn, const char *name)
    {
        if (!active) return;
        recorder().callee = nullptr;
        recorder().current = process(statement, turn, name);
    }
    int process(int statement, int turn, const char *name)
    {
        const auto lock = ft_threads::guard();
        Trace &t = trace();
        const auto key = std::make_tuple(outer, where, statement, turn);
        const auto found = t.known.find(key);
        if (found != t.known.end()) return found->second;
        const int made = (int)t.processes.size();
        t.processes.push_back({name, {}});
        return t.known[key] = made;
    }

  public:
    explicit region(const char *where) : outer(recorder().current), where(where), active(true) {}
    // The body of an INLINE function: a part of the region whose statement calls it.
    region(const char *where, const char *function)
        : outer(recorder().current), where(where), active(is_callee(function))
    {
    }
    region(const region &) = delete;
    ~region()
    {
        if (active) recorder().current = outer;
    }
    void next(int statement, const char *name) { begin(statement, 0, name); }
    // A statement in an unrolled loop is a process of its own in each iteration.
    void next(int statement, const char *name, int loop) { begin(statement, turns[loop], name); }
    // The current statement calls an INLINE function.
    void calls(const char *function)
    {
        if (active) recorder().callee = function;
    }
    void turn(int loop) { turns[loop]++; }
};

}  // namespace ft_fifos

// Records the next launch of this thread.
extern "C" __attribute__((weak, used, visibility("default"))) int ft_fifos_record(void)
{
    return ft_fifos::trace().records = true;
}
// Returns the report of this thread's last launch, and clears it.
extern "C" __attribute__((weak, used, visibility("default"))) const char *ft_fifos_report(void)
{
    static thread_local std::string text;
    ft_fifos::Recorder &r = ft_fifos::recorder();
    text = r.report.empty() ? ft_fifos::report(r.own) : r.report;
    r.report.clear(), r.own = ft_fifos::Trace(), r.current = 0;
    return text.c_str();
}

namespace hls {
inline namespace recorded {

// The ends of a FIFO.
class place
{
    std::string name;
    std::size_t depth;
    const std::size_t &count;
    // The launch and the FIFO's number in its trace, in one atomic word, since launches of two threads may
    // share a FIFO.
    std::atomic<std::uint64_t> known{0};

    std::uint32_t number()
    {
        ft_fifos::Trace &t = ft_fifos::trace();
        const std::uint64_t seen = known.load(std::memory_order_relaxed);
        std::uint32_t number = (std::uint32_t)seen;
        if (seen >> 32 != t.launch) {
            number = (std::uint32_t)t.fifos.size();
            known.store((std::uint64_t)t.launch << 32 | number, std::memory_order_relaxed);
            ft_fifos::Fifo one;
            one.name = name.empty() ? "stream " + std::to_string(number + 1) : name;
            one.depth = depth, one.held = count, one.peak = count;
            t.fifos.push_back(one);
        }
        return number;
    }

  public:
    place(const char *name, std::size_t depth, const std::size_t &count)
        : name(name), depth(depth ? depth : ft_fifos::DEFAULT_DEPTH), count(count)
    {
    }
    bool full() const { return false; }
    bool stopped() const { return false; }
    void set_name(const std::string &text)
    {
        if (name.empty()) name = text;
    }
    void set_depth(std::size_t elements)
    {
        const auto lock = ft_threads::guard();
        depth = elements ? elements : ft_fifos::DEFAULT_DEPTH;
        ft_fifos::Trace &t = ft_fifos::trace();
        if (known >> 32 == t.launch) t.fifos[number()].depth = depth;
    }
    void polled() const
    {
        ft_fifos::trace().polled = true;
        ft_threads::poll(count);
    }
    static std::function<void()> begin_task(const std::string &name) { return ft_fifos::begin_task(name); }

    struct __attribute__((visibility("hidden"))) turn {  // as its field's namespace is
        ft_threads::Access access;

        turn(place &at, bool writes) : access(at.name.c_str(), at.count, writes)
        {
            ft_fifos::Trace &t = ft_fifos::trace();
            const int current = ft_fifos::recorder().current;
            if (!t.records || t.stops()) return;
            t.total++;
            const std::uint32_t number = at.number();
            ft_fifos::Fifo &fifo = t.fifos[number];
            auto &processes = fifo.processes[writes];
            if (processes.empty() || processes.back().second != current) {
                processes.emplace_back(fifo.count[writes], current);
                t.stored += 4;
            }
            fifo.count[writes]++;
            ft_fifos::Accesses &accesses = t.processes[current].accesses;
            const std::size_t before = accesses.stored();
            accesses.add(number << 1 | writes);
            t.stored += accesses.stored() - before;
        }
    };
};

}  // namespace recorded
}  // namespace hls

namespace ft_fifos __attribute__((visibility("hidden"))) {

template <typename S> auto set_name(S &stream, const std::string &name) -> decltype(stream.ft_place(), void())
{
    stream.ft_place().set_name(name);
}
template <typename S, std::size_t N> void set_name(S (&streams)[N], const std::string &name)
{
    for (std::size_t k = 0; k < N; k++) set_name(streams[k], name + "[" + std::to_string(k) + "]");
}
inline void set_name(...) {}
template <typename S> auto set_depth(S &stream, std::size_t depth) -> decltype(stream.ft_place(), void())
{
    stream.ft_place().set_depth(depth);
}
template <typename S, std::size_t N> void set_depth(S (&streams)[N], std::size_t depth)
{
    for (std::size_t k = 0; k < N; k++) set_depth(streams[k], depth);
}
inline void set_depth(...) {}  // an array as a FIFO is not recorded

}  // namespace ft_fifos
