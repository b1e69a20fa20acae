"""The workload of a launch: loops, memory traffic, ports and operator latencies for the model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil, prod
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..dtypes import dtype
from ..iterator.shape import contiguous_strides
from .source import constant

# Cycles of one operator at 300 MHz on UltraScale+, by the names that Vitis HLS gives its cores
# there (fadd_..._7_full_dsp, fmul_..._4_max_dsp, dadd_..._8_full_dsp, dmul_..._8_max_dsp). The
# model uses them for every clock, though slower clocks need fewer cycles.
CYCLES = {
    "float": {"add": 7, "mul": 4, "compare": 2, "div": 16},
    "double": {"add": 8, "mul": 8, "compare": 2, "div": 31},
    "integer": {"add": 1, "mul": 3, "compare": 1, "div": 36},
}
# Minimum cycles of a function of hls_math.h: a square root takes as long as a division, others
# longer.
FUNCTION_CYCLES = {"float": 16, "double": 31}
# A division of 32-bit integers takes one cycle per bit and a few more.
DIVISION_CYCLES = CYCLES["integer"]["div"]
# Pipeline depth in cycles if the model does not count the op's own operators: an addition takes 7,
# an exponential about 20. Only the pipeline fill depends on PIPELINE_DEPTH.
PIPELINE_DEPTH = 30


def operator_cycles(dtype: dtype) -> dict[str, int]:
    """Returns the cycles of each operator on a dtype; for complex dtypes, on one part."""
    real = dtype.compute.to_real() if dtype.is_complex else dtype.compute
    if real.kind != "f":
        return CYCLES["integer"]
    return CYCLES["double" if real.itemsize == 8 else "float"]


def distance(recurrence: int) -> int:
    """Returns the number of iterations after which a state in local memory may be used again at
    initiation interval 1, if its update takes `recurrence` cycles."""
    return recurrence + 1  # the write takes a cycle


def interval(recurrence: int, between: int) -> int:
    """Returns the initiation interval of a loop that uses a result again `between` iterations
    later, if computing it takes `recurrence` cycles."""
    return -(-distance(recurrence) // between)


# A binary operator, a sign, or a function name; constants `K(...)` do not match.
_OPERATION = re.compile(r"(?<=[\w)] )[-+*/](?= )|(?<![\w)] )-(?=[a-z(])|\b(?!K\()[a-z]\w*(?=\()")


def arithmetic(text: str) -> int:
    """Returns the operations per element in an op's expression, a function call counted as 1:
    1 for "exp(a)", 2 for "a + b * alpha"."""
    return len(_OPERATION.findall(text))


# Default port width in bytes; inventories choose lanes to fill the width.
PORT_BYTES = 64
# Memory latency in cycles, and the outstanding requests of a port that hide it.
MEMORY_LATENCY, OUTSTANDING = 64, 16
# Block RAM buffers the outstanding requests, so wide ports have fewer: 512 beats of 512 bits, the
# depth of a block RAM, in eight block RAMs.
OUTSTANDING_BYTES = 32768
# AXI's limits for one burst.
BURST_BYTES, BURST_BEATS = 4096, 256
# Single elements or beats at unpredictable addresses never burst. Such ports have as many
# outstanding requests as the latency has cycles, with short bursts, in the same memory.
SHORT_BEATS, SHORT_OUTSTANDING = 16, 64


def requests(width: int, short: bool) -> tuple[int, int]:
    """Returns (beats of the longest burst, outstanding bursts) of a port of `width` bytes."""
    if short:
        beats = OUTSTANDING_BYTES // (SHORT_OUTSTANDING * width)
        return min(SHORT_BEATS, beats), SHORT_OUTSTANDING
    beats = min(BURST_BYTES // width, BURST_BEATS)
    return beats, min(OUTSTANDING, OUTSTANDING_BYTES // (beats * width))


def block_beats(widest: int, lanes: int) -> int:
    """Returns the beats of a block in local memory; `widest` is the bytes of a port's widest
    element.

    A block holds one maximal burst: AXI bursts must not cross a 4 KiB boundary.
    """
    return BURST_BYTES // (widest * lanes)


Ints = tuple[int, ...]
# Structure of a "rows" kernel with a member that scatters: all members write element by element
# (hls/vitis/rows.cpp).
SCATTERS = "scatters"
# Structure of kernels of single elements whose operands of one width share a port.
COMPACT = "compact"


class KernelLaunch(NamedTuple):
    """One launch: the kernel's key, and the number of compute units.

    `n` is the size if the skeleton has no geometry buffer; other skeletons have a `geometry`.
    `structure` is the data movement of a map, as in `toolchain.group.KernelGroup`, or SCATTERS.
    """

    key: Any  # of the skeleton's own type
    units: int
    n: int = 0
    geometry: Ints = ()
    structure: str = "dataflow"

    def slab(self, size: int, unit: int) -> tuple[int, int]:
        """Returns the slab [begin, end) of [0, size) of a compute unit, as `ft_slab` in kernels."""
        return size * unit // self.units, size * (unit + 1) // self.units


class PipelinedLoop(NamedTuple):
    """A pipelined loop of one compute unit, named by its label.

        trips: iterations in all
        entries: how often the loop starts with an empty pipeline
        interval: initiation interval; above 1 if a sum depends on the previous sum
        reads: its first iteration waits for memory
        computes: its pipeline contains the op's arithmetic

    Loops of one `stage` run one after another; stages run at the same time, joined by FIFOs. A step
    outside of the loops, such as the end of a row, counts as a loop of its own.
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
        """Cycles of the iterations, without the pipeline fill."""
        return self.trips * self.interval

    def more(self, trips: int, entries: int) -> PipelinedLoop:
        """Returns the loop with `trips` more iterations and `entries` more starts."""
        return self._replace(trips=self.trips + trips, entries=self.entries + entries)


class LocalMemory(NamedTuple):
    """Local memory of a kernel: the number of words, bits of a word, the number of copies, and
    whether the source requests UltraRAM, which has no initial contents."""

    words: int
    bits: int
    copies: int = 1
    uram: bool = False

    @property
    def block_rams(self) -> float:
        """Number of block RAMs of 36 Kb that the memory takes."""
        return ceil(self.bits / 36) * ceil(self.words / 512) / 2 * self.copies

    @property
    def ultra_rams(self) -> int:
        """Number of UltraRAMs of 288 Kb that the memory takes."""
        return ceil(self.bits / 72) * ceil(self.words / 4096) * self.copies


class Access(NamedTuple):
    """One operand in one launch, for all compute units together.

    nbytes: bytes that the memory bank moves
    beats: beats on the port
    burst: most beats of a request; 0: the port's setting
    crossing: bytes over the link if the operand is not on the board
    short: True if the port is configured for short bursts (`requests`)
    """

    name: str
    write: bool
    nbytes: int
    beats: int
    burst: int
    crossing: int
    short: bool = False


def split_values(values: Ints, size: int, count: int) -> Iterator[Ints]:
    """Returns the first `count` consecutive slices of `size` numbers."""
    return (values[k * size : (k + 1) * size] for k in range(count))


def members_below(end: int, period: int, first_member: int, end_member: int) -> int:
    """Counts the i in [0, end) with first_member <= i % period < end_member."""
    whole_periods, rest = divmod(end, period)
    return whole_periods * (end_member - first_member) + min(max(rest - first_member, 0), end_member - first_member)


def members_in(begin: int, end: int, period: int, first_member: int, end_member: int) -> int:
    """Counts the i in [begin, end) with first_member <= i % period < end_member."""
    return members_below(end, period, first_member, end_member) - members_below(begin, period, first_member, end_member)


H = TypeVar("H")
W = TypeVar("W")


def grid_blocks(
    begin: int, end: int, down: int, across: int, heights: tuple[H, H], widths: tuple[W, W]
) -> list[tuple[int, H, W]]:
    """Returns (count, height, width) of the blocks [begin, end) of matrices that are cut into `down`
    times `across` blocks, counted row by row. `heights` and `widths` are those of most blocks, and of
    the blocks at the lower and the right edge."""
    period = down * across
    below = members_in(begin, end, period, period - across, period)
    right = members_in(begin, end, across, across - 1, across)
    corner = members_in(begin, end, period, period - 1, period)
    counts = (end - begin - below - right + corner, right - corner, below - corner, corner)
    return [(n, heights[k // 2], widths[k % 2]) for k, n in enumerate(counts)]


def pieces(inner: int, chunk: int, chunks: int, begin: int, end: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Counts the chunks that contain numbers of [begin, end). Each row of `inner` elements is cut
    into `chunks` chunks of `chunk` elements, of which the last may be shorter. Returns (count,
    length) of the whole chunks, then of the last chunks."""
    last = members_in(begin, end, chunks, chunks - 1, chunks)
    return (end - begin - last, chunk), (last, inner - (chunks - 1) * chunk)


def distinct_elements(shape: Ints, strides: Ints) -> int:
    """Returns the distinct elements that the loop nest `shape` accesses; stride 0 repeats."""
    return prod(n for n, s in zip(shape, strides) if s)


def _looked_up(low: np.ndarray, high: np.ndarray) -> tuple[int, int]:
    """Returns (loop iterations, beats read) for pieces that span the beats `low` to `high` each.
    Models `ft_plan_read`, which does not read the last two beats again."""
    before = np.concatenate([[-1], low[:-1]]), np.concatenate([[-1], high[:-1]])
    has_low = (low == before[0]) | (low == before[1])
    has_high = (high == before[0]) | (high == before[1]) | (high == low)
    two = ~has_low & (high != low)
    reads = (~has_low).sum() + (two | (has_low & ~has_high)).sum()
    return len(low) + int(two.sum()), int(reads)


class RowPieces(NamedTuple):
    """A compute unit's part of rows whose length is not a multiple of a beat
    (hls/vitis/row_pieces.h): `elements` results from `first` on."""

    first: int
    elements: int
    inner: int
    lanes: int
    shape: tuple[int, ...]  # of the rows

    def where(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Returns the row, the first column and the element count of each piece."""
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
        """Returns (loop iterations, beats read) of an operand that begins on a beat. `ft_plan_read`
        (hls/vitis/row_pieces.h) reads a piece that spans two beats in two iterations."""
        rows, columns, sizes = self.where()
        at = columns * step
        for n, stride in zip(self.shape[::-1], strides[::-1]):
            at, rows = at + rows % n * stride, rows // n
        return _looked_up(at // self.lanes, (at + (sizes - 1) * step) // self.lanes)

    def in_line(self, strides: tuple[int, ...], step: int) -> bool:
        """True if an operand's rows are contiguous, so that all beats are one burst."""
        return step == 1 and (*strides, 1) == contiguous_strides((*self.shape, self.inner))


class InterleavedRows(NamedTuple):
    """A compute unit's part of interleaved short rows (hls/vitis/interleaved_rows.h): rows [begin, end) of
    `inner` elements, `stride` elements apart."""

    begin: int
    end: int
    inner: int
    stride: int
    lanes: int

    @classmethod
    def of(cls, g: Any, k: int, begin: int, end: int, lanes: int) -> InterleavedRows:
        """Returns the rows [begin, end) of operand k in a reduction's geometry `g`."""
        return cls(begin, end, g.inner, g.kept_strides[k][0], lanes)

    @property
    def in_line(self) -> bool:
        """True if all accesses are one burst: each row is one piece, and rows are contiguous."""
        return self.inner <= self.lanes and self.stride == self.inner

    def looked_up(self) -> tuple[int, int]:
        """Returns (loop iterations, beats read) of rows that begin on a beat."""
        among = constant("vitis/interleaved_rows.h", "FT_INTERLEAVED_ROWS")
        rows, pieces = np.arange(self.end - self.begin), np.arange(-(-self.inner // self.lanes))
        # Order: block of rows, then piece, then row.
        row, piece = (x.ravel() for x in np.meshgrid(rows, pieces, indexing="ij"))
        order = np.lexsort((row, piece, row // among))
        row, piece = row[order], piece[order]
        at = (self.begin + row) * self.stride + piece * self.lanes
        sizes = np.minimum(self.lanes, self.inner - piece * self.lanes)
        return _looked_up(at // self.lanes, (at + sizes - 1) // self.lanes)

    def steps(self) -> int:
        """Returns the loop iterations that assemble the pieces of rows."""
        return self.looked_up()[0]

    def reads(self) -> int:
        """Returns the beats read."""
        return self.looked_up()[1]
