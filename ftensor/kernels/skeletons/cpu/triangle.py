"""triangle: the indices of a triangle's elements (hls/skeleton/triangle.h)."""

from __future__ import annotations

from dataclasses import dataclass

from ....dtypes import dtype, int64
from ...geometry import Geometry, Long
from ...key import EntryName, lanes_for
from ...skeleton import Parameter, Skeleton, c_parameters, register


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
