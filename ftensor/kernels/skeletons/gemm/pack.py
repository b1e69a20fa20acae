"""gemm_pack: the panels of two matrices, as gemm reads them (hls/skeleton/gemm_pack.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from ... import ctype
from ...geometry import Geometry, Long, Many
from ...ports import PORT_BYTES
from ...skeleton import register
from ...source import constant
from ...work import Access, Ints, KernelLaunch, LocalMemory, Loop, members_in
from .key import Gemm, GemmKey, element
from .places import panel_beats, places


@cache
def pack_key(packed: GemmKey) -> GemmKey:
    """The kernel that makes the panels which `packed` reads."""
    return GemmKey("gemm_pack", packed.dtype, 1, packed.rows, packed.columns)


@dataclass(frozen=True)
class PackSide(Geometry):
    """What a launch is told of one of the matrices: its panels' rows, the strides across them and
    along the depth, and of its batch dims the sizes and strides."""

    prefix = "S"
    rows: int
    panels: int
    depth: int
    across: Long
    along: Long
    matrices: int
    batch: Annotated[Ints, Many("dims")] = ()
    steps: Annotated[Ints, Many("dims")] = ()


@dataclass(frozen=True)
class PackGeometry(Geometry):
    """What a launch is told: of a, then the same of b."""

    a: PackSide
    b: PackSide


class Pack(Gemm):
    """For each step along the depth the elements of a panel's rows side by side."""

    name = "gemm_pack"
    geometry = PackGeometry
    staged = True
    template = "gemm_pack.cpp"
    operands_in_order = ("a_panels", "b_panels", "a", "b")
    written = 2
    offsets = ("a", "b")
    scaled = False

    def word_of(self, key: GemmKey, operand: str) -> str:
        """Panels hold numbers as they are computed."""
        return ctype.scalar(key.dtype) if operand.endswith("panels") else element(key)

    def beats(self, key: GemmKey) -> Mapping[str, int]:
        """Panels leave in vectors."""
        return panel_beats(key)

    def places(self, key: GemmKey) -> dict[str, str]:
        """Those of both templates."""
        return places(key)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """For each matrix those that read a panel, and the one that writes it."""
        key, g = launch.key, PackGeometry.unpack(launch.geometry)
        loops, chunk = [], constant("vitis/gemm_pack.cpp", "CHUNK")
        for stage, x, width in (("a", g.a, key.rows), ("b", g.b, key.columns)):
            chunks = -(-x.depth // chunk)
            begin, end = launch.slab(x.panels * x.matrices * chunks, unit)
            beats = -(-width * key.dtype.compute.itemsize // PORT_BYTES)
            # The last panel may have fewer rows, the last chunk of each fewer steps.
            period, rows = x.panels * chunks, x.rows - (x.panels - 1) * width
            steps = x.depth - (chunks - 1) * chunk
            below = members_in(begin, end, period, period - chunks, period)
            last = members_in(begin, end, chunks, chunks - 1, chunks)
            corner = members_in(begin, end, period, period - 1, period)
            for items, m, n in (
                (end - begin - below - last + corner, width, chunk),
                (below - corner, rows, chunk),
                (last - corner, width, steps),
                (corner, rows, steps),
            ):
                loops += [
                    Loop(name, items * trips, items, interval, True, False, stage)
                    for name, trips, interval in _reading(x, width, m, n, key.parts)
                ]
                loops.append(Loop("steps", items * n * beats, items, 1, False, False, stage))
        return loops

    def memories(self, key: GemmKey, structure: str) -> list[LocalMemory]:
        """A chunk of a row panel, and of a column panel."""
        bits, chunk = 8 * key.dtype.compute.itemsize, constant("vitis/gemm_pack.cpp", "CHUNK")
        return [LocalMemory(chunk, bits, key.rows), LocalMemory(chunk, bits, key.columns)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Every matrix once in, and its panels out."""
        key, g = launch.key, PackGeometry.unpack(launch.geometry)
        size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
        transfers = []
        for name, x, width in (("a", g.a, key.rows), ("b", g.b, key.columns)):
            steps, elements = x.matrices * x.panels * x.depth, x.matrices * x.rows * x.depth
            step = width * compute
            beats = steps * -(-step // PORT_BYTES)
            transfers.append(Access(f"{name}_panels", True, steps * step, beats, 0, 0))
            burst = _group() if x.along == 1 else width if x.across == 1 else 1
            moved = elements * size
            accesses, longest = elements * key.parts, burst * key.parts
            transfers.append(Access(name, False, moved, accesses, longest, moved))
        return transfers

    def divisions(self, launch: KernelLaunch, loops: Sequence[Loop]) -> int:
        """The batch dims of each panel."""
        dims = len(PackGeometry.unpack(launch.geometry).a.batch)
        return sum(loop.entries for loop in loops) * dims

    def extent(self, launch: KernelLaunch) -> str:
        """Rows and depth of a, columns and depth of b."""
        g = PackGeometry.unpack(launch.geometry)
        return f"{g.a.rows}x{g.a.depth} {g.b.rows}x{g.b.depth}"


def _group() -> int:
    """Elements of a row that are one burst."""
    return constant("vitis/gemm_pack.cpp", "GROUP")


def _reading(x: PackSide, width: int, m: int, n: int, parts: int) -> list[tuple[str, int, int]]:
    """(name, trips, interval) of the loops that read m rows of n elements for a panel."""
    if x.along == 1:
        whole, rest = divmod(n, _group())
        return [("rows_in_line", m * whole, _group() * parts), ("ends_of_rows", m * rest, parts)]
    if x.across == 1 and m == width:
        return [("columns_in_line", n, width * parts)]
    return [("elements", m * n, parts)]


register(Pack())
