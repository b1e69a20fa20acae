"""sort, topk, search: sorted rows, first elements of sorted rows, insertion points
(hls/skeleton/sort.h, topk.h, search.h)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated, Protocol, TypeVar

from ... import dtypes
from ...dtypes import dtype
from ..geometry import Geometry, ListField, Long
from ..inventory_terms import InventoryRequest
from ..key import EntryName, Key
from ..skeleton import BoardSkeleton, Parameter, c_parameters, register
from ..source import element_defines, element_helpers, element_type
from ..workload import MEMORY_LATENCY, PORT_BYTES, Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop, pieces

RUN = 32  # elements that a register array sorts by insertion
WAYS = 16  # runs that a merge combines
LOCAL_TILE = 1 << 13  # elements in local memory
PART = LOCAL_TILE // WAYS  # local memory of one run in global memory: four rounds of a merge
AHEAD = 4  # prefetched elements per leaf of a merge tree; one arrives three iterations after the last one was taken
LEAD = (2 + AHEAD) * WAYS - 1  # registers of a merge tree, empty at the start

BITS = {1: "char", 2: "short", 4: "int", 8: "long"}
# Comparison types are unsigned; uint64, which no wider type holds, has its top bit flipped.
_UNSIGNED = {"bool": "uchar", "uint8": "uchar", "uint16": "ushort", "uint32": "uint"}
# (mask of the magnitude, bits of infinity)
FLOATS = {
    "float16": ("0x7fff", "0x7c00"),
    "bfloat16": ("0x7fff", "0x7f80"),
    "float32": ("0x7fffffff", "0x7f800000"),
    "float64": ("0x7fffffffffffffffL", "0x7ff0000000000000L"),
}


def comparison_dtype(dtype: dtype) -> dtype:
    """Returns the dtype in which elements are compared (hls/sort_keys.h)."""
    return dtypes.int64 if dtype.itemsize == 8 or dtype is dtypes.uint32 else dtypes.int32


def memory_type(dtype: dtype) -> str:
    """Returns the C type of an element in memory."""
    return _UNSIGNED.get(dtype.name, BITS[dtype.itemsize])


def order_defines(dtype: dtype) -> dict[str, object]:
    """Returns the macros of hls/sort_keys.h: C types in memory and of comparison keys, bits of
    floats."""
    words: dict[str, object] = {
        "FT_B": memory_type(dtype),
        "FT_KEY": BITS[comparison_dtype(dtype).itemsize],
        "FT_BITS_OF_FLOAT": int(dtype.name in FLOATS),
        "FT_LEAST": "(-0x7fffffffffffffffL - 1)" if dtype is dtypes.uint64 else "0",
    }
    if dtype.name in FLOATS:
        words["FT_MAGNITUDE"], words["FT_INFINITE"] = FLOATS[dtype.name]
    return words


class ComparedKey(Key, Protocol):
    """A key with a dtype of elements that are compared."""

    @property
    def dtype(self) -> dtype:
        """Dtype of the elements."""


O = TypeVar("O", bound=ComparedKey)


class OrderSkeleton(BoardSkeleton[O]):
    """Base of sort and topk: one kernel per dtype, which writes elements in order and their
    indices."""

    result_dtypes = (None, "int64")
    key: Callable[[dtype], O]

    def compute(self, key: O) -> dtype:
        return comparison_dtype(key.dtype)

    def helpers(self, key: O) -> list[str]:
        return ["sort_keys.h"]

    def keys(self, request: InventoryRequest) -> Iterator[O]:
        yield from (self.key(of) for of in request.dtypes if not of.is_complex)


@dataclass(frozen=True)
class SortKey:
    """Key of the sort kernel of a dtype."""

    dtype: dtype
    lanes: int = 1
    skeleton = "sort"
    entry = EntryName("ft_sort_{0.dtype.name}")


@dataclass(frozen=True)
class SortGeometry(Geometry):
    """Geometry buffer of a sort, in elements; `read` and `written` are strides along a row.

    A row consists of tiles. A launch sorts the tiles in local memory or, with `merges`, merges
    sorted runs in memory into longer ones. The `last` launch writes the results.
    """

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
    shape: Annotated[Ints, ListField("dims")]
    read_strides: Annotated[Ints, ListField("dims")]
    written_strides: Annotated[Ints, ListField("dims")]

    @property
    def items(self) -> int:
        """Tiles to share among the compute units."""
        return prod(self.shape) * self.tiles

    @property
    def passes(self) -> int:
        """Merges in local memory, at least one."""
        count, width = 1, self.run * WAYS
        while width < self.tile:
            width, count = width * WAYS, count + 1
        return count


class Sort(OrderSkeleton[SortKey]):
    """Sort: launches sort the tiles of a row in local memory, then merge tiles until one is
    left."""

    name = "sort"
    word = "sort"
    geometry = SortGeometry
    key = SortKey
    staged = True

    def parameters(self, key: SortKey) -> tuple[Parameter, ...]:
        c = memory_type(key.dtype)
        runs = f"const {c} *runs, const int *runs_order, {c} *merged, int *merged_order"
        return c_parameters(f"{c} *values, long *indices, const {c} *in, {runs}", "values indices in")

    def defines(self, key: SortKey) -> dict[str, object]:
        sizes = {"FT_RUN": RUN, "FT_MERGE_WAYS": WAYS, "FT_TILE": LOCAL_TILE, "FT_PART": PART}
        sizes |= {"FT_AHEAD": AHEAD, "FT_LEAD": LEAD}
        return {**sizes, **order_defines(key.dtype)}

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        g = SortGeometry.unpack(launch.geometry)
        loops: list[PipelinedLoop] = []
        for tiles, size in pieces(g.n, g.tile, g.tiles, *launch.slab(g.items, unit)):
            elements = tiles * size
            turns, begun, width = 0, 0, g.run
            if g.merges:
                whole_runs, rest = divmod(size, g.run)
                merge_elements = whole_runs * min(g.run, 3 * PART // 4) + min(rest, 3 * PART // 4)
                run_count = whole_runs + bool(rest)
                loops.append(PipelinedLoop("fill_leaves", tiles * merge_elements, tiles * run_count, stage="work"))
            else:
                loops.append(PipelinedLoop("insert", elements + tiles * RUN, tiles, stage="work"))
            for _ in range(g.passes):
                width *= WAYS
                groups = -(-size // width)
                turns, begun = turns + size + groups * LEAD, begun + groups
            merged = PipelinedLoop("merge", tiles * turns, tiles * begun, 1, g.merges, stage="work")
            name = "write_run" if not g.last else "results" if g.written == 1 else "strided"
            loops += [merged, PipelinedLoop(name, elements, tiles, 1, True, False, "write_results")]
        return loops

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
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
        """Returns True for inputs: a merge reads one element at a time from changing runs."""
        return not written

    def operators(self, key: SortKey) -> Mapping[tuple[str, str], int]:
        """Returns a comparison for each register and each tree node, comparisons of ranks for each
        node, selections for both, and the counters of the runs."""
        counts = Counter({("compare", comparison_dtype(key.dtype).name): RUN + WAYS})
        chosen = 4 * RUN + (4 + 2 * AHEAD) * WAYS
        return counts + Counter(
            {("compare", "int32"): 4 * WAYS, ("choose", "int32"): chosen + 4 * WAYS, ("add", "int32"): 6 * WAYS}
        )

    def memories(self, key: SortKey, structure: str) -> list[LocalMemory]:
        return [LocalMemory(LOCAL_TILE, 8 * key.dtype.itemsize, 2), LocalMemory(LOCAL_TILE, 32, 2)]

    def extent(self, launch: KernelLaunch) -> str:
        g = SortGeometry.unpack(launch.geometry)
        return f"{prod(g.shape)}x{g.n}"


register(Sort())


TOPK_FIRST = 64  # registers, and therefore the most results of a row


@dataclass(frozen=True)
class TopkKey:
    """Key of the topk kernel of a dtype."""

    dtype: dtype
    skeleton = "topk"

    @property
    def lanes(self) -> int:
        """Elements of a beat."""
        return min(16, PORT_BYTES // self.dtype.itemsize)

    entry = EntryName("ft_topk_{0.dtype.name}")


@dataclass(frozen=True)
class TopkGeometry(Geometry):
    """Geometry buffer, in elements: `many` results of each row; `read` and `written` are strides
    along a row."""

    derived = ("items",)
    n: int
    many: int
    descending: bool
    read: Long
    written: Long
    shape: Annotated[Ints, ListField("dims")]
    read_strides: Annotated[Ints, ListField("dims")]
    written_strides: Annotated[Ints, ListField("dims")]

    @property
    def items(self) -> int:
        """Rows to share among the compute units."""
        return prod(self.shape)


class Topk(OrderSkeleton[TopkKey]):
    """Top k: an array of registers inserts one element a cycle."""

    name = word = "topk"
    geometry = TopkGeometry
    key = TopkKey

    def parameters(self, key: TopkKey) -> tuple[Parameter, ...]:
        c = memory_type(key.dtype)
        return c_parameters(f"{c} *values, long *indices, const {c} *in", "values indices in")

    def beats(self, key: TopkKey) -> Mapping[str, int]:
        return {"in": key.lanes}

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Returns True: the kernel requests a beat for its first element, and writes few
        results."""
        return True

    def defines(self, key: TopkKey) -> dict[str, object]:
        return {"FT_FIRST": TOPK_FIRST, **order_defines(key.dtype)}

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        g = TopkGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        rows = end - begin
        return [
            PipelinedLoop("elements", rows * g.n, rows),
            PipelinedLoop("results", rows * g.many, rows, reads=False, computes=False),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; the stride along a row determines the elements per beat."""
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
        """Returns the divisions that locate each row: one for each dim."""
        g = TopkGeometry.unpack(launch.geometry)
        return len(g.shape) * -(-g.items // launch.units)

    def operators(self, key: TopkKey) -> Mapping[tuple[str, str], int]:
        """Returns a comparison and the selections (new, previous or own element) of each
        register."""
        return {
            ("compare", comparison_dtype(key.dtype).name): TOPK_FIRST,
            ("choose", comparison_dtype(key.dtype).name): 4 * TOPK_FIRST,
            ("choose", "int32"): 2 * TOPK_FIRST,
        }

    def extent(self, launch: KernelLaunch) -> str:
        g = TopkGeometry.unpack(launch.geometry)
        return f"{g.items}x{g.many} of {g.n}"


register(Topk())


@dataclass(frozen=True)
class SearchKey:
    """Key of the search kernel for rows and values of a dtype."""

    dtype: dtype
    lanes: int = 1
    skeleton = "search"
    entry = EntryName("ft_search_{0.dtype.name}")


@dataclass(frozen=True)
class SearchGeometry(Geometry):
    """Geometry buffer of a binary search for `n` values.

    each: consecutive values that search in the same row
    row: elements of a row
    step: stride between rows; 0: all values search in one row
    right: insert after equal elements
    sorted: rows are in the order of a `sorter`
    halves: bisection steps
    """

    n: int
    each: int
    row: int
    step: Long
    right: bool
    sorted: bool
    halves: int


class Search(BoardSkeleton[SearchKey]):
    """Binary search for the position of each value in a row."""

    name = word = together = "search"
    report_name = "searchsorted"
    result_dtypes, operand_dtypes = ("int64",), (None, None)
    geometry = SearchGeometry

    def parameters(self, key: SearchKey) -> tuple[Parameter, ...]:
        c = element_type(key.dtype)
        pointers = f"long *out, const {c} *row, const {c} *values, const long *sorter"
        return c_parameters(pointers, "out row values sorter")

    def defines(self, key: SearchKey) -> dict[str, object]:
        return element_defines(key.dtype)

    def helpers(self, key: SearchKey) -> list[str]:
        return element_helpers(key.dtype, [])

    def keys(self, request: InventoryRequest) -> Iterator[SearchKey]:
        yield from (SearchKey(of) for of in request.dtypes if not of.is_complex)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns the bisection loop; each step waits for two reads: of `sorter` and of the row."""
        g = SearchGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.n, unit)
        return [PipelinedLoop("halves", (end - begin) * g.halves, end - begin, 2 * MEMORY_LATENCY + 2)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses, with one element of the row for each bisection step."""
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
        g = SearchGeometry.unpack(launch.geometry)
        return f"{g.n} in {g.row}"


register(Search())
