"""pool: maxima and means of windows of planes, with strips in local memory, for boards
(hls/skeleton/pool.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ...dtypes import dtype
from .. import source
from ..geometry import Geometry, NamedFields
from ..inventory_terms import InventoryRequest
from ..key import EntryName
from ..skeleton import BoardSkeleton, Parameter, c_parameters, register
from ..source import constant, element_defines, element_helpers, element_type
from ..workload import Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop

# Constants of hls/vitis/pool.cpp: elements per step, and beats of a strip.
LANES = constant("vitis/pool.cpp", "LANES")
LINES = constant("vitis/pool.cpp", "LINES")
GUARD = constant("vitis/pool.cpp", "GUARD")
DEPTH = constant("vitis/pool.cpp", "DEPTH")
TURNS = constant("vitis/pool.cpp", "TURNS")


class PoolWindows(NamedTuple):
    """Windows of `planes` planes. The other fields are pairs (rows, columns): sizes of a plane,
    counts of windows, and the parameters of the windows."""

    planes: int
    sizes: Ints
    counts: Ints
    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints

    @property
    def cover(self) -> Ints:
        """Span of a window, from its first element to its last, in elements."""
        return tuple([(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation)])

    @property
    def band(self) -> int:
        """The most rows of windows whose input fits a strip in local memory; less than 1 if not
        even one row fits."""
        rows = (LINES - 1) * LANES // self.sizes[1]
        return min(self.counts[0], (rows - self.cover[0]) // self.stride[0] + 1)

    @property
    def served(self) -> bool:
        """True if the skeleton accepts the windows.

        A strip must hold the input of a row of windows, and the guards must cover the padding of
        columns. Padding excludes dilation, so that each window has an element of the plane.
        """
        behind = (DEPTH - LINES - GUARD) * LANES
        return (
            self.band > 0
            and self.cover[1] + LANES <= behind
            and self.padding[1] <= GUARD * LANES
            and all(not p or d == 1 for p, d in zip(self.padding, self.dilation))
        )


@dataclass(frozen=True)
class PoolKey:
    """Key of the kernel for maxima, their positions, and means of a dtype."""

    dtype: dtype
    lanes: int = 1
    skeleton = "pool"
    entry = EntryName("ft_pool_{0.dtype.name}")


def serves(dtype: dtype) -> bool:
    """True if the skeleton accepts a dtype."""
    return dtype.kind in "uif" and not dtype.bare and dtype.itemsize <= 4


@dataclass(frozen=True)
class PoolGeometry(Geometry):
    """Geometry buffer of pooling. An item is a band: `band` rows of results, or fewer at the end of
    a plane.

    A row of results has `groups` groups of `windows` windows each; the windows of a group begin
    within LANES adjacent elements. A mean is the sum divided by `divisor`, or by the elements of
    its window if `divisor` is 0; `padded` counts the padding as elements.
    """

    derived = ("items", "windows", "groups", "bands")
    mean: bool
    places: bool
    planes: int
    band: int
    divisor: int
    padded: bool
    input: Annotated[Ints, NamedFields("high wide")]
    out: Annotated[Ints, NamedFields("high wide")]
    kernel: Annotated[Ints, NamedFields("high wide")]
    stride: Annotated[Ints, NamedFields("high wide")]
    padding: Annotated[Ints, NamedFields("high wide")]
    dilation: Annotated[Ints, NamedFields("high wide")]

    @property
    def bands(self) -> int:
        """Bands (items) of a plane."""
        return -(-self.out[0] // self.band)

    @property
    def items(self) -> int:
        """Items to share among the compute units."""
        return self.planes * self.bands

    @property
    def windows(self) -> int:
        """Windows that begin within LANES adjacent elements."""
        return (LANES - 1) // self.stride[1] + 1

    @property
    def groups(self) -> int:
        """Groups of a row of results."""
        return -(-self.out[1] // self.windows)

    def rows(self, item: int) -> int:
        """Returns the rows of results of an item."""
        return min(self.band, self.out[0] - item % self.bands * self.band)

    def beats(self, item: int) -> int:
        """Returns the beats of an item's input, as `band_of` in hls/vitis/pool.cpp computes them.
        The tensor begins on a beat."""
        plane, band = divmod(item, self.bands)
        top = band * self.band * self.stride[0] - self.padding[0]
        reach = (self.rows(item) - 1) * self.stride[0] + (self.kernel[0] - 1) * self.dilation[0]
        first, end = max(top, 0), min(top + reach + 1, self.input[0])
        lead = (plane * self.input[0] + first) * self.input[1] % LANES
        return -(-(lead + (end - first) * self.input[1]) // LANES)

    def steps(self, item: int) -> int:
        """Returns the loop iterations of an item: the elements of its groups of windows, padded to
        whole turns."""
        turns = -(-self.rows(item) * self.groups // TURNS) * TURNS
        return turns * self.kernel[0] * self.kernel[1]


class PoolSkeleton(BoardSkeleton[PoolKey]):
    """Pooling by bands of rows of results, each from a strip of its plane."""

    name = word = "pool"
    geometry = PoolGeometry
    staged = True
    template = "pool.cpp"

    def parameters(self, key: PoolKey) -> tuple[Parameter, ...]:
        c = element_type(key.dtype)
        return c_parameters(f"{c} *out, long *places, const {c} *in", "out places in", "const int *geometry")

    def beats(self, key: PoolKey) -> Mapping[str, int]:
        return {"in": LANES}

    def defines(self, key: PoolKey) -> dict[str, object]:
        return element_defines(key.dtype)

    def helpers(self, key: PoolKey) -> list[str]:
        return [*element_helpers(key.dtype, []), "pool.h"]

    def keys(self, request: InventoryRequest) -> Iterator[PoolKey]:
        yield from (PoolKey(of) for of in request.dtypes if serves(of))

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        g = PoolGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        beats = [g.beats(item) for item in range(begin, end)]
        steps = [g.steps(item) for item in range(begin, end)]
        late = sum(max(0, n - t) for n, t in zip(beats[1:], steps))
        results = sum(g.rows(item) for item in range(begin, end)) * g.out[1]
        items = end - begin
        return [
            PipelinedLoop("strip", sum(beats), items, 1, True, False, "read"),
            PipelinedLoop("first_strip", sum(beats[:1]), min(items, 1), 1, False, False, "fold"),
            PipelinedLoop("steps", sum(steps), items, 1, False, True, "fold"),
            PipelinedLoop("remaining_beats", late, items if late else 0, 1, False, False, "fold"),
            PipelinedLoop("results", results, items, 1, False, True, "store"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses. Bands overlap in input rows; results are single elements in
        bursts."""
        g, size = PoolGeometry.unpack(launch.geometry), launch.key.dtype.itemsize
        beats = [g.beats(item) for item in range(g.items)]
        results = g.planes * g.out[0] * g.out[1]
        crossing = g.planes * g.input[0] * g.input[1] * size
        indices = results * g.places
        longest = max(beats, default=1)
        return [
            Access("out", True, results * size, results, 0, results * size),
            Access("places", True, indices * 8, indices, 0, indices * 8),
            Access("in", False, sum(beats) * LANES * size, sum(beats), longest, crossing),
        ]

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        return 1

    def extent(self, launch: KernelLaunch) -> str:
        g = PoolGeometry.unpack(launch.geometry)
        return f"{g.planes}x{g.out[0]}x{g.out[1]} of {g.kernel[0]}x{g.kernel[1]}"

    def operators(self, key: PoolKey) -> Mapping[tuple[str, str], int]:
        """Returns, per lane, two comparisons (one tests for NaN), an addition and selections, and
        the rotation of a beat, address arithmetic, and the division of a mean."""
        c_type = source.scalar(key.dtype)
        operator_types = {"float": "float", "char": "int8", "uchar": "int8", "short": "int16"}
        c_type = operator_types.get(c_type, "int32")
        counts = {
            ("compare", c_type): 2 * LANES,
            ("choose", c_type): LANES * (4 + 4),
            ("choose", "int32"): 2 * LANES,
            ("compare", "int32"): 3 * LANES,
            ("add", "int32"): 2 * LANES + 8,
            ("mul", "int32"): 6,
        }
        if key.dtype.kind == "f":
            counts |= {("add", c_type): LANES, ("div", c_type): 1}
        return counts

    def memories(self, key: PoolKey, structure: str) -> list[LocalMemory]:
        bits = 8 * key.dtype.itemsize
        compute = 8 * key.dtype.compute.itemsize
        return [LocalMemory(DEPTH, bits, 2 * LANES), LocalMemory(TURNS, compute + 32, LANES)]


register(PoolSkeleton())
