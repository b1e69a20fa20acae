"""Base of the matrix product skeletons: key, geometry buffer, and operator counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated

from ....dtypes import dtype
from ....iterator.shape import numel
from ... import source
from ...geometry import Geometry, ListField, NamedFields
from ...inventory_terms import Option
from ...skeleton import BoardSkeleton, Parameter
from ...workload import Ints, KernelLaunch, PipelinedLoop, distance, operator_cycles

DIRECT, PACKED, DOT_PRODUCT = "direct", "packed", "along"
ADDED = 2  # mode with an addend (hls/gemm.h)
PARTS = Option("parts", (DIRECT, PACKED), words=(DIRECT, PACKED, DOT_PRODUCT))


@dataclass(frozen=True)
class GemmKey:
    """Key of a matrix product kernel: skeleton, dtype in memory, and tile shape in registers."""

    skeleton: str
    dtype: dtype
    lanes: int
    rows: int
    vectors: int
    block: int = 1  # row panels that share a column panel
    depth: int = 256  # terms summed in registers before the addition to the totals
    fused: bool = True  # fused multiply-add: products are not rounded

    @property
    def columns(self) -> int:
        """Columns of a tile."""
        return self.lanes * self.vectors

    @property
    def parts(self) -> int:
        """Real components of an element: 2 for complex dtypes, else 1."""
        return 2 if self.dtype.is_complex else 1

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        tile = f"{self.rows}x{self.columns}"
        kind = "fused" if self.fused else "rounded"
        return f"ft_{self.skeleton}_{self.dtype.name}_{tile}_{self.block}_{self.depth}_{kind}"


@dataclass(frozen=True)
class ProductGeometry(Geometry):
    """The first fields of the geometry buffer of every product kernel. `mode` tells how alpha and
    beta are used (hls/gemm.h). `whole` is 1 if the kernel may store vectors of results."""

    items: int
    row_blocks: int
    column_blocks: int
    most: int  # row panels in a block
    rows: int
    columns: int
    depth: int
    mode: int
    whole: int
    out: Annotated[Ints, NamedFields("row column")]
    added: Annotated[Ints, NamedFields("row column")]
    batch: Annotated[Ints, ListField("dims")]
    batch_strides: Annotated[tuple[Ints, ...], ListField(4, "dims")]


class Gemm(BoardSkeleton[GemmKey]):
    """Base of the matrix product skeletons."""

    word = "matmul"
    options = (PARTS,)
    operand_dtypes = (None, None)
    part = PACKED
    operands_in_order: tuple[str, ...]  # outputs first
    written = 1
    offsets: tuple[str, ...]
    scaled = True  # alpha and beta are kernel arguments

    @abstractmethod
    def word_of(self, key: GemmKey, operand: str) -> str:
        """Returns the C type of an operand's elements."""

    def parameters(self, key: GemmKey) -> tuple[Parameter, ...]:
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
        return ["math.h", *(["complex.h"] if key.dtype.is_complex else []), "gemm.h"]

    def lines(self, key: GemmKey) -> tuple[str, ...]:
        return (*super().lines(key), f'parts = ["{self.part}"]')

    def hardware(self, key: GemmKey) -> GemmKey:
        """Ignores `fused`: hardware rounds products in any case (FT_NO_FMA)."""
        return replace(key, fused=True)

    def suffix(self, key: GemmKey) -> str:
        return super().suffix(key) + ("" if key.fused else "_r")

    def product(self, launch: KernelLaunch) -> ProductGeometry:
        """Returns the geometry of a product's launch."""
        return self._unpacked(launch.geometry)

    def _unpacked(self, geometry: Ints) -> ProductGeometry:
        assert self.geometry is not None and issubclass(self.geometry, ProductGeometry)
        return self.geometry.unpack(geometry)

    def unread(self, geometry: Ints) -> tuple[int, ...]:
        """Returns the index of the addend if the launch has none."""
        if not self.scaled or self._unpacked(geometry).mode == ADDED:
            return ()
        return (self.operands_in_order.index("added"),)

    def flops(self, key: GemmKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns a product and an addition per term, four of each if complex; 0 for packing."""
        return self.scaled * 2 * key.parts**2 * numel(shapes[0]) * shapes[1][-1]

    def divisions(self, launch: KernelLaunch, loops: Sequence[PipelinedLoop]) -> int:
        """Returns one division for each batch dim and item."""
        return sum(loop.entries for loop in loops) * len(self.product(launch).batch)

    def extent(self, launch: KernelLaunch) -> str:
        g = self.product(launch)
        return f"{g.rows}x{g.columns}x{g.depth}"


def element(key: GemmKey) -> str:
    """Returns the C type of an element in memory."""
    return source.MEMORY[key.dtype.name]


def recurrence(key: GemmKey) -> int:
    """Returns the cycles of the recurrence of a sum. Hardware computes and rounds products outside
    of the recurrence (FT_NO_FMA in hls/gemm.h)."""
    return operator_cycles(key.dtype)["add"]


def min_accumulation_distance(key: GemmKey) -> int:
    """Returns the minimum number of iterations between two additions to a sum of the packed kernel.

    It covers the latency of a multiplication and an addition. Only the addition is in the
    recurrence, so the other cycles are left for the access to local memory.
    """
    cycles = operator_cycles(key.dtype)
    return distance(cycles["add"] + cycles["mul"])


def products(key: GemmKey, count: float) -> dict[tuple[str, str], int]:
    """Returns the operators of `count` products with additions; complex dtypes have four of
    each."""
    real = key.dtype.compute.to_real() if key.dtype.is_complex else key.dtype.compute
    c_type = {"float32": "float", "float64": "double"}.get(real.name, real.name.removeprefix("u"))
    many = ceil(count * key.parts**2)
    return {("mul", c_type): many, ("add", c_type): many}
