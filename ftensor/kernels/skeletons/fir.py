"""fir: FIR filters with few taps along rows, all taps in parallel, for images
(hls/skeleton/fir.h)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ...dtypes import dtype
from ...iterator.shape import numel
from .. import source
from ..geometry import Geometry, Long, NamedFields
from ..inventory_terms import InventoryRequest, ManifestTerms, Option, table_lines
from ..skeleton import BoardSkeleton, Parameter, register
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

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_fir_{self.dtype.name}_{self.taps}"


def fir_serves(dtype: dtype) -> bool:
    """True if the skeleton accepts a dtype."""
    return dtype.name in ("float32", "float64", "complex64", "complex128")


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

    @property
    def items(self) -> int:
        """Items to share among the compute units."""
        return self.outside * self.groups * self.filters * self.blocks

    @property
    def cover(self) -> int:
        """Span of a filter in samples."""
        return (self.taps - 1) * self.dilation + 1

    def seen(self, item: int) -> int:
        """Returns the number of input samples that an item reads."""
        begin = item % self.blocks * self.block
        return (min(self.block, self.count - begin) - 1) * self.stride + self.cover

    def turns(self, key: FirKey, item: int) -> int:
        """Returns the cycles of an item whose samples begin on a beat."""
        pace = self.pace
        while pace > 1 and self.cover + (self.before - self.cover) % pace > key.taps:
            pace //= 2
        drain = (self.before - self.cover) % pace
        return (self.seen(item) + drain + -(self.cover + drain) % pace) // pace


class Fir(BoardSkeleton[FirKey]):
    """FIR filter at one sample per cycle, or several samples if the filter decimates."""

    name = word = "fir"
    geometry = FirGeometry
    options = (TAPS,)

    def parameters(self, key: FirKey) -> tuple[Parameter, ...]:
        """Returns results, samples, taps, bias, offsets, geometry."""
        real = source.scalar(key.dtype)
        inputs = ("in", "weight", "bias")
        return (
            ("*", f"{real} *", "out"),
            *(("*", f"const {real} *", name) for name in inputs),
            *(("long", "long ", f"{name}_offset") for name in ("out", *inputs)),
            ("*", "const long *", "geometry"),
        )

    def beats(self, key: FirKey) -> Mapping[str, int]:
        return {"out": key.lanes, "in": key.lanes}

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Returns True for vectors: the kernel requests one beat at a time, and writes each full
        beat."""
        return vector

    def defines(self, key: FirKey) -> dict[str, object]:
        """Returns taps, levels of the adder tree, real numbers of a sample, samples per cycle."""
        levels = key.taps.bit_length() - 1
        return {"FT_TAPS": key.taps, "FT_LEVELS": levels, "FT_PARTS": key.parts, "FT_PACE": key.pace}

    def keys(self, request: InventoryRequest) -> Iterator[FirKey]:
        for d in filter(fir_serves, request.dtypes):
            for taps in request.options["taps"]:
                if taps & (taps - 1) == 0:
                    yield FirKey(d, taps)

    def record(self, key: FirKey) -> ManifestTerms:
        dtype_name = key.dtype.name
        return ManifestTerms(self.name, (dtype_name,), (dtype_name, dtype_name), "", dtype_name)

    def lines(self, key: FirKey) -> tuple[str, ...]:
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]', f"taps = [{key.taps}]")

    def suffix(self, key: FirKey) -> str:
        return f"fir{key.taps}_{key.dtype.name}"

    def flops(self, key: FirKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns a product and an addition for each result and tap; four of each for complex
        dtypes."""
        return 2 * key.parts**2 * numel(shapes[0]) * FirGeometry.unpack(geometry).taps

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns the loop over taps and the loop over samples of all items."""
        key, g = launch.key, FirGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        items = end - begin
        short = g.turns(key, g.blocks - 1)  # the last block of a row
        last = end // g.blocks - begin // g.blocks
        turns = last * short + (items - last) * g.turns(key, 0)
        return [
            # One port reads all real numbers of a tap.
            PipelinedLoop("taps", items * key.taps, items, key.parts, computes=False),
            PipelinedLoop("samples", turns, items),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; items read samples and taps again, and write results once."""
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
