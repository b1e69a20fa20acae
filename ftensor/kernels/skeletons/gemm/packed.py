"""gemm, gemm_pack: products of packed panels, and packing (hls/skeleton/gemm.h, gemm_pack.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, NamedTuple

from ....dtypes import dtype
from ... import source
from ...geometry import Geometry, ListField, Long
from ...inventory_terms import ROOMY_REGISTERS, SOME_REGISTERS, InventoryRequest, KernelArgument, KernelTarget
from ...key import lanes_for
from ...skeleton import register
from ...source import constant
from ...workload import PORT_BYTES, Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop, grid_blocks
from .direct import direct_key, dot_product_key, supports_dot_product
from .key import (
    DIRECT,
    DOT_PRODUCT,
    PACKED,
    PARTS,
    Gemm,
    GemmKey,
    ProductGeometry,
    element,
    min_accumulation_distance,
    products,
)


def places(key: GemmKey) -> dict[str, str]:
    """Returns the text for each placeholder of the templates."""
    return {
        "distance": str(min_accumulation_distance(key)),
        "parts": str(key.parts),
        "vectors": str(key.vectors),
        "step": str(key.columns * key.parts),
    }


def panel_beats(key: GemmKey) -> dict[str, int]:
    """Returns how many real numbers a beat of each panel's port holds, by port name. A complex
    element is two."""
    most = PORT_BYTES * key.parts // key.dtype.compute.itemsize
    return {"a_panels": key.rows * key.parts, "b_panels": min(key.columns * key.parts, most)}


@cache
def pack_key(packed: GemmKey) -> GemmKey:
    """Returns the key of the kernel that packs the panels of `packed`."""
    return GemmKey("gemm_pack", packed.dtype, 1, packed.rows, packed.columns)


@dataclass(frozen=True)
class PackSide(Geometry):
    """One matrix of the packing kernel's geometry buffer: its rows, panels and depth, the strides
    `across` rows and `along` the depth, and the sizes and strides of its batch dims."""

    prefix = "S"
    rows: int
    panels: int
    depth: int
    across: Long
    along: Long
    matrices: int
    batch: Annotated[Ints, ListField("dims")] = ()
    batch_strides: Annotated[Ints, ListField("dims")] = ()


@dataclass(frozen=True)
class PackGeometry(Geometry):
    """Geometry buffer: the matrix a, then the matrix b."""

    a: PackSide
    b: PackSide


class GemmPack(Gemm):
    """Packing: transposes a panel so that the elements of its rows at one step along the depth are
    contiguous."""

    name = "gemm_pack"
    geometry = PackGeometry
    staged = True
    template = "gemm_pack.cpp"
    operands_in_order = ("a_panels", "b_panels", "a", "b")
    written = 2
    offsets = ("a", "b")
    scaled = False

    def word_of(self, key: GemmKey, operand: str) -> str:
        return source.scalar(key.dtype) if operand.endswith("panels") else element(key)

    def beats(self, key: GemmKey) -> Mapping[str, int]:
        return panel_beats(key)

    def places(self, key: GemmKey) -> dict[str, str]:
        return places(key)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, PackGeometry.unpack(launch.geometry)
        loops, chunk = [], constant("vitis/gemm_pack.cpp", "CHUNK")
        for stage, x, width in (("a", g.a, key.rows), ("b", g.b, key.columns)):
            chunks = -(-x.depth // chunk)
            begin, end = launch.slab(x.panels * x.matrices * chunks, unit)
            beats = -(-width * key.dtype.compute.itemsize // PORT_BYTES)
            # The last panel may have fewer rows, and the last chunk of a panel fewer steps.
            rows, steps = x.rows - (x.panels - 1) * width, x.depth - (chunks - 1) * chunk
            for items, m, n in grid_blocks(begin, end, x.panels, chunks, (width, rows), (chunk, steps)):
                loops += [
                    PipelinedLoop(name, items * trips, items, interval, True, False, stage)
                    for name, trips, interval in _reading(x, width, m, n, key.parts)
                ]
                loops.append(PipelinedLoop("steps", items * n * beats, items, 1, False, False, stage))
        return loops

    def memories(self, key: GemmKey, structure: str) -> list[LocalMemory]:
        bits, chunk = 8 * key.dtype.compute.itemsize, constant("vitis/gemm_pack.cpp", "CHUNK")
        return [LocalMemory(chunk, bits, key.rows), LocalMemory(chunk, bits, key.columns)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        key, g = launch.key, PackGeometry.unpack(launch.geometry)
        size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
        transfers = []
        for name, x, width in (("a", g.a, key.rows), ("b", g.b, key.columns)):
            steps, elements = x.matrices * x.panels * x.depth, x.matrices * x.rows * x.depth
            step = width * compute
            beats = steps * -(-step // PORT_BYTES)
            transfers.append(Access(f"{name}_panels", True, steps * step, beats, 0, 0))
            burst = _pack_group() if x.along == 1 else width if x.across == 1 else 1
            moved = elements * size
            accesses, longest = elements * key.parts, burst * key.parts
            transfers.append(Access(name, False, moved, accesses, longest, moved))
        return transfers

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Returns one division for each batch dim and panel."""
        dims = len(PackGeometry.unpack(launch.geometry).a.batch)
        return sum(loop.entries for loop in loops) * dims

    def extent(self, launch: KernelLaunch) -> str:
        g = PackGeometry.unpack(launch.geometry)
        return f"{g.a.rows}x{g.a.depth} {g.b.rows}x{g.b.depth}"


def _pack_group() -> int:
    return constant("vitis/gemm_pack.cpp", "GROUP")


def _reading(x: PackSide, width: int, m: int, n: int, parts: int) -> list[tuple[str, int, int]]:
    """Returns (name, trips, interval) of the loops that read m rows of n elements of a panel."""
    if x.along == 1:
        whole_groups, rest = divmod(n, _pack_group())
        return [("rows_in_line", m * whole_groups, _pack_group() * parts), ("ends_of_rows", m * rest, parts)]
    if x.across == 1 and m == width:
        return [("columns_in_line", n, width * parts)]
    return [("elements", m * n, parts)]


register(GemmPack())


def packed_key(dtype: dtype, target: KernelTarget) -> GemmKey:
    """Returns the key of the packed kernel for a dtype.

    A CPU keeps 8 rows by 2 vectors in registers (6 by 1 with few registers), and a block's totals
    in the first cache. Work-items of a GPU have few registers and no cache of their own.
    """
    compute = dtype.compute
    lanes = lanes_for([compute], compute, target.lanes_bytes)
    if target.grid == "stride":
        return GemmKey("gemm", dtype, lanes, 4, 1)
    if target.registers >= ROOMY_REGISTERS:
        return GemmKey("gemm", dtype, lanes, 4 if compute.is_complex else 8, 2, 16)
    if compute.is_complex:  # two vectors for each row of factors and for each row of sums
        return GemmKey("gemm", dtype, lanes, 5 if target.registers >= SOME_REGISTERS else 3, 1, 16)
    return GemmKey("gemm", dtype, lanes, 6, 1, 16)


class TileGroup(NamedTuple):
    """Items of a packed product with equal sizes: their number, and the rows and columns of each.

    `way` is how they store results: "vectors", "lines" or "elements", as in hls/vitis/gemm.cpp.
    """

    items: int
    panels: int
    rows: int
    columns: int
    way: str


class PackedGemm(Gemm):
    """Packed product. An item is a block of row panels times a column panel."""

    name = "gemm"
    geometry = ProductGeometry
    staged = True
    template = "gemm.cpp"
    operands_in_order = ("out", "a_panels", "b_panels", "added")
    offsets = ("out", "added")

    def word_of(self, key: GemmKey, operand: str) -> str:
        return source.scalar(key.dtype) if operand.endswith("panels") else element(key)

    def keys(self, request: InventoryRequest) -> Iterator[GemmKey]:
        parts = request.options[PARTS.name]
        for d in request.dtypes:
            keys: list[GemmKey] = []
            if d.kind == "b":
                continue
            if DIRECT in parts:
                keys += [direct_key(d, request.target, False, fused) for fused in (True, False)]
            if DOT_PRODUCT in parts and supports_dot_product(d):
                keys.append(dot_product_key(d))
            if PACKED in parts:
                packed = packed_key(d, request.target)
                keys += [packed, pack_key(packed)]
            yield from dict.fromkeys(keys)

    def beats(self, key: GemmKey) -> Mapping[str, int]:
        return {"out": key.lanes * key.parts, **panel_beats(key)}

    def arguments(self, key: GemmKey) -> tuple[KernelArgument, ...]:
        own = super().arguments(key)
        at = next(k for k, a in enumerate(own) if a.what != "*")
        return (*own[:at], self.by_elements(key, "out"), *own[at:])

    def places(self, key: GemmKey) -> dict[str, str]:
        return places(key)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, ProductGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        group = _group()
        groups, rest = divmod(g.depth, group)
        sums, items = max(1, -(-g.depth // key.depth)), end - begin
        beats = -(-key.columns * key.dtype.compute.itemsize // PORT_BYTES)
        loops = {
            loop.name: loop
            for loop in (
                PipelinedLoop("whole_groups", 0, 0, group, True, False, "a"),
                PipelinedLoop("last_group", 0, 0, 1, True, False, "a"),
                PipelinedLoop("columns", items * g.depth * beats, items, 1, True, False, "b"),
                PipelinedLoop("first_group", 0, 0, 1, False, False, "sums"),
                PipelinedLoop("depth", 0, 0, 1, False, True, "sums"),
                PipelinedLoop("sum_parts", 0, 0, 1, False, True, "sums"),
                PipelinedLoop("vectors", 0, 0, key.vectors, False, False, "store"),
                PipelinedLoop("lines", 0, 0, key.columns * key.parts, False, False, "store"),
                PipelinedLoop("elements", 0, 0, key.parts, False, False, "store"),
            )
        }
        between = min_accumulation_distance(key)
        for x in tile_groups(key, g, begin, end):
            wide = x.columns if x.way == "elements" else 1
            for name, trips, entries in (
                ("whole_groups", groups * x.panels, 1),
                ("last_group", rest * x.panels, 1),
                ("first_group", min(g.depth, group) * x.panels, 1),
                ("depth", g.depth * max(x.panels, between), sums),
                ("sum_parts", sums * x.rows, sums),
                (x.way, x.rows * wide, 1),
            ):
                loops[name] = loops[name].more(x.items * trips, x.items * entries)
        return list(loops.values())

    def operators(self, key: GemmKey) -> Mapping[tuple[str, str], int]:
        return products(key, key.rows * key.columns + 1.5 * key.columns)

    def memories(self, key: GemmKey, structure: str) -> list[LocalMemory]:
        bits, group = 8 * key.dtype.compute.itemsize, _group()
        slots = max(key.block, min_accumulation_distance(key))
        return [
            LocalMemory(2 * key.block * group, bits * key.rows),
            LocalMemory(slots, bits, key.rows * key.columns),
            LocalMemory(key.block * key.rows, bits, key.columns),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses: panels in vectors, results as `TileGroup.way` of each item."""
        key, g = launch.key, ProductGeometry.unpack(launch.geometry)
        size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
        batch = g.items // (_blocks(g) * g.column_blocks)
        tiles = batch * g.row_blocks * g.column_blocks
        step, group = key.columns * compute, _group()
        accesses = [
            Access(
                "a", False, tiles * g.depth * key.rows * compute, tiles * g.depth, group if g.depth >= group else 1, 0
            ),
            Access("b", False, g.items * g.depth * step, g.items * g.depth * -(-step // PORT_BYTES), 0, 0),
        ]
        all_blocks = tile_groups(key, g, 0, g.items)
        for store, lanes, burst in (
            ("vectors", key.lanes * key.parts, 1),
            ("lines", 1, key.columns * key.parts),
            ("elements", 1, key.parts),
        ):
            count = sum(x.items * x.rows * x.columns for x in all_blocks if x.way == store)
            if count:
                results = (count * size, count * key.parts // lanes, burst, count * size)
                accesses.append(Access("out", True, *results))
                if g.mode == 2:
                    accesses.append(Access("added", False, *results))
        return accesses

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Returns the divisions of the first item; later divisions overlap with the previous
        item."""
        return len(ProductGeometry.unpack(launch.geometry).batch)


def tile_groups(key: GemmKey, g: ProductGeometry, begin: int, end: int) -> list[TileGroup]:
    """Returns the items [begin, end) of a packed product, grouped by size."""
    # The last block may have fewer row panels, the last column panel fewer columns.
    rows, blocks = g.most * key.rows, _blocks(g)
    last = (g.row_blocks - (blocks - 1) * g.most, g.rows - (blocks - 1) * rows)
    widths = (key.columns, g.columns - (g.column_blocks - 1) * key.columns)
    uniform = []
    for count, (panels, height), width in grid_blocks(
        begin, end, blocks, g.column_blocks, ((g.most, rows), last), widths
    ):
        store = "elements"
        if g.whole and g.mode != 2 and width % key.lanes == 0:
            store = "vectors"
        elif g.out[1] == 1 and width == key.columns and g.mode != 2:
            store = "lines"
        if count:
            uniform.append(TileGroup(count, panels, height, width, store))
    return uniform


def _blocks(g: ProductGeometry) -> int:
    return -(-g.row_blocks // g.most)


def _group() -> int:
    return constant("vitis/gemm.cpp", "GROUP")


register(PackedGemm())
