"""Keys of graphs that flow through an image's kernel in stages, and what these stages are.

A value is of each element (a row is `length` of them), or of a row. Elements travel in beats of
`lanes`, a row's last one filled up. A stage is a process: it reads one operand, computes all calls
of a kind that need equally many folds and transforms before them, folds, transforms rows, or writes
one result. FIFOs join them: one for each value and each stage that takes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..dtypes import dtype
from .fused import FusedKey
from .holes import wide_of
from .key import LINEAR, Port
from .portable import AGAIN, EACH, EVERY_ROW, OF_ROW, ONE, ROWS, digest
from .transform import Course, Transform
from .unit import Unit

# Operands that go through their ports in beats.
WIDE = (ROWS, EVERY_ROW, EACH, AGAIN)
# States of a fold side by side, so that a sum is met again when the addition before is done.
STATES = 8
# Bytes of a block's rows that are kept on the chip; of more, each block reads them anew.
MOST_KEPT = 1 << 20
# Beats that a FIFO holds beyond those for which its reader waits, and a stage's own latency.
SLACK, LATENCY = 32, 16
LOAD, ELEMENTS, OF_ROWS, FOLD, STORE = "load", "elements", "of_rows", "fold", "store"
TRANSFORM = "transform"


@dataclass(frozen=True)
class StagedKey(FusedKey):
    """A graph over any number of rows of `length` elements, of blocks of `period` rows each where
    operands lie so.

    Ports are of the kinds above. `per_row` and the skeleton are as they follow from these. Calls
    are units of elements, of what is of a row, transforms of whole rows (transform.py), or folds of
    these, whose order is this kernel's own: beat k of a row goes into state k % 8.
    """

    length: int = 1
    period: int = 1

    @cached_property
    def entry(self) -> str:
        """The kernel's name in images: what it is called, and the digest of its graph file."""
        return f"ft_{self.name}_staged_{digest(self)[:16]}"

    @property
    def file(self) -> str:
        """What its graph file is called where nobody gave it a name."""
        return f"{self.name[:16]}_{digest(self)[:8]}.json"

    def kept(self, p: Port) -> int:
        """The beats of an input that stay in local memory, to come again."""
        if p.kind in (EVERY_ROW, EACH):
            return self.beats
        size = self.period * self.beats
        fits = size * self.lanes * p.dtype.itemsize <= MOST_KEPT
        return size if p.kind == AGAIN and fits else 0

    @property
    def beats(self) -> int:
        """Of a row."""
        return -(-self.length // self.lanes)

    @property
    def states(self) -> int:
        """Of a fold side by side."""
        return min(STATES, self.beats)

    @cached_property
    def of_row(self) -> tuple[bool, ...]:
        """Of each value whether it is a row's."""
        rows = [p.kind in (OF_ROW, ONE) for p in self.ins]
        for call in self.calls:
            row = call.unit.reduction is not None or all(rows[v] for v in call.takes)
            rows += [row] * len(call.unit.outs)
        return tuple(rows)

    @cached_property
    def level(self) -> tuple[int, ...]:
        """Of each value how many folds and transforms it waits for, one after another."""
        levels = [0] * len(self.ins)
        for call in self.calls:
            level = max((levels[v] for v in call.takes), default=0)
            levels += [level + (kind_of(call.unit) != ELEMENTS)] * len(call.unit.outs)
        return tuple(levels)

    @property
    def transforms(self) -> list[Transform]:
        """The units that transform rows."""
        return [u for u in self.units if isinstance(u, Transform)]

    @property
    def course(self) -> Course:
        """How transforms go."""
        return Course(self.length, self.lanes)


def kind_of(unit: Unit) -> str:
    """Of which kind a stage of elements is that calls a unit."""
    if isinstance(unit, Transform):
        return TRANSFORM
    return ELEMENTS if unit.reduction is None else FOLD


@dataclass(frozen=True)
class Stage:
    """A process: `calls` by their numbers, or the operand (`port`) that it reads or writes. It
    takes values by FIFOs and gives what it computes to those that want it."""

    name: str
    kind: str
    calls: tuple[int, ...] = ()
    port: int = -1
    takes: tuple[int, ...] = ()
    gives: tuple[int, ...] = ()


@dataclass(frozen=True)
class Fifo:
    """A value on its way from one stage to another, by their places; `depth` in beats, or rows."""

    value: int
    source: int
    target: int
    depth: int
    name: str


@dataclass(frozen=True)
class Stages:
    """The stages of a key, in an order in which each follows those that it takes from."""

    key: StagedKey

    @cached_property
    def in_order(self) -> tuple[Stage, ...]:
        """The stages."""
        key = self.key
        loads = [Stage(f"load_in_{k}", LOAD, port=k, gives=(k,)) for k in range(len(key.ins))]
        stores = [Stage(f"store_out{k}", STORE, port=k, takes=(v,)) for k, v in enumerate(key.gives)]
        return (*loads, *self._computing(), *stores)

    def _computing(self) -> Iterator[Stage]:
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

    def _stage(self, name: str, kind: str, calls: tuple[int, ...]) -> Stage:
        key = self.key
        own = [v for k in calls for v in self.gives(k)]
        takes = [v for k in calls for v in key.calls[k].takes if v not in own]
        return Stage(name, kind, calls, -1, tuple(dict.fromkeys(takes)), tuple(own))

    def gives(self, k: int) -> range:
        """The values that call k gives."""
        first = self.key.first(k)
        return range(first, first + len(self.key.calls[k].unit.outs))

    @cached_property
    def fifos(self) -> tuple[Fifo, ...]:
        """One for each value and each stage that takes it, as deep as that is late. Who reads an
        operand for one stage alone waits until that goes on."""
        key, fifos = self.key, []
        source = {v: k for k, stage in enumerate(self.in_order) for v in stage.gives}
        taken = Counter(v for stage in self.in_order for v in stage.takes)
        late = [0] * len(self.in_order)  # beats that have come in when the first goes out
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

    def _own(self, stage: Stage) -> int:
        """Beats that a stage takes before it gives one, besides its latency."""
        if stage.kind == FOLD:
            return self.key.beats + self.tree
        if stage.kind == TRANSFORM:
            return self.key.course.behind + self.key.course.latency
        return 0

    @property
    def tree(self) -> int:
        """Cycles in which a row's states become one."""
        levels = (self.key.states - 1).bit_length() + (self.key.lanes - 1).bit_length()
        return self.key.states + 8 * levels

    def into(self, k: int) -> list[Fifo]:
        """The FIFOs that stage k reads."""
        return [f for f in self.fifos if f.target == k]

    def out_of(self, k: int, value: int) -> list[Fifo]:
        """Those that stage k writes a value to."""
        return [f for f in self.fifos if f.source == k and f.value == value]

    def bits(self, value: int) -> int:
        """Of a value in a FIFO."""
        size = 8 * _travels(self.key.dtypes[value])
        return size if self.key.of_row[value] else size * self.key.lanes

    @property
    def fifo_bytes(self) -> int:
        """What all FIFOs hold."""
        return sum(f.depth * self.bits(f.value) for f in self.fifos) // 8


def _travels(of: dtype) -> int:
    """Bytes of an element between stages: halves are floats there."""
    return max(of.itemsize, 4) if of.name == "float16" else of.itemsize


def value_type(of: dtype) -> str:
    """The C type of a value between stages."""
    p = Port(of, LINEAR)
    return f"ft_c{wide_of(p)}" if of.is_complex else wide_of(p)
