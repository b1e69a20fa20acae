"""Constructs in a kernel's IR that v++ would refuse, or turn into slow hardware."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from . import bursts
from .compiler import compiled
from .directives import PRAGMA
from .loops import Flow, Loop, incoming
from .module import Function, Instruction, Module, bytes_of, call_arguments, callee, is_pointer, parse, value

# Allowed callees: functions of hls_math.h and hls_stream.h, under their stand-ins' names, and
# clang's intrinsics for copies, lifetimes, and integer arithmetic.
KNOWN = re.compile(
    r"hls_\w+_(float|double)$|ft_fifo_(read|write)$"
    r"|llvm\.(mem(cpy|set|move)|lifetime|invariant|experimental\.noalias|assume|[su](min|max)|abs|fsh[lr]"
    r"|ct[lt]z|ctpop|bitreverse)\."  # the last is for loops that move bits, which are wires
)
# The kinds of memory in a function: a parameter ("arg", "%2"), "alloca", "global", "loaded",
# "made".
Memory = tuple[str, str]


def findings(source: Path, kernel: str, flags: Sequence[str] = ()) -> list[str]:
    """Returns a line for each defect of a kernel's source file, which includes headers from its own
    folder."""
    module = parse(compiled(source, kernel, flags))
    check = Check(module, kernel, source.parent)
    return sorted({*check.all(), *bursts.conditional(check), *bursts.repeated(check, source.read_text())})


@cache
def pragmas(path: Path) -> dict[int, frozenset[str]]:
    """Returns for each line with a `for` or `while` which of PIPELINE and UNROLL its pragmas
    name."""
    loops: dict[int, set[str]] = defaultdict(set)
    loop = 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.search(r"\b(for|while) \(", line):
            loop = number
        if name := PRAGMA.search(line):
            loops[loop].add(name[1])
    return {line: frozenset(names) for line, names in loops.items()}


class Check:
    """The rules, for one module."""

    def __init__(self, module: Module, kernel: str, folder: Path) -> None:
        self.module, self.kernel, self.folder = module, kernel, folder
        self.functions = module.functions
        self.flows = {name: Flow(function) for name, function in module.functions.items()}
        self.beats = self._beats()

    def all(self) -> Iterator[str]:
        """Yields the findings of all rules."""
        yield from self.of_the_module()
        for name, function in self.functions.items():
            if name in self._reached(name):
                yield f"{name} calls itself"
            yield from self.calls(function)
            yield from self.choices(function)
            yield from self.elements(function)
            yield from self.loops(self.flows[name])

    def of_the_module(self) -> Iterator[str]:
        """Checks that no code runs before the kernel, and that every call can be synthesized."""
        for name in ("llvm.global_ctors", "llvm.global_dtors"):
            if name in self.module.globals:
                yield f"{name}: something is computed before the kernel begins"
        for name in self.module.declared:
            if not KNOWN.match(name):
                yield f"{name} is called, and is no function of hls_math.h"

    def calls(self, function: Function) -> Iterator[str]:
        """Checks that every called function is known."""
        for one in function:
            if one.op == "call" and not callee(one).startswith("@"):
                yield self.said(one, "a call of what a pointer leads to")

    def choices(self, function: Function) -> Iterator[str]:
        """Checks that a pointer points into one memory on all paths."""
        for one in function:
            if one.op not in ("select", "phi") or not _gives_pointer(one):
                continue
            memories = self.memories(function, one.result)
            if len(memories) > 1:
                yield self.said(one, f"a choice between {len(memories)} memories by a pointer")

    def elements(self, function: Function) -> Iterator[str]:
        """Checks that a vector port is read and written in whole beats."""
        for one in function:
            if one.op not in ("load", "store"):
                continue
            parts = one.parts
            of = parts[0].split(" ", 1)[1] if parts[0].startswith("volatile ") else parts[0]
            width = bytes_of(of if one.op == "load" else of.rpartition(" ")[0])
            beat = max(self.beat(function, memory) for memory in self.accessed(function, one))
            if width is not None and width < beat:
                yield self.said(one, f"{width} bytes of a port whose beats are {beat}")

    def loops(self, flow: Flow) -> Iterator[str]:
        """Checks that a pipelined loop's content can be unrolled, and that unrolled lanes access
        ports alike."""
        for loop in flow.loops:
            if "PIPELINE" in self.pragmas_of(loop):
                yield from self._all_constant(flow, loop, self._said_loop(loop))
            if flow.constant(loop) and self._unrolled(loop):
                for one in self._of(flow, loop):
                    sometimes = not flow.always(one.block.name, loop)
                    if self._touches(flow.function, one, sometimes):
                        what = "a port is accessed on a condition in each lane of an unrolled loop"
                        yield self.said(one, what)

    def _all_constant(self, flow: Flow, loop: Loop, where: str) -> Iterator[str]:
        for inner in loop.inside:
            if not flow.constant(inner):
                yield f"{self._said_loop(inner)}: a loop of variable length in the pipeline {where}"
            yield from self._all_constant(flow, inner, where)
        for one in self._of(flow, loop):
            name = callee(one)[1:] if one.op == "call" else ""
            if name in self.functions and name not in self._reached(name):
                inside = self.flows[name]
                whole = Loop("", [], set(self.functions[name].blocks), None)
                whole.inside = [inner for inner in inside.loops if inner.outside is None]
                yield from self._all_constant(inside, whole, where)

    def _unrolled(self, loop: Loop) -> bool:
        """Returns whether a loop is unrolled, by its own pragma or inside a pipelined loop."""
        outer = loop.outside
        while outer is not None:
            if "PIPELINE" in self.pragmas_of(outer):
                return True
            outer = outer.outside
        return "UNROLL" in self.pragmas_of(loop)

    def _touches(self, function: Function, one: Instruction, sometimes: bool) -> bool:
        """Returns whether an instruction accesses a port; with `sometimes`, only on some paths
        (here or in a callee)."""
        if one.op in ("load", "store"):
            memories = self.accessed(function, one)
            return sometimes and any(self.beat(function, memory) == 1 for memory in memories)
        called = callee(one)[1:] if one.op == "call" else ""
        if called not in self.functions or called in self._reached(called):
            return False
        flow = self.flows[called]
        return any(
            self._touches(flow.function, inner, sometimes or not flow.always(inner.block.name, None))
            for inner in flow.function
        )

    def _of(self, flow: Flow, loop: Loop) -> Iterator[Instruction]:
        """Yields the instructions of a loop outside its inner loops."""
        for name in loop.blocks:
            if loop.header == "" or flow.innermost.get(name) is loop:
                yield from flow.function.blocks[name].instructions

    def memories(self, function: Function, name: str) -> set[Memory]:
        """Returns the memories that a pointer may point into."""
        origins: set[Memory] = set()
        seen, todo = set(), [name]
        while todo:
            at = todo.pop()
            if at in seen or at in ("null", "undef", "poison", ""):
                continue
            seen.add(at)
            definition = function.values.get(at)
            if definition is None:
                origins.add(("global" if at.startswith("@") else "arg", at))
            elif definition.op == "getelementptr":
                todo.append(value(definition.parts[1]))
            elif definition.op in ("bitcast", "addrspacecast"):
                todo.append(value(definition.text.rpartition(" to ")[0]))
            elif definition.op == "select":
                todo += [value(part) for part in definition.parts[1:]]
            elif definition.op == "phi":
                todo += [start for start, _ in incoming(definition)]
            else:
                origins.add(({"alloca": "alloca", "load": "loaded"}.get(definition.op, "made"), at))
        return origins

    def accessed(self, function: Function, one: Instruction) -> set[Memory]:
        return self.memories(function, value(one.parts[1]))

    def beat(self, function: Function, memory: Memory) -> int:
        """Returns the bytes of a port's beat; 1 for a port of elements, 0 for other memories."""
        return self.beats.get((function.name, memory[1]), 0) if memory[0] == "arg" else 0

    def _beats(self) -> dict[tuple[str, str], int]:
        """Returns the parameters that pass ports, starting from the kernel."""
        beats = re.findall(r"i64 (-?\d+)", self.module.globals["ft_port_beats"])
        kernel = self.functions[self.kernel]
        widths = {(kernel.name, p): int(b) for p, b in zip(kernel.parameters, beats) if b != "-1"}
        todo = [kernel.name]
        while todo:
            function = self.functions[todo.pop()]
            for call, name in function.calls():
                inner = self.functions.get(name[1:])
                for k, part in enumerate(call_arguments(call) if inner else ()):
                    if not is_pointer(part.split(" ")[0]):
                        continue
                    for kind, at in self.memories(function, value(part)):
                        width = widths.get((function.name, at), 0) if kind == "arg" else 0
                        to = (inner.name, inner.parameters[k])
                        if width > widths.get(to, 0):
                            widths[to] = width
                            todo.append(inner.name)
        return widths

    @cache  # noqa: B019 (a check lives for a moment)
    def _reached(self, name: str) -> frozenset[str]:
        """Returns the functions called below a function."""
        reached: set[str] = set()
        todo = [name]
        while todo:
            for _, called in self.functions[todo.pop()].calls():
                if called[1:] in self.functions and called[1:] not in reached:
                    reached.add(called[1:])
                    todo.append(called[1:])
        return frozenset(reached)

    def pragmas_of(self, loop: Loop) -> frozenset[str]:
        file, line = self.module.loop_place(loop.number)
        return pragmas(self.folder / file).get(line, frozenset()) if file else frozenset()

    def said(self, one: Instruction, what: str) -> str:
        file, line = self.module.place(one.line)
        return f"{file.removeprefix('./')}:{line}: {what}"

    def _said_loop(self, loop: Loop) -> str:
        file, line = self.module.loop_place(loop.number)
        return f"{file.removeprefix('./')}:{line}"


def _gives_pointer(one: Instruction) -> bool:
    """Returns whether an instruction is a select or a phi of pointers."""
    kind = one.parts[1] if one.op == "select" else one.text.partition(" [")[0]
    return is_pointer(kind.rpartition(" ")[0] if one.op == "select" else kind)
