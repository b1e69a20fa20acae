"""fir: FIR filters with few taps along rows, all taps in parallel, for images
(hls/skeleton/fir.h)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from ...dtypes import dtype
from ...iterator.shape import numel
from .. import source
from ..geometry import Geometry, Long, NamedFields
from ..inventory_terms import InventoryRequest, Option
from ..key import EntryName
from ..skeleton import BoardSkeleton, Parameter, c_parameters, register
from ..workload import PORT_BYTES, Access, Ints, KernelLaunch, PipelinedLoop

# The most parallel taps of an inventory.
MAX_TAPS = 256
PACE = 8  # most samples per cycle
TAPS = Option("taps", default=(64,), low=8, high=MAX_TAPS)


@dataclass(frozen=True)
class FirKey:
    """Key of the kernel for all filters that span at most `taps` samples, a power of two."""

    dtype: dtype
    taps: int
    skeleton = "fir"

    @property
    def parts(self) -> int:
        """Real numbers of a sample."""
        return 2 if self.dtype.is_complex else 1

    @property
    def lanes(self) -> int:
        """Real numbers of a beat of a port."""
        return PORT_BYTES // self.dtype.to_real().itemsize

    @property
    def pace(self) -> int:
        """The most samples per cycle; they are in one beat."""
        return min(PACE, self.lanes // self.parts)

    entry = EntryName("ft_fir_{0.dtype.name}_{0.taps}")


def fir_serves(dtype: dtype) -> bool:
    """True if the skeleton accepts a dtype."""
    return dtype.name in ("float32", "float64", "complex64", "complex128")


class FirWork(NamedTuple):
    """The work of a range of items.

    turns: cycles of the loop over samples
    beats: beats of samples that are read
    whole: whole beats of results that are written
    apart: True if each sample has a beat of its own
    """

    turns: int
    beats: int
    whole: int
    apart: bool


@dataclass(frozen=True)
class FirGeometry(Geometry):
    """Geometry buffer of FIR filters; all strides are in elements.

    outside, groups, filters: there are outside * groups * filters rows of results
    samples, count: samples and results of a row
    blocks, block: compute units share a row as `blocks` blocks of `block` results
    dilation: distance of taps
    before: zeros before the first sample
    pace: most samples per cycle
    bias: offset of the bias, 0 without one
    parts: real numbers of a sample
    """

    derived = ("items",)
    outside: int
    groups: int
    filters: int
    samples: int
    count: int
    blocks: int
    block: int
    taps: int
    dilation: int
    stride: int
    before: int
    pace: int
    biased: bool
    bias: Long
    step: Long
    x: Annotated[Ints, NamedFields("row group")]
    w: Annotated[Ints, NamedFields("group filter tap")]
    out: Annotated[Ints, NamedFields("row filter")]
    parts: int

    @property
    def items(self) -> int:
        """Items to share among the compute units."""
        return self.outside * self.groups * self.filters * self.blocks

    @property
    def cover(self) -> int:
        """Span of a filter in samples."""
        return (self.taps - 1) * self.dilation + 1

    def work(self, key: FirKey, begin: int, end: int) -> FirWork:
        """Returns the work of the items from `begin` to `end`, if the tensors begin on a beat."""
        item = np.arange(begin, end)
        row, first = item // self.blocks, item % self.blocks * self.block
        filters = row % (self.groups * self.filters)
        outside, group = row // (self.groups * self.filters), filters // self.filters
        start = outside * self.x[0] + group * self.x[1]
        results = np.minimum(self.count - first, self.block)
        newest = first * self.stride - self.before + self.cover - 1
        pace, late = np.full(len(item), self.pace), np.zeros(len(item), int)
        while True:
            late = -(start + newest + 1) % pace
            halved = (pace > 1) & (self.cover + late > key.taps)
            if not halved.any():
                break
            pace = np.where(halved, pace // 2, pace)
        filled = -(-(self.cover + late) // pace) * pace
        turns = (results - 1) * (self.stride // pace) + filled // pace
        place = newest + late + 1 - filled
        skip = np.maximum(-place, 0) // pace
        reads = np.maximum(np.minimum(-((place - self.samples) // pace), turns) - skip, 0)
        at = (start + (place + skip * pace) * self.step) * self.parts
        last = at + (reads - 1) * pace * self.step * self.parts
        apart = not 0 <= self.step * self.parts <= key.lanes
        beats = np.where(reads > 0, reads if apart else last // key.lanes - at // key.lanes + 1, 0)
        to = (outside * self.out[0] + filters * self.out[1] + first) * self.parts
        whole = np.maximum((to + results * self.parts) // key.lanes - -(-to // key.lanes), 0)
        return FirWork(int(turns.sum()), int(beats.sum()), int(whole.sum()), apart)


class Fir(BoardSkeleton[FirKey]):
    """FIR filter at one sample per cycle, or several samples if the filter decimates."""

    name = word = "fir"
    geometry = FirGeometry
    staged = True
    reads_few_beats = True  # of samples that are far apart
    options = (TAPS,)
    operand_dtypes = (None, None)

    def parameters(self, key: FirKey) -> tuple[Parameter, ...]:
        c = source.scalar(key.dtype)
        pointers = f"{c} *out, const {c} *in, const {c} *weight, const {c} *bias"
        return c_parameters(pointers, "out in weight bias")

    def beats(self, key: FirKey) -> Mapping[str, int]:
        return {"out": key.lanes, "in": key.lanes}

    def defines(self, key: FirKey) -> dict[str, object]:
        levels = key.taps.bit_length() - 1
        return {"FT_TAPS": key.taps, "FT_LEVELS": levels, "FT_PARTS": key.parts, "FT_PACE": key.pace}

    def keys(self, request: InventoryRequest) -> Iterator[FirKey]:
        for d in filter(fir_serves, request.dtypes):
            for taps in request.options["taps"]:
                if taps & (taps - 1) == 0:
                    yield FirKey(d, taps)

    def circuit(self, key: FirKey, keys: Sequence[FirKey]) -> FirKey:
        """Returns the complex key if it is in the kernel and takes as many samples a cycle: its
        circuit filters real numbers too."""
        pairs = [one for one in keys if one.dtype.is_complex and one.dtype.to_real() == key.dtype]
        return next((one for one in pairs if (one.taps, one.pace) == (key.taps, key.pace)), key)

    def lines(self, key: FirKey) -> tuple[str, ...]:
        return (*super().lines(key), f"taps = [{key.taps}]")

    def suffix(self, key: FirKey) -> str:
        return f"fir{key.taps}_{key.dtype.name}"

    def flops(self, key: FirKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns a product and an addition for each result and tap; four of each for complex
        dtypes."""
        return 2 * key.parts**2 * numel(shapes[0]) * FirGeometry.unpack(geometry).taps

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, FirGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        items, work = end - begin, g.work(key, begin, end)
        read = "read_samples" if work.apart else "read_beats"
        return [
            PipelinedLoop(read, work.beats, items, computes=False, stage="read"),
            # One port reads all real numbers of a tap.
            PipelinedLoop("taps", items * key.taps, items, key.parts, computes=False, stage="filter"),
            PipelinedLoop("samples", work.turns, items, reads=False, stage="filter"),
            PipelinedLoop("write_beats", work.whole, items, reads=False, computes=False, stage="store"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; items read samples and taps again, and write results once."""
        key, g = launch.key, FirGeometry.unpack(launch.geometry)
        size, beat = key.dtype.itemsize, key.lanes * key.dtype.to_real().itemsize
        rows, work = g.items // g.blocks, g.work(key, 0, g.items)
        results = rows * g.count * size
        burst = 1 if work.apart else max(1, work.beats // g.items)
        taps = g.items * key.taps
        held, weight = g.outside * g.groups * g.samples * size, g.groups * g.filters * g.taps * size
        return [
            Access("out", True, results, -(-results // beat), max(1, results // beat // g.items), results),
            Access("in", False, work.beats * beat, work.beats, burst, held, short=True),
            Access("weight", False, taps * size, taps * key.parts, 1, weight),
            Access("bias", False, g.items * size, g.items * key.parts, 1, 0),
        ]

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        return 3 * sum(loop.entries for loop in loops if loop.name == "samples")

    def operators(self, key: FirKey) -> Mapping[tuple[str, str], int]:
        """Returns the products of all taps, complex parts included, the adder tree, the bias, and
        selections: unused taps, and the position of a result in a beat."""
        kind, parts, taps = source.scalar(key.dtype), key.parts, key.taps
        counts = Counter({("mul", kind): parts**2 * taps, ("add", kind): parts * taps})
        counts["add", kind] += (parts - 1) * parts * taps
        counts["choose", kind] += parts * taps + 2 * key.lanes
        # The samples of a cycle are selected from a beat; the delay line shifts by their number.
        shift_levels = key.pace.bit_length() - 1
        counts["choose", kind] += parts * (taps * shift_levels + key.pace * key.lanes // parts)
        return counts

    def extent(self, launch: KernelLaunch) -> str:
        g = FirGeometry.unpack(launch.geometry)
        return f"{g.items // g.blocks}x{g.count} of {g.taps}"


register(Fir())
