"""Scans along a dim, and the compaction of true elements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated, NamedTuple

from ...dtypes import dtype, uint8
from .. import source
from ..geometry import Geometry, ListField, NamedFields
from ..inventory_terms import InventoryRequest, ManifestTerms, Option, table_lines
from ..skeleton import BoardSkeleton, Parameter, c_parameters, register
from ..source import element_defines, element_helpers, element_type
from ..workload import (
    FUNCTION_CYCLES,
    Access,
    Ints,
    KernelLaunch,
    LocalMemory,
    PipelinedLoop,
    distance,
    grid_blocks,
    interval,
    members_in,
    operator_cycles,
)

COLUMNS = 16  # rows scanned in parallel
# On boards: states in block RAM; elements of short contiguous rows, which a buffer reorders.
SIDE, TILE = 1024, 1 << 14
GROUP = 8  # elements of a single row added at once, about the latency of an addition


class Combine(NamedTuple):
    """How a state x and the next element y combine: the expression of the new state or, with
    `place`, the condition under which y replaces x. `complex_` is the expression for complex
    dtypes; "" rejects them."""

    combine: str
    complex_: str = ""
    place: bool = False


_LATER = "y != y || (x == x && y {} x)"  # NaN wins; of equal values, the last one wins
SCANS = {
    "cumsum": Combine("x + y", "ft_cadd(x, y)"),
    "cumprod": Combine("x * y", "ft_cmul(x, y)"),
    "cummax": Combine(_LATER.format(">="), place=True),
    "cummin": Combine(_LATER.format("<="), place=True),
    "logcumsumexp": Combine("ftb_logaddexp(x, y)", "ftb_clogaddexp(x, y)"),
}
OPS = Option("scans", tuple(SCANS), words=tuple(SCANS))


@dataclass(frozen=True)
class ScanKey:
    """Key of a scan op in a dtype. With `wide`, float64 states; with `held`, on boards, many states
    in block RAM."""

    op: str
    dtype: dtype
    wide: bool = False
    held: bool = True
    lanes: int = 1
    skeleton = "scan"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_scan_{self.op}_{self.dtype.name}" + ("_wide" if self.wide else "")


def recurrence(key: ScanKey) -> int:
    """Returns the cycles of the recurrence of a state."""
    cycles = operator_cycles(key.dtype)
    if SCANS[key.op].place:
        return 2 * cycles["compare"]
    if key.op == "logcumsumexp":
        kind = "double" if key.dtype.compute.to_real().itemsize == 8 else "float"
        return FUNCTION_CYCLES[kind] * (8 if key.dtype.is_complex else 2) + 2 * cycles["add"]
    if key.op == "cumprod":
        return cycles["mul"] + cycles["add"] * key.dtype.is_complex
    return cycles["add"]


def _apart(recurrence: int) -> int:
    return distance(recurrence) + 1  # a read of block memory takes a cycle


def group(key: ScanKey) -> int:
    """Returns the elements of a single row that are combined before they join the state.

    Returns 1 for products: a partial product may overflow though the running product does not.
    """
    return GROUP if key.op == "cumsum" and not key.wide else 1


def scans_single_rows(key: ScanKey, n: int) -> bool:
    """True if contiguous rows of n elements are better scanned one by one than in parallel. Boards
    scan short rows in parallel; the limit is higher if each element waits for the recurrence."""
    return not key.held or n > (128 if group(key) > 1 else TILE // COLUMNS)


def serves(op: str, dtype: dtype) -> bool:
    """True if the skeleton has the op in the dtype."""
    words = SCANS[op]
    if dtype.is_complex:
        return bool(words.complex_)
    return words.place or dtype.kind == "f" or (op != "logcumsumexp" and dtype.name == "int64")


@dataclass(frozen=True)
class ScanGeometry(Geometry):
    """Geometry buffer of a scan, in elements. `shape`, `read_strides` and `written_strides` are of
    the outer dims."""

    derived = ("items", "blocks")
    mode: int  # 1: totals of parts, 0: results
    parts: int
    part: int
    n: int
    columns: int
    side: int  # columns of a block
    read: Annotated[Ints, NamedFields("step column")]
    written: Annotated[Ints, NamedFields("step column")]
    shape: Annotated[Ints, ListField("dims")]
    read_strides: Annotated[Ints, ListField("dims")]
    written_strides: Annotated[Ints, ListField("dims")]

    @property
    def blocks(self) -> int:
        """Blocks of columns."""
        return -(-self.columns // self.side)

    @property
    def items(self) -> int:
        """Items to share among the compute units."""
        return prod(self.shape) * self.blocks * self.parts


class Scan(BoardSkeleton[ScanKey]):
    """Scan along a dim, with one state for each column."""

    name = "scan"
    word = "scan"
    geometry = ScanGeometry
    options = (OPS,)
    staged = True

    def parameters(self, key: ScanKey) -> tuple[Parameter, ...]:
        c, real = element_type(key.dtype), "double" if key.wide else source.scalar(key.dtype)
        return c_parameters(f"{c} *out, long *places, const {c} *in, {real} *totals", "out places in")

    def defines(self, key: ScanKey) -> dict[str, object]:
        words = SCANS[key.op]
        text = words.complex_ if key.dtype.is_complex else words.combine
        hole = "FT_REPLACES" if words.place else "FT_COMBINE"
        return {
            **element_defines(key.dtype),
            "FT_ARG": int(words.place),
            **({"FT_STATE_TYPE": "double"} if key.wide else {}),
            "FT_COLUMNS": SIDE if key.held else COLUMNS,
            "FT_WAIT": _apart(recurrence(key)) if key.held else 0,
            "FT_TILE": TILE,
            # float64 sums of float32 elements round so rarely that grouping does not change
            # results.
            "FT_FOURS": int(key.wide and key.op == "cumsum"),
            "FT_EIGHTS": int(key.wide and key.op == "cumsum" and key.dtype.name == "float32"),
            "FT_GROUP": group(key),
            "FT_LEVELS": group(key).bit_length() - 1,
            "FT_DROPPED_BITS": 0,
            **({"FT_COMBINE(x, y)": "x"} if words.place else {}),
            f"{hole}(x, y)": f"({text})",
        }

    def helpers(self, key: ScanKey) -> list[str]:
        more = ["binary.h"] if key.op == "logcumsumexp" else []
        return element_helpers(key.dtype, more)

    def record(self, key: ScanKey) -> ManifestTerms:
        return super().record(key)._replace(op=key.op)

    def op(self, recorded: str) -> str:
        return recorded

    def keys(self, request: InventoryRequest) -> Iterator[ScanKey]:
        for op in request.options["scans"]:
            yield from (ScanKey(op, of) for of in request.dtypes if serves(op, of))

    def lines(self, key: ScanKey) -> tuple[str, ...]:
        return (*super().lines(key), f'scans = ["{key.op}"]')

    def suffix(self, key: ScanKey) -> str:
        return f"{key.op}_{key.dtype.name}"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns a loop over elements of parallel rows, whose trip count covers the recurrence of
        few rows, or loops over the groups and elements of single rows; and the loops of the store
        stage."""
        key, g = launch.key, ScanGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        period, ends = g.blocks * g.parts, (g.blocks - 1) * g.parts
        narrow = g.columns - (g.blocks - 1) * g.side
        short = 0 if g.mode else g.n - (g.parts - 1) * g.part
        # The last block of columns may be narrower, the last part of a row shorter.
        blocks = grid_blocks(begin, end, g.blocks, g.parts, (g.side, narrow), (g.part, short))
        wait, parts = recurrence(key), 2 if key.dtype.is_complex else 1
        loops = []
        # A part starts from the totals of earlier parts, which a launch of mode 1 has written.
        for p in range(1, g.parts) if not g.mode else ():
            part_items = members_in(begin, end, g.parts, p, p + 1)
            ends_here = members_in(begin, end, period, ends + p, ends + p + 1)
            wide = (part_items - ends_here) * g.side + ends_here * narrow
            loops.append(PipelinedLoop("before", p * wide, p * part_items, wait, stage="work"))
        for items, m, rows in blocks:
            if items * rows == 0:
                continue
            if m > 1:
                turns = items * rows * max(m, _apart(wait))
                loops.append(PipelinedLoop("elements", turns, items, parts, stage="work"))
            else:
                many, least = group(key), interval(wait, 1)
                joined = rows // many * (many > 1)
                least_joined = max(many * parts, least)
                loops += [
                    PipelinedLoop("group", items * joined, items * bool(joined), least_joined, stage="work"),
                    PipelinedLoop("row", items * (rows - many * joined), items, least, stage="work"),
                ]
            if g.mode:
                loops.append(PipelinedLoop("totals", items * m, items, parts, False, stage="work"))
            else:
                loops += [
                    x._replace(trips=x.trips * items, entries=x.entries * items, stage="write_results")
                    for x in _store_loops(g, rows, m, parts)
                ]
        return loops

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        key, g = launch.key, ScanGeometry.unpack(launch.geometry)
        n = (g.parts - 1) * g.part if g.mode else g.n
        count = prod(g.shape) * n * g.columns
        size, written = key.dtype.itemsize, count * (g.mode == 0)
        indices = written * SCANS[key.op].place
        m = min(g.side, g.columns)
        _, length, in_line = _row_store(g, g.part, m)
        burst = length if in_line else 1
        read = g.n if m == 1 and g.read[0] == 1 else 1
        return [
            Access("out", True, written * size, written, burst, written * size),
            Access("places", True, indices * 8, indices, burst, indices * 8),
            Access("in", False, count * size, count, read, count * size, True),
            Access("totals", True, 0, 0, 0, 0),
        ]

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Returns True for inputs: parallel rows are read one element at a time."""
        return not written

    def memories(self, key: ScanKey, structure: str) -> list[LocalMemory]:
        bits, has_index = 8 * key.dtype.compute.itemsize, SCANS[key.op].place
        memories = [LocalMemory(SIDE, bits), LocalMemory(TILE, 8 * key.dtype.itemsize)]
        return memories + [LocalMemory(SIDE, 32), LocalMemory(TILE, 32)] * has_index

    def operators(self, key: ScanKey) -> Mapping[tuple[str, str], int]:
        kind = source.scalar(key.dtype)
        kind = kind if kind in ("float", "double") else key.dtype.compute.name
        if SCANS[key.op].place:
            return {("compare", kind): 3}
        parts = 2 if key.dtype.is_complex else 1
        if key.op == "cumprod":
            return {("mul", kind): 2 * parts**2, ("add", kind): 4 * (parts - 1)}
        # The additions of a group share adders over the cycles of the group.
        many = group(key)
        sums = many + sum(many - (1 << k) for k in range(many.bit_length() - 1))
        return {("add", kind): (2 + -(-sums // many) * (many > 1)) * parts}

    def extent(self, launch: KernelLaunch) -> str:
        g = ScanGeometry.unpack(launch.geometry)
        return f"{prod(g.shape) * g.columns}x{g.n}"


def _row_store(g: ScanGeometry, rows: int, m: int) -> tuple[str, int, bool]:
    """Returns (loop name, elements of a burst, True if contiguous) of the store of m parallel rows
    of `rows` elements."""
    step, column = g.written
    if m > 1 and step == 1 and column == rows and m * rows <= TILE:
        return "together", m * rows, True
    joined = m == 1 or (column == 1 and step == m)
    in_line = (step if m == 1 else column) == 1
    return "contiguous" if in_line else "strided", m * rows if joined else m, in_line


def _store_loops(g: ScanGeometry, rows: int, m: int, parts: int) -> list[PipelinedLoop]:
    """Returns the loops that store the results of an item."""
    name, length, in_line = _row_store(g, rows, m)
    bursts = m * rows // length if in_line else 1
    leave = PipelinedLoop(name, m * rows, bursts, parts, True, False)
    gathered = PipelinedLoop("gathered", m * rows, 1, parts, False, False)
    return [gathered, leave] if name == "together" else [leave]


register(Scan())


@dataclass(frozen=True)
class CompactKey:
    """Key of the only kernel; all fields have their defaults."""

    dtype: dtype = uint8
    lanes: int = 1

    @property
    def skeleton(self) -> str:
        """Name of the skeleton."""
        return "compact"

    entry = "ft_compact"


class Compact(BoardSkeleton[CompactKey]):
    """Two launches over the same slabs: each compute unit counts its true elements, then writes
    their positions."""

    name = word = "compact"
    report_name = "nonzero"
    together = "search"  # has positions of the same width
    exact_units = True

    def parameters(self, key: CompactKey) -> tuple[Parameter, ...]:
        last = "long first, int n, int count"  # `count` is 1 in the counting launch
        return c_parameters("const uchar *mask, long *out, const long *starts", "mask", last)

    def record(self, key: CompactKey) -> ManifestTerms:
        return ManifestTerms(self.name, (), (), "", key.dtype.name)

    def lines(self, key: CompactKey) -> tuple[str, ...]:
        return table_lines(self.word)

    def keys(self, request: InventoryRequest) -> Iterator[CompactKey]:
        yield CompactKey()

    def suffix(self, key: CompactKey) -> str:
        return self.name

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        begin, end = launch.slab(launch.n, unit)
        return [PipelinedLoop("elements", end - begin, 1)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; the number of positions is unknown, so `out` counts as one."""
        n = launch.n
        return [Access("mask", False, n, n, 0, n), Access("out", True, 8, 1, 1, 8)]


register(Compact())
