// Stages that run at the same time: in a `region` each process is a thread, and FIFOs with a depth hold no more
// elements than in hardware. If all processes wait and none can continue, each of them ends, and the region
// reports the content of every FIFO. A process that was woken but does not run yet counts as running. A region
// inside a process is part of the outer region, and so are its processes. A free-running process is called
// again and again until all other processes have ended.
#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define FT_REGIONS 1

namespace hls {
inline namespace at_once {

class region;

// The report of a deadlock in this thread's last region; empty without one.
inline std::string &stuck_text()
{
    static thread_local std::string text;
    return text;
}
inline region *&current_region()
{
    static thread_local region *now = nullptr;
    return now;
}

// The ends of a FIFO in a region. Outside a region, or without a depth, nobody waits.
class place
{
    friend class region;
    region *const in;
    const char *const name;
    const std::size_t depth, &count;
    bool reader = false, writer = false;  // true while it waits
    std::condition_variable changed;

    bool goes_on() const { return (reader && count > 0) || (writer && count < depth); }
    void await(std::unique_lock<std::mutex> &lock, bool writes);

  public:
    place(const char *name, std::size_t depth, const std::size_t &count);
    place(const place &) = delete;
    ~place();
    bool full() const { return in && count >= depth; }
    static void polled() {}
    bool stopped() const;

    // Waits until one element can enter or leave.
    class turn
    {
        place &at;
        std::unique_lock<std::mutex> lock;

      public:
        turn(place &at, bool writes);
        ~turn()
        {
            if (at.in && (at.reader || at.writer)) at.changed.notify_all();
        }
    };
};

class region
{
    friend class place;
    friend class place::turn;
    struct stop {};
    std::mutex mutex;
    std::vector<place *> places;
    std::vector<std::thread> processes;
    int live = 1, waiting = 0;  // threads; the one that waits for the others to end does not count
    int started = 1;  // those of them that are not free-running
    bool stuck = false, ended = false;
    region *const outer;
    const bool alone;  // whether this thread, with all that it starts, is free-running
    int own = 0;  // processes of this region alone, if it is part of another
    bool joins = false;  // this thread waits for them

    region &whole() { return outer ? *outer : *this; }
    // Ends all processes if none can continue.
    void look()
    {
        if (stuck || ended || live == 0 || waiting < live) return;
        for (const place *p : places) {
            if (p->goes_on()) return;
        }
        stuck = true;
        for (place *p : places) {
            const char *waits = p->reader ? ", its reader waits" : p->writer ? ", its writer waits" : "";
            std::string &text = stuck_text_of;
            text += text.empty() ? "" : "; ";
            text += std::string(p->name) + " " + std::to_string(p->count) + " of " + std::to_string(p->depth) + waits;
            p->changed.notify_all();
        }
    }
    // All ordinary processes have ended: free-running ones end when their input is empty.
    void end(int count)
    {
        started -= count;
        if (started > 0 || ended) return;
        ended = true;
        for (place *p : places) p->changed.notify_all();
    }
    template <typename F> void begin(F call, bool by_itself, bool again)
    {
        region &all = whole();
        {
            const std::lock_guard<std::mutex> lock(all.mutex);
            all.live++, own++;
            all.started += !by_itself;
        }
        processes.emplace_back([this, &all, call, by_itself, again] {
            current_region() = &all;
            by_itself_now() = by_itself;
            try {
                do call();
                while (again);
            } catch (const stop &) {  // a deadlock ends every process
            }
            const std::lock_guard<std::mutex> lock(all.mutex);
            own--;
            all.live -= !(joins && own == 0);  // the thread that waited for the last process continues
            all.end(!by_itself);
            all.look();
        });
    }
    static bool &by_itself_now()
    {
        static thread_local bool now = false;
        return now;
    }
    std::string stuck_text_of;

  public:
    region() : outer(current_region()), alone(by_itself_now())
    {
        if (outer) return;
        current_region() = this;
        stuck_text().clear();
    }
    region(const region &) = delete;
    template <typename F> void process(F call) { begin(call, alone, false); }
    // Starts a free-running process.
    template <typename F> void process_alone(F call) { begin(call, true, true); }
    // Waits for all processes. The FIFOs must still exist.
    void join()
    {
        {
            region &all = whole();
            const std::lock_guard<std::mutex> lock(all.mutex);
            joins = own > 0;
            all.live -= joins;
            if (!outer) end(1);
            all.look();
        }
        for (std::thread &one : processes) one.join();
        processes.clear();
        if (!outer) stuck_text() = stuck_text_of;
    }
    ~region()
    {
        if (!outer) current_region() = nullptr;
    }
};

inline place::place(const char *name, std::size_t depth, const std::size_t &count)
    : in(depth ? current_region() : nullptr), name(name), depth(depth), count(count)
{
    if (!in) return;
    const std::lock_guard<std::mutex> lock(in->mutex);
    in->places.push_back(this);
}
inline place::~place()
{
    if (!in) return;
    const std::lock_guard<std::mutex> lock(in->mutex);
    in->places.erase(std::find(in->places.begin(), in->places.end(), this));
}
inline bool place::stopped() const { return in && in->stuck; }
inline void place::await(std::unique_lock<std::mutex> &lock, bool writes)
{
    bool &mine = writes ? writer : reader;
    while (writes ? count >= depth : count == 0) {
        if (in->stuck || in->ended) throw region::stop();
        mine = true;
        in->waiting++;
        in->look();
        if (!in->stuck) changed.wait(lock);
        in->waiting--;
        mine = false;
    }
}
inline place::turn::turn(place &at, bool writes) : at(at)
{
    if (!at.in) return;
    lock = std::unique_lock<std::mutex>(at.in->mutex);
    at.await(lock, writes);
}

}  // namespace at_once
}  // namespace hls

// Returns the deadlock report of the last kernel on this thread; empty without a deadlock.
extern "C" __attribute__((weak, used, visibility("default"))) const char *ft_stuck(void)
{
    return hls::stuck_text().c_str();
}
