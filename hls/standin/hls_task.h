// Stand-in for Vitis' hls_task.h: a function that runs again and again beside the kernel, whenever its streams have
// elements. The task ends with its object, once no task of the launch can continue. Static variables stay for the next
// launch, other variables do not.
#pragma once
#define FT_TASKS 1
#ifdef FT_SEQUENTIAL
#error "a kernel of the catalogue has no hls::task: pack it as a kernel of your own (ftensor image pack)"
#endif
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "hls_stream.h"

// Streams and tasks of a kernel are made anew in each launch.
#define hls_thread_local

struct ft_tasks;  // a mark for the check of FIFOs

namespace hls {
#ifdef FT_FIFOS
inline namespace recorded {
#endif

class __attribute__((visibility("hidden"))) task
{
    // The kernel's thread, from its first task on.
    struct Launch {
        ft_threads::Thread self{"the kernel", 0, false};
        bool mine = false;
        int tasks = 0;
    };
    static Launch &launch()
    {
        static thread_local Launch one;
        return one;
    }
    std::unique_ptr<ft_threads::Loop> loop;

    template <typename F, typename T, std::size_t... K> static void apply(F f, T &all, std::index_sequence<K...>)
    {
        f(std::get<K>(all)...);
    }
    template <typename F, typename... A> void start(F f, A &...arguments)
    {
        Launch &kernel = launch();
        if (!ft_threads::current()) {
            ft_threads::current() = &kernel.self;
            {
                const std::lock_guard<std::mutex> lock(ft_threads::state().mutex);
                kernel.self.launch = ++ft_threads::state().launches;
            }
            ft_threads::add(kernel.self);
            kernel.mine = true;
        }
        kernel.tasks++;
        const int number = ft_threads::current()->launch;
        std::tuple<A &...> all(arguments...);
        const auto call = [f, all]() mutable { apply(f, all, std::index_sequence_for<A...>()); };
        const std::string name = "task " + std::to_string(kernel.tasks);
        loop.reset(new ft_threads::Loop(name, number, call, place::begin_task(name)));
    }

  public:
    task() {}
    template <typename F, typename... A> explicit task(F f, A &&...arguments) { start(f, arguments...); }
    template <typename F, typename... A> void operator()(F f, A &&...arguments) { start(f, arguments...); }
    task(const task &) = delete;
    ~task()
    {
        if (!loop) return;
        Launch &kernel = launch();
        ft_threads::Thread &me = *ft_threads::current();
        ft_threads::State &all = ft_threads::state();
        {
            std::unique_lock<std::mutex> lock(all.mutex);
            // A free-running kernel has its tasks as long as it runs.
            all.changed.wait(lock, [&] { return me.by_itself ? me.stopped : ft_threads::all_wait(&me, me.launch); });
        }
        loop->stop();
        if (--kernel.tasks || !kernel.mine) return;
        ft_threads::remove(kernel.self);
        ft_threads::current() = nullptr;
        kernel.mine = false;
    }
};

#ifdef FT_FIFOS
}  // namespace recorded
#endif
}  // namespace hls
