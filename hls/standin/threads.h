// Threads that exchange streams: kernels that v++ connects (stream_connect), and hls::task. A read of an empty stream
// waits there; elsewhere the stages of a kernel run one after the other, and such a read is an error. Streams have no
// limit here. The check of their depths (fifos.h) replays the accesses.
//
// All threads of a library share one lock: a thread that waits must know if another one can continue.
#pragma once
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace ft_threads __attribute__((visibility("hidden"))) {

const std::size_t STACK = std::size_t(64) << 20;  // bytes; only address space until they are used
const std::size_t MOST_POLLS = 64;                // without an element, until a thread waits for the next access

// Ends a thread that runs by itself, at its next wait.
struct Stopped {
};

// A thread that may wait: a launch of a kernel, or a task.
struct Thread {
    std::string name;
    int launch;          // tasks have the number of the launch that made them
    bool by_itself;      // a task or a free-running kernel, which ends when it is stopped
    bool stopped = false;
    const std::size_t *empty = nullptr;  // elements of the stream that it waits to read
    const char *stream = "";             // the name of that stream
    bool polls = false;                  // waits for any access
    std::size_t seen = 0, done = 0, polled = 0;  // accesses of all; its own; fruitless polls since the last one
};
struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<Thread *> threads;
    std::size_t accesses = 0, watchers = 0;  // watchers wait for any access
    int launches = 0;
    bool open = false;  // the host may start another kernel, so a wait is no error
    std::atomic<int> count{0};
};
// Never destroyed: threads may run until the process ends.
inline State &state()
{
    static State *const one = new State;
    return *one;
}
inline Thread *&current()
{
    static thread_local Thread *one = nullptr;
    return one;
}
inline bool concurrent() { return state().count.load(std::memory_order_relaxed) > 0; }
// Locks what threads share, if there are any.
inline std::unique_lock<std::mutex> guard()
{
    return concurrent() ? std::unique_lock<std::mutex>(state().mutex) : std::unique_lock<std::mutex>();
}
// The functions below need the lock.
inline bool can_continue(const Thread &one)
{
    if (one.empty) return *one.empty > 0 || one.stopped;
    return !one.polls || one.stopped || one.seen != state().accesses;
}
// True if no thread but `me` can continue; `launch` leaves out those of other launches, unless it is 0.
inline bool all_wait(const Thread *me, int launch)
{
    for (const Thread *one : state().threads)
        if (one != me && (!launch || one->launch == launch) && can_continue(*one)) return false;
    return true;
}
inline void add(Thread &one)
{
    const std::lock_guard<std::mutex> lock(state().mutex);
    state().threads.push_back(&one);
    state().count++;
    state().changed.notify_all();
}
inline void remove(Thread &one)
{
    const std::lock_guard<std::mutex> lock(state().mutex);
    auto &all = state().threads;
    all.erase(std::find(all.begin(), all.end(), &one));
    state().count--;
    state().changed.notify_all();
}
// Waits until another thread accesses a stream. False if none can.
inline bool next_access(std::unique_lock<std::mutex> &lock, Thread &me)
{
    State &all = state();
    me.polls = true, me.seen = all.accesses, all.watchers++;
    all.changed.notify_all();
    bool others = true;
    while (me.seen == all.accesses && !me.stopped && others) {
        if (!me.by_itself && !all.open) others = !all_wait(&me, 0);
        if (others) all.changed.wait(lock);
    }
    me.polls = false, me.polled = 0, all.watchers--;
    if (me.stopped) throw Stopped();
    return others;
}

// One access of a stream: holds the lock, and waits for an element to read.
class Access
{
    std::unique_lock<std::mutex> lock;
    const std::size_t &count;
    const bool writes;

    void wait(const char *name)
    {
        State &all = state();
        Thread *me = current();
        if (!me) return;  // the stream reports it
        me->empty = &count, me->stream = name;
        all.changed.notify_all();
        while (count == 0) {
            if (me->stopped) {
                me->empty = nullptr;
                throw Stopped();
            }
            if (!me->by_itself && !all.open && all_wait(me, 0)) break;
            all.changed.wait(lock);
        }
        me->empty = nullptr;
    }

  public:
    Access(const char *name, const std::size_t &count, bool writes) : lock(guard()), count(count), writes(writes)
    {
        if (!lock.owns_lock()) return;
        if (!writes && count == 0) wait(name);
        state().accesses++;
        if (Thread *me = current()) me->done++, me->polled = 0;
    }
    ~Access()
    {
        if (lock.owns_lock() && (state().watchers || (writes && count == 1))) state().changed.notify_all();
    }
};
// A thread asks whether a stream is empty. If it asks again and again, it waits for another thread.
inline void poll(const std::size_t &count)
{
    std::unique_lock<std::mutex> lock = guard();
    Thread *me = current();
    if (lock.owns_lock() && me && count == 0 && ++me->polled >= MOST_POLLS) next_access(lock, *me);
}

// A function that a thread repeats until it is stopped.
class Loop
{
    const std::function<void()> call, begin;
    pthread_t thread;

    static void *run(void *loop)
    {
        static_cast<Loop *>(loop)->repeat();
        return nullptr;
    }
    void repeat()
    {
        current() = &self;
        begin();
        try {
            for (;;) {
                const std::size_t before = self.done;
                call();
                std::unique_lock<std::mutex> lock(state().mutex);
                if (self.stopped) break;
                if (self.done == before) next_access(lock, self);  // it had nothing to do
            }
        } catch (const Stopped &) {
        }
        const std::lock_guard<std::mutex> lock(state().mutex);
        self.polls = true, self.seen = state().accesses, self.stopped = false;  // it cannot continue
    }

  public:
    Thread self;

    // `begin` runs once in the thread, before the first `call`.
    Loop(const std::string &name, int launch, std::function<void()> call, std::function<void()> begin)
        : call(call), begin(begin), self{name, launch, true}
    {
        add(self);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, STACK);
        if (pthread_create(&thread, &attributes, run, this)) {
            std::fprintf(stderr, "%s: a thread for it cannot be started\n", name.c_str());
            std::abort();
        }
        pthread_attr_destroy(&attributes);
    }
    Loop(const Loop &) = delete;
    void stop()
    {
        {
            const std::lock_guard<std::mutex> lock(state().mutex);
            self.stopped = true;
            state().changed.notify_all();
        }
        pthread_join(thread, nullptr);
        remove(self);
    }
};

// What waits, if no thread can continue; else empty.
inline std::string waits()
{
    const std::lock_guard<std::mutex> lock(state().mutex);
    std::string text;
    if (!all_wait(nullptr, 0)) return text;
    for (const Thread *one : state().threads) {
        if (one->by_itself || !one->empty) continue;
        text += (text.empty() ? "" : "; ") + one->name + " waits to read " + one->stream + ", which is empty";
    }
    return text;
}

}  // namespace ft_threads

// For a host that starts kernels at any time: a kernel that waits for another one is no error.
extern "C" __attribute__((weak, used, visibility("default"))) int ft_threads_open(int open)
{
    return ft_threads::state().open = open;
}
// What the kernels wait for, if none can continue; the text is valid until the next call of this thread.
extern "C" __attribute__((weak, used, visibility("default"))) const char *ft_threads_waits(void)
{
    static thread_local std::string text;
    text = ft_threads::waits();
    return text.c_str();
}
