"""Lower bounds of the initiation intervals of a kernel's loops, from its IR.

A pipelined loop waits for values carried between iterations: a sum, an address or a choice that
depends on a value just read from a port or a local memory, or memory that it writes and reads
again. It also waits for its ports, which take one access a cycle. A loop without PIPELINE runs one
iteration after another. Address arithmetic counts as free, so a figure is a lower bound.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import NamedTuple

from ftensor.kernels.workload import CYCLES, FUNCTION_CYCLES, MEMORY_LATENCY

from .addresses import PORT, Addresses, pointer
from .compiler import compiled
from .directives import NOTHING, POINTERS, Directives, directives, partitions
from .loops import Flow, Loop, incoming
from .module import Instruction, Module, call_arguments, callee, parse, value

# Everything is inlined into the kernel, where a function's pointers are its ports. Names are kept
# for the pragmas of local memories.
FLAGS = ("-finline-functions", "-mllvm", "-inline-threshold=1000000", "-fno-discard-value-names")
# Cycles of a read of local memory that a later read depends on: the address, the element, and the
# choice or comparison between them.
LOCAL_READ = 3
_ARRAY = re.compile(r"\[\d+ x (.*)\]$")
_WORDS = {"fadd": "add", "fsub": "add", "fneg": "sign", "fmul": "mul", "fdiv": "div"}
_WORDS |= {"fcmp": "compare", "frem": "div"}
_DIVISIONS = ("sdiv", "udiv", "srem", "urem")


class Interval(NamedTuple):
    """A loop by its label ("" if it has none) and position, the minimum cycles of an iteration, and
    the reason."""

    label: str
    place: str
    cycles: int
    why: str


def intervals(source: Path, kernel: str) -> list[Interval]:
    """Returns the intervals of a kernel's source file: each innermost loop that a board would run,
    in source order.

    Unrolled loops, by a pragma or inside a pipelined loop, are part of the enclosing one.
    """
    return list(_Intervals(parse(compiled(source, kernel, FLAGS)), kernel, source.parent).all())


class _Intervals(Addresses):
    """The analysis of one kernel."""

    def __init__(self, module: Module, kernel: str, folder: Path) -> None:
        self.module, self.folder = module, folder
        files = [folder / f"{kernel}.cpp", *folder.glob("ftensor/vitis/*.h")]
        super().__init__(module.functions[kernel])
        self.registers = self._registers([partitions(path) for path in files])
        self.flow = Flow(self.function)
        self.rank = {name: k for k, name in enumerate(self.flow.order)}

    def _registers(self, said: list[dict[str, frozenset[int]]]) -> frozenset[str]:
        """Returns the local memories whose elements are all registers."""
        names = set()
        for one in self.function:
            if one.op != "alloca":
                continue
            name, kind, dims = self.root(one.result), one.parts[0], 0
            while many := _ARRAY.match(kind):
                dims, kind = dims + 1, many[1]
            done = frozenset().union(*(row.get(name, frozenset()) for row in said))
            if 0 in done or done >= set(range(1, dims + 1)):
                names.add(name)
        return frozenset(names)

    def all(self) -> Iterator[Interval]:
        """Yields each loop, once for each place where it was inlined."""
        for loop in self.flow.loops:
            said = self._directives(loop)
            if self._part_of_another(loop):
                continue
            file, line = self.module.loop_place(loop.number)
            place = f"{file.removeprefix('./')}:{line}"
            if "PIPELINE" in said.pragmas:
                cycles, why = max(self._pipelined(loop, dict(said.apart)), self._late(loop, said.intra))
                yield Interval(said.label, place, cycles, why)
            elif self._computes(loop):
                cycles = ceil(max(self._arrivals(loop, {}).values(), default=1))
                yield Interval(said.label, place, max(cycles, 1), "is not pipelined")

    def _computes(self, loop: Loop) -> bool:
        """Returns whether an innermost loop uses an operand's port or floating-point arithmetic.
        Other loops walk over dims or shift registers."""
        if not all("UNROLL" in self._directives(inner).pragmas for inner in loop.inside):
            return False
        for one in self._of(loop):
            if one.op in ("load", "store"):
                root = self.root(pointer(one))
                if root.startswith(PORT) and root != PORT + "%geometry":
                    return True
            if one.op in _WORDS or (one.op == "call" and "hls_" in callee(one)):
                return True
        return False

    def _directives(self, loop: Loop) -> Directives:
        file, line = self.module.loop_place(loop.number)
        return directives(self.folder / file).get(line, NOTHING) if file else NOTHING

    def _part_of_another(self, loop: Loop) -> bool:
        if "UNROLL" in self._directives(loop).pragmas:
            return True
        outer = loop.outside
        while outer is not None:
            if "PIPELINE" in self._directives(outer).pragmas:
                return True
            outer = outer.outside
        return False

    # Pipelined

    def _pipelined(self, loop: Loop, apart: dict[str, int]) -> tuple[int, str]:
        limits = [(1, "nothing"), self._shared_ports(loop)]
        accesses = self._accesses(loop)
        carried = {one.result: one for one in self._header_phis(loop)}
        # Memory that an iteration writes and a later one may read: a carried value.
        memory: dict[str, int] = {}
        for name, (loads, stores) in accesses.items():
            said = apart.get(POINTERS, 1) if name.startswith(PORT) else apart.get(name, 1)
            turns = 0 if name in self._made_in(loop) else said
            if turns and (name in apart or any(self.may_alias(a, b, loop) for a in loads for b in stores)):
                memory[name] = turns
        weights: dict[str, dict[str, float]] = {}
        for name in [*carried, *memory]:
            if name in carried:
                arrived = self._arrivals(loop, {name: 0.0})
            else:
                cost = MEMORY_LATENCY if name.startswith(PORT) else int(name in apart and name not in self.registers)
                arrived = self._arrivals(loop, {one.result: float(cost) for one in accesses[name][0]})
            row = weights[name] = {}
            for to, phi in carried.items():
                ends = [arrived.get(v) for v, block in incoming(phi) if block in loop.blocks]
                row[to] = max((end for end in ends if end is not None), default=-1.0)
            for to in memory:
                cost = MEMORY_LATENCY if to.startswith(PORT) else int(to not in self.registers)
                ends = [arrived.get(id(one)) for one in accesses[to][1]]
                least = max((end for end in ends if end is not None), default=-1.0)
                row[to] = -1.0 if least < 0 else (least + cost) / memory[to]
        for name, cycles in _slowest_cycle(weights).items():
            limits.append((ceil(cycles), f"waits for {name.lstrip('%')} of the turn before"))
        return max(limits, key=lambda one: one[0])

    def _late(self, loop: Loop, memories: frozenset[str]) -> tuple[int, str]:
        """Returns the interval at which a port's answer reaches a memory whose dependences in an
        iteration a pragma denies. HLS reads it meanwhile, iterations too early."""
        stores = [one for one in self._of(loop) if one.op == "store"]
        todo = [value(one.parts[0]) for one in stores if self.root(pointer(one)) in memories]
        seen: set[str] = set()
        while todo:
            name = todo.pop()
            one = self.function.values.get(name)
            if name in seen or one is None or one.block.name not in loop.blocks:
                continue
            seen.add(name)
            if one.op == "load":
                memory = self.root(pointer(one))
                if memory.startswith(PORT):
                    return MEMORY_LATENCY, f"writes what a port has answered to {', '.join(sorted(memories))}"
                if memory not in memories:
                    todo += [value(store.parts[0]) for store in stores if self.root(pointer(store)) == memory]
            elif one.op == "phi":
                todo += [v for v, _ in incoming(one)]
            elif one.op == "call":
                todo += [value(part) for part in call_arguments(one)]
            else:
                todo += [value(part) for part in one.parts]
        return 1, "nothing"

    def _header_phis(self, loop: Loop) -> list[Instruction]:
        header = self.function.blocks[loop.header].instructions
        return [one for one in header if one.op == "phi"]

    def _of(self, loop: Loop) -> Iterator[Instruction]:
        """Yields all instructions of a loop in order, including those of inner loops."""
        for name in sorted(loop.blocks, key=lambda name: self.rank[name]):
            yield from self.function.blocks[name].instructions

    def _accesses(self, loop: Loop) -> dict[str, tuple[list[Instruction], list[Instruction]]]:
        """Returns the loads and stores of each memory."""
        accesses: dict[str, tuple[list[Instruction], list[Instruction]]] = defaultdict(lambda: ([], []))
        for one in self._of(loop):
            if one.op in ("load", "store") and (root := self.root(pointer(one))):
                accesses[root][one.op == "store"].append(one)
        return accesses

    def _made_in(self, loop: Loop) -> set[str]:
        """Returns the local memories that are initialized in every iteration."""
        calls = (one for one in self._of(loop) if one.op == "call")
        begun = (one for one in calls if "lifetime.start" in callee(one))
        return {self.root(value(call_arguments(one)[1])) for one in begun}

    # The latency of an iteration

    def _arrivals(self, loop: Loop, sources: dict[str, float]) -> dict[str | int, float]:
        """Returns the arrival time of each value of an iteration (of a store by its id), counted
        from the sources. Values that depend on no source are left out. Without sources, times count
        from the iteration's start."""
        arrived: dict[str | int, float] = dict(sources)
        whole = not sources
        wrote: dict[object, float] = {}
        made: dict[str, float] = {} if whole else dict.fromkeys(self._made_in(loop), -1.0)
        for one in self._of(loop):
            if one.result in sources:
                continue
            needs = self._needs(one, loop)
            ready = [arrived[name] for name in needs if name in arrived]
            memory = pointer(one) if one.op in ("load", "store") else ""
            if one.op == "load" and not self.root(memory).startswith(PORT):
                place = self.address(memory, 0)
                if place in wrote:
                    ready.append(wrote[place])
                elif made.get(self.root(memory), -1.0) >= 0:  # any of its elements
                    ready.append(made[self.root(memory)])
            if not ready and not whole:
                continue
            start = max(ready, default=0.0)
            end = start + (0 if whole and self._is_local(one) else self._cycles(one, loop))
            if one.op == "store":
                wrote[self.address(memory, 0)] = end
                if self.root(memory) in made:
                    made[self.root(memory)] = max(made[self.root(memory)], end)
                arrived[id(one)] = start
                if whole and self.root(memory).startswith(PORT):
                    arrived[id(one)] = start + 1
            elif one.result:
                arrived[one.result] = end
        return arrived

    def _needs(self, one: Instruction, loop: Loop) -> list[str]:
        """Returns the values that an instruction depends on; for a phi also the conditions of its
        path."""
        if one.op == "phi":
            if one.block.name == loop.header:
                return []
            inner = self.flow.innermost.get(one.block.name)
            if inner is not None and inner.header == one.block.name:
                return [v for v, block in incoming(one) if block not in inner.blocks]
            return [v for v, _ in incoming(one)] + self._choices(one)
        if one.op in ("br", "switch", "ret", "unreachable"):
            return []
        if one.op == "call":
            return [value(part) for part in call_arguments(one)]
        if _CONVERSIONS.match(one.op):
            return [value(one.text.rpartition(" to ")[0])]
        if one.op == "alloca":
            return []
        parts = one.parts[1:] if one.op in ("load", "getelementptr") else one.parts
        return [value(part) for part in parts]

    def _choices(self, phi: Instruction) -> list[str]:
        """Returns the conditions between a phi's block and its dominator."""
        conditions, end = [], self.flow.dominator(phi.block.name)
        todo, seen = [block for _, block in incoming(phi)], set()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            last = self.function.blocks[name].instructions[-1]
            if last.op in ("br", "switch") and len(last.block.successors) > 1:
                conditions.append(value(last.parts[0]))
            if name != end:
                todo += [b for b in self.flow.before[name] if self.rank[b] < self.rank[name]]
        return conditions

    def _is_local(self, one: Instruction) -> bool:
        """Returns whether a value is read from local memory, not from a register."""
        memory = self.root(pointer(one)) if one.op == "load" else ""
        return bool(memory) and not memory.startswith(PORT) and memory not in self.registers

    def _cycles(self, one: Instruction, loop: Loop) -> float:
        """Returns the cycles of an operator. In an inner, unrolled loop a carried value takes the
        sum of them."""
        if one.op == "load":
            if self.root(pointer(one)).startswith(PORT):
                return MEMORY_LATENCY
            return LOCAL_READ if self._is_local(one) else 0
        if one.op == "call":
            name = callee(one)
            if "hls_" in name:
                return FUNCTION_CYCLES["double" if name.endswith("double") else "float"]
            return 0
        if one.op == "phi":
            inner = self.flow.innermost.get(one.block.name)
            if inner is not None and inner is not loop and inner.header == one.block.name:
                turns = self.flow.trips(inner) or 1
                arrived = self._arrivals(inner, {one.result: 0.0})
                ends = [arrived.get(v, 0.0) for v, b in incoming(one) if b in inner.blocks]
                return max(ends, default=0.0) * (turns - 1)
            return 0
        of = one.parts[0].split()
        kind = "double" if "double" in of else "float"
        if one.op in _WORDS:
            return CYCLES[kind].get(_WORDS[one.op], 0)
        if one.op not in ("mul", *_DIVISIONS):
            return 0
        by = value(one.parts[1])
        if not re.fullmatch(r"-?\d+", by):
            return CYCLES["integer"]["mul" if one.op == "mul" else "div"]
        # By a power of two bits are dropped, by another constant a product is.
        return 0 if abs(int(by)) & (abs(int(by)) - 1) == 0 else CYCLES["integer"]["mul"]

    # Ports

    def _shared_ports(self, loop: Loop) -> tuple[int, str]:
        """Returns the largest number of accesses to one port in an iteration, over all paths."""
        worst = (1, "")
        for op in ("load", "store"):
            ports = {self.root(pointer(one)) for one in self._of(loop) if one.op == op}
            for port in sorted(p for p in ports if p.startswith(PORT)):
                most = self._most(loop, op, port)
                if most > worst[0]:
                    what = "reads" if op == "load" else "writes"
                    name = port.removeprefix(PORT).lstrip("%")
                    worst = (most, f"{most} {what} of {name} in a turn")
        return worst

    def _most(self, loop: Loop, op: str, port: str) -> int:
        best: dict[str, int] = {}
        for name in sorted(loop.blocks, key=lambda name: self.rank[name]):
            block = self.function.blocks[name]
            times = 1
            inner = self.flow.innermost[name]
            while inner is not loop:
                times *= self.flow.trips(inner) or 1
                assert inner.outside is not None
                inner = inner.outside
            here = sum(one.op == op and self.root(pointer(one)) == port for one in block.instructions)
            before = [best[b] for b in self.flow.before[name] if b in best and self.rank[b] < self.rank[name]]
            best[name] = max(before, default=0) + times * here
        return max(best.values())


_CONVERSIONS = re.compile(r"(trunc|[zs]ext|fptrunc|fpext|fpto[us]i|[us]itofp|bitcast|ptrtoint)$")


def _slowest_cycle(weights: dict[str, dict[str, float]]) -> dict[str, float]:
    """Returns for each carried value the cycles of an iteration on the slowest path back to
    itself."""
    slowest = {}
    for start in weights:
        walks, best = dict(weights[start]), weights[start].get(start, -1.0)
        for length in range(2, min(len(weights), 4) + 1):
            further: dict[str, float] = {}
            for middle, so_far in walks.items():
                for to, more in weights[middle].items() if so_far >= 0 else ():
                    if more >= 0:
                        further[to] = max(further.get(to, -1.0), so_far + more)
            walks = further
            best = max(best, walks.get(start, -1.0) / length)
        slowest[start] = best
    return slowest
