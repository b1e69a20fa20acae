"""What the skeletons of convolutions share: the key, and the geometry of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ....dtypes import dtype
from ....iterator.shape import numel
from ... import source
from ...geometry import Each, Geometry, Long, Many
from ...inventory_terms import Record, table_lines
from ...skeleton import BoardSkeleton, Skeleton
from ...workload import Ints, members_in
from ..elements import element_defines, element_helpers

# Terms that are summed before they join the totals.
DEPTH = 192


@dataclass(frozen=True)
class ConvKey:
    """One kernel: its skeleton, the dtype in memory, and the shape of a tile in registers."""

    skeleton: str
    dtype: dtype
    lanes: int
    rows: int  # filters
    vectors: int  # of positions
    block: int = 1  # panels of filters that share a tile's positions

    @property
    def columns(self) -> int:
        """The positions of a tile."""
        return self.lanes * self.vectors

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_{self.skeleton}_{self.dtype.name}_{self.rows}x{self.columns}_{self.block}"


class PhasePart(NamedTuple):
    """A dim of a packed plane: its elements of one phase, where the phases begin in the input, and
    the step from one element to the next there."""

    size: int
    phases: tuple[int, ...]
    stride: int


class Phase(NamedTuple):
    """A phase of a plane that is copied: its first element in the input and in the private plane,
    and its sizes."""

    first: int
    place: int
    deep: int
    high: int
    wide: int


class ConvSkeleton(Skeleton[ConvKey]):
    """What all skeletons of convolutions have in common."""

    def defines(self, key: ConvKey) -> dict[str, object]:
        """The element and the tile."""
        return {
            **element_defines(key.dtype),
            "FT_TILE_ROWS": key.rows,
            "FT_TILE_VECTORS": key.vectors,
            "FT_TILE_COLUMNS": key.columns,
            "FT_BLOCK": key.block,
            "FT_DEPTH": DEPTH,
        }

    def helpers(self, key: ConvKey) -> list[str]:
        """Elements as values."""
        return element_helpers(key.dtype, [])

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """A product and a sum for each result, channel and tap: of (results, planes, filters by
        groups)."""
        return 2 * numel(shapes[0]) * numel(shapes[2][2:])


class BoardConv(ConvSkeleton, BoardSkeleton[ConvKey]):
    """One of the two that images have."""

    word = "conv"

    def record(self, key: ConvKey) -> Record:
        """Which of the kernels, and its dtype."""
        of = key.dtype.name
        return Record(self.name, (of,), (of, of), "", of)

    def lines(self, key: ConvKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')


def serves(of: dtype) -> bool:
    """Whether there are kernels for a dtype."""
    return of.kind in "uif" and not of.bare


def number(key: ConvKey) -> str:
    """The C type that is computed with."""
    return source.scalar(key.dtype)


class Strip(NamedTuple):
    """What a board's tile sees of a channel: runs of beats (the first, how many), and for each tap
    where its first position lies among them."""

    runs: tuple[Ints, ...] = ()
    places: Ints = ()


def strip(key: ConvKey, positions: int, offsets: Ints) -> Strip:
    """The strip of taps that lie at these offsets."""
    lanes, vectors = key.lanes, min(key.vectors, -(-positions // key.lanes))
    runs: list[list[int]] = []
    for first in sorted({o // lanes for o in offsets}):
        # Any of a beat's elements may be the first that a tap sees.
        rest = any(o // lanes == first and o % lanes for o in offsets)
        end = first + vectors + rest
        if runs and first <= sum(runs[-1]):
            runs[-1][1] = max(runs[-1][1], end - runs[-1][0])
        else:
            runs.append([first, end - first])
    places = []
    for o in offsets:
        at = 0
        for first, n in runs:
            if first <= o // lanes < first + n:
                places.append((at - first) * lanes + o)
                break
            at += n
    return Strip(tuple(tuple(run) for run in runs), tuple(places))


@dataclass(frozen=True)
class ConvGeometry(Geometry):
    """What a launch is told: of a group's filters and channels; positions of a plane with `pitch`
    elements of a row, of which `width` have results, and `middle` rows, of which `high` have;
    `most` panels of an item, the step from `channel` to channel; whether the last tile is moved
    `back` to end with the positions, and the `whole` results may leave in vectors, or else in
    `lines`, as a filter's are neighbours in memory. Of bytes, what stands for `zero`; `whole` are
    those of a tile's filters at a position. Of batch dims the strides in planes and in out; of taps
    the offsets and, of a `Strip`, the places."""

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
    out: Annotated[Ints, Each("filter plane row position")]
    back: bool
    whole: bool
    lines: bool
    zero: int
    batch: Annotated[Ints, Many("dims")]
    read: Annotated[Ints, Many("dims")]
    written: Annotated[Ints, Many("dims")]
    offsets: Annotated[Ints, Many("taps")]
    runs: Annotated[tuple[Ints, ...], Many("run_count", 2)]
    places: Annotated[Ints, Many("")]

    @property
    def depth(self) -> int:
        """Terms of a result."""
        return self.channels * len(self.offsets)

    def before(self, position: int) -> int:
        """A filter's results that stand before a position, as the text's."""
        first, at = divmod(position, self.pitch)
        plane, h = divmod(first, self.middle)
        if h >= self.high:
            return (plane + 1) * self.high * self.width
        return (plane * self.high + h) * self.width + min(at, self.width)

    def results(self, tile: int, columns: int) -> int:
        """Those of a filter in a tile."""
        end = min((tile + 1) * columns, self.positions)
        return self.before(end) - self.before(tile * columns)

    @property
    def beats(self) -> int:
        """Those of a strip."""
        return sum(n for _, n in self.runs)


class Alike(NamedTuple):
    """Items that are alike: how many, their filters, vectors of positions, whole ones or not."""

    items: int
    rows: int
    vectors: int
    whole: bool


def alike(key: ConvKey, g: ConvGeometry, begin: int, end: int) -> list[Alike]:
    """The items [begin, end) of a board's launch."""
    period = g.panels * g.tiles
    below = members_in(begin, end, g.panels, g.panels - 1, g.panels)
    right = members_in(begin, end, period, period - g.panels, period)
    corner = members_in(begin, end, period, period - 1, period)
    rest = g.filters - (g.panels - 1) * key.rows
    left = g.positions - (g.tiles - 1) * key.columns
    vectors = -(-left // key.lanes)
    tiles = (
        Alike(end - begin - below - right + corner, key.rows, key.vectors, g.whole),
        Alike(below - corner, rest, key.vectors, g.whole),
        Alike(right - corner, key.rows, vectors, g.whole and left % key.lanes == 0),
        Alike(corner, rest, vectors, g.whole and left % key.lanes == 0),
    )
    merged = [one for one in tiles if one.items]
    if g.tiles == 1:  # all are the last
        merged = [one for one in tiles[2:] if one.items]
    return merged


def in_lines(key: ConvKey, g: ConvGeometry, begin: int, end: int) -> tuple[int, int]:
    """(results, lines) of the items [begin, end) that leave in lines."""
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
