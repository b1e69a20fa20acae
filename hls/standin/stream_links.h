// Streams between users' kernels, as v++ connects them (stream_connect), for g++. A text of the generated source
// of users' kernels (ftensor/toolchain/stream_links.py), behind stream_ends.h.
#pragma once
#include <cstring>
#include <memory>
#include <typeinfo>
namespace ft_links __attribute__((visibility("hidden"))) {

struct State {
    std::vector<std::pair<const char *, void (*)()>> free_running;
    std::vector<std::unique_ptr<ft_threads::Loop>> loops;
    std::vector<const std::size_t *> held;
    int kernels = 0;
};
inline State &state()
{
    static State *const one = new State;
    return *one;
}
#ifdef FT_FIFOS
// The accesses of all kernels, until no one runs and the streams are empty.
inline ft_fifos::Trace &trace()
{
    static ft_fifos::Trace *const one = new ft_fifos::Trace;
    return *one;
}
// This thread records as the process `unit`.
inline void record_as(const char *unit)
{
    ft_fifos::Trace &t = trace();
    ft_fifos::Recorder &r = ft_fifos::recorder();
    int k = 0;
    while (k < (int)t.processes.size() && t.processes[k].name != unit) k++;
    if (k == (int)t.processes.size()) t.processes.push_back({unit, {}});
    t.records |= r.own.records;
    r.trace = &t, r.current = k;
}
inline void forget()
{
    ft_fifos::Trace &t = trace();
    std::string kernels;
    for (std::size_t k = 1; k < t.processes.size(); k++)
        if (t.processes[k].name.find('(') == std::string::npos)  // a unit, and no statement of it
            kernels += (kernels.empty() ? "" : " + ") + t.processes[k].name;
    std::string text = t.records ? ft_fifos::report(t) : "";
    if (!text.empty()) text = "{\"kernels\": " + ft_fifos::quoted(kernels) + ", " + text.substr(1);
    ft_fifos::recorder().report = text;
    for (auto &one : t.processes) one.accesses = ft_fifos::Accesses();
    t.fifos.clear(), t.total = t.stored = 0, t.polled = t.records = false, t.launch = ft_fifos::fresh();
}
inline void end_of_record()
{
    ft_fifos::Recorder &r = ft_fifos::recorder();
    r.trace = &r.own, r.current = 0;
}
#else
inline void record_as(const char *) {}
inline void forget() {}
inline void end_of_record() {}
#endif

// A launch of a compute unit, in its thread.
class launch
{
    ft_threads::Thread self;

  public:
    explicit launch(const char *unit) : self{unit, 0, false}
    {
        State &all = state();
        {
            const std::lock_guard<std::mutex> lock(ft_threads::state().mutex);
            self.launch = ++ft_threads::state().launches;
            all.kernels++;
            record_as(unit);
        }
        ft_threads::add(self);
        ft_threads::current() = &self;
        while (all.loops.size() < all.free_running.size()) {
            const auto &one = all.free_running[all.loops.size()];
            const char *const name = one.first;
            const auto begin = [name] {
                const std::lock_guard<std::mutex> lock(ft_threads::state().mutex);
                record_as(name);
            };
            all.loops.emplace_back(new ft_threads::Loop(name, -1 - (int)all.loops.size(), one.second, begin));
        }
    }
    ~launch()
    {
        State &all = state();
        {
            std::unique_lock<std::mutex> lock(ft_threads::state().mutex);
            if (--all.kernels == 0 && !self.stopped) {
                ft_threads::state().changed.wait(lock, [&] { return all.kernels || ft_threads::all_wait(&self, 0); });
                bool empty = true;
                for (const std::size_t *held : all.held) empty = empty && *held == 0;
                if (empty && !all.kernels) forget();
            }
            end_of_record();
        }
        ft_threads::current() = nullptr;
        ft_threads::remove(self);
    }
};
// A compute unit without a control port.
struct free_running {
    free_running(const char *unit, void (*run)()) { state().free_running.emplace_back(unit, run); }
};

template <typename S> struct link {
    typedef typename std::remove_reference<decltype(std::declval<S &>().read())>::type T;
    struct named : S {
        explicit named(const char *name) : S(name) {}
    };
    static void *made(const char *name, std::size_t depth, const char *type)
    {
        named *const one = new named(name);
        set_depth(*one, depth);
        const std::lock_guard<std::mutex> lock(ft_threads::state().mutex);
        state().held.push_back(&one->held());
        checked(name, type);
        return static_cast<hls::stream<T> *>(one);
    }
    static void checked(const char *name, const char *type)
    {
        if (!std::strcmp(type, typeid(T).name())) return;
        std::fprintf(stderr, "stream %s: its ends have elements of two types\n", name);
        std::abort();
    }
#ifdef FT_FIFOS
    static void set_depth(S &stream, std::size_t depth) { ft_fifos::set_depth(stream, depth); }
#else
    static void set_depth(S &, std::size_t) {}
#endif
};

}  // namespace ft_links

// Ends all kernels that wait, and those without a control port.
extern "C" __attribute__((weak, used, visibility("default"))) int ft_links_stop(void)
{
    {
        const std::lock_guard<std::mutex> lock(ft_threads::state().mutex);
        for (ft_threads::Thread *one : ft_threads::state().threads) one->stopped = true;
        ft_threads::state().changed.notify_all();
    }
    for (auto &one : ft_links::state().loops) one->stop();
    ft_links::state().loops.clear();
    return 0;
}
