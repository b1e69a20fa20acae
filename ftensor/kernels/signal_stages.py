"""Stages that are no element functions, and the schedules of their beats: row filters, Fourier
transforms, windows of rows for stencils, and writes to a part of a plane."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import gcd

from ..dtypes import dtype
from .element_function import ElementFunction
from .key import VALUE
from .source import scalar
from .workload import CYCLES, LocalMemory

# The most taps: all of them are registers.
MAX_TAPS = 1024
# Dtypes of samples; taps have the dtype of the samples, or are real.
SAMPLES = ("float32", "complex64")


@dataclass(frozen=True)
class RowFilter(ElementFunction):
    """FIR filter of the signals in rows: result j of a signal is the sum of taps[k] * x[j * stride
    - before + k]; samples outside the signal are zero. A signal is `rows` rows, or all rows of a
    launch if `rows` is 0. A row has `stride` samples for each result. The body is empty, since a
    result depends on more than one element."""

    taps: int = 1
    stride: int = 1
    before: int = 0
    rows: int = 1


def row_filter(samples: dtype, tap: dtype, taps: int, stride: int, before: int, rows: int) -> RowFilter:
    """Returns the filter of signals of the dtype `samples`."""
    ins = ((samples, VALUE), (tap, VALUE))
    return RowFilter("fir", samples, ((samples, VALUE),), ins, (), taps=taps, stride=stride, before=before, rows=rows)


@dataclass(frozen=True)
class FilterSchedule:
    """Schedule of a filter in beats of `lanes` samples. A result sums `places` products, a power of
    two, with the taps at the last places. If the stride is a power of two and exceeds a beat, a
    result takes several cycles, its phases; otherwise a cycle computes one or several results. If
    it is no power of two, a result begins at any of a beat's samples, and some cycles compute one
    result less, or none."""

    row_filter: RowFilter
    lanes: int

    @property
    def is_even(self) -> bool:
        """True if the stride is a power of two: each result begins at the same sample of a beat, or at
        one of the same samples."""
        return self.row_filter.stride & (self.row_filter.stride - 1) == 0

    @property
    def cell(self) -> int:
        """The number of adjacent products that the phases of a result share."""
        return self.row_filter.stride if self.is_even else 1

    @property
    def apart(self) -> int:
        """The distance in samples between the places of a beat where results begin."""
        return self.row_filter.stride if self.is_even else gcd(self.row_filter.stride, self.lanes)

    @property
    def places(self) -> int:
        """Products that are summed for a result, padded to a power of two."""
        return max(self.cell, 1 << (self.row_filter.taps - 1).bit_length())

    @property
    def first(self) -> int:
        """The index of the product with the first tap; earlier products are padding."""
        return self.places - self.row_filter.taps

    @property
    def step(self) -> int:
        """The number of products per `cell` adjacent ones that one cycle computes."""
        return min(self.lanes, self.cell)

    @property
    def phases(self) -> int:
        """Cycles in which the products of one result are computed."""
        return self.cell // self.step

    @property
    def results(self) -> int:
        """The most results that are computed in one cycle."""
        return self.lanes // self.step if self.is_even else -(-self.lanes // self.row_filter.stride)

    @property
    def delay(self) -> int:
        """Delay in beats between the sample j * stride of result j and the last sample that the
        result needs."""
        return max(0, -(-(self.row_filter.taps - self.row_filter.before - self.apart) // self.lanes))

    @property
    def line(self) -> int:
        """Samples that the registers hold."""
        return self.lanes * (1 + self.delay) + self.first + self.row_filter.before

    @property
    def products(self) -> int:
        """Products that are computed in one cycle."""
        last = (self.phases - 1) * self.step
        places = [q * self.cell + last + k for q in range(self.places // self.cell) for k in range(self.step)]
        return self.results * sum(place >= self.first for place in places)

    @property
    def latency(self) -> int:
        """Latency of the operators in cycles."""
        return CYCLES["float"]["mul"] + CYCLES["float"]["add"] * (1 + self.places.bit_length())

    def operators(self) -> Counter[tuple[str, str]]:
        """Returns the parallel operators, by (operator, C type)."""
        (samples, _), (tap, _) = self.row_filter.ins
        assert samples is not None and tap is not None
        kind, parts = scalar(samples), 2 if samples.is_complex else 1
        both = parts * (2 if tap.is_complex else 1)
        sums = self.products - self.results + (self.results * (self.cell - 1) if self.phases > 1 else 0)
        counts = Counter({("mul", kind): both * self.products, ("add", kind): parts * sums})
        counts["add", kind] += (both - parts) * self.products
        # Samples outside the signal, and taps that rotate.
        counts["choose", kind] += parts * self.products + (self.places if self.phases > 1 else 0)
        if not self.is_even:  # samples from where a result begins, and results that wait for their beat
            begins = min(self.lanes, self.row_filter.stride) // self.apart
            read = self.row_filter.taps + (self.results - 1) * self.row_filter.stride
            counts["choose", kind] += parts * (read * (begins - 1) + (self.lanes + self.results - 1) * self.results)
        return counts


def filter_refusal(row_filter: RowFilter, length: int, lanes: int) -> str:
    """Returns the reason why no dataflow stage filters into rows of `length` results; "" if a stage
    does."""
    if not 1 <= row_filter.taps <= MAX_TAPS:
        return f"it has {row_filter.taps} taps, and stages at most {MAX_TAPS}"
    if row_filter.stride < 1:
        return f"its stride is {row_filter.stride}"
    if not 0 <= row_filter.before < row_filter.taps:
        return f"its {row_filter.before} zeros before a signal are more than {row_filter.taps} taps need"
    if length % lanes:
        return f"its rows of {length} results are no whole beats of {lanes}"
    return ""


# The longest row, as for `fft_stream`, and the lanes of a beat.
MAX_POINTS = 4096
MIN_LANES, MAX_LANES = 2, 8


@dataclass(frozen=True)
class RowTransform(ElementFunction):
    """Fourier transform of a row, or the inverse transform. An optional parameter scales the
    results. The body is empty, since a result depends on all elements. With `half`, elements are
    real, and only the first `half_of` results leave the kernel."""

    inverse: bool = False
    half: bool = False

    @property
    def passed(self) -> dtype:
        return self.compute.to_real()

    @property
    def scaled(self) -> bool:
        """True if a parameter scales the results."""
        return bool(self.params)


def row_transform(dtype: dtype, inverse: bool, scaled: bool, half: bool = False) -> RowTransform:
    """Returns the transform of rows of the complex dtype `dtype`; with `half`, of real rows."""
    name, pair, params = "ifft" if inverse else "rfft" if half else "fft", ((dtype, VALUE),), ("scale",) * scaled
    ins = ((dtype.to_real(), VALUE),) if half else pair
    return RowTransform(name, dtype, pair, ins, (), params, inverse=inverse, half=half)


def half_of(length: int) -> int:
    """Returns how many numbers half a spectrum of `length` real numbers has."""
    return length // 2 + 1


@dataclass(frozen=True)
class TransformSchedule:
    """Schedule of rows of `points` elements through a stage, in beats of `lanes`."""

    points: int
    lanes: int

    @property
    def beat_bits(self) -> int:
        """Bits of a beat's index within a row."""
        return (self.points // self.lanes).bit_length() - 1

    @property
    def delays(self) -> tuple[int, ...]:
        """Distance in beats of each exchange of halves. The last exchange returns to each beat the
        half that the first exchange moved away."""
        distances = [1 << k for k in range(self.beat_bits)][::-1]
        return (*distances, *distances[:1])

    @property
    def startup_beats(self) -> int:
        """Input beats before the first output beat, besides the beats in the operators."""
        return sum(self.delays) + (1 << self.beat_bits)

    @property
    def root_counts(self) -> tuple[int, ...]:
        """Per step of butterflies with roots of unity: the number of beats with different roots."""
        return (*(2 << k for k in range(self.beat_bits)[::-1]), 1)

    @property
    def lane_distances(self) -> tuple[int, ...]:
        """Lane distances of the last butterflies, whose roots are 1 and -i."""
        return tuple(1 << k for k in range(self.lanes.bit_length() - 2))[::-1]

    @property
    def latency(self) -> int:
        """Latency of the operator chain in cycles."""
        cycles = CYCLES["float"]
        return len(self.root_counts) * (2 * cycles["add"] + cycles["mul"]) + len(self.lane_distances) * cycles["add"]

    def memories(self, bits: int) -> list[LocalMemory]:
        """Returns the local memories: delayed halves of beats, the two rows of the reordering, and
        roots. `bits` are the bits of a complex number."""
        half = self.lanes // 2
        memories = [LocalMemory(delay, bits, 2 * half) for delay in self.delays]
        memories.append(LocalMemory(2 << self.beat_bits, bits, self.lanes))
        return memories + [LocalMemory(count, bits, half) for count in self.root_counts if count > 1]

    def operators(self, scaled: bool) -> dict[tuple[str, str], int]:
        """Returns the parallel operators, by (operator, C type)."""
        half, c_type = self.lanes // 2, "float"
        rotated, unrotated = half * len(self.root_counts), half * len(self.lane_distances)
        return {("mul", c_type): 4 * rotated + 2 * self.lanes * scaled, ("add", c_type): 6 * rotated + 4 * unrotated}


def transform_refusal(length: int, lanes: int) -> str:
    """Returns the reason why no dataflow stage transforms rows of `length`; "" if a stage does."""
    if length & (length - 1) or not lanes <= length <= MAX_POINTS:
        return f"it transforms {length} numbers, and stages take powers of two from {lanes} to {MAX_POINTS}"
    if not MIN_LANES <= lanes <= MAX_LANES:
        return f"it transforms {lanes} numbers a beat, and stages {MIN_LANES} to {MAX_LANES}"
    return ""


# The farthest neighbour in rows: the kernel keeps the rows between in local memory.
MAX_ROWS = 64
# The most rows of inputs that a kernel reads beyond the rows of its results.
MAX_HALO = 256
# The most neighbours of an element. Each is a FIFO.
MAX_NEIGHBOURS = 64


@dataclass(frozen=True)
class Window(ElementFunction):
    """The neighbours of each element: output k is the element `offsets[k]` = (rows, columns) below
    and to the right. A neighbour beyond the last column is the next row's; no result depends on
    one. The body is empty, since an output depends on another element."""

    offsets: tuple[tuple[int, int], ...] = ()


def window(element: dtype, offsets: tuple[tuple[int, int], ...]) -> Window:
    """Returns the window of rows of the dtype `element`."""
    outs = ((element, VALUE),) * len(offsets)
    return Window("window", element.compute, outs, ((element, VALUE),), (), offsets=offsets)


@dataclass(frozen=True)
class SliceScatter(ElementFunction):
    """A plane after a write to a part of it: the first input inside the part, the second outside.
    The part has the rows from `rows[0]` to the last `rows[1]`, and the columns from `columns[0]` to
    `columns[1]`. Beside the beat of element (0, 0) of an input, the stage has the beat of the plane's
    element `anchor`. The body is empty, since a result depends on the element's position."""

    anchor: tuple[int, int] = (0, 0)
    rows: tuple[int, int] = (0, 0)
    columns: tuple[int, int] = (0, 0)


def slice_scatter(
    element: dtype, anchor: tuple[int, int], rows: tuple[int, int], columns: tuple[int, int]
) -> SliceScatter:
    """Returns the write to a part of a plane of the dtype `element`."""
    ins = ((element, VALUE), (element, VALUE))
    name, outs = "slice_scatter", ((element, VALUE),)
    return SliceScatter(name, element.compute, outs, ins, (), anchor=anchor, rows=rows, columns=columns)


def window_refusal(function: Window, length: int) -> str:
    """Returns the reason why no dataflow stage computes a window of rows of `length`; "" if a stage
    does."""
    rows, columns = (max(offset[k] for offset in function.offsets) for k in (0, 1))
    if len(function.offsets) > MAX_NEIGHBOURS:
        return f"its elements have {len(function.offsets)} neighbours, and stages at most {MAX_NEIGHBOURS}"
    if rows > MAX_ROWS or columns >= length:
        return f"a neighbour is {rows} rows and {columns} columns away, and stages reach {MAX_ROWS} rows of {length}"
    return ""


def halo_refusal(rows: int) -> str:
    """Returns the reason why no kernel reads `rows` rows more than it has results; "" if one does."""
    return f"its results reach {rows} rows below, and kernels {MAX_HALO}" if rows > MAX_HALO else ""


@dataclass(frozen=True)
class WindowSchedule:
    """Schedule of a window of rows of `beats` beats. The stage holds `span + 1` beats of each row
    with a neighbour in registers, and the beats between these rows in memories."""

    offsets: tuple[tuple[int, int], ...]
    beats: int
    lanes: int

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows with neighbours, relative to the element's row."""
        return tuple(sorted({row for row, _ in self.offsets}))

    @property
    def span(self) -> int:
        """Beats to the right of an element's beat that neighbours are in."""
        return max(-(-column // self.lanes) for _, column in self.offsets)

    @property
    def ahead(self) -> int:
        """Beats that enter before the first beat leaves."""
        return self.rows[-1] * self.beats + self.span

    @property
    def delays(self) -> tuple[int, ...]:
        """Beats between each row with neighbours and the next one."""
        return tuple([(b - a) * self.beats for a, b in zip(self.rows, self.rows[1:])])

    def memories(self, bits: int) -> list[LocalMemory]:
        """Returns the memories between rows, and the registers; `bits` are those of an element."""
        memories = [LocalMemory(delay, bits * self.lanes) for delay in self.delays]
        return memories + [LocalMemory(self.span + 1, bits, self.lanes) for _ in self.rows]
