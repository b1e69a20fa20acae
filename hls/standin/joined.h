// Kernels of one graph, joined by streams. In hardware they run at the same time, although the host starts one
// after the other. Here the started kernels of a launch wait for the last one, whose thread runs all of them in
// a region.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "region.h"

namespace hls {
inline namespace at_once {

// The number of a launch whose kernels this thread starts itself, one after another, so that only the last
// start may wait; else 0.
inline unsigned long &starts_all()
{
    static thread_local unsigned long now = 0;
    return now;
}

class meeting
{
  public:
    using calls = std::vector<std::function<void()>>;

  private:
    std::mutex mutex;
    std::condition_variable done;
    const std::size_t kernels;
    unsigned long launches = 0, begun = 0;
    calls here;
    std::string said;

  public:
    explicit meeting(std::size_t kernels) : kernels(kernels) {}
    // Starts one kernel of a launch. `run` runs all of them.
    void start(const std::function<void()> &call, void (*run)(const calls &))
    {
        std::unique_lock<std::mutex> lock(mutex);
        if (starts_all() != begun) here.clear();  // drops a launch that was interrupted before its last kernel
        begun = starts_all();
        here.push_back(call);
        if (here.size() == kernels) {
            run(here);
            said = stuck_text();
            here.clear();
            launches++;
            done.notify_all();
        } else if (!starts_all()) {
            const unsigned long mine = launches;
            done.wait(lock, [&] { return launches != mine; });
            stuck_text() = said;
        }
    }
};

}  // namespace at_once
}  // namespace hls

// For a host that starts all kernels of a launch from one thread: called with 1 before the first start and with
// 0 after the last.
extern "C" __attribute__((weak, used, visibility("default"))) void ft_starts_all(int all)
{
    static std::atomic<unsigned long> launches{0};
    hls::starts_all() = all ? ++launches : 0;
}
