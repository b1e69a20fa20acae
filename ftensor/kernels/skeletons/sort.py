"""sort, topk, search: rows in order, their first elements, insertion points (hls/skeleton/sort.h, topk.h, search.h)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated, Protocol, TypeVar

from ... import dtypes
from ...dtypes import dtype
from ..geometry import Geometry, Long, Many
from ..inventory_terms import InventoryRequest, Record, table_lines
from ..key import Key
from ..skeleton import BoardSkeleton, Parameter, register
from ..workload import LATENCY, PORT_BYTES, Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop, pieces
from .elements import element_defines, element_helpers, element_type

RUN = 32  # elements that a row of registers sorts
WAYS = 16  # runs that are merged into one
LOCAL_TILE = 1 << 13  # elements in local memory
PART = LOCAL_TILE // WAYS  # of one run where runs are in memory: four rounds of a merge
LEAD = 3 * WAYS - 1  # registers of a merge, which are empty in the beginning

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


def compared(of: dtype) -> dtype:
    """The dtype in which elements are compared (hls/order.h)."""
    return dtypes.int64 if of.itemsize == 8 or of is dtypes.uint32 else dtypes.int32


def bits(of: dtype) -> str:
    """The C type of what lies in memory."""
    return _UNSIGNED.get(of.name, BITS[of.itemsize])


def words_of_order(of: dtype) -> dict[str, object]:
    """What lies in memory, and what of it is compared, for hls/order.h."""
    words: dict[str, object] = {
        "FT_B": bits(of),
        "FT_KEY": BITS[compared(of).itemsize],
        "FT_BITS_OF_FLOAT": int(of.name in FLOATS),
        "FT_LEAST": "(-0x7fffffffffffffffL - 1)" if of is dtypes.uint64 else "0",
    }
    if of.name in FLOATS:
        words["FT_MAGNITUDE"], words["FT_INFINITE"] = FLOATS[of.name]
    return words


class Ordered(Key, Protocol):
    """A key of elements that are compared."""

    @property
    def dtype(self) -> dtype:
        """The elements'."""


O = TypeVar("O", bound=Ordered)


class OfOrder(BoardSkeleton[O]):
    """One kernel for each dtype, which gives elements of rows in order, and their places."""

    key: Callable[[dtype], O]

    def compute(self, key: O) -> dtype:
        """Whole numbers are compared."""
        return compared(key.dtype)

    def helpers(self, key: O) -> list[str]:
        """What is compared."""
        return ["order.h"]

    def record(self, key: O) -> Record:
        """Its dtype."""
        of = key.dtype.name
        return Record(self.name, (of, "int64"), (of,), "", of)

    def keys(self, asked: InventoryRequest) -> Iterator[O]:
        """One for each dtype."""
        yield from (self.key(of) for of in asked.dtypes if not of.is_complex)

    def lines(self, key: O) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def suffix(self, key: O) -> str:
        """The dtype."""
        return f"{self.name}_{key.dtype.name}"


@dataclass(frozen=True)
class SortKey:
    """One kernel for each dtype."""

    dtype: dtype
    lanes: int = 1
    skeleton = "sort"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_sort_{self.dtype.name}"


@dataclass(frozen=True)
class SortGeometry(Geometry):
    """What a launch is told, all in elements; steps are along a row. A row has tiles, and one
    that `merges` makes a tile of runs; the `last` launch writes results."""

    derived = ("items", "passes")
    merges: bool
    last: bool
    tiles: int
    tile: Long
    n: int
    run: Long
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
        """Merges in local memory, one at least."""
        count, width = 1, self.run * WAYS
        while width < self.tile:
            width, count = width * WAYS, count + 1
        return count


class Sort(OfOrder[SortKey]):
    """Tiles of a row are sorted in local memory, and merged until there is one."""

    name = "sort"
    word = "sort"
    geometry = SortGeometry
    key = SortKey
    staged = True

    def parameters(self, key: SortKey) -> tuple[Parameter, ...]:
        """Results, the input, runs before and after a merge; offsets; the geometry."""
        of = bits(key.dtype)
        return (
            ("*", f"{of} *", "values"),
            ("*", "long *", "indices"),
            ("*", f"const {of} *", "in"),
            ("*", f"const {of} *", "runs"),
            ("*", "const int *", "runs_order"),
            ("*", f"{of} *", "merged"),
            ("*", "int *", "merged_order"),
            *(("long", "long ", f"{name}_offset") for name in ("values", "indices", "in")),
            ("*", "const long *", "geometry"),
        )

    def defines(self, key: SortKey) -> dict[str, object]:
        """The sizes of the local memories, and what is compared."""
        sizes = {"FT_RUN": RUN, "FT_WAYS": WAYS, "FT_TILE": LOCAL_TILE, "FT_PART": PART, "FT_LEAD": LEAD}
        return {**sizes, **words_of_order(key.dtype)}

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """What a unit's share of the tiles goes through."""
        g = SortGeometry.unpack(launch.geometry)
        loops: list[PipelinedLoop] = []
        for tiles, size in pieces(g.n, g.tile, g.tiles, *launch.slab(g.items, unit)):
            elements = tiles * size
            turns, begun, width = 0, 0, g.run
            if g.merges:
                whole, rest = divmod(size, g.run)
                there = whole * min(g.run, 3 * PART // 4) + min(rest, 3 * PART // 4)
                runs = whole + bool(rest)
                loops.append(PipelinedLoop("begins", tiles * there, tiles * runs, stage="work"))
            else:
                loops.append(PipelinedLoop("inserted", elements + tiles * RUN, tiles, stage="work"))
            for _ in range(g.passes):
                width *= WAYS
                groups = -(-size // width)
                turns, begun = turns + size + groups * LEAD, begun + groups
            merged = PipelinedLoop("merged", tiles * turns, tiles * begun, 1, g.merges, stage="work")
            name = "handed_on" if not g.last else "results" if g.written == 1 else "apart"
            loops += [merged, PipelinedLoop(name, elements, tiles, 1, True, False, "leave")]
        return loops

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """The input, or the runs, once; the results, or longer runs, once."""
        key, g = launch.key, SortGeometry.unpack(launch.geometry)
        count, size = prod(g.shape) * g.n, key.dtype.itemsize
        first, last, merged = count * (not g.merges), count * g.last, count * (not g.last)
        runs, burst = count * g.merges, 0 if g.written == 1 else 1
        return [
            Access("values", True, last * size, last, burst, last * size),
            Access("indices", True, last * 8, last, burst, last * 8),
            Access("in", False, first * size, first, 1, first * size, True),
            Access("runs", False, runs * size, runs, 1, 0, True),
            Access("runs_order", False, runs * 4, runs, 1, 0, True),
            Access("merged", True, merged * size, merged, 0, 0),
            Access("merged_order", True, merged * 4, merged, 0, 0),
        ]

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """What is read comes an element at a time, from where a run goes on."""
        return not written

    def operators(self, key: SortKey) -> Mapping[tuple[str, str], int]:
        """Each register of a row and each node of the tree compares, a node the ranks, too; and
        each chooses what it takes. And of a run to be read, how far it and those before it are."""
        counts = Counter({("compare", compared(key.dtype).name): RUN + WAYS})
        chosen = 4 * RUN + 8 * WAYS
        return counts + Counter(
            {("compare", "int32"): 4 * WAYS, ("choose", "int32"): chosen + 4 * WAYS, ("add", "int32"): 6 * WAYS}
        )

    def memories(self, key: SortKey, structure: str) -> list[LocalMemory]:
        """Both sides of elements and places."""
        return [LocalMemory(LOCAL_TILE, 8 * key.dtype.itemsize, 2), LocalMemory(LOCAL_TILE, 32, 2)]

    def extent(self, launch: KernelLaunch) -> str:
        """Rows and their size."""
        g = SortGeometry.unpack(launch.geometry)
        return f"{prod(g.shape)}x{g.n}"


register(Sort())


TOPK_FIRST = 64  # registers, and so the most elements of a row that are asked for


@dataclass(frozen=True)
class TopkKey:
    """One kernel for each dtype."""

    dtype: dtype
    skeleton = "topk"

    @property
    def lanes(self) -> int:
        """Elements of a beat."""
        return min(16, PORT_BYTES // self.dtype.itemsize)

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_topk_{self.dtype.name}"


@dataclass(frozen=True)
class TopkGeometry(Geometry):
    """What a launch is told, all in elements: so `many` results of each row; steps are along it."""

    derived = ("items",)
    n: int
    many: int
    descending: bool
    read: Long
    written: Long
    shape: Annotated[Ints, Many("dims")]
    read_strides: Annotated[Ints, Many("dims")]
    written_strides: Annotated[Ints, Many("dims")]

    @property
    def items(self) -> int:
        """The rows, which the units share."""
        return prod(self.shape)


class Topk(OfOrder[TopkKey]):
    """A row of registers takes an element a cycle."""

    name = word = "topk"
    geometry = TopkGeometry
    key = TopkKey

    def parameters(self, key: TopkKey) -> tuple[Parameter, ...]:
        """Results, their places, the input; offsets; the geometry."""
        of = bits(key.dtype)
        return (
            ("*", f"{of} *", "values"),
            ("*", "long *", "indices"),
            ("*", f"const {of} *", "in"),
            *(("long", "long ", f"{name}_offset") for name in ("values", "indices", "in")),
            ("*", "const long *", "geometry"),
        )

    def beats(self, key: TopkKey) -> Mapping[str, int]:
        """Elements come in beats."""
        return {"in": key.lanes}

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """A beat is asked for when an element of it is wanted, and few results are written."""
        return True

    def defines(self, key: TopkKey) -> dict[str, object]:
        """The registers, and what is compared."""
        return {"FT_FIRST": TOPK_FIRST, **words_of_order(key.dtype)}

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """An element a cycle, and then the results of a row."""
        g = TopkGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        rows = end - begin
        return [
            PipelinedLoop("elements", rows * g.n, rows),
            PipelinedLoop("results", rows * g.many, rows, reads=False, computes=False),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """The input once, as many elements of a beat as lie in it; the results."""
        key, g = launch.key, TopkGeometry.unpack(launch.geometry)
        size, elements, results = key.dtype.itemsize, g.items * g.n, g.items * g.many
        beats = -(-elements * min(abs(g.read), key.lanes) // key.lanes)
        moved = beats * key.lanes * size
        return [
            Access("values", True, results * size, results, 1, results * size, short=True),
            Access("indices", True, results * 8, results, 1, results * 8, short=True),
            Access("in", False, moved, beats, 1, elements * size, short=True),
        ]

    def divisions(self, launch: KernelLaunch, loops: object) -> int:
        """A row's place in each dim."""
        g = TopkGeometry.unpack(launch.geometry)
        return len(g.shape) * -(-g.items // launch.units)

    def operators(self, key: TopkKey) -> Mapping[tuple[str, str], int]:
        """Each register compares, and takes what comes, what is before it, or stays."""
        return {
            ("compare", compared(key.dtype).name): TOPK_FIRST,
            ("choose", compared(key.dtype).name): 4 * TOPK_FIRST,
            ("choose", "int32"): 2 * TOPK_FIRST,
        }

    def extent(self, launch: KernelLaunch) -> str:
        """How many of how many, of how many rows."""
        g = TopkGeometry.unpack(launch.geometry)
        return f"{g.items}x{g.many} of {g.n}"


register(Topk())


@dataclass(frozen=True)
class SearchKey:
    """One kernel: the dtype of rows and values."""

    dtype: dtype
    lanes: int = 1
    skeleton = "search"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_search_{self.dtype.name}"


@dataclass(frozen=True)
class SearchGeometry(Geometry):
    """What a launch is told: values, those that share a row, its elements and the step from one row
    to the next (0: all use one); whether places are right of equal ones, an order of the rows is
    given; how often a row is halved."""

    n: int
    each: int
    row: int
    step: Long
    right: bool
    sorted: bool
    halves: int


class Search(BoardSkeleton[SearchKey]):
    """A row is halved until one place is left."""

    name = "search"
    word = "search"
    together = "search"
    geometry = SearchGeometry

    def parameters(self, key: SearchKey) -> tuple[Parameter, ...]:
        """Places, rows, values, the order of the rows; offsets; the geometry."""
        of = element_type(key.dtype)
        return (
            ("*", "long *", "out"),
            ("*", f"const {of} *", "row"),
            ("*", f"const {of} *", "values"),
            ("*", "const long *", "sorter"),
            *(("long", "long ", f"{name}_offset") for name in ("out", "row", "values", "sorter")),
            ("*", "const long *", "geometry"),
        )

    def defines(self, key: SearchKey) -> dict[str, object]:
        """What an element is."""
        return element_defines(key.dtype)

    def helpers(self, key: SearchKey) -> list[str]:
        """Elements."""
        return element_helpers(key.dtype, [])

    def record(self, key: SearchKey) -> Record:
        """Its dtype."""
        of = key.dtype.name
        return Record(self.name, ("int64",), (of, of), "", of)

    def keys(self, asked: InventoryRequest) -> Iterator[SearchKey]:
        """One for each dtype."""
        yield from (SearchKey(of) for of in asked.dtypes if not of.is_complex)

    def lines(self, key: SearchKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def suffix(self, key: SearchKey) -> str:
        """The dtype."""
        return f"search_{key.dtype.name}"

    def title(self, key: SearchKey) -> str:
        """torch's name."""
        return "searchsorted"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Each half waits for the middle element of the one before, found through `sorter`."""
        g = SearchGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.n, unit)
        return [PipelinedLoop("halves", (end - begin) * g.halves, end - begin, 2 * LATENCY + 2)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """A value, its place, and single elements of a row."""
        g, size = SearchGeometry.unpack(launch.geometry), launch.key.dtype.itemsize
        n, looked = g.n, g.n * g.halves
        indices = looked * g.sorted
        return [
            Access("out", True, n * 8, n, 1, n * 8),
            Access("row", False, looked * size, looked, 1, looked * size),
            Access("values", False, n * size, n, 1, n * size),
            Access("sorter", False, indices * 8, indices, 1, indices * 8),
        ]

    def extent(self, launch: KernelLaunch) -> str:
        """How many values, and how long a row."""
        g = SearchGeometry.unpack(launch.geometry)
        return f"{g.n} in {g.row}"


register(Search())
