"""The workload of a launch: loops, memory traffic, ports and operator latencies for the model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..dtypes import dtype
from ..iterator.shape import contiguous_strides
from .source import constant

# Cycles of one operator at 300 MHz on UltraScale+, as Vitis HLS names its cores there
# (fadd_..._7_full_dsp, fmul_..._4_max_dsp, dadd_..._8_full_dsp, dmul_..._8_max_dsp): the model
# takes them for every clock, though a slower one needs fewer.
CYCLES = {
    "float": {"add": 7, "mul": 4, "compare": 2, "div": 16},
    "double": {"add": 8, "mul": 8, "compare": 2, "div": 31},
    "integer": {"add": 1, "mul": 3, "compare": 1, "div": 36},
}
# The least of a function of hls_math.h: a square root takes as long as a quotient, others longer.
FUNCTION = {"float": 16, "double": 31}
# A division of 32-bit integers takes a cycle for each bit and a few more.
DIVIDE = CYCLES["integer"]["div"]
# From an element's arrival to its result, where the op's own operators are not looked at: an
# addition takes 7, an exponential about 20. Only the filling of a pipeline depends on it.
DEPTH = 30


def operator_cycles(of: dtype) -> dict[str, int]:
    """Cycles of an addition, a product and a comparison of (the parts of) a dtype."""
    real = of.compute.to_real() if of.is_complex else of.compute
    if real.kind != "f":
        return CYCLES["integer"]
    return CYCLES["double" if real.itemsize == 8 else "float"]


def distance(recurrence: int) -> int:
    """Steps of a pipeline with interval 1 until a state in local memory may be met again, where
    the next value can be folded into it after `recurrence` cycles."""
    return recurrence + 1  # writing it takes a cycle


def interval(recurrence: int, between: int) -> int:
    """Cycles from step to step where such a state is met again `between` steps later."""
    return -(-distance(recurrence) // between)


# An operator between two values, a sign before one, or the name of a function; no constant.
_OPERATION = re.compile(r"(?<=[\w)] )[-+*/](?= )|(?<![\w)] )-(?=[a-z(])|\b(?!K\()[a-z]\w*(?=\()")


def arithmetic(text: str) -> int:
    """How many operations an op's text has for an element, the call of a function counted as one:
    1 for "exp(a)", 2 for "a + b * alpha"."""
    return len(_OPERATION.findall(text))


# The width of a port in bytes, which inventories fill unless told otherwise.
PORT_BYTES = 64
# A port has so many requests under way: enough to hide the memory's latency of some 64 cycles.
LATENCY, OUTSTANDING = 64, 16
# What may be under way is kept in block RAM, so wide ports ask for less: 512 beats of 512 bits, as
# deep as a block RAM is, for eight of them.
OUTSTANDING_BYTES = 32768
# AXI's limits for one burst.
BURST_BYTES, BURST_BEATS = 4096, 256
# Where elements or beats come one by one, from addresses that no compiler foresees, nothing bursts:
# as many requests as the latency has cycles, of short bursts, for no more memory.
SHORT_BEATS, SHORT_OUTSTANDING = 16, 64


def requests(width: int, short: bool) -> tuple[int, int]:
    """(beats of the longest burst, bursts under way) on a port of `width` bytes."""
    if short:
        beats = OUTSTANDING_BYTES // (SHORT_OUTSTANDING * width)
        return min(SHORT_BEATS, beats), SHORT_OUTSTANDING
    beats = min(BURST_BYTES // width, BURST_BEATS)
    return beats, min(OUTSTANDING, OUTSTANDING_BYTES // (beats * width))


def block_beats(widest: int, lanes: int) -> int:
    """Beats of a block in local memory, where the widest element of a port has so many bytes.

    A block holds what one burst may carry: AXI's bursts end at every 4 KiB.
    """
    return BURST_BYTES // (widest * lanes)


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


class PipelinedLoop(NamedTuple):
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

    def more(self, trips: int, entries: int) -> PipelinedLoop:
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
    is made for few elements at a time (`requests` in workload.py).
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


def _looked_up(low: np.ndarray, high: np.ndarray) -> tuple[int, int]:
    """(steps, beats read) of pieces that lie in these beats: as `ft_look` goes."""
    before = np.concatenate([[-1], low[:-1]]), np.concatenate([[-1], high[:-1]])
    has_low = (low == before[0]) | (low == before[1])
    has_high = (high == before[0]) | (high == before[1]) | (high == low)
    two = ~has_low & (high != low)
    reads = (~has_low).sum() + (two | (has_low & ~has_high)).sum()
    return len(low) + int(two.sum()), int(reads)


class Pieces(NamedTuple):
    """A unit's part of rows that are no whole beats (hls/vitis/pieces.h): `elements` of the
    results, from `first` on."""

    first: int
    elements: int
    inner: int
    lanes: int
    shape: tuple[int, ...]  # of the rows

    def where(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each piece's row, its first column, its elements."""
        first, last = self.first, self.first + self.elements
        rows = np.arange(first // self.inner, -(-last // self.inner))
        columns = np.arange(0, self.inner, self.lanes)
        begin = np.where(rows == first // self.inner, first % self.inner, 0)
        end = np.minimum(self.inner, last - rows * self.inner)
        at = begin[:, None] + columns
        inside = at < end[:, None]
        sizes = np.minimum(self.lanes, end[:, None] - at)
        return np.broadcast_to(rows[:, None], at.shape)[inside], at[inside], sizes[inside]

    def steps(self, strides: tuple[int, ...], step: int) -> tuple[int, int]:
        """(steps, beats read) for an operand: as `ft_look` goes, from a beat's beginning on."""
        rows, columns, sizes = self.where()
        at = columns * step
        for n, stride in zip(self.shape[::-1], strides[::-1]):
            at, rows = at + rows % n * stride, rows // n
        return _looked_up(at // self.lanes, (at + (sizes - 1) * step) // self.lanes)

    def in_line(self, strides: tuple[int, ...], step: int) -> bool:
        """Whether an operand's rows follow each other, so that all beats are one burst."""
        return step == 1 and (*strides, 1) == contiguous_strides((*self.shape, self.inner))


class Turns(NamedTuple):
    """A unit's part of short rows that are folded in turns (hls/vitis/turns.h): rows [begin, end),
    `inner` elements of each, `stride` elements apart."""

    begin: int
    end: int
    inner: int
    stride: int
    lanes: int

    @classmethod
    def of(cls, g: Any, k: int, begin: int, end: int, lanes: int) -> Turns:
        """Those of operand k in a reduction's geometry."""
        return cls(begin, end, g.inner, g.kept_strides[k][0], lanes)

    @property
    def in_line(self) -> bool:
        """Whether all is one burst: a piece is a row, and they follow each other."""
        return self.inner <= self.lanes and self.stride == self.inner

    def looked_up(self) -> tuple[int, int]:
        """(steps, beats read), from a beat's beginning on."""
        among = constant("vitis/turns.h", "FT_TURNS")
        rows, pieces = np.arange(self.end - self.begin), np.arange(-(-self.inner // self.lanes))
        # Blocks of rows, in these all first pieces, then all second ones.
        row, piece = (x.ravel() for x in np.meshgrid(rows, pieces, indexing="ij"))
        order = np.lexsort((row, piece, row // among))
        row, piece = row[order], piece[order]
        at = (self.begin + row) * self.stride + piece * self.lanes
        sizes = np.minimum(self.lanes, self.inner - piece * self.lanes)
        return _looked_up(at // self.lanes, (at + sizes - 1) // self.lanes)

    def steps(self) -> int:
        """Steps in which the pieces are brought together."""
        return self.looked_up()[0]

    def reads(self) -> int:
        """Beats that are read."""
        return self.looked_up()[1]
