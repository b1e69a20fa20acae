"""pool: maxima and means of windows of planes, from strips in local memory (hls/skeleton/pool.h),
for boards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ...dtypes import dtype
from .. import source
from ..geometry import Each, Geometry
from ..inventory_terms import InventoryRequest, table_lines
from ..skeleton import BoardSkeleton, Parameter, register
from ..source import constant
from ..workload import Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop
from .elements import element_defines, element_helpers, element_type

# Of hls/vitis/pool.cpp: how many neighbours a step sees, and beats of a strip.
LANES = constant("vitis/pool.cpp", "LANES")
LINES = constant("vitis/pool.cpp", "LINES")
GUARD = constant("vitis/pool.cpp", "GUARD")
DEPTH = constant("vitis/pool.cpp", "DEPTH")
TURNS = constant("vitis/pool.cpp", "TURNS")


class PoolWindows(NamedTuple):
    """Windows of planes: so many planes, then (along columns, along rows) their sizes, how many
    windows there are, and what these are."""

    planes: int
    sizes: Ints
    counts: Ints
    kernel: Ints
    stride: Ints
    padding: Ints
    dilation: Ints

    @property
    def cover(self) -> Ints:
        """From the first element of a window to its last one, both counted."""
        return tuple([(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation)])

    @property
    def band(self) -> int:
        """So many rows of windows have room for what they see; 0 where one has not."""
        rows = (LINES - 1) * LANES // self.sizes[1]
        return min(self.counts[0], (rows - self.cover[0]) // self.stride[0] + 1)

    @property
    def served(self) -> bool:
        """Whether a strip holds what a row of windows sees, each of which has an element: at the
        sides it may reach beyond by the guards, and it skips none where there is padding."""
        behind = (DEPTH - LINES - GUARD) * LANES
        return (
            self.band > 0
            and self.cover[1] + LANES <= behind
            and self.padding[1] <= GUARD * LANES
            and all(not p or d == 1 for p, d in zip(self.padding, self.dilation))
        )


@dataclass(frozen=True)
class PoolKey:
    """One kernel: maxima, their places and means of a dtype."""

    dtype: dtype
    lanes: int = 1
    skeleton = "pool"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_pool_{self.dtype.name}"


def serves(of: dtype) -> bool:
    """Whether there are kernels for a dtype."""
    return of.kind in "uif" and not of.bare and of.itemsize <= 4


@dataclass(frozen=True)
class PoolGeometry(Geometry):
    """What a launch is told. `band` rows of results, the last ones fewer, are an item; a row has
    `groups` of `windows` windows, which begin within one step's elements. `divisor` is 0 where a
    mean's is the window's size, with the zeros around the plane where these count (`padded`)."""

    derived = ("items", "windows", "groups", "bands")
    mean: bool
    places: bool
    planes: int
    band: int
    divisor: int
    padded: bool
    input: Annotated[Ints, Each("high wide")]
    out: Annotated[Ints, Each("high wide")]
    kernel: Annotated[Ints, Each("high wide")]
    stride: Annotated[Ints, Each("high wide")]
    padding: Annotated[Ints, Each("high wide")]
    dilation: Annotated[Ints, Each("high wide")]

    @property
    def bands(self) -> int:
        """Items of a plane."""
        return -(-self.out[0] // self.band)

    @property
    def items(self) -> int:
        """What the units share."""
        return self.planes * self.bands

    @property
    def windows(self) -> int:
        """Those that begin within LANES neighbours."""
        return (LANES - 1) // self.stride[1] + 1

    @property
    def groups(self) -> int:
        """Of a row of results."""
        return -(-self.out[1] // self.windows)

    def rows(self, item: int) -> int:
        """Rows of results of an item."""
        return min(self.band, self.out[0] - item % self.bands * self.band)

    def beats(self, item: int) -> int:
        """What it sees of a plane that begins on a beat, as `band_of`."""
        plane, band = divmod(item, self.bands)
        top = band * self.band * self.stride[0] - self.padding[0]
        reach = (self.rows(item) - 1) * self.stride[0] + (self.kernel[0] - 1) * self.dilation[0]
        first, end = max(top, 0), min(top + reach + 1, self.input[0])
        lead = (plane * self.input[0] + first) * self.input[1] % LANES
        return -(-(lead + (end - first) * self.input[1]) // LANES)

    def steps(self, item: int) -> int:
        """Elements of groups of windows, with those that fill the turns."""
        turns = -(-self.rows(item) * self.groups // TURNS) * TURNS
        return turns * self.kernel[0] * self.kernel[1]


class PoolSkeleton(BoardSkeleton[PoolKey]):
    """Bands of rows of results, each from a strip of its plane."""

    name = word = "pool"
    geometry = PoolGeometry
    staged = True
    template = "pool.cpp"

    def parameters(self, key: PoolKey) -> tuple[Parameter, ...]:
        """Results, their places, planes; offsets; the geometry."""
        of = element_type(key.dtype)
        return (
            ("*", f"{of} *", "out"),
            ("*", "long *", "places"),
            ("*", f"const {of} *", "in"),
            *(("long", "long ", f"{name}_offset") for name in ("out", "places", "in")),
            ("*", "const int *", "geometry"),
        )

    def beats(self, key: PoolKey) -> Mapping[str, int]:
        """Planes come in vectors."""
        return {"in": LANES}

    def defines(self, key: PoolKey) -> dict[str, object]:
        """The element."""
        return element_defines(key.dtype)

    def helpers(self, key: PoolKey) -> list[str]:
        """Elements as values, and how many a window has."""
        return [*element_helpers(key.dtype, []), "pool.h"]

    def keys(self, asked: InventoryRequest) -> Iterator[PoolKey]:
        """One for each dtype."""
        yield from (PoolKey(of) for of in asked.dtypes if serves(of))

    def lines(self, key: PoolKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Three stages: the strips, their windows, the results."""
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
            PipelinedLoop("others", late, items if late else 0, 1, False, False, "fold"),
            PipelinedLoop("results", results, items, 1, False, True, "store"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Bands see some rows of their neighbours', too; results go one by one, in line."""
        g, size = PoolGeometry.unpack(launch.geometry), launch.key.dtype.itemsize
        beats = [g.beats(item) for item in range(g.items)]
        results = g.planes * g.out[0] * g.out[1]
        crossing = g.planes * g.input[0] * g.input[1] * size
        places = results * g.places
        longest = max(beats, default=1)
        return [
            Access("out", True, results * size, results, 0, results * size),
            Access("places", True, places * 8, places, 0, places * 8),
            Access("in", False, sum(beats) * LANES * size, sum(beats), longest, crossing),
        ]

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Where a unit's bands begin."""
        return 1

    def extent(self, launch: KernelLaunch) -> str:
        """Planes, their sizes, the windows'."""
        g = PoolGeometry.unpack(launch.geometry)
        return f"{g.planes}x{g.out[0]}x{g.out[1]} of {g.kernel[0]}x{g.kernel[1]}"

    def operators(self, key: PoolKey) -> Mapping[tuple[str, str], int]:
        """A comparison (and one with itself), a sum and choices in each lane, the turns of a beat,
        addresses, and the quotient of a mean."""
        of = source.scalar(key.dtype)
        known = {"float": "float", "char": "int8", "uchar": "int8", "short": "int16"}
        of = known.get(of, "int32")
        counts = {
            ("compare", of): 2 * LANES,
            ("choose", of): LANES * (4 + 4),
            ("choose", "int32"): 2 * LANES,
            ("compare", "int32"): 3 * LANES,
            ("add", "int32"): 2 * LANES + 8,
            ("mul", "int32"): 6,
        }
        if key.dtype.kind == "f":
            counts |= {("add", of): LANES, ("div", of): 1}
        return counts

    def memories(self, key: PoolKey, structure: str) -> list[LocalMemory]:
        """Two strips, and what is folded."""
        bits = 8 * key.dtype.itemsize
        compute = 8 * key.dtype.compute.itemsize
        return [LocalMemory(DEPTH, bits, 2 * LANES), LocalMemory(TURNS, compute + 32, LANES)]


register(PoolSkeleton())
