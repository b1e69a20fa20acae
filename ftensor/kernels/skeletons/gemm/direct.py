"""gemm_direct, gemm_along: products of matrices without packing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from ....dtypes import dtype
from ... import source
from ...geometry import Long, NamedFields
from ...inventory_terms import KernelTarget
from ...key import lanes_for
from ...skeleton import register
from ...workload import PORT_BYTES, Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop, distance, grid_blocks
from .key import ADDED, DIRECT, DOT_PRODUCT, Gemm, GemmKey, ProductGeometry, element, products, recurrence

# Rows and columns of a board's tile. The board reads factors one by one while it adds to other
# sums.
SIDE = 8


def direct_key(dtype: dtype, target: KernelTarget, unaligned: bool, fused: bool) -> GemmKey:
    """Returns the key for small matrices; `unaligned` is False for boards."""
    lanes = lanes_for([dtype], dtype.compute, target.lanes_bytes)
    rows = 4
    if not unaligned and lanes > SIDE:
        lanes = rows = SIDE
    return GemmKey("gemm_direct", dtype, lanes, rows, 1, fused=fused or dtype.kind in "ui")


def cpu_direct_key(key: GemmKey, columns: int, rows: int) -> GemmKey:
    """Returns the direct key of a CPU for many rows: no more lanes than `columns` fill, and rows
    for the available registers, which hold `rows` rows of sums at full lanes."""
    lanes = key.lanes
    while lanes > 4 and columns <= lanes // 2:
        lanes //= 2
    return replace(key, lanes=lanes, rows=rows if lanes == key.lanes else 8)


@dataclass(frozen=True)
class DirectGeometry(ProductGeometry):
    """Geometry buffer: the product, with batch strides `batch_strides` of a, b, out and added, and the
    strides of a and b."""

    a: Annotated[Ints, NamedFields("row depth")]
    b: Annotated[Ints, NamedFields("depth column")]
    in_vectors: int  # vector reads of b: 1 for whole vectors, 2 for all


class DirectGemm(Gemm):
    """Direct product. An item is a tile of a few rows and one vector."""

    name = "gemm_direct"
    geometry = DirectGeometry
    together = "gemm_direct"  # real and complex dtypes share a kernel
    part = DIRECT
    operands_in_order = ("out", "a", "b", "added")
    offsets = operands_in_order

    def word_of(self, key: GemmKey, operand: str) -> str:
        return element(key)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, DirectGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        heights = (key.rows, g.rows - (g.row_blocks - 1) * key.rows)
        blocks = grid_blocks(begin, end, g.row_blocks, g.column_blocks, heights, (1, 1))
        items, results = end - begin, sum(count * rows for count, rows, _ in blocks)
        entries = items * -(-g.depth // key.depth)
        # An access per lane if the port is not widened. Sums are in local memory.
        lane = 1 if widened else key.lanes * key.parts
        step = max(distance(recurrence(key)), lane, key.rows * key.parts)
        # A result takes a scaling and a store, in mode 2 also a load of the addend.
        memory_reads = 3 if g.mode == 2 else 2
        return [
            PipelinedLoop("depth", items * g.depth, entries, step),
            PipelinedLoop("results", results, results * memory_reads, memory_reads * lane, g.mode == 2),
        ]

    def operators(self, key: GemmKey) -> Mapping[tuple[str, str], int]:
        return products(key, 2 * key.rows * key.lanes / recurrence(key) + 2)

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the memory accesses of a launch. Every tile reads its rows and columns again."""
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


register(DirectGemm())


# Cycles for the products of a beat of each row and column; a sum's recurrence is shorter
# (FT_DEPENDENCE_DISTANCE).
TURNS = 16


def supports_dot_product(dtype: dtype) -> bool:
    """True if the skeleton accepts a dtype."""
    return dtype.name in ("float32", "float64")


def dot_product_key(dtype: dtype) -> GemmKey:
    """Returns the key for contiguous rows and columns."""
    return GemmKey("gemm_along", dtype, PORT_BYTES // dtype.itemsize, SIDE, 1)


@dataclass(frozen=True)
class DotProductGeometry(ProductGeometry):
    """Geometry buffer: the product, with batch strides `batch_strides` of a, b, out and added, and the
    strides of the rows of a and of the columns of b."""

    a: Long
    b: Long

    def turns(self, key: GemmKey) -> int:
        """Returns the cycles of an item, including the drain of the last beats."""
        return (-(-self.depth // key.lanes) + 1) * TURNS


class DotProductGemm(Gemm):
    """Product along contiguous rows and columns. An item is a tile of SIDE rows and columns."""

    name = "gemm_along"
    geometry = DotProductGeometry
    part = DOT_PRODUCT
    operands_in_order = ("out", "a", "b", "added")
    offsets = operands_in_order

    def word_of(self, key: GemmKey, operand: str) -> str:
        return element(key)

    def defines(self, key: GemmKey) -> dict[str, object]:
        levels = key.lanes.bit_length() - 1
        return {**super().defines(key), "FT_STEPS": TURNS, "FT_LEVELS": levels}

    def beats(self, key: GemmKey) -> Mapping[str, int]:
        return {"a": key.lanes, "b": key.lanes}

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Returns True for vectors: the port alternates between rows."""
        return vector

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, DotProductGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        heights, widths = ((SIDE, n % SIDE or SIDE) for n in (g.rows, g.columns))
        blocks = grid_blocks(begin, end, g.row_blocks, g.column_blocks, heights, widths)
        items, results = end - begin, sum(count * rows * columns for count, rows, columns in blocks)
        return [
            PipelinedLoop("depth", items * g.turns(key), items, 1),
            PipelinedLoop("results", results, items, 1, g.mode == ADDED),
        ]

    def operators(self, key: GemmKey) -> Mapping[tuple[str, str], int]:
        """Returns the operators of a cycle: the products of a beat with some columns, their adder
        trees, the additions to sums, the scaling of results, and the selections of a row and a
        column."""
        kind, part = source.scalar(key.dtype), SIDE * SIDE // TURNS
        return {
            ("mul", kind): part * key.lanes + 2,
            ("add", kind): part * (key.lanes + 1) + 2,
            ("choose", kind): key.lanes * (SIDE - 1 + part * (SIDE // part - 1)) + 2 * part * TURNS,
        }

    def memories(self, key: GemmKey, structure: str) -> list[LocalMemory]:
        return [LocalMemory(TURNS, 8 * key.dtype.itemsize, 2 * SIDE * SIDE // TURNS)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the memory accesses of a launch. Every tile reads its rows and columns again."""
        key, g = launch.key, DotProductGeometry.unpack(launch.geometry)
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


register(DotProductGemm())
