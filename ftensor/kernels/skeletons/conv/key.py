"""Base of the convolution skeletons: key, and geometry buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ....dtypes import dtype
from ....iterator.shape import numel
from ... import source
from ...geometry import Geometry, ListField, Long, NamedFields
from ...key import EntryName
from ...skeleton import BoardSkeleton, Skeleton
from ...source import element_defines, element_helpers
from ...workload import Ints, grid_blocks, members_in

# Terms of a partial sum before the addition to the totals.
DEPTH = 192


@dataclass(frozen=True)
class ConvKey:
    """Key of a convolution kernel: skeleton, dtype in memory, and tile shape in registers."""

    skeleton: str
    dtype: dtype
    lanes: int
    rows: int  # filters
    vectors: int  # vectors of positions
    block: int = 1  # panels of filters that share a tile's positions

    @property
    def columns(self) -> int:
        """Positions of a tile."""
        return self.lanes * self.vectors

    entry = EntryName("ft_{0.skeleton}_{0.dtype.name}_{0.rows}x{0.columns}_{0.block}")


class PhasePart(NamedTuple):
    """One dim of a packed plane: `size` elements in each phase, the position in the input where
    each of the `phases` begins, and the `stride` of a phase's elements in the input."""

    size: int
    phases: tuple[int, ...]
    stride: int


class Phase(NamedTuple):
    """A block of the input that is copied to a plane in local memory: the offset of its first
    element in the input (`first`) and in the plane (`place`), and its sizes."""

    first: int
    place: int
    deep: int
    high: int
    wide: int


class ConvSkeleton(Skeleton[ConvKey]):
    """Base of all convolution skeletons."""

    def defines(self, key: ConvKey) -> dict[str, object]:
        return {
            **element_defines(key.dtype),
            "FT_TILE_ROWS": key.rows,
            "FT_TILE_VECTORS": key.vectors,
            "FT_TILE_COLUMNS": key.columns,
            "FT_BLOCK": key.block,
            "FT_DEPTH": DEPTH,
        }

    def helpers(self, key: ConvKey) -> list[str]:
        return element_helpers(key.dtype, [])

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns a product and an addition for each result, channel and tap. `shapes` are results,
        planes, and filters by groups."""
        return 2 * numel(shapes[0]) * numel(shapes[2][2:])


class BoardConv(ConvSkeleton, BoardSkeleton[ConvKey]):
    """Base of the convolution skeletons that images may contain."""

    word = "conv"
    operand_dtypes = (None, None)


def serves(dtype: dtype) -> bool:
    """True if the skeleton accepts a dtype."""
    return dtype.kind in "uif" and not dtype.bare


def number(key: ConvKey) -> str:
    """Returns the C type of the computation."""
    return source.scalar(key.dtype)


class InputStrip(NamedTuple):
    """Input of a board's tile in one channel: `runs` of beats (first beat, count), and for each tap
    the index of its first position in these runs."""

    runs: tuple[Ints, ...] = ()
    places: Ints = ()


def input_strip(key: ConvKey, positions: int, offsets: Ints) -> InputStrip:
    """Returns the strip for taps at `offsets`."""
    lanes, vectors = key.lanes, min(key.vectors, -(-positions // key.lanes))
    runs: list[list[int]] = []
    for first in sorted({o // lanes for o in offsets}):
        # A tap may begin at any element of a beat.
        rest = any(o // lanes == first and o % lanes for o in offsets)
        end = first + vectors + rest
        if runs and first <= sum(runs[-1]):
            runs[-1][1] = max(runs[-1][1], end - runs[-1][0])
        else:
            runs.append([first, end - first])
    tap_places = []
    for o in offsets:
        at = 0
        for first, n in runs:
            if first <= o // lanes < first + n:
                tap_places.append((at - first) * lanes + o)
                break
            at += n
    return InputStrip(tuple(tuple(run) for run in runs), tuple(tap_places))


@dataclass(frozen=True)
class ConvGeometry(Geometry):
    """Geometry buffer of a convolution.

    filters, channels: of one group
    pitch, width: positions in a row of a plane, and those with results
    middle, high: rows of a plane, and those with results
    most: most panels of an item
    channel: stride of channels
    back: the last tile is moved back, so that it ends with the positions
    whole: the kernel may store vectors; for bytes, the results of a tile's filters at a position
    lines: the results of a filter are contiguous
    zero: padding value of bytes
    read, written: strides of batch dims in the planes and in out
    offsets: of the taps; `runs` and `places` are those of an `InputStrip`
    """

    derived = ("beats",)
    items: int
    panels: int
    groups: int
    tiles: int
    positions: int
    pitch: int
    width: int
    middle: int
    high: int
    filters: int
    channels: int
    most: int
    channel: Long
    out: Annotated[Ints, NamedFields("filter plane row position")]
    back: bool
    whole: bool
    lines: bool
    zero: int
    batch: Annotated[Ints, ListField("dims")]
    read: Annotated[Ints, ListField("dims")]
    written: Annotated[Ints, ListField("dims")]
    offsets: Annotated[Ints, ListField("taps")]
    runs: Annotated[tuple[Ints, ...], ListField("run_count", 2)]
    places: Annotated[Ints, ListField("")]

    @property
    def depth(self) -> int:
        """The number of products summed for each result: channels times taps."""
        return self.channels * len(self.offsets)

    def before(self, position: int) -> int:
        """Returns the number of results of a filter that precede a position, computed as in the
        kernel text."""
        first, at = divmod(position, self.pitch)
        plane, h = divmod(first, self.middle)
        if h >= self.high:
            return (plane + 1) * self.high * self.width
        return (plane * self.high + h) * self.width + min(at, self.width)

    def results(self, tile: int, columns: int) -> int:
        """Returns the results of a filter in a tile."""
        end = min((tile + 1) * columns, self.positions)
        return self.before(end) - self.before(tile * columns)

    @property
    def beats(self) -> int:
        """The number of beats of the input strip that a tile loads."""
        return sum(n for _, n in self.runs)


class UniformTiles(NamedTuple):
    """Items that take equally long: their number, and for each item its filters (`rows`), its
    vectors of positions, and `whole` if it stores vectors."""

    items: int
    rows: int
    vectors: int
    whole: bool


def uniform_tiles(key: ConvKey, g: ConvGeometry, begin: int, end: int) -> list[UniformTiles]:
    """Returns the items [begin, end) of a board's launch, grouped by size."""
    left = g.positions - (g.tiles - 1) * key.columns
    tiles = (key.vectors, g.whole), (-(-left // key.lanes), g.whole and left % key.lanes == 0)
    panels = key.rows, g.filters - (g.panels - 1) * key.rows
    blocks = grid_blocks(begin, end, g.tiles, g.panels, tiles, panels)
    return [UniformTiles(count, rows, vectors, whole) for count, (vectors, whole), rows in blocks if count]


def in_lines(key: ConvKey, g: ConvGeometry, begin: int, end: int) -> tuple[int, int]:
    """Returns (results, contiguous lines of results) that the items [begin, end) store."""
    count = lines = 0
    period, rest = g.panels * g.tiles, g.filters - (g.panels - 1) * key.rows
    for tile in range(g.tiles if g.lines else 0):
        left = g.positions - tile * key.columns
        if g.whole and (left >= key.columns or left % key.lanes == 0):
            continue
        first, last = tile * g.panels, (tile + 1) * g.panels - 1
        filters = members_in(begin, end, period, first, last) * key.rows
        filters += members_in(begin, end, period, last, last + 1) * rest
        count += filters * g.results(tile, key.columns)
        lines += filters
    return count, lines
