"""Reductions of segments of rows in one launch, for CPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._tensor import Tensor
from ..dtypes import int64
from ..iterator.shape import Ints, contiguous_strides, is_contiguous, numel
from ..kernels.select import compute_units
from ..kernels.skeletons.cpu.segments import SegmentsGeometry, segments_key
from .dispatch import never_on_host, run
from .indexed import Check, Index, Refusal, in_range
from .launch import Launch, Output, Step

if TYPE_CHECKING:
    from ..runtime.backend import Backend


def fits_one_launch(rows: Tensor, *others: Tensor | None) -> bool:
    """True if `reduce_segments` or `reduce_selected` can serve these operands on their device."""
    dtype, operands = rows._dtype, [rows, *[x for x in others if x is not None]]
    if not rows._storage.backend.target.processor or dtype.kind != "f" or dtype.bare:
        return False
    return all(is_contiguous(x._shape, x._strides) and x.numel() for x in operands)


def reduce_segments(
    rows: Tensor, ends: Tensor, axis: int, reduction: str, mean: bool, first: float, empty: float
) -> Tensor:
    """Returns the reduction "sum", "prod", "amax" or "amin" of each segment of a dim of `rows`.

    `ends` (*shape before `axis`, segments + 1) has the begin of each segment and the last end, as
    int64. Reductions begin with `first`; `mean` divides by the number of rows; `empty` is the result
    without rows.
    """
    outer, width = numel(rows._shape[:axis]), numel(rows._shape[axis + 1 :])
    limits = ends._shape[-1]
    shape = (*rows._shape[:axis], limits - 1, *rows._shape[axis + 1 :])
    key = ("segments", axis, reduction, mean, rows._key, ends._key)
    args = (rows, ends, None, None, reduction, mean, shape, (outer, limits - 1, rows._shape[axis], width))
    result = run(rows._storage.backend, key, _prepare, never_on_host, args, (rows, ends), (first, empty))
    return result[0]


def reduce_selected(
    table: Tensor, index: Tensor, ends: Tensor, segments: int, reduction: str, mean: bool, first: float,
    weights: Tensor | None, pad: int, refusal: Refusal,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Returns (the reduction of the rows of `table` (n, d) at each segment of `index`: (segments,
    d), their number: int64 (segments,)).

    `ends` (int64) has the begin of each segment, and may have the last end. Rows `pad` do not count;
    segments without rows are 0. Raises `refusal(index, dim, size)` for an index out of range.
    """
    backend, (rows, width) = table._storage.backend, table._shape
    operands = [x for x in (table, ends, index, weights) if x is not None]
    certain = in_range(index, rows, True)
    check = Check(table._storage, (0,), refusal, certain)
    key = ("selected segments", reduction, mean, segments, *[x._key for x in operands])
    shape = (segments, width)
    args = (table, ends, index, weights, reduction, mean, shape, (1, segments, index.numel(), width))
    inputs = (*operands, check.flag.tensor)
    out, counts = run(backend, key, _prepare, never_on_host, args, inputs, (first, 0.0, pad))
    check.finish((Index(index, (1,), rows, width, 0, strict=True),))
    return out, counts


def _prepare(
    rows: Tensor, ends: Tensor, index: Tensor | None, weights: Tensor | None, reduction: str, mean: bool, shape: Ints,
    sizes: tuple[int, int, int, int],
) -> Launch:  # fmt: skip
    backend: Backend = rows._storage.backend
    outer, segments, size, width = sizes
    index_dtype = None if index is None else index._dtype
    key = segments_key(rows._dtype, width, reduction, index_dtype, weights is not None, backend.target)
    groups = -(-width // (key.lanes * key.vectors))
    limits, table = ends._shape[-1], rows._shape[0]
    g = SegmentsGeometry(outer * segments * groups, groups, segments, limits, size, width, table, int(mean))
    work = outer * size * width
    units = min(compute_units(max(work, g.items), backend.units, backend.target, 1), g.items)
    operands = tuple(range(4 + (index is not None) + (weights is not None)))
    after = () if index is None else (len(operands),)
    counts = Output(int64, (outer * segments,), (1,))
    step = Step(key, units, operands, operands, after=after, geometry=g.pack(), work=work)
    outputs = (Output(rows._dtype, shape, contiguous_strides(shape)), counts)
    return Launch((step,), len(operands) + len(after), outputs)
