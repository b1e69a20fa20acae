"""gemm_direct, gemm_along: products of matrices that are read in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from ....dtypes import dtype
from ... import source
from ...geometry import Each, Long
from ...inventory_terms import KernelTarget
from ...key import lanes_for
from ...skeleton import register
from ...workload import PORT_BYTES, Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop, distance, members_in
from .key import ADDED, ALONG, DIRECT, Gemm, GemmKey, ProductGeometry, element, products, recurrence

# A board reads its factors element by element, as many rows as columns, in the cycles that a sum
# waits for the one before.
SIDE = 8


def direct_key(of: dtype, target: KernelTarget, unaligned: bool, fused: bool) -> GemmKey:
    """The kernel for small matrices; of a board without `unaligned`."""
    lanes = lanes_for([of], of.compute, target.lanes_bytes)
    rows = 4
    if not unaligned and lanes > SIDE:
        lanes = rows = SIDE
    return GemmKey("gemm_direct", of, lanes, rows, 1, fused=fused or of.kind in "ui")


def near_key(key: GemmKey, columns: int, rows: int) -> GemmKey:
    """The like of a direct kernel for a CPU and many rows: no more lanes than so many columns fill,
    and as many rows as there are registers for sums, which are `rows` of all lanes."""
    lanes = key.lanes
    while lanes > 4 and columns <= lanes // 2:
        lanes //= 2
    return replace(key, lanes=lanes, rows=rows if lanes == key.lanes else 8)


@dataclass(frozen=True)
class DirectGeometry(ProductGeometry):
    """What a launch is told: of the product, whose `steps` are those of a, b, out, added, and
    of the operands."""

    a: Annotated[Ints, Each("row depth")]
    b: Annotated[Ints, Each("depth column")]
    in_vectors: int  # whether b may be read so: whole ones (1), or all (2)


class Direct(Gemm):
    """A tile of a few rows and one vector for each item."""

    name = "gemm_direct"
    geometry = DirectGeometry
    together = "gemm_direct"  # real and complex numbers
    part = DIRECT
    operands_in_order = ("out", "a", "b", "added")
    offsets = operands_in_order

    def word_of(self, key: GemmKey, operand: str) -> str:
        """All are elements."""
        return element(key)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """One along the depth, one over results on their way out."""
        key, g = launch.key, DirectGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        items, period = end - begin, g.column_blocks * g.row_blocks
        below = members_in(begin, end, period, period - g.column_blocks, period)
        results = (items - below) * key.rows + below * (g.rows - (g.row_blocks - 1) * key.rows)
        entries = items * -(-g.depth // key.depth)
        # Lane by lane where the port is not widened. Sums lie in local memory.
        lane = 1 if widened else key.lanes * key.parts
        step = max(distance(recurrence(key)), lane, key.rows * key.parts)
        # Results are scaled and put, one after the other, and what is added is picked before.
        ways = 3 if g.mode == 2 else 2
        return [
            PipelinedLoop("depth", items * g.depth, entries, step),
            PipelinedLoop("results", results, results * ways, ways * lane, g.mode == 2),
        ]

    def operators(self, key: GemmKey) -> Mapping[tuple[str, str], int]:
        """Two loops over a tile; a step waits for the sum of the one before, so operators take
        turns. Results are scaled lane by lane."""
        return products(key, 2 * key.rows * key.lanes / recurrence(key) + 2)

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Every tile reads its rows and columns anew."""
        key, g = launch.key, DirectGeometry.unpack(launch.geometry)
        size = key.dtype.itemsize
        batch, steps = g.items // (g.row_blocks * g.column_blocks), g.items * g.depth
        lanes = key.lanes if widened else 1
        wide = key.lanes // lanes
        results = batch * g.rows * g.columns * size
        beats = batch * g.rows * -(-g.columns // lanes)
        longest = max(1, g.columns // lanes)
        accesses = [
            Access("out", True, results, beats, longest, results),
            Access("a", False, steps * key.rows * size, steps * key.rows, key.rows, batch * g.rows * g.depth * size),
            Access("b", False, steps * key.columns * size, steps * wide, wide, batch * g.columns * g.depth * size),
        ]
        if g.mode == 2:
            accesses.append(Access("added", False, results, beats, longest, results))
        return accesses


register(Direct())


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

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
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
        return [
            PipelinedLoop("depth", items * g.turns(key), items, 1),
            PipelinedLoop("results", results, items, 1, g.mode == ADDED),
        ]

    def operators(self, key: GemmKey) -> Mapping[tuple[str, str], int]:
        """Products of a beat with some columns, the trees of their sums, what these join; results
        are scaled. A row and a column are picked for each turn."""
        kind, part = source.scalar(key.dtype), SIDE * SIDE // TURNS
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
