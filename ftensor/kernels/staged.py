"""Keys of graphs as dataflow stages, in one kernel or in a kernel per stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from math import gcd
from typing import NamedTuple

from ..dtypes import dtype
from .element_function import ElementFunction
from .fused import Call, FusedKey
from .graph_text import AGAIN, EACH, EVERY_ROW, OF_ROW, ONE, ROWS, digest, text
from .holes import wide_of
from .key import LINEAR, Port
from .transform import Course, RowTransform, refusal

# Access kinds that ports transfer in beats.
WIDE = (ROWS, EVERY_ROW, EACH, AGAIN)
# Parallel states of a fold, so that an addition to a state ends before the next addition to it.
STATES = 8
# Most bytes of a block's rows in local memory; every block reads larger operands again.
MOST_KEPT = 1 << 20
# FIFO depth in beats beyond the reader's delay; latency of a stage.
SLACK, LATENCY = 32, 16
LOAD, ELEMENTS, OF_ROWS, FOLD, STORE = "load", "elements", "of_rows", "fold", "store"
TRANSFORM = "transform"


@dataclass(frozen=True)
class StagedKey(FusedKey):
    """A graph over any number of rows of `length` elements. With operands of kind EACH or AGAIN,
    `period` rows form a block.

    The ports have the access kinds of transform.py, from which the per-row values follow. Units
    compute per element or per row, transform whole rows (transform.py), or fold rows. A fold has an
    order of its own: beat k of a row goes into state k % 8.
    """

    length: int = 1
    period: int = 1

    @cached_property
    def entry(self) -> str:
        """The kernel's name in images: the key's name and the digest of the graph file."""
        return f"ft_{self.name}_staged_{digest(self)[:16]}"

    @property
    def file(self) -> str:
        """Default name of the graph file."""
        return f"{self.name[:16]}_{digest(self)[:8]}.json"

    def kept(self, p: Port) -> int:
        """Returns the beats of an input that local memory keeps for reuse."""
        if p.kind in (EVERY_ROW, EACH):
            return self.beats
        size = self.period * self.beats
        fits = size * self.lanes * p.dtype.itemsize <= MOST_KEPT
        return size if p.kind == AGAIN and fits else 0

    @property
    def beats(self) -> int:
        """Beats of a row."""
        return -(-self.length // self.lanes)

    @property
    def together(self) -> int:
        """The least number of rows that begin and end on beats and on blocks. Compute units share
        rows in multiples of it."""
        return max(self.lanes // gcd(self.length, self.lanes), self.period)

    @property
    def states(self) -> int:
        """Parallel states of a fold."""
        return min(STATES, self.beats)

    @cached_property
    def of_row(self) -> tuple[bool, ...]:
        """For each value, True if it has one element per row."""
        rows = [p.kind in (OF_ROW, ONE) for p in self.ins]
        for call in self.calls:
            row = call.unit.reduction is not None or all(rows[v] for v in call.takes)
            rows += [row] * len(call.unit.outs)
        return tuple(rows)

    @cached_property
    def level(self) -> tuple[int, ...]:
        """For each value, the folds and transforms on its longest dependence path."""
        levels = [0] * len(self.ins)
        for call in self.calls:
            level = max((levels[v] for v in call.takes), default=0)
            levels += [level + (kind_of(call.unit) != ELEMENTS)] * len(call.unit.outs)
        return tuple(levels)

    @property
    def transforms(self) -> list[RowTransform]:
        """The units that transform rows."""
        return [u for u in self.units if isinstance(u, RowTransform)]

    @property
    def course(self) -> Course:
        """Beat schedule of the transforms."""
        return Course(self.length, self.lanes)


def lanes_of(key: StagedKey) -> tuple[int, ...]:
    """Returns the lanes with which a graph can be built, the key's own first, then fewer."""
    lanes = [key.lanes >> k for k in range(key.lanes.bit_length())]
    return tuple(n for n in lanes if not key.transforms or not refusal(key.length, n))


def kind_of(unit: ElementFunction) -> str:
    """Returns the kind of the dataflow stage that calls `unit`: TRANSFORM, ELEMENTS or FOLD."""
    if isinstance(unit, RowTransform):
        return TRANSFORM
    return ELEMENTS if unit.reduction is None else FOLD


@dataclass(frozen=True)
class DataflowStage:
    """A dataflow stage: computes `calls` (indices of the key's calls), or loads or stores the
    operand `port`. FIFOs carry the values `takes` in and the values `gives` out."""

    name: str
    kind: str
    calls: tuple[int, ...] = ()
    port: int = -1
    takes: tuple[int, ...] = ()
    gives: tuple[int, ...] = ()


@dataclass(frozen=True)
class Fifo:
    """A FIFO of a value from stage `source` to stage `target`; `depth` in beats, or in rows."""

    value: int
    source: int
    target: int
    depth: int
    name: str


@dataclass(frozen=True)
class Stages:
    """The dataflow stages of a key, in topological order."""

    key: StagedKey

    @cached_property
    def in_order(self) -> tuple[DataflowStage, ...]:
        """The dataflow stages: loads, computing stages, stores."""
        key = self.key
        loads = [DataflowStage(f"load_in_{k}", LOAD, port=k, gives=(k,)) for k in range(len(key.ins))]
        stores = [DataflowStage(f"store_out{k}", STORE, port=k, takes=(v,)) for k, v in enumerate(key.gives)]
        return (*loads, *self._computing(), *stores)

    def _computing(self) -> Iterator[DataflowStage]:
        key = self.key
        level = [key.level[key.first(k)] for k in range(len(key.calls))]
        kinds = [kind_of(call.unit) for call in key.calls]
        rows = [key.of_row[key.first(k)] for k in range(len(key.calls))]
        for n in range(max(level, default=0) + 1):
            mine = [k for k, of in enumerate(level) if of == n]
            for k in mine:
                if kinds[k] != ELEMENTS:
                    unit = key.calls[k].unit
                    yield self._stage(f"{kinds[k]}_{k}_{unit.name}", kinds[k], (k,))
            for kind, wanted in ((OF_ROWS, True), (ELEMENTS, False)):
                calls = tuple([k for k in mine if kinds[k] == ELEMENTS and rows[k] == wanted])
                if calls:
                    yield self._stage(f"{kind}_{n}", kind, calls)

    def _stage(self, name: str, kind: str, calls: tuple[int, ...]) -> DataflowStage:
        key = self.key
        own = [v for k in calls for v in self.gives(k)]
        takes = [v for k in calls for v in key.calls[k].takes if v not in own]
        return DataflowStage(name, kind, calls, -1, tuple(dict.fromkeys(takes)), tuple(own))

    def gives(self, k: int) -> range:
        """Returns the values that call k computes."""
        first = self.key.first(k)
        return range(first, first + len(self.key.calls[k].unit.outs))

    @cached_property
    def fifos(self) -> tuple[Fifo, ...]:
        """One FIFO for each value and each stage that reads the value; the depth covers the delay
        of the reader. A load with a single reader stalls with the reader and adds no delay."""
        key, fifos = self.key, []
        source = {v: k for k, stage in enumerate(self.in_order) for v in stage.gives}
        taken = Counter(v for stage in self.in_order for v in stage.takes)
        late = [0] * len(self.in_order)  # input beats before the first output beat
        for k, stage in enumerate(self.in_order):
            begins = max((late[source[v]] for v in stage.takes), default=0)
            late[k] = begins + LATENCY * (stage.kind != LOAD)
            late[k] += self._own(stage)
            for v in stage.takes:
                alone = taken[v] == 1 and self.in_order[source[v]].kind == LOAD
                waits = 0 if alone else begins - late[source[v]]
                waits = -(-waits // key.beats) if key.of_row[v] else waits
                name = f"v{v}_{stage.name}"
                fifos.append(Fifo(v, source[v], k, waits + SLACK, name))
        return tuple(fifos)

    def _own(self, stage: DataflowStage) -> int:
        """Returns the delay of a stage's first output beat, besides LATENCY."""
        if stage.kind == FOLD:
            return self.key.beats + self.tree
        if stage.kind == TRANSFORM:
            return self.key.course.behind + self.key.course.latency
        return 0

    @property
    def tree(self) -> int:
        """Cycles to combine the states of a row."""
        levels = (self.key.states - 1).bit_length() + (self.key.lanes - 1).bit_length()
        return self.key.states + 8 * levels

    def into(self, k: int) -> list[Fifo]:
        """Returns the FIFOs that stage k reads."""
        return [f for f in self.fifos if f.target == k]

    def out_of(self, k: int, value: int) -> list[Fifo]:
        """Returns the FIFOs that stage k writes `value` to."""
        return [f for f in self.fifos if f.source == k and f.value == value]

    def bits(self, value: int) -> int:
        """Returns the bits of a FIFO word of `value`."""
        size = 8 * _travels(self.key.dtypes[value])
        return size if self.key.of_row[value] else size * self.key.lanes

    @property
    def fifo_bytes(self) -> int:
        """Capacity of all FIFOs in bytes."""
        return sum(f.depth * self.bits(f.value) for f in self.fifos) // 8


def _travels(of: dtype) -> int:
    """Returns the bytes of an element in a FIFO; float16 elements are floats there."""
    return max(of.itemsize, 4) if of.name == "float16" else of.itemsize


def value_type(of: dtype) -> str:
    """Returns the C type of a value in a FIFO."""
    p = Port(of, LINEAR)
    return f"ft_c{wide_of(p)}" if of.is_complex else wide_of(p)


BEGIN = "begin"
# Least and most depth of a FIFO between kernels, a power of two (PG085, AXI4-Stream FIFO).
LEAST_DEPTH, MOST_DEPTH = 16, 1 << 15


@dataclass(frozen=True)
class StageKey:
    """A dataflow stage as a kernel.

    `of` is the stage as a graph of its own, whose row operands are streams; for the BEGIN kernel,
    the whole graph. `part` is the kind of the stage, or BEGIN. `tells` is empty except in the BEGIN
    kernel: for each computing kernel, the indices of its scalar arguments. `serves` is the graph
    for which the host starts the kernel; None for free-running kernels. `port` names the kernel
    argument of that graph that the kernel accesses.
    """

    of: StagedKey
    part: str
    tells: tuple[tuple[int, ...], ...] = ()
    serves: StagedKey | None = None
    port: str = ""

    skeleton = "linked"

    @property
    def lanes(self) -> int:
        """Lanes of a beat."""
        return self.of.lanes

    @cached_property
    def entry(self) -> str:
        """The kernel's name in images: the graph's entry for the BEGIN kernel; that entry and
        "/port" for other kernels that the host starts; "ft_" and `name` for free-running ones."""
        if self.serves is None:
            return f"ft_{self.name}"
        return self.serves.entry + (f"/{self.port}" if self.port else "")

    @cached_property
    def name(self) -> str:
        """The name of a free-running kernel: its part, and a digest of part and graph text."""
        return f"{self.part}_{sha256((self.part + text(self.of)).encode()).hexdigest()[:12]}"

    @cached_property
    def stages(self) -> Stages:
        """The stages of the kernel's own graph."""
        return Stages(self.of)

    @cached_property
    def place(self) -> int:
        """The index of the stage in the kernel's own graph."""
        stages = self.stages.in_order
        return next(k for k, stage in enumerate(stages) if self.part == stage.kind)

    @property
    def stage(self) -> DataflowStage:
        """The stage in the kernel's own graph."""
        return self.stages.in_order[self.place]

    @cached_property
    def streams(self) -> tuple[Fifo, ...]:
        """The FIFOs that the kernel reads, then the FIFOs that it writes, in the order of
        values."""
        if self.part == BEGIN:
            return ()
        gives = [f for v in self.stage.gives for f in self.stages.out_of(self.place, v)]
        return (*self.stages.into(self.place), *gives)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the stream ports; the port for row count and scalars is first."""
        if self.part == BEGIN:
            return tuple(f"told_{k}" for k in range(len(self.tells)))
        first = () if self.serves is not None else ("told",)
        return (*first, *(f.name for f in self.streams))


class Join(NamedTuple):
    """A connection of two stream ports, each as (kernel index, port name). The stream carries
    `value` (-1: row count and scalars). `name` is the name of the FIFO in the graph."""

    name: str
    source: tuple[int, str]
    target: tuple[int, str]
    depth: int
    value: int


@dataclass(frozen=True)
class Linked:
    """A graph as kernels: the BEGIN kernel, then one kernel for each stage, in stage order."""

    key: StagedKey

    @cached_property
    def stages(self) -> Stages:
        """The stages of the whole graph."""
        return Stages(self.key)

    @cached_property
    def computing(self) -> tuple[int, ...]:
        """The indices of the stages without a memory port."""
        return tuple(k for k, s in enumerate(self.stages.in_order) if s.kind not in (LOAD, STORE))

    @cached_property
    def parts(self) -> tuple[StageKey, ...]:
        """The kernels, in the order of the class."""
        numbers = tuple(self._numbers(self.stages.in_order[k]) for k in self.computing)
        first = StageKey(self.key, BEGIN, numbers, self.key)
        return (first, *(self._part(k) for k in range(len(self.stages.in_order))))

    def _numbers(self, stage: DataflowStage) -> tuple[int, ...]:
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
        """Connections from the BEGIN kernel to computing kernels, then the graph's FIFOs in
        order."""
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
    """Returns the depth of a FIFO between kernels: `fifo.depth` rounded up to a power of two."""
    return max(LEAST_DEPTH, 1 << (fifo.depth - 1).bit_length())
