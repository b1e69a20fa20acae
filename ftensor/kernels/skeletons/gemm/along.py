"""gemm_along: products of few rows or columns that lie along the depth, in beats
(hls/skeleton/gemm_along.h), for images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ....dtypes import dtype
from ... import ctype
from ...geometry import Long
from ...ports import PORT_BYTES
from ...skeleton import register
from ...work import Access, KernelLaunch, LocalMemory, Loop, members_in
from .key import ADDED, ALONG, Gemm, GemmKey, ProductGeometry, element

SIDE = 8  # rows and columns of a tile
# In which a beat of each row meets one of each column: a sum waits for fewer (FT_AGAIN).
TURNS = 16


def along_serves(of: dtype) -> bool:
    """Whether there are kernels for a dtype."""
    return of.name in ("float32", "float64")


def along_key(of: dtype) -> GemmKey:
    """The kernel for rows and columns in line."""
    return GemmKey("gemm_along", of, PORT_BYTES // of.itemsize, SIDE, 1)


@dataclass(frozen=True)
class AlongGeometry(ProductGeometry):
    """What a launch is told: of the product, whose `steps` are those of a, b, out, added, and the
    steps from row to row of a and from column to column of b."""

    a: Long
    b: Long

    def turns(self, key: GemmKey) -> int:
        """Turns of an item: the last beats are met when no others come."""
        return (-(-self.depth // key.lanes) + 1) * TURNS


class Along(Gemm):
    """A tile of as many rows as columns for each item."""

    name = "gemm_along"
    geometry = AlongGeometry
    part = ALONG
    operands_in_order = ("out", "a", "b", "added")
    offsets = operands_in_order

    def word_of(self, key: GemmKey, operand: str) -> str:
        """All are elements."""
        return element(key)

    def defines(self, key: GemmKey) -> dict[str, object]:
        """The turns of a beat and the levels of a tree, too."""
        levels = key.lanes.bit_length() - 1
        return {**super().defines(key), "FT_STEPS": TURNS, "FT_LEVELS": levels}

    def beats(self, key: GemmKey) -> Mapping[str, int]:
        """Factors come in beats."""
        return {"a": key.lanes, "b": key.lanes}

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Rows take turns at the port."""
        return vector

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """One along the depth, one over results."""
        key, g = launch.key, AlongGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        items, period = end - begin, g.column_blocks * g.row_blocks
        rows, columns = (n % SIDE or SIDE for n in (g.rows, g.columns))
        below = members_in(begin, end, period, period - g.column_blocks, period)
        beside = members_in(begin, end, g.column_blocks, g.column_blocks - 1, g.column_blocks)
        corner = members_in(begin, end, period, period - 1, period)
        results = (items - below - beside + corner) * SIDE**2 + corner * rows * columns
        results += (below - corner) * rows * SIDE + (beside - corner) * SIDE * columns
        return [Loop("depth", items * g.turns(key), items, 1), Loop("results", results, items, 1, g.mode == ADDED)]

    def operators(self, key: GemmKey) -> Mapping[tuple[str, str], int]:
        """Products of a beat with some columns, the trees of their sums, what these join; results
        are scaled. A row and a column are picked for each turn."""
        kind, part = ctype.scalar(key.dtype), SIDE * SIDE // TURNS
        return {
            ("mul", kind): part * key.lanes + 2,
            ("add", kind): part * (key.lanes + 1) + 2,
            ("choose", kind): key.lanes * (SIDE - 1 + part * (SIDE // part - 1)) + 2 * part * TURNS,
        }

    def memories(self, key: GemmKey, structure: str) -> list[LocalMemory]:
        """The sums of each turn, and their totals."""
        return [LocalMemory(TURNS, 8 * key.dtype.itemsize, 2 * SIDE * SIDE // TURNS)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Every tile reads its rows and columns anew."""
        key, g = launch.key, AlongGeometry.unpack(launch.geometry)
        size = key.dtype.itemsize
        batch, beats = g.items // (g.row_blocks * g.column_blocks), -(-g.depth // key.lanes)
        results, read = batch * g.rows * g.columns, g.items * beats * SIDE
        accesses = [Access("out", True, results * size, results, 1, results * size)]
        for name, n in (("a", g.rows), ("b", g.columns)):
            crossing = batch * n * g.depth * size
            accesses.append(Access(name, False, read * PORT_BYTES, read, 1, crossing, short=True))
        if g.mode == ADDED:
            accesses.append(Access("added", False, results * size, results, 1, results * size))
        return accesses


register(Along())
