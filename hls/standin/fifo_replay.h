// The recorded accesses to the FIFOs of a launch, and their replay (see fifos.h), which finds deadlocks, the least
// depths without one, and the least depths at full speed.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ft_fifos __attribute__((visibility("hidden"))) {

const std::size_t DEFAULT_DEPTH = 2;  // the default of Vitis HLS
const std::size_t MAX_ACCESSES = 1 << 28;  // of a launch that is checked for deadlock
const std::size_t MAX_STORED = 1 << 26;  // words of memory for the recorded accesses
const std::size_t MAX_TIMED = 1 << 24;  // of a launch whose minimal depths are searched
const std::size_t MAX_REPLAYED = 1 << 29;  // in all replays of that search
const std::uint32_t NEVER = 0xffffffff;

// The accesses of a process in order, each as FIFO << 1 | writes. A repeated sequence is stored once.
class Accesses
{
    static const std::size_t LONGEST = 16;  // accesses of a repeated sequence
    struct Run {
        std::size_t begin, period, count;  // ends[begin + k % period] for each k below count
    };
    std::vector<std::uint32_t> ends;
    std::vector<Run> runs;

  public:
    // A position in the sequence of accesses.
    struct Place {
        std::size_t run = 0, k = 0, phase = 0;
    };
    std::size_t stored() const { return ends.size() + 6 * runs.size(); }
    bool done(const Place &at) const { return at.run == runs.size(); }
    std::uint32_t operator[](const Place &at) const { return ends[runs[at.run].begin + at.phase]; }
    void step(Place &at) const
    {
        const Run &run = runs[at.run];
        if (++at.phase == run.period) at.phase = 0;
        if (++at.k == run.count) {
            at = Place();
            at.run = (std::size_t)(&run - runs.data()) + 1;
        }
    }
    void add(std::uint32_t end)
    {
        if (runs.empty() || runs.back().count > runs.back().period) {
            if (!runs.empty() && ends[runs.back().begin + runs.back().count % runs.back().period] == end) {
                runs.back().count++;
                return;
            }
            runs.push_back({ends.size(), 0, 0});
        }
        ends.push_back(end);
        Run &once = runs.back();
        once.period = ++once.count;
        for (std::size_t p = 1; p <= LONGEST && 3 * p <= once.count; p++) {
            if (!std::equal(ends.end() - 2 * (long)p, ends.end(), ends.end() - 3 * (long)p)) continue;
            ends.resize(ends.size() - 2 * p);
            once.period = once.count -= 3 * p;
            if (once.count == 0) runs.pop_back();
            runs.push_back({ends.size() - p, p, 3 * p});
            return;
        }
    }
};
struct Process {
    std::string name;
    Accesses accesses;
};
struct Fifo {
    std::string name;
    std::size_t depth, held;  // elements in the FIFO when the launch begins
    std::uint32_t count[2] = {0, 0};  // reads, writes
    // The readers and the writers, each with the number of its first access. Several readers keep this order.
    std::vector<std::pair<std::uint32_t, int>> processes[2];
    std::size_t peak;
};
// A number that no launch of any thread had before.
inline std::uint32_t fresh()
{
    static std::atomic<std::uint32_t> last{0};
    return ++last;
}
struct Trace {
    std::vector<Process> processes = {{"the kernel", {}}};
    std::vector<Fifo> fifos;
    std::map<std::tuple<int, const char *, int, int>, int> known;
    std::size_t total = 0, stored = 0;
    std::uint32_t launch = fresh();
    bool polled = false;  // a non-blocking access
    bool records = false;
    bool stops() const { return total > MAX_ACCESSES || stored > MAX_STORED; }
};

// The process that makes the next access at each end of a FIFO.
class Turns
{
    const Trace &t;
    std::vector<std::size_t> at[2];

  public:
    explicit Turns(const Trace &t) : t(t)
    {
        for (auto &one : at) one.assign(t.fifos.size(), 0);
    }
    bool of(std::size_t process, std::uint32_t end, std::size_t number)
    {
        const auto &all = t.fifos[end >> 1].processes[end & 1];
        std::size_t &k = at[end & 1][end >> 1];
        while (k + 1 < all.size() && all[k + 1].first <= number) k++;
        return (std::size_t)all[k].second == process;
    }
};

// Replays the accesses with the declared depths, without times. Afterwards `at` is the next access of each
// process.
class Order
{
    const Trace &t;

  public:
    std::vector<Accesses::Place> at;

    explicit Order(const Trace &t) : t(t), at(t.processes.size()) {}
    // Returns true if all processes finish.
    bool run()
    {
        Turns turns(t);
        std::vector<std::size_t> count[2], ready;
        for (auto &one : count) one.assign(t.fifos.size(), 0);
        std::vector<std::vector<std::size_t>> waiting(t.fifos.size());
        for (std::size_t p = t.processes.size(); p-- > 0;) ready.push_back(p);
        std::size_t done = 0;
        while (!ready.empty()) {
            const std::size_t p = ready.back();
            ready.pop_back();
            const Accesses &accesses = t.processes[p].accesses;
            for (; !accesses.done(at[p]); accesses.step(at[p]), done++) {
                const std::uint32_t end = accesses[at[p]], f = end >> 1, way = end & 1;
                const Fifo &fifo = t.fifos[f];
                const std::size_t holds = fifo.held + count[1][f] - count[0][f];
                const bool room = way ? holds < std::max(fifo.depth, fifo.held) : holds > 0;
                if (!room || !turns.of(p, end, count[way][f])) {
                    waiting[f].push_back(p);
                    break;
                }
                count[way][f]++;
                if (waiting[f].empty()) continue;
                ready.insert(ready.end(), waiting[f].begin(), waiting[f].end());
                waiting[f].clear();
            }
        }
        return done == t.total;
    }
};

// `run` returns the cycle in which all processes are done, or NEVER if they deadlock. A process reads and
// writes each FIFO at most once a cycle, and has no latency.
class Replay
{
    const Trace &t;
    std::vector<std::vector<std::uint32_t>> times[2];  // of each FIFO's reads and writes
    std::vector<std::vector<int>> waiting;             // processes, by FIFO
    std::vector<std::vector<std::uint32_t>> every;     // access, by process

  public:
    std::size_t steps = 0;

    explicit Replay(const Trace &t) : t(t), waiting(t.fifos.size()), every(t.processes.size())
    {
        for (auto &ends : times) ends.resize(t.fifos.size());
        for (std::size_t p = 0; p < every.size(); p++) {
            const Accesses &accesses = t.processes[p].accesses;
            for (Accesses::Place at; !accesses.done(at); accesses.step(at)) every[p].push_back(accesses[at]);
        }
    }
    std::uint32_t run(const std::vector<std::size_t> &depths)
    {
        for (auto &ends : times)
            for (auto &one : ends) one.clear();
        for (auto &one : waiting) one.clear();
        Turns turns(t);
        std::vector<std::size_t> at(t.processes.size(), 0);
        std::vector<std::uint32_t> now(t.processes.size(), 0);
        std::vector<int> ready;
        for (std::size_t p = t.processes.size(); p-- > 0;) ready.push_back((int)p);
        std::size_t done = 0;
        std::uint32_t last = 0;
        while (!ready.empty()) {
            const int p = ready.back();
            ready.pop_back();
            const auto &accesses = every[p];
            while (at[p] < accesses.size()) {
                const std::uint32_t end = accesses[at[p]], f = end >> 1, way = end & 1;
                auto &own = times[way][f], &other = times[1 - way][f];
                const std::size_t held = t.fifos[f].held, depth = std::max(depths[f], held);
                // the access at the other end that must precede this one, counted from 1
                const std::size_t before = own.size() + 1 + (way ? held : 0);
                const std::size_t after = before > (way ? depth : held) ? before - (way ? depth : held) : 0;
                if (other.size() < after || !turns.of(p, end, own.size())) {
                    waiting[f].push_back(p);
                    break;
                }
                std::uint32_t cycle = now[p];
                if (!own.empty()) cycle = std::max(cycle, own.back() + 1);
                if (after) cycle = std::max(cycle, other[after - 1] + 1);
                own.push_back(cycle);
                now[p] = cycle;
                last = std::max(last, cycle);
                at[p]++, done++;
                ready.insert(ready.end(), waiting[f].begin(), waiting[f].end());
                waiting[f].clear();
            }
        }
        steps += done;
        return done == t.total ? last : NEVER;
    }
    // Lowers one depth after the other, while `run` takes at most `cycles`. Returns false if the replays exceed
    // MAX_REPLAYED.
    bool lower(std::vector<std::size_t> &depths, std::uint32_t cycles)
    {
        const auto well = [&] {
            const std::uint32_t took = run(depths);
            return took != NEVER && took <= cycles;
        };
        for (std::size_t f = 0; f < depths.size(); f++) {
            std::size_t low = std::max<std::size_t>(1, t.fifos[f].held), high = std::max(depths[f], low);
            for (std::size_t k = low; low < high; k = low + (high - low) / 2) {  // first `low`: mostly enough
                if (steps > MAX_REPLAYED) return false;
                depths[f] = k;
                if (well())
                    high = k;
                else
                    low = k + 1;
            }
            depths[f] = high;
        }
        return true;
    }
};

inline std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += (unsigned char)c < 32 ? ' ' : c;
    }
    return out + "\"";
}
inline std::string named(const Trace &t, const Fifo &fifo, int way)
{
    return fifo.processes[way].empty() ? "nobody" : t.processes[fifo.processes[way].back().second].name;
}

// The report of a launch as JSON; empty if it has no FIFOs.
inline std::string report(const Trace &t)
{
    if (t.fifos.empty()) return "";
    std::string out = "{\"accesses\": " + std::to_string(t.total);
    out += ", \"polled\": " + std::string(t.polled ? "true" : "false");
    if (t.stops()) return out + ", \"long\": true}";
    std::vector<std::size_t> declared, enough;
    for (const Fifo &fifo : t.fifos) {
        declared.push_back(fifo.depth);
        enough.push_back(std::max<std::size_t>(1, fifo.count[1] + fifo.held));
    }
    Order order(t);
    const bool ends = order.run();
    out += ", \"waits\": [";
    bool first = true;
    for (std::size_t p = 0; !ends && p < t.processes.size(); p++) {
        const Process &one = t.processes[p];
        if (one.accesses.done(order.at[p])) continue;
        const std::uint32_t end = one.accesses[order.at[p]];
        const Fifo &fifo = t.fifos[end >> 1];
        const bool writes = end & 1;
        out += (first ? "" : ", ") + std::string("[") + quoted(one.name) + ", " + quoted(fifo.name) + ", "
            + (writes ? "true" : "false") + ", " + quoted(named(t, fifo, !writes)) + "]";
        first = false;
    }
    out += "]";
    std::vector<std::size_t> least = enough, fast = enough;
    bool known = false;
    if (t.total <= MAX_TIMED) {
        Replay replay(t);
        const std::uint32_t took = replay.run(declared), best = replay.run(enough);
        known = best != NEVER && replay.lower(least, NEVER - 1) && replay.lower(fast, best);
        if (took != NEVER) out += ", \"cycles\": " + std::to_string(took + 1);
        if (best != NEVER) out += ", \"best\": " + std::to_string(best + 1);
    }
    out += ", \"fifos\": [";
    for (std::size_t f = 0; f < t.fifos.size(); f++) {
        const Fifo &fifo = t.fifos[f];
        out += (f ? ", {" : "{") + std::string("\"name\": ") + quoted(fifo.name);
        out += ", \"from\": " + quoted(named(t, fifo, 1)) + ", \"to\": " + quoted(named(t, fifo, 0));
        out += ", \"elements\": " + std::to_string(fifo.count[1]) + ", \"depth\": " + std::to_string(fifo.depth);
        if (known) out += ", \"least\": " + std::to_string(least[f]) + ", \"fast\": " + std::to_string(fast[f]);
        out += "}";
    }
    return out + "]}";
}

}  // namespace ft_fifos
