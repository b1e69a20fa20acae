"""gemm_direct: products of small matrices, read where they lie (hls/skeleton/gemm_direct.h)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from ....dtypes import dtype
from ...geometry import Each
from ...key import lanes_for
from ...operators import distance
from ...skeleton import register
from ...words import KernelTarget
from ...work import Access, Ints, KernelLaunch, Loop, members_in
from .key import DIRECT, Gemm, GemmKey, ProductGeometry, element, products, recurrence

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

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
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
            Loop("depth", items * g.depth, entries, step),
            Loop("results", results, results * ways, ways * lane, g.mode == 2),
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
