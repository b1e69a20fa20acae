"""Kernels of indices on CPUs.

take: elements or contiguous runs that one index tensor selects (hls/skeleton/take.h)
triangle: the indices of a triangle's elements (hls/skeleton/triangle.h)
shuffle: the order of random keys (hls/skeleton/shuffle.h)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated

from ....dtypes import dtype, int64
from ...geometry import Geometry, ListField, Long
from ...inventory_terms import KernelTarget
from ...key import EntryName, lanes_for
from ...skeleton import Parameter, Skeleton, c_parameters, register
from ...workload import Ints
from ..sort import BITS


@dataclass(frozen=True)
class TakeKey:
    """Key of a take kernel: bytes of an element, dtype of indices; `runs` if each index selects a
    run."""

    size: int
    index: dtype
    lanes: int
    runs: bool
    skeleton = "take"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_take_{8 * self.size}_{self.index.name}" + "_runs" * self.runs


def take_key(dtype: dtype, index: dtype, target: KernelTarget, contiguous: bool) -> TakeKey | None:
    """Returns the key; None for elements without an integer type of their size."""
    if dtype.itemsize not in BITS:
        return None
    return TakeKey(dtype.itemsize, index, min(16, target.lanes_bytes // dtype.itemsize), contiguous)


@dataclass(frozen=True)
class TakeGeometry(Geometry):
    """Geometry buffer: the innermost loop of `n` iterations in `parts` parts, and the stride of the
    selected elements in this loop; the outer loops, with the strides of out, in and index."""

    derived = ("items",)
    n: int
    parts: int
    step: Long
    shape: Annotated[Ints, ListField("dims")]
    outer_strides: Annotated[tuple[Ints, ...], ListField("dims", 3)]

    @property
    def items(self) -> int:
        """Parts of rows to share among the compute units."""
        return prod(self.shape) * self.parts


class Take(Skeleton[TakeKey]):
    """Gather along a dim, with contiguous elements in vectors."""

    name = "take"
    report_name = "copy"
    geometry = TakeGeometry

    def parameters(self, key: TakeKey) -> tuple[Parameter, ...]:
        c, index = BITS[key.size], BITS[key.index.itemsize]
        last = "long size, long stride, long *bad, const long *geometry"
        return c_parameters(f"{c} *out, const {c} *in, const {index} *index", "out in index", last)

    def compute(self, key: TakeKey) -> dtype:
        """Returns int64: the kernel only computes addresses."""
        return int64

    def defines(self, key: TakeKey) -> dict[str, object]:
        index = BITS[key.index.itemsize]
        return {"FT_B": BITS[key.size], "FT_J": index, "FT_RUNS": int(key.runs)}

    def helpers(self, key: TakeKey) -> list[str]:
        return ["locate.h"]

    def located(self, key: TakeKey) -> tuple[int, ...]:
        return (1,)


register(Take())


@dataclass(frozen=True)
class TriangleKey:
    """Key of a triangle kernel."""

    lanes: int
    skeleton = "triangle"
    entry = EntryName("ft_triangle_{0.lanes}")


def triangle_key(lanes_bytes: int) -> TriangleKey:
    """Returns the key for a target's vectors."""
    return TriangleKey(lanes_for([int64], int64, lanes_bytes))


@dataclass(frozen=True)
class TriangleGeometry(Geometry):
    """Geometry buffer: parts of the elements, and a lower triangle of a matrix (`rows`, `cols`).

    count: elements of the triangle
    first: the first row with elements
    full: the first row with all columns
    least: elements of row `first`
    flip: 1 for the triangle turned by 180 degrees
    """

    items: int
    count: Long
    first: Long
    full: Long
    least: Long
    rows: Long
    cols: Long
    flip: int


class Triangle(Skeleton[TriangleKey]):
    """Each compute unit finds its first row, then writes row by row."""

    name = "triangle"
    geometry = TriangleGeometry

    def parameters(self, key: TriangleKey) -> tuple[Parameter, ...]:
        return c_parameters("long *out", "out")

    def compute(self, key: TriangleKey) -> dtype:
        return int64


register(Triangle())


BUCKETS, ORDER = range(2)  # modes of a launch


@dataclass(frozen=True)
class ShuffleKey:
    """Key of the shuffle kernel."""

    lanes: int = 1
    skeleton = "shuffle"
    entry = "ft_shuffle"


@dataclass(frozen=True)
class ShuffleGeometry(Geometry):
    """Geometry buffer: `n` keys in 2 ** `bits` buckets, and the mode."""

    mode: int
    n: int
    bits: int


class Shuffle(Skeleton[ShuffleKey]):
    """Sorts evenly spread keys by buckets."""

    name = "shuffle"
    report_name = "randperm"
    geometry = ShuffleGeometry

    def parameters(self, key: ShuffleKey) -> tuple[Parameter, ...]:
        return c_parameters("long *out, const long *keys, int *moved, int *ends", "out keys")

    def compute(self, key: ShuffleKey) -> dtype:
        return int64


register(Shuffle())
