"""sort: rows in order, with the places of their elements (hls/skeleton/sort.h)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Annotated

from ... import dtypes
from ...dtypes import dtype
from ..board_skeleton import BoardSkeleton
from ..geometry import Geometry, Long, Many
from ..ports import LATENCY
from ..skeleton import Parameter, register
from ..words import Asked, Record, table_lines
from ..work import Access, Ints, Launch, Loop, pieces

# The element that comes next in a merge hangs on the one read before it, and comparing takes some.
NEXT = LATENCY + 6
RUN = 16  # elements that are inserted one by one
# Elements of a row that a unit sorts by itself where a row is for all units.
TILE = 1 << 15
WHOLE, TILES, MERGE, RESULTS, FIRST, RANK = range(6)  # what a launch does
MEDIAN, NANMEDIAN = -1, -2  # ranks that the kernel finds itself

BITS = {1: "char", 2: "short", 4: "int", 8: "long"}
# Compared in a wider type; uint64, for which there is none, with its first bit turned.
_UNSIGNED = {"bool": "uchar", "uint8": "uchar", "uint16": "ushort", "uint32": "uint"}
# (magnitude's bits, those of infinity)
FLOATS = {
    "float16": ("0x7fff", "0x7c00"),
    "bfloat16": ("0x7fff", "0x7f80"),
    "float32": ("0x7fffffff", "0x7f800000"),
    "float64": ("0x7fffffffffffffffL", "0x7ff0000000000000L"),
}


@dataclass(frozen=True)
class SortKey:
    """One kernel: a dtype; with `selects`, for processors, elements of a rank without a sort."""

    dtype: dtype
    lanes: int = 1
    selects: bool = False
    skeleton = "sort"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_{'select' if self.selects else 'sort'}_{self.dtype.name}"

    @property
    def compared(self) -> dtypes.dtype:
        """The dtype of what is compared."""
        long = self.dtype.itemsize == 8 or self.dtype is dtypes.uint32
        return dtypes.int64 if long else dtypes.int32


def first_run(n: int) -> int:
    """The size of the runs that are made by insertion: with it, merges go there and back."""
    for run in (RUN, RUN // 2):
        size, passes = run, 0
        while size < n:
            size, passes = 2 * size, passes + 1
        if passes % 2 == 0:
            return run
    return RUN


@dataclass(frozen=True)
class SortGeometry(Geometry):
    """What a launch is told, all in elements; steps are along a row."""

    derived = ("items",)
    mode: int
    tiles: int
    tile: int
    n: int
    run: int
    descending: bool
    read: Long
    written: Long
    shape: Annotated[Ints, Many("dims")]
    read_strides: Annotated[Ints, Many("dims")]
    written_strides: Annotated[Ints, Many("dims")]

    @property
    def items(self) -> int:
        """What the units share."""
        return prod(self.shape) * self.tiles

    @property
    def passes(self) -> int:
        """Merges of a tile, there and back."""
        count, width = 0, self.run
        while width < self.tile:
            width, count = 4 * width, count + 2
        return count


class Sort(BoardSkeleton[SortKey]):
    """Runs of a row are merged until there is one."""

    name = "sort"
    word = "sort"
    geometry = SortGeometry
    exact_units = True  # each has memory of its own

    def parameters(self, key: SortKey) -> tuple[Parameter, ...]:
        """Results, the input, what is compared and the places, twice; offsets; the geometry."""
        of, compared = self._bits(key), BITS[key.compared.itemsize]
        return (
            ("*", f"{of} *", "values"),
            ("*", "long *", "indices"),
            ("*", f"const {of} *", "in"),
            ("*", f"{compared} *", "a_keys"),
            ("*", "int *", "a_order"),
            ("*", f"{compared} *", "b_keys"),
            ("*", "int *", "b_order"),
            *(("long", "long ", f"{name}_offset") for name in ("values", "indices", "in")),
            ("*", "const long *", "geometry"),
        )

    def _bits(self, key: SortKey) -> str:
        return _UNSIGNED.get(key.dtype.name, BITS[key.dtype.itemsize])

    def compute(self, key: SortKey) -> dtype:
        """Whole numbers are compared."""
        return key.compared

    def defines(self, key: SortKey) -> dict[str, object]:
        """What lies in memory, and what of it is compared."""
        words: dict[str, object] = {
            "FT_B": self._bits(key),
            "FT_KEY": BITS[key.compared.itemsize],
            "FT_RUN": RUN,
            "FT_LARGEST": "0x7fffffffffffffffL" if key.compared.itemsize == 8 else "0x7fffffff",
            "FT_SELECTS": int(key.selects),
            "FT_BITS_OF_FLOAT": int(key.dtype.name in FLOATS),
            "FT_LEAST": "(-0x7fffffffffffffffL - 1)" if key.dtype is dtypes.uint64 else "0",
        }
        if key.dtype.name in FLOATS:
            words["FT_MAGNITUDE"], words["FT_INFINITE"] = FLOATS[key.dtype.name]
        return words

    def record(self, key: SortKey) -> Record:
        """Its dtype."""
        of = key.dtype.name
        return Record(self.name, (of, "int64"), (of,), "", of)

    def keys(self, asked: Asked) -> Iterator[SortKey]:
        """One for each dtype."""
        yield from (SortKey(of) for of in asked.dtypes if not of.is_complex)

    def lines(self, key: SortKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def suffix(self, key: SortKey) -> str:
        """The dtype."""
        return f"sort_{key.dtype.name}"

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """What a unit's share of the tiles goes through."""
        g = SortGeometry.unpack(launch.geometry)
        found: list[Loop] = []
        for tiles, size in pieces(g.n, g.tile, g.tiles, *launch.slab(g.items, unit)):
            elements, runs, merges = tiles * size, tiles * -(-size // g.run), tiles
            if g.mode in (WHOLE, TILES):
                found += [Loop(name, elements, runs) for name in ("read", "counted")]
                passes, width = 0, g.run
                while width < size:
                    merges += tiles * (-(-size // (2 * width)) + -(-size // (4 * width)))
                    passes, width = passes + 2, 4 * width
                found.append(Loop("merged", elements * passes, merges, NEXT))
            if g.mode == MERGE:
                found.append(Loop("merged", elements, tiles, NEXT))
                found.append(Loop("bisect", tiles * g.run.bit_length(), tiles, NEXT))
            if g.mode in (WHOLE, RESULTS):
                found.append(Loop("results", elements, tiles))
        return found

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """The input once for what is compared, and once more for the results."""
        key, g = launch.key, SortGeometry.unpack(launch.geometry)
        count, size, wide = prod(g.shape) * g.n, key.dtype.itemsize, key.compared.itemsize
        results = count * (g.mode in (WHOLE, RESULTS))
        read = count * (g.mode < MERGE) + results
        turns = {WHOLE: g.passes // 2 + 1, TILES: g.passes // 2 + 1, MERGE: 1, RESULTS: 0}[g.mode]
        moved = count * turns
        return [
            Access("values", True, results * size, results, 1, results * size),
            Access("indices", True, results * 8, results, 1, results * 8),
            Access("in", False, read * size, read, 1, count * size),
            Access("a_keys", True, 2 * moved * wide, 2 * moved, 1, 0),
            Access("a_order", True, 2 * moved * 4, 2 * moved, 1, 0),
            Access("b_keys", True, 2 * moved * wide, 2 * moved, 1, 0),
            Access("b_order", True, 2 * moved * 4, 2 * moved, 1, 0),
        ]

    def extent(self, launch: Launch) -> str:
        """Rows and their size."""
        g = SortGeometry.unpack(launch.geometry)
        return f"{prod(g.shape)}x{g.n}"


register(Sort())
