"""Counting: bincount, histc, histogram, histogramdd."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import dtypes, errors, return_types
from ..._tensor import Tensor
from ...dtypes.limits import integer_limits
from ...errors import arithmetic as errors_arithmetic
from ...execute import output
from ...formats import contiguous_format
from ...iterator.shape import numel
from ...rows.catalogue import op
from ..arguments import check_kind, check_tensors
from ..bind import composed
from ..create.data import tensor
from ..create.ranges import linspace
from ..create.sizes import ones, ones_like, zeros
from ..pointwise.ternary import where
from .sort import returned, searchsorted


def _totals(positions: Tensor, weight: Tensor | None, size: int, result_dtype: Any) -> Tensor:
    """Returns how often each position below `size` occurs, or the sums of its weights."""
    totals = zeros(size, dtype=result_dtype, device=positions.device)
    if weight is None:
        weight = ones_like(positions, dtype=result_dtype)
    return totals.index_add_(0, positions, weight) if positions.numel() else totals


def _totals_in_range(
    positions: Tensor, in_range: Tensor, weight: Tensor | None, size: int, result_dtype: Any
) -> Tensor:
    """Returns the `_totals` of the positions in range. The others have a bin of their own, which is
    dropped: to select positions would read their number."""
    own = where(in_range, positions, size).to(dtypes.int64)
    return _totals(own, weight, size + 1, result_dtype)[:size]


@composed(exact=True)
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Counts each number from 0 on, or sums its `weights`; the result has at least `minlength`
    elements. It is int64, float32 for float32 weights, float64 for others. Raises RuntimeError for
    negative or non-integer input and for numbers of dims other than one."""
    if input._dtype.kind not in "iu":
        raise errors_arithmetic.counted(input._shape, input._dtype)
    if minlength < 0:
        raise errors_arithmetic.minlength(minlength)
    if input.ndim == 1 and not input.numel():
        return zeros(minlength, dtype=dtypes.int64, device=input.device)
    if input.ndim != 1:
        raise errors_arithmetic.counted(input._shape, input._dtype)
    if weights is not None and weights._shape != input._shape:
        raise errors_arithmetic.weight_shape("bincount", weights._shape, input._shape)
    output.check_capacity(input, input.numel(), dtypes.int64)  # memory for the summands
    low, high = (int(x) for x in input.aminmax())
    if low < 0:
        raise errors_arithmetic.negative_counted(low)
    if high >= integer_limits(dtypes.int64).max:
        raise errors_arithmetic.counted_too_large(high)
    result_dtype = dtypes.int64
    if weights is not None:
        result_dtype = dtypes.float32 if weights._dtype is dtypes.float32 else dtypes.float64
        weights = weights.to(result_dtype)
    return _totals(input.to(dtypes.int64), weights, max(high + 1, minlength), result_dtype)


def _limits(name: str, x: Tensor, low: float, high: float, explicit: bool, margin: float = 0.5) -> tuple[float, float]:
    """Returns the given range, or that of the elements; a range of a single number grows by
    `margin` on each side."""
    output.check_capacity(x, x.numel(), x._dtype)  # memory for the positions
    if not explicit:
        low, high = (v.item() for v in x.aminmax()) if x.numel() else (0.0, 1.0)
    if not (math.isfinite(low) and math.isfinite(high)) or low > high:
        raise errors_arithmetic.value_range(name, low, high)
    return (low - margin, high + margin) if low == high else (low, high)


@composed(exact=True)
def histc(input: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Tensor:
    """Counts the elements in each of `bins` equal parts of [min, max], in the input's dtype. With
    equal `min` and `max` the range is that of the elements. Elements outside are ignored. Raises
    RuntimeError for bool and complex numbers, zero bins, and a range that is not finite."""
    check_kind("histc", input._dtype, "fiu")
    if bins <= 0:
        raise errors_arithmetic.bins("histc", bins)
    x = input.reshape(-1)
    if input._dtype.kind != "f":
        return _integer_histc(x, bins, min, max)
    low, high = _limits("histc", x, float(min), float(max), min != max, 1)
    # Each step is rounded to the elements' own dtype, as in torch.
    first, last = (tensor(v, dtype=x._dtype, device=x.device) for v in (low, high))
    bin_index = ((x - first) * bins / (last - first)).clamp(max=bins - 1)
    in_range = (x >= low) & (x <= high)
    return _totals_in_range(bin_index, in_range, None, bins, dtypes.int64).to(input._dtype)


def _integer_histc(x: Tensor, bins: int, min: Any, max: Any) -> Tensor:
    """Implements histc for integers, with integer bounds and positions, as torch does on CUDA."""
    explicit = int(min) != int(max)
    first, last = (int(v) for v in _limits("histc", x, int(min), int(max), explicit, 1))
    largest = integer_limits(dtypes.int64).max
    if first < -largest or last > largest or (last - first) * bins > largest:
        raise errors_arithmetic.integer_range("histc", bins, first, last)
    as_int64 = x.to(dtypes.int64)
    least = first if first > 0 or x._dtype.is_signed else 0  # elements beyond int64 have become negative
    in_range = (as_int64 >= least) & (as_int64 <= last)
    inside = where(in_range, as_int64, first)
    bin_index = (inside - first).mul(bins).div(last - first, rounding_mode="floor").clamp(max=bins - 1)
    return _totals_in_range(bin_index, in_range, None, bins, dtypes.int64).to(x._dtype)


def _edges(name: str, x: Tensor, bins: Any, low: float, high: float) -> Tensor:
    """Returns the edges of bins: the given ones, or those of `bins` equal parts."""
    if isinstance(bins, Tensor):
        if bins.ndim != 1 or bins._dtype is not x._dtype or not bins.numel():
            raise errors_arithmetic.bin_edges(name, bins._shape, bins._dtype, x._dtype)
        return bins.clone(memory_format=contiguous_format)
    if bins <= 0:
        raise errors_arithmetic.bins(name, bins)
    return linspace(low, high, bins + 1, dtype=x._dtype, device=x.device)


def _histogram_counts(x: Tensor, edges: Sequence[Tensor], weight: Tensor | None, density: bool) -> Tensor:
    """Returns the histogram of samples (rows of coordinates) in the bins between the edges."""
    sizes = tuple([e._shape[0] - 1 for e in edges])
    flat_bin = zeros(x._shape[0], dtype=dtypes.int64, device=x.device)
    in_range = ones(x._shape[0], dtype=dtypes.bool, device=x.device)
    for k, (edge, size) in enumerate(zip(edges, sizes)):
        column = x.select(1, k).contiguous()
        bin_index = searchsorted(edge, column, right=True) - 1
        in_range = in_range & (column >= edge[0]) & (column <= edge[-1])
        flat_bin = flat_bin * size + bin_index.clamp(0, max(size - 1, 0))
    weight = None if weight is None else weight.reshape(-1)
    counts = _totals_in_range(flat_bin, in_range, weight, numel(sizes), x._dtype).reshape(sizes)
    if density:
        counts = counts / counts.sum()
        for k, edge in enumerate(edges):
            shape = [-1 if d == k else 1 for d in range(len(sizes))]
            counts = counts / edge.diff().reshape(shape)
    return counts


def _check_weight(name: str, input: Tensor, weight: Tensor | None, expected_shape: Any) -> None:
    if weight is None:
        return
    check_tensors(name, weight=weight)
    if weight._shape != expected_shape:
        raise errors_arithmetic.weight_shape(name, weight._shape, expected_shape)
    if weight._dtype is not input._dtype:
        raise errors_arithmetic.weight_dtype(name, weight._dtype, input._dtype)


@op(forms=("histogram(input, bins=100, *, range=None, weight=None, density=False, out=None) -> (hist, bin_edges)",))
def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Any = None,
) -> tuple[Tensor, Tensor]:
    """Returns (the count or `weight` in each bin, the edges). `bins` is a number of equal parts of
    `range` (low, high) or of the elements' range, or a tensor of edges. The last bin includes its
    right edge. With `density` the integral is 1. Raises RuntimeError for dtypes other than float32
    and float64, zero bins, and arguments that don't fit."""
    if input._dtype not in (dtypes.float32, dtypes.float64):
        raise errors.not_implemented_for("histogram", input._dtype)
    _check_weight("histogram", input, weight, input._shape)
    x = input.reshape(-1)
    low, high = 0.0, 0.0
    if not isinstance(bins, Tensor):
        if range is not None and len(range) != 2:
            raise errors_arithmetic.range_length("histogram", len(range), 2)
        low, high = (0.0, 0.0) if range is None else (float(r) for r in range)
        low, high = _limits("histogram", x, low, high, range is not None)
    edges = _edges("histogram", x, bins, low, high)
    counts = _histogram_counts(x.reshape(-1, 1), (edges,), weight, density)
    return returned("histogram", (counts, edges), out)


@op()
def histogramdd(
    input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Returns the `histogram` of samples with several coordinates (the last dim). `bins` has a
    number or edges for each coordinate, or is one number for all; `range` lists (low, high) of each
    coordinate."""
    name = "histogramdd"
    if input.ndim < 2:
        raise errors_arithmetic.at_least_two_dims(input._shape)
    if input._dtype not in (dtypes.float32, dtypes.float64):
        raise errors.not_implemented_for(name, input._dtype)
    dims = input._shape[-1]
    output.check_capacity(input, dims, dtypes.int64)  # memory for the list of bins
    bins_per_dim = [bins] * dims if isinstance(bins, int) else list(bins)
    if len(bins_per_dim) != dims:
        raise errors_arithmetic.bins_for_dims(len(bins_per_dim), dims)
    if range is not None and len(range) != 2 * dims:
        raise errors_arithmetic.range_length(name, len(range), 2 * dims)
    _check_weight(name, input, weight, input._shape[:-1])
    x = input.reshape(numel(input._shape[:-1]), dims)
    edges = []
    for k, dim_bins in enumerate(bins_per_dim):
        low = high = 0.0
        if not isinstance(dim_bins, Tensor):
            if range is not None:
                low, high = float(range[2 * k]), float(range[2 * k + 1])
            low, high = _limits(name, x.select(1, k), low, high, range is not None)
        edges.append(_edges(name, x, dim_bins, low, high))
    counts = _histogram_counts(x, edges, weight, density)
    result: Any = return_types.histogramdd((counts, tuple(edges)))  # type: ignore[arg-type]
    return result
