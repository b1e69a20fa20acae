"""Graphs whose stages are kernels of their own, joined on the chip by streams.

The host starts the kernels that have ports to memory, and one that tells all others how many rows
there are, and their numbers. Those others, which compute, run by themselves: each waits until it is
told, works through the rows, and waits again. What such a kernel is follows from what its stage
computes and from its streams alone, so another graph with an equal stage has the same kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from .fused import Call
from .key import Port
from .portable import AGAIN, EACH, OF_ROW, ROWS, text
from .staged import LOAD, STORE, Fifo, Stage, StagedKey, Stages

BEGIN = "begin"
# Beats that a FIFO between kernels holds: a power of two of these (PG085, the AXI4-Stream FIFO).
LEAST_DEPTH, MOST_DEPTH = 16, 1 << 15


@dataclass(frozen=True)
class StageKey:
    """One stage as a kernel.

    `of` is the stage as a graph of its own, whose operands in rows are its streams; of the kernel
    that begins, the whole graph. `part` is the stage's kind, or BEGIN. `tells` are, of the kernel
    that begins, the numbers that each computing one gets. `serves` is the graph that the host
    starts it for, None of kernels that run by themselves; `port` is then the operand of that graph,
    in the words of a launch.
    """

    of: StagedKey
    part: str
    tells: tuple[tuple[int, ...], ...] = ()
    serves: StagedKey | None = None
    port: str = ""

    skeleton = "linked"

    @property
    def lanes(self) -> int:
        """Of a beat."""
        return self.of.lanes

    @cached_property
    def entry(self) -> str:
        """The graph's, of the kernel that begins it; of others that are started, which part of it
        behind that; of what runs by itself, its name."""
        if self.serves is None:
            return f"ft_{self.name}"
        return self.serves.entry + (f"/{self.port}" if self.port else "")

    @cached_property
    def name(self) -> str:
        """The kernel that runs by itself, by all that its text depends on."""
        return f"{self.part}_{sha256((self.part + text(self.of)).encode()).hexdigest()[:12]}"

    @cached_property
    def stages(self) -> Stages:
        """Of its own graph."""
        return Stages(self.of)

    @cached_property
    def place(self) -> int:
        """Of the stage among those of its own graph."""
        stages = self.stages.in_order
        return next(k for k, stage in enumerate(stages) if self.part == stage.kind)

    @property
    def stage(self) -> Stage:
        """The stage itself."""
        return self.stages.in_order[self.place]

    @cached_property
    def streams(self) -> tuple[Fifo, ...]:
        """What it reads, then what it writes, value by value, as its own graph has them."""
        if self.part == BEGIN:
            return ()
        gives = [f for v in self.stage.gives for f in self.stages.out_of(self.place, v)]
        return (*self.stages.into(self.place), *gives)

    @property
    def names(self) -> tuple[str, ...]:
        """The ports of streams: that of what it is told first."""
        if self.part == BEGIN:
            return tuple(f"told_{k}" for k in range(len(self.tells)))
        first = () if self.serves is not None else ("told",)
        return (*first, *(f.name for f in self.streams))


class Join(NamedTuple):
    """Two ports of streams that are joined: of each the kernel, by its place, and the port's name;
    `value` travels there (-1: what a kernel is told). `name` is that of the FIFO in the graph."""

    name: str
    source: tuple[int, str]
    target: tuple[int, str]
    depth: int
    value: int


@dataclass(frozen=True)
class Linked:
    """A graph as kernels: the one that begins, then one for each stage, in the stages' order."""

    key: StagedKey

    @cached_property
    def stages(self) -> Stages:
        """Of the whole graph."""
        return Stages(self.key)

    @cached_property
    def computing(self) -> tuple[int, ...]:
        """The stages without a port to memory."""
        return tuple(k for k, s in enumerate(self.stages.in_order) if s.kind not in (LOAD, STORE))

    @cached_property
    def parts(self) -> tuple[StageKey, ...]:
        """The kernels."""
        numbers = tuple(self._numbers(self.stages.in_order[k]) for k in self.computing)
        first = StageKey(self.key, BEGIN, numbers, self.key)
        return (first, *(self._part(k) for k in range(len(self.stages.in_order))))

    def _numbers(self, stage: Stage) -> tuple[int, ...]:
        """Those that a stage takes, each once."""
        return tuple(dict.fromkeys(n for c in stage.calls for n in self.key.calls[c].numbers))

    def _part(self, k: int) -> StageKey:
        key, stage = self.key, self.stages.in_order[k]
        flows = lambda v: Port(key.dtypes[v], OF_ROW if key.of_row[v] else ROWS)  # noqa: E731
        out = [(v, f) for v in stage.gives for f in self.stages.out_of(k, v)]
        if stage.kind == LOAD:
            port = key.ins[stage.port]
            of = self._alone((port,), [flows(v) for v, _ in out], (), (0,) * len(out))
            return StageKey(of, LOAD, (), key, f"in_{stage.port}")
        if stage.kind == STORE:
            port, (v,) = key.outs[stage.port], stage.takes
            of = self._alone((flows(v),), (port,), (), (0,))
            return StageKey(of, STORE, (), key, f"out{stage.port}")
        named = {v: n for n, v in enumerate((*stage.takes, *stage.gives))}
        numbers = self._numbers(stage)
        calls = tuple(
            Call(
                key.calls[c].unit,
                tuple(named[v] for v in key.calls[c].takes),
                tuple(numbers.index(n) for n in key.calls[c].numbers),
            )
            for c in stage.calls
        )
        of = self._alone(
            [flows(v) for v in stage.takes], [flows(v) for v, _ in out], calls, tuple(named[v] for v, _ in out)
        )
        of = replace(of, numbers=tuple(key.numbers[n] for n in numbers))
        return StageKey(of, stage.kind)

    def _alone(
        self, ins: Sequence[Port], outs: Sequence[Port], calls: tuple[Call, ...], gives: tuple[int, ...]
    ) -> StagedKey:
        key = self.key
        blocks = any(p.kind in (EACH, AGAIN) for p in ins)
        return StagedKey(
            "stage",
            "staged",
            key.lanes,
            tuple(outs),
            tuple(ins),
            calls,
            gives,
            length=key.length,
            period=key.period if blocks else 1,
        )

    @cached_property
    def joins(self) -> tuple[Join, ...]:
        """Who is told first, then the graph's FIFOs in their order."""
        joins = [
            Join(f"told_{self.stages.in_order[k].name}", (0, f"told_{n}"), (k + 1, "told"), LEAST_DEPTH, -1)
            for n, k in enumerate(self.computing)
        ]
        for f in self.stages.fifos:
            gives, takes = self.stages.in_order[f.source].gives, self.stages.in_order[f.target].takes
            out = [other for v in gives for other in self.stages.out_of(f.source, v)]
            source, target = self.parts[f.source + 1], self.parts[f.target + 1]
            first = len(source.stages.into(source.place))
            sent = source.streams[first + out.index(f)].name
            taken = target.streams[takes.index(f.value)].name
            joined = (f.source + 1, sent), (f.target + 1, taken)
            joins.append(Join(f.name, *joined, depth_of(f), f.value))
        return tuple(joins)


def depth_of(fifo: Fifo) -> int:
    """Of a FIFO between kernels: the power of two that holds what the stages need."""
    return max(LEAST_DEPTH, 1 << (fifo.depth - 1).bit_length())
