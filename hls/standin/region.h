// Stages that run at the same time: in a `region` each process is a thread, and FIFOs with a depth are as long as
// in hardware. Where all processes wait and none could go on, each of them ends, and the region tells what every
// FIFO holds. A process that was woken and does not run yet could go on, so it counts as one that does.
#pragma once
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

// What was stuck in this thread's last region; empty where nothing was.
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

// A FIFO's ends in a region; outside of one, or without a depth, nobody waits.
class place
{
    friend class region;
    region *const in;
    const char *const name;
    const std::size_t depth, &count;
    bool reader = false, writer = false;  // waits
    std::condition_variable changed;

    bool goes_on() const { return (reader && count > 0) || (writer && count < depth); }
    void await(std::unique_lock<std::mutex> &lock, bool writes);

  public:
    place(const char *name, std::size_t depth, const std::size_t &count);
    place(const place &) = delete;
    bool full() const { return in && count >= depth; }
    bool stopped() const;

    // One element goes in or out: waits until it can.
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
    int live = 1, waiting = 0;  // this thread counts until all processes have begun
    bool stuck = false;
    region *const outer;

    // Ends all processes if none can go on.
    void look()
    {
        if (stuck || live == 0 || waiting < live) return;
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
    void leave()
    {
        const std::lock_guard<std::mutex> lock(mutex);
        live--;
        look();
    }
    std::string stuck_text_of;

  public:
    region() : outer(current_region())
    {
        current_region() = this;
        stuck_text().clear();
    }
    region(const region &) = delete;
    template <typename F> void process(F call)
    {
        {
            const std::lock_guard<std::mutex> lock(mutex);
            live++;
        }
        processes.emplace_back([this, call] {
            try {
                call();
            } catch (const stop &) {  // every process ends then
            }
            leave();
        });
    }
    // Waits for all processes. FIFOs must still be there.
    void join()
    {
        leave();
        for (std::thread &one : processes) one.join();
        processes.clear();
        stuck_text() = stuck_text_of;
    }
    ~region() { current_region() = outer; }
};

inline place::place(const char *name, std::size_t depth, const std::size_t &count)
    : in(depth ? current_region() : nullptr), name(name), depth(depth), count(count)
{
    if (in) in->places.push_back(this);
}
inline bool place::stopped() const { return in && in->stuck; }
inline void place::await(std::unique_lock<std::mutex> &lock, bool writes)
{
    bool &mine = writes ? writer : reader;
    while (writes ? count >= depth : count == 0) {
        if (in->stuck) throw region::stop();
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

// What the kernel that this thread ran last was stuck at, or an empty text.
extern "C" __attribute__((weak, used, visibility("default"))) const char *ft_stuck(void)
{
    return hls::stuck_text().c_str();
}
