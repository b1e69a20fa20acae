"""The work of one launch in numbers: its loops and what it moves, as skeletons tell the model."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

Ints = tuple[int, ...]
# The structure of a kernel of rows of which a member scatters: all its members write element by
# element (hls/vitis/rows.cpp).
SCATTERS = "scatters"


class KernelLaunch(NamedTuple):
    """One launch: the key of its kernel, and over how many compute units it goes.

    `n` is the size where the skeleton takes no more than that; the others have a geometry.
    `structure` is how a map moves its data, as in `toolchain.group.Group`, or SCATTERS.
    """

    key: Any  # of the skeleton's own type
    units: int
    n: int = 0
    geometry: Ints = ()
    structure: str = "dataflow"

    def slab(self, size: int, unit: int) -> tuple[int, int]:
        """What compute unit `unit` takes of [0, size), as `ft_slab` in the kernels."""
        return size * unit // self.units, size * (unit + 1) // self.units


class Loop(NamedTuple):
    """A pipelined loop in one compute unit, by its label.

    `trips` iterations in all, started from an empty pipeline `entries` times; between two
    iterations lie at least `interval` cycles, because a sum waits for the one before. `reads`:
    its first iteration waits for memory; `computes`: its pipeline holds the op's arithmetic.
    Loops of one `stage` run one after another; stages run at the same time, joined by FIFOs.
    A step that stands outside of the loops, for the end of a row, counts as one of its own.
    """

    name: str
    trips: int
    entries: int
    interval: int = 1
    reads: bool = True
    computes: bool = True
    stage: str = ""

    @property
    def cycles(self) -> int:
        """Cycles of the iterations, without filling the pipeline."""
        return self.trips * self.interval

    def more(self, trips: int, entries: int) -> Loop:
        """The same loop with these added."""
        return self._replace(trips=self.trips + trips, entries=self.entries + entries)


class LocalMemory(NamedTuple):
    """Local memory of a kernel: words of so many bits, and how many such there are."""

    words: int
    bits: int
    copies: int = 1


class Access(NamedTuple):
    """One operand in one launch, all compute units together.

    `beats` is how often its port is used, `burst` how many beats one request brings at most
    (0: as many as the port's setting says), `nbytes` what is wanted of the bank, `crossing` the
    bytes that cross the link when the operand does not live on the board. `short`: the port
    is made for few elements at a time (`requests` in ports.py).
    """

    name: str
    write: bool
    nbytes: int
    beats: int
    burst: int
    crossing: int
    short: bool = False


def cut(numbers: Ints, size: int, count: int) -> Iterator[Ints]:
    """`count` tuples of `size` numbers that follow each other."""
    return (numbers[k * size : (k + 1) * size] for k in range(count))


def members_below(end: int, period: int, first: int, last: int) -> int:
    """How many i in [0, end) have first <= i % period < last."""
    whole, rest = divmod(end, period)
    return whole * (last - first) + min(max(rest - first, 0), last - first)


def members_in(begin: int, end: int, period: int, first: int, last: int) -> int:
    """How many i in [begin, end) have first <= i % period < last."""
    return members_below(end, period, first, last) - members_below(begin, period, first, last)


def pieces(inner: int, chunk: int, chunks: int, begin: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """(how many, how long) of the whole chunks in [begin, end), and of those that end a row."""
    last = members_in(begin, end, chunks, chunks - 1, chunks)
    return (end - begin - last, chunk), (last, inner - (chunks - 1) * chunk)


def distinct(shape: Ints, strides: Ints) -> int:
    """Elements that a walk over `shape` touches, where stride 0 repeats."""
    return prod(n for n, s in zip(shape, strides) if s)
