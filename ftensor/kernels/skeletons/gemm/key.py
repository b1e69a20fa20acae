"""What the skeletons of matrix products have in common: the key, numbers, the words for them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated

from ....dtypes import dtype
from ....iterator.shape import numel
from ... import source
from ...geometry import Each, Geometry, Many
from ...inventory_terms import Option, Record, table_lines
from ...skeleton import BoardSkeleton, Parameter
from ...workload import Ints, KernelLaunch, PipelinedLoop, distance, operator_cycles

DIRECT, PACKED, ALONG = "direct", "packed", "along"
ADDED = 2  # the mode in which something is added to a product (hls/gemm.h)
PARTS = Option("parts", (DIRECT, PACKED), words=(DIRECT, PACKED, ALONG))


@dataclass(frozen=True)
class GemmKey:
    """One kernel: its skeleton, the dtype in memory, and the shape of a tile in registers."""

    skeleton: str
    dtype: dtype
    lanes: int
    rows: int
    vectors: int
    block: int = 1  # row panels that share a column panel
    depth: int = 256  # terms summed in registers before they join the totals
    fused: bool = True  # products join the sum without being rounded first

    @property
    def columns(self) -> int:
        """The width of a tile."""
        return self.lanes * self.vectors

    @property
    def parts(self) -> int:
        """Numbers that make an element: two of a complex one."""
        return 2 if self.dtype.is_complex else 1

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        tile = f"{self.rows}x{self.columns}"
        kind = "fused" if self.fused else "rounded"
        return f"ft_{self.skeleton}_{self.dtype.name}_{tile}_{self.block}_{self.depth}_{kind}"


@dataclass(frozen=True)
class ProductGeometry(Geometry):
    """What a launch of a product is told at first. `mode` says what alpha and beta do (see
    hls/gemm.h), `whole` whether results may leave in vectors."""

    items: int
    row_blocks: int
    column_blocks: int
    most: int  # row panels in a block
    rows: int
    columns: int
    depth: int
    mode: int
    whole: int
    out: Annotated[Ints, Each("row column")]
    added: Annotated[Ints, Each("row column")]
    batch: Annotated[Ints, Many("dims")]
    steps: Annotated[tuple[Ints, ...], Many(4, "dims")]


class Gemm(BoardSkeleton[GemmKey]):
    """One of the skeletons of matrix products."""

    word = "matmul"
    options = (PARTS,)
    part = PACKED
    operands_in_order: tuple[str, ...]  # outputs first
    written = 1
    offsets: tuple[str, ...]
    scaled = True  # whether alpha and beta are passed

    @abstractmethod
    def word_of(self, key: GemmKey, operand: str) -> str:
        """The C type of an operand's element."""

    def parameters(self, key: GemmKey) -> tuple[Parameter, ...]:
        """Pointers, offsets, alpha and beta, the geometry."""
        parameters = [
            ("*", f"{'' if i < self.written else 'const '}{self.word_of(key, name)} *", name)
            for i, name in enumerate(self.operands_in_order)
        ]
        parameters += [("long", "long ", f"{name}_offset") for name in self.offsets]
        real = source.scalar(key.dtype)
        ends = ("_re", "_im")[: key.parts]
        if self.scaled:
            parameters += [(real, f"{real} ", f"{n}{end}") for n in ("alpha", "beta") for end in ends]
        return (*parameters, ("*", "const long *", "geometry"))

    def defines(self, key: GemmKey) -> dict[str, object]:
        """The element and the tile."""
        return {
            "FT_E": element(key),
            "FT_E_HALF": int(key.dtype.name == "float16"),
            "FT_E_BFLOAT16": int(key.dtype.name == "bfloat16"),
            "FT_TILE_ROWS": key.rows,
            "FT_TILE_VECTORS": key.vectors,
            "FT_TILE_COLUMNS": key.columns,
            "FT_BLOCK": key.block,
            "FT_DEPTH": key.depth,
            "FT_FUSED": int(key.fused),
        }

    def helpers(self, key: GemmKey) -> list[str]:
        """Products of numbers, complex ones included."""
        return ["math.h", *(["complex.h"] if key.dtype.is_complex else []), "gemm.h"]

    def record(self, key: GemmKey) -> Record:
        """Which of the kernels, and its dtype."""
        of = key.dtype.name
        return Record(self.name, (of,), (of, of), "", of)

    def lines(self, key: GemmKey) -> tuple[str, ...]:
        """The dtype, and which of the ways."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]', f'parts = ["{self.part}"]')

    def hardware(self, key: GemmKey) -> GemmKey:
        """Products are rounded in a core of their own in either case (FT_APART)."""
        return replace(key, fused=True)

    def suffix(self, key: GemmKey) -> str:
        """By its dtype, and how it rounds."""
        return super().suffix(key) + ("" if key.fused else "_r")

    def product(self, launch: KernelLaunch) -> ProductGeometry:
        """What a launch of a product is told."""
        return self._unpacked(launch.geometry)

    def _unpacked(self, geometry: Ints) -> ProductGeometry:
        assert self.geometry is not None and issubclass(self.geometry, ProductGeometry)
        return self.geometry.unpack(geometry)

    def unread(self, geometry: Ints) -> tuple[int, ...]:
        """What is added, where nothing is."""
        if not self.scaled or self._unpacked(geometry).mode == ADDED:
            return ()
        return (self.operands_in_order.index("added"),)

    def flops(self, key: GemmKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """A product and a sum for each term, four of both for complex numbers; packing has none."""
        return self.scaled * 2 * key.parts**2 * numel(shapes[0]) * shapes[1][-1]

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """The batch dims of each item."""
        return sum(loop.entries for loop in loops) * len(self.product(launch).batch)

    def extent(self, launch: KernelLaunch) -> str:
        """Rows, columns, depth."""
        g = self.product(launch)
        return f"{g.rows}x{g.columns}x{g.depth}"


def element(key: GemmKey) -> str:
    """The C type of an element in memory."""
    return source.MEMORY[key.dtype.name]


def recurrence(key: GemmKey) -> int:
    """Cycles until the next product can be added to the same sum: in hardware products are made
    beside it, each rounded before it is added (FT_APART in hls/gemm.h)."""
    return operator_cycles(key.dtype)["add"]


def turns(key: GemmKey) -> int:
    """Steps until a sum of the packed kernel is met again, at the least: as many as a product and
    a sum take, so that the sum alone leaves some for the way into local memory and back."""
    cycles = operator_cycles(key.dtype)
    return distance(cycles["add"] + cycles["mul"])


def products(key: GemmKey, count: float) -> dict[tuple[str, str], int]:
    """The operators of so many products, each with its sum; a complex one has four of both."""
    real = key.dtype.compute.to_real() if key.dtype.is_complex else key.dtype.compute
    of = {"float32": "float", "float64": "double"}.get(real.name, real.name.removeprefix("u"))
    many = ceil(count * key.parts**2)
    return {("mul", of): many, ("add", of): many}
