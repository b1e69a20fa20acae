"""segments: reductions of segments of rows, which an index tensor may select (hls/skeleton/segments.h)."""

from __future__ import annotations

from dataclasses import dataclass

from .... import dtypes
from ....dtypes import dtype
from ... import source
from ...geometry import Geometry
from ...inventory_terms import KernelTarget
from ...key import lanes_for
from ...skeleton import Parameter, Skeleton, c_parameters, register
from ...source import element_defines, element_helpers, element_type

# The reductions as expressions. A NaN among the elements is the largest and the smallest.
_COMBINED = {
    "sum": "(x) + (y)",
    "prod": "(x) * (y)",
    "amax": "((y) > (x) || (y) != (y) ? (y) : (x))",
    "amin": "((y) < (x) || (y) != (y) ? (y) : (x))",
}


@dataclass(frozen=True)
class SegmentsKey:
    """Key of a segments kernel: dtype of the elements, a reduction, vectors in a group of columns,
    and dtype of the indices (None: rows follow one another)."""

    dtype: dtypes.dtype
    lanes: int
    vectors: int
    reduction: str
    index: dtypes.dtype | None = None
    weighted: bool = False
    skeleton = "segments"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        index = "" if self.index is None else f"_{self.index.name}"
        shape = f"{self.vectors}x{self.lanes}"
        return f"ft_segments_{self.reduction}_{self.dtype.name}{index}_{shape}" + "_weighted" * self.weighted


def segments_key(
    dtype: dtype, width: int, reduction: str, index: dtype | None, weighted: bool, target: KernelTarget
) -> SegmentsKey:
    """Returns the key for rows of `width` elements: groups of up to four vectors that fit a row."""
    lanes, vectors = lanes_for([dtype], dtype.compute, target.lanes_bytes), 4
    while lanes > width:
        lanes //= 2
    while vectors * lanes > width:
        vectors //= 2
    return SegmentsKey(dtype, lanes, vectors, reduction, index, weighted)


@dataclass(frozen=True)
class SegmentsGeometry(Geometry):
    """Geometry buffer.

    items: groups of columns of all segments
    groups: groups of columns of a row
    segments: segments of each outer index
    limits: elements of `ends` of each outer index; without a last end it is `length`
    length: rows, or indices, of each outer index
    width: elements of a row
    table: rows that an index may select
    mean: 1 if sums are divided by the number of rows
    """

    items: int
    groups: int
    segments: int
    limits: int
    length: int
    width: int
    table: int
    mean: int


class SegmentedRows(Skeleton[SegmentsKey]):
    """One compute unit reduces a group of columns of a segment, row by row."""

    name = "segments"
    geometry = SegmentsGeometry

    def parameters(self, key: SegmentsKey) -> tuple[Parameter, ...]:
        c, real = element_type(key.dtype), source.scalar(key.dtype)
        pointers, offsets = f"{c} *out, long *counts, const {c} *rows, const long *ends", "out counts rows ends"
        last = f"{real} first, {real} empty, const long *geometry"
        if key.index is not None:
            pointers, offsets = f"{pointers}, const {source.scalar(key.index)} *index", f"{offsets} index"
            last = f"{real} first, {real} empty, long pad, long *bad, const long *geometry"
        if key.weighted:
            pointers, offsets = f"{pointers}, const {c} *weights", f"{offsets} weights"
        return c_parameters(pointers, offsets, last)

    def defines(self, key: SegmentsKey) -> dict[str, object]:
        return {
            **element_defines(key.dtype),
            "FT_VECTORS": key.vectors,
            "FT_COMBINED(x, y)": _COMBINED[key.reduction],
            "FT_GATHERS": int(key.index is not None),
            "FT_WEIGHTED": int(key.weighted),
            **({} if key.index is None else {"FT_J": source.scalar(key.index)}),
        }

    def helpers(self, key: SegmentsKey) -> list[str]:
        return [*element_helpers(key.dtype, []), "locate.h"]

    def title(self, key: SegmentsKey) -> str:
        return "segment_reduce" if key.index is None else "embedding_bag"

    def located(self, key: SegmentsKey) -> tuple[int, ...]:
        return () if key.index is None else (2,)


register(SegmentedRows())
