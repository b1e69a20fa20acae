"""fir: filters of few taps along rows, all taps side by side (hls/skeleton/fir.h), for images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ...dtypes import dtype
from ...iterator.shape import numel
from .. import source
from ..geometry import Each, Geometry, Long
from ..inventory_terms import InventoryRequest, Option, Record, table_lines
from ..skeleton import BoardSkeleton, Parameter, register
from ..workload import PORT_BYTES, Access, Ints, KernelLaunch, PipelinedLoop

# What an inventory may ask for: so many taps side by side.
MOST_TAPS = 256
PACE = 8  # samples that may enter at once
TAPS = Option("taps", default=(64,), low=8, high=MOST_TAPS)


@dataclass(frozen=True)
class FirKey:
    """One kernel for all filters that cover at most `taps` samples, a power of two."""

    dtype: dtype
    taps: int
    skeleton = "fir"

    @property
    def parts(self) -> int:
        """Numbers of a sample."""
        return 2 if self.dtype.is_complex else 1

    @property
    def lanes(self) -> int:
        """Numbers of a port's beat."""
        return PORT_BYTES // self.dtype.to_real().itemsize

    @property
    def pace(self) -> int:
        """Samples that may enter at once: of one beat."""
        return min(PACE, self.lanes // self.parts)

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_fir_{self.dtype.name}_{self.taps}"


def fir_serves(of: dtype) -> bool:
    """Whether there are kernels for a dtype."""
    return of.name in ("float32", "float64", "complex64", "complex128")


@dataclass(frozen=True)
class FirGeometry(Geometry):
    """What a launch is told: rows of `filters` of each of `groups`, `outside` times; a row's
    samples and results, which units take in `blocks` of `block` results; taps and how far these
    are apart; zeros `before` the samples; how many of these enter at once at most (`pace`); all
    strides in elements. Without a bias its step is 0."""

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
    x: Annotated[Ints, Each("row group")]
    w: Annotated[Ints, Each("group filter tap")]
    out: Annotated[Ints, Each("row filter")]

    @property
    def items(self) -> int:
        """What the units share."""
        return self.outside * self.groups * self.filters * self.blocks

    @property
    def cover(self) -> int:
        """How many samples a result sees, those between taps included."""
        return (self.taps - 1) * self.dilation + 1

    def seen(self, item: int) -> int:
        """Samples that pass for an item."""
        begin = item % self.blocks * self.block
        return (min(self.block, self.count - begin) - 1) * self.stride + self.cover

    def turns(self, key: FirKey, item: int) -> int:
        """Turns in which they do, of samples that begin on a beat."""
        pace = self.pace
        while pace > 1 and self.cover + (self.before - self.cover) % pace > key.taps:
            pace //= 2
        late = (self.before - self.cover) % pace
        return (self.seen(item) + late + -(self.cover + late) % pace) // pace


class Fir(BoardSkeleton[FirKey]):
    """A sample in every cycle, or several where a filter decimates."""

    name = word = "fir"
    geometry = FirGeometry
    options = (TAPS,)

    def parameters(self, key: FirKey) -> tuple[Parameter, ...]:
        """Results, samples, taps, what is added; offsets; the geometry."""
        real = source.scalar(key.dtype)
        inputs = ("in", "weight", "bias")
        return (
            ("*", f"{real} *", "out"),
            *(("*", f"const {real} *", name) for name in inputs),
            *(("long", "long ", f"{name}_offset") for name in ("out", *inputs)),
            ("*", "const long *", "geometry"),
        )

    def beats(self, key: FirKey) -> Mapping[str, int]:
        """Samples and results move in beats."""
        return {"out": key.lanes, "in": key.lanes}

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """A beat is asked for when a sample of it is wanted, and leaves when it is full."""
        return vector

    def defines(self, key: FirKey) -> dict[str, object]:
        """Taps, the levels of their tree, numbers of a sample, samples at once."""
        levels = key.taps.bit_length() - 1
        return {"FT_TAPS": key.taps, "FT_LEVELS": levels, "FT_PARTS": key.parts, "FT_PACE": key.pace}

    def keys(self, asked: InventoryRequest) -> Iterator[FirKey]:
        """One for each dtype and power of two."""
        for of in filter(fir_serves, asked.dtypes):
            for taps in asked.options["taps"]:
                if taps & (taps - 1) == 0:
                    yield FirKey(of, taps)

    def record(self, key: FirKey) -> Record:
        """Its dtype."""
        of = key.dtype.name
        return Record(self.name, (of,), (of, of), "", of)

    def lines(self, key: FirKey) -> tuple[str, ...]:
        """The dtype and the taps."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]', f"taps = [{key.taps}]")

    def suffix(self, key: FirKey) -> str:
        """The taps and the dtype."""
        return f"fir{key.taps}_{key.dtype.name}"

    def flops(self, key: FirKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """A product and a sum for each result and tap; of complex numbers four times that."""
        return 2 * key.parts**2 * numel(shapes[0]) * FirGeometry.unpack(geometry).taps

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Taps, then samples, for each item."""
        key, g = launch.key, FirGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        items = end - begin
        short = g.turns(key, g.blocks - 1)  # the last block of a row
        last = end // g.blocks - begin // g.blocks
        turns = last * short + (items - last) * g.turns(key, 0)
        return [
            # A tap's numbers come through one port.
            PipelinedLoop("taps", items * key.taps, items, key.parts, computes=False),
            PipelinedLoop("samples", turns, items),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Samples and taps of every item, results once; a beat has as many as lie in it."""
        key, g = launch.key, FirGeometry.unpack(launch.geometry)
        size, beat = key.dtype.itemsize, key.lanes * key.dtype.to_real().itemsize
        rows = g.items // g.blocks
        turns = rows * sum(g.seen(k) for k in (*[0] * (g.blocks - 1), g.blocks - 1))
        beats = -(-turns * key.parts * min(abs(g.step) * key.parts, key.lanes) // key.parts)
        beats = -(-beats // key.lanes)
        results = rows * g.count * size
        taps = g.items * key.taps
        held, weight = g.outside * g.groups * g.samples * size, g.groups * g.filters * g.taps * size
        return [
            Access("out", True, results, -(-results // beat), 1, results, short=True),
            Access("in", False, beats * beat, beats, 1, held, short=True),
            Access("weight", False, taps * size, taps * key.parts, 1, weight),
            Access("bias", False, g.items * size, g.items * key.parts, 1, 0),
        ]

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Block, filter and group of an item."""
        return 3 * sum(loop.entries for loop in loops if loop.name == "samples")

    def operators(self, key: FirKey) -> Mapping[tuple[str, str], int]:
        """Products of all taps, those of a number's parts, the tree, and the bias; each tap is
        taken or not, and a result has a place in its beat."""
        kind, parts, taps = source.scalar(key.dtype), key.parts, key.taps
        counts = Counter({("mul", kind): parts**2 * taps, ("add", kind): parts * taps})
        counts["add", kind] += (parts - 1) * parts * taps
        counts["choose", kind] += parts * taps + 2 * key.lanes
        # Whatever enters at once is picked from its beat, and moves the line by so many places.
        ways = key.pace.bit_length() - 1
        counts["choose", kind] += parts * (taps * ways + key.pace * key.lanes // parts)
        return counts

    def extent(self, launch: KernelLaunch) -> str:
        """Rows, their results, taps."""
        g = FirGeometry.unpack(launch.geometry)
        return f"{g.items // g.blocks}x{g.count} of {g.taps}"


register(Fir())
