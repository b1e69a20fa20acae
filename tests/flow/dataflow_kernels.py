"""Random DATAFLOW kernels, and a simulation of their FIFOs that shares no code with
hls/standin/fifos.h."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass

Depths = list[int]


@dataclass
class Random:
    """A region: `processes` are lists of loops, each (iterations, accesses), an access (stream,
    writes). Streams go from an earlier process to a later one, so the processes can run one after
    another."""

    processes: list[list[tuple[int, list[tuple[int, bool]]]]]
    depths: Depths

    def accesses(self, process: int) -> list[tuple[int, bool]]:
        return [access for turns, body in self.processes[process] for _ in range(turns) for access in body]

    def peak(self) -> Depths:
        """Returns depths that always suffice: all elements of a stream."""
        every = [a for p in range(len(self.processes)) for a in self.accesses(p)]
        return [sum(a == (s, True) for a in every) for s in range(len(self.depths))]

    def cycles(self, depths: Depths) -> int | None:
        """Simulates all processes cycle by cycle, each end of a stream at most once a cycle;
        returns None for a deadlock."""
        left = [deque(self.accesses(p)) for p in range(len(self.processes))]
        held = [0] * len(depths)
        cycle = 0
        while any(left):
            before, moved = list(held), False
            for todo in left:
                done: set[tuple[int, bool]] = set()
                while todo and todo[0] not in done:
                    stream, writes = todo[0]
                    if not (before[stream] < depths[stream] if writes else before[stream] > 0):
                        break
                    done.add(todo.popleft())
                    held[stream] += 1 if writes else -1
                    moved = True
            if not moved:
                return None
            cycle += 1
        return cycle

    def source(self, name: str, rng: random.Random) -> str:
        """Returns the kernel's HLS C++. Its streams have names, template depths or pragmas.
        Processes are functions or loops of the region."""
        lines, body = [], []
        for s, depth in enumerate(self.depths):
            if rng.random() < 0.5:
                body.append(f"  hls::stream<int, {depth}> s{s};")
            else:
                body += [f'  hls::stream<int> s{s}("s{s}");', f"#pragma HLS STREAM variable = s{s} depth = {depth}"]
        for p, loops in enumerate(self.processes):
            text = [
                f"  for (int i = 0; i < {turns}; i++) {{ "
                + " ".join(f"s{s}.write(i);" if writes else f"(void)s{s}.read();" for s, writes in accesses)
                + " }"
                for turns, accesses in loops
            ]
            if len(loops) == 1 and rng.random() < 0.5:
                body += text
                continue
            used = sorted({s for _, accesses in loops for s, _ in accesses})
            lines.append(f"static void {name}_p{p}({', '.join(f'hls::stream<int> &s{s}' for s in used)}) {{")
            lines += [*text, "}"]
            body.append(f"  {name}_p{p}({', '.join(f's{s}' for s in used)});")
        return "\n".join([*lines, f'extern "C" void {name}() {{', "#pragma HLS DATAFLOW", *body, "}", ""])


def made(rng: random.Random) -> Random:
    """Returns a random region whose depths are not chosen yet."""
    count = rng.randint(2, 6)
    streams: list[tuple[int, int, int]] = []  # from, to, elements
    for to in range(1, count):
        for _ in range(rng.randint(1, 2)):
            streams.append((rng.randrange(to), to, rng.choice([1, 2, 5, 8, 13, 24])))
    processes: list[list[tuple[int, list[tuple[int, bool]]]]] = []
    for p in range(count):
        left = {(s, a == p): n for s, (a, b, n) in enumerate(streams) if p in (a, b)}
        loops = []
        while left:
            ends = rng.sample(sorted(left), rng.randint(1, len(left)))
            turns = min(left[end] for end in ends)
            if rng.random() < 0.4:
                turns = rng.randint(1, turns)
            loops.append((turns, ends))
            left = {end: n - turns * (end in ends) for end, n in left.items() if n > turns * (end in ends)}
        processes.append(loops)
    return Random(processes, [0] * len(streams))


def with_enough(one: Random, rng: random.Random) -> Random:
    """Returns the region with depths that do not deadlock, each lowered to a random limit."""
    depths = one.peak()
    for s in rng.sample(range(len(depths)), len(depths)):
        for depth in range(1, depths[s]):
            lower = [*depths[:s], depth, *depths[s + 1 :]]
            if one.cycles(lower) is not None:
                depths = lower
                break
    return Random(one.processes, [d + rng.choice([0, 0, 1, 3]) for d in depths])


def with_deadlock(one: Random, rng: random.Random) -> Random | None:
    """Returns the region with one FIFO too small by one or more; None if it cannot deadlock."""
    enough = with_enough(one, rng).depths
    for s in rng.sample(range(len(enough)), len(enough)):
        for depth in range(enough[s] - 1, 0, -1):
            lower = [*enough[:s], depth, *enough[s + 1 :]]
            if one.cycles(lower) is None:
                return Random(one.processes, lower)
    return None
