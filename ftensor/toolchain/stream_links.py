"""Streams between users' kernels, as v++ connects them (stream_connect): a function for each compute
unit that takes its streams from the library, and threads for kernels without a control port."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..errors import image as errors
from ..image.contents import BYTES, ArgumentDescription, KernelDescription
from ..image.manifest import JOINED
from . import stream_ends
from .connectivity import Connectivity, bundles_of

PORT = "hls::stream"  # the type of an argument that a stream connects
HEADER = """
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
    if (!text.empty()) text = "{\\"kernels\\": " + ft_fifos::quoted(kernels) + ", " + text.substr(1);
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
        std::fprintf(stderr, "stream %s: its ends have elements of two types\\n", name);
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
"""


@dataclass(frozen=True)
class StreamFifo:
    """A stream from an argument of a unit to an argument of another one; `number` identifies it."""

    number: int
    name: str
    depth: int


@dataclass(frozen=True)
class Linked:
    """The kernels of an image with their units, the links at their ends, and the kernels without a
    control port."""

    kernels: tuple[KernelDescription, ...]
    found: Mapping[tuple[str, str], StreamFifo]
    writers: frozenset[tuple[str, str]]
    free: frozenset[str]

    def is_linked(self, kernel: KernelDescription) -> bool:
        """True if a stream of a unit of the kernel is connected."""
        return any((unit.name, a.name) in self.found for unit in kernel.units for a in kernel.arguments)


def linked(connectivity: Connectivity, kernels: Sequence[KernelDescription], texts: Sequence[str]) -> Linked:
    """Returns how the kernels of sources are connected; raises ImageError as `links` and
    `Connectivity.kernels` do."""
    bundles: dict[str, str] = {}
    for source in texts:
        bundles |= bundles_of(source, kernels)
    placed = connectivity.kernels(kernels, bundles)
    found, writers = links(connectivity, placed)
    free = {k.name for k in placed for source in texts if free_running(source, k)}
    return Linked(placed, found, frozenset(writers), frozenset(free))


def links(
    connectivity: Connectivity, kernels: Sequence[KernelDescription]
) -> tuple[dict[tuple[str, str], StreamFifo], set[tuple[str, str]]]:
    """Returns the link at each (unit, argument), and the ends that write.

    Raises ImageError for units and arguments that are not there, and for an end in two streams.
    """
    by_unit = {unit.name: k for k in kernels for unit in k.units}
    found: dict[tuple[str, str], StreamFifo] = {}
    sources = set()
    for number, stream in enumerate(connectivity.streams):
        link = StreamFifo(number, f"{stream.source}.{stream.source_port}", stream.depth)
        for unit, port, writes in (
            (stream.source, stream.source_port, True),
            (stream.target, stream.target_port, False),
        ):
            if unit not in by_unit:
                raise errors.bad_config(f"stream_connect={unit}.{port}: there is no such compute unit")
            names = [a.name for a in by_unit[unit].arguments if a.is_stream and port in (a.name, f"{a.name}_r")]
            if not names:
                raise errors.bad_config(f"stream_connect={unit}.{port}: the kernel has no such stream")
            if (unit, names[0]) in found:
                raise errors.bad_config(f"stream_connect={unit}.{port}: it is an end of two streams")
            found[unit, names[0]] = link
            if writes:
                sources.add((unit, names[0]))
    return found, sources


def free_running(source: str, kernel: KernelDescription) -> bool:
    """True if a pragma says that a kernel has no control port."""
    begin = re.search(rf"\b{re.escape(kernel.name)}\s*\(", source)
    pragma = r"^[ \t]*#[ \t]*pragma[ \t]+HLS[ \t]+INTERFACE\b.*\bap_ctrl_none\b"
    found = re.compile(pragma, re.MULTILINE | re.IGNORECASE).search(source, begin.end() if begin else 0)
    following = re.compile(r'^\s*(?:extern\s+"C"\s+)?void\s+\w+\s*\(', re.MULTILINE)
    other = following.search(source, begin.end()) if begin else None
    return found is not None and (other is None or found.start() < other.start())


def text(kernels: Sequence[KernelDescription], linked: Linked) -> str:
    """Returns the functions of the units of a file's kernels that have links."""
    parts: list[str] = []
    for kernel in kernels:
        for unit in kernel.units:
            if any((unit.name, a.name) in linked.found for a in kernel.arguments):
                parts += _streams(kernel, unit.name, linked)
                parts.append(_unit(kernel, unit.name, linked))
    return HEADER + "".join(parts) if parts else ""


def _type(kernel: KernelDescription, k: int) -> str:
    return f"ft_ends::parameters<decltype({kernel.name})>::at<{k}>"


def _streams(kernel: KernelDescription, unit: str, linked: Linked) -> list[str]:
    """Returns, for each stream that the unit writes, the function that returns it; for the others
    its declaration."""
    parts = []
    for k, a in enumerate(kernel.arguments):
        if (link := linked.found.get((unit, a.name))) is None:
            continue
        head = f'extern "C" __attribute__((visibility("hidden"))) void *ft_link_{link.number}(const char *type)'
        if (unit, a.name) not in linked.writers:
            parts.append(f"{head};\n")
            continue
        of = f"ft_links::link<{_type(kernel, k)}>"
        parts.append(
            f'{head}\n{{\n    static void *const one = {of}::made("{link.name}", {link.depth}, type);\n'
            f'    {of}::checked("{link.name}", type);\n    return one;\n}}\n'
        )
    return parts


def _unit(kernel: KernelDescription, unit: str, linked: Linked) -> str:
    parameters: list[str] = []
    ends: list[str] = []
    values: list[str] = []
    for k, a in enumerate(kernel.arguments):
        link = linked.found.get((unit, a.name))
        if link is not None:
            of = f"ft_links::link<{_type(kernel, k)}>::T"
            reached = f"(hls::stream<{of}> *)ft_link_{link.number}(typeid({of}).name())"
            values.append(f"*({_type(kernel, k)} *)({reached})")
        elif a.is_stream:
            parameters += [f"void *{a.name}", f"unsigned long {BYTES}{a.name}"]
            ends.append(stream_ends.end_of(kernel, k))
            values.append(f"ft_end_{k}.stream")
        else:
            parameters.append(f"{_type(kernel, k)} {a.name}")
            values.append(a.name)
    call = f"    {kernel.name}({', '.join(values)});\n"
    if kernel.name in linked.free and not parameters:
        runs = f'static const ft_links::free_running ft_runs_{unit}("{unit}", ft_run_{unit});\n'
        return f"static void ft_run_{unit}()\n{{\n{call}}}\n{runs}"
    launch = f'    const ft_links::launch ft_launch("{unit}");\n'
    head = f'extern "C" int {unit}{JOINED}({", ".join(parameters)})'
    stopped = "} catch (const ft_threads::Stopped &) {\n    return 1;\n}\n"
    return f"{head}\ntry {{\n{launch}{''.join(ends)}{call}    return 0;\n{stopped}"


def _described(a: ArgumentDescription, linked: bool, others_linked: bool) -> tuple[ArgumentDescription, ...]:
    if linked:
        return (replace(a, c=PORT),)
    if a.is_stream and others_linked:  # a tensor is its end
        return replace(a, c="void *", size=8), ArgumentDescription(f"{BYTES}{a.name}", "unsigned long", 8)
    return (a,)


def described(linked: Linked) -> tuple[KernelDescription, ...]:
    """Returns the kernels as XRT sees them: connected streams are ports, which no host sets."""
    result = []
    for kernel in linked.kernels:
        names = {a.name for a in kernel.arguments for unit in kernel.units if (unit.name, a.name) in linked.found}
        rows = tuple(row for a in kernel.arguments for row in _described(a, a.name in names, bool(names)))
        free = names and kernel.name in linked.free and not any(a.is_pointer for a in rows)
        result.append(replace(kernel, arguments=rows, control="AP_CTRL_NONE" if free else kernel.control))
    return tuple(result)
