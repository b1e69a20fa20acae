"""Sorting, searching, running sums and extremes."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors, return_types
from ..._tensor import Tensor
from ...dtypes import dtype, result_type
from ...errors import arithmetic as errors_arithmetic
from ...execute.scan import scan_along
from ...execute.sort import search, select, selects, values_in_order
from ...execute.sort import sort as run
from ...execute.sort import topk as topk_by_kernel
from ...iterator.shape import normalize_dim
from ...kernels.skeletons.cpu.sort import FIRST
from ...rows.catalogue import op
from ..arguments import check_kind, check_tensors
from ..bind import composed, write_outputs
from ..create.data import tensor
from ..create.sizes import ones
from ..rearrange.cat import cat
from ..reduce.reduction import check_out_tuple


def dim_argument(name: str, input: Any, dim: Any) -> tuple[Tensor, int]:
    """Returns (the tensor with at least one dim, the dim counted from the front). Raises TypeError
    if the argument is no tensor or the dim no int, IndexError for a dim out of range."""
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise errors.argument_type(name, "dim", "an int", dim)
    axis = normalize_dim(dim.__index__(), input.ndim)
    return (input if input.ndim else input.reshape(1)), axis


def returned(name: str, results: tuple[Tensor, ...], out: Any) -> Any:
    if out is None:
        return getattr(return_types, name)(results)
    outputs = write_outputs(name, tuple(results), check_out_tuple(name, out, len(results)), exact=True)
    return getattr(return_types, name + "_out", tuple)(outputs)


def differs_from_previous(ordered: Tensor, dim: int) -> Tensor:
    size = ordered._shape[dim] - 1
    return ordered.narrow(dim, 1, size) != ordered.narrow(dim, 0, size)


def pad_edge(mask: Tensor, dim: int, at_start: bool) -> Tensor:
    shape = tuple([1 if d == dim else n for d, n in enumerate(mask._shape)])
    edge = ones(shape, dtype=mask._dtype, device=mask.device)
    return cat([edge, mask] if at_start else [mask, edge], dim)


def sort_call(name: str, input: Any, dim: Any, descending: Any = False) -> tuple[Tensor, ...]:
    """Returns (values, indices) of a sort, in the input's shape. Raises RuntimeError for complex
    numbers."""
    x, axis = dim_argument(name, input, dim)
    if x._dtype.is_complex:
        raise errors_arithmetic.no_order(name, x._dtype)
    if not isinstance(descending, bool):
        raise errors.argument_type(name, "descending", "a bool", descending)
    results = run(x, axis, descending)
    return results if input.ndim else tuple([t.reshape(()) for t in results])


def sorted_values(name: str, input: Any, dim: Any) -> Tensor:
    x, axis = dim_argument(name, input, dim)
    if x._dtype.is_complex:
        raise errors_arithmetic.no_order(name, x._dtype)
    return values_in_order(x, axis).reshape(input._shape)


@op(forms=("sort(input, dim=-1, descending=False, *, stable=False, out=None) -> (values, indices)",), bare="h")
def sort(
    input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = False, out: Any = None
) -> tuple[Tensor, Tensor]:
    """Returns the elements in order along `dim`, and their indices in the input. NaN is the
    largest; equal elements keep their order, with `stable` and without. Raises RuntimeError for
    complex numbers."""
    return returned("sort", sort_call("sort", input, dim, descending), out)


@composed(
    exact=True, forms=("argsort(input, dim=-1, descending=False, *, stable=False, out=None) -> Tensor",), bare="h"
)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """Returns the indices of the sorted elements, the second result of `sort`."""
    return sort_call("argsort", input, dim, descending)[1]


@composed(exact=True, bare="h")
def msort(input: Tensor) -> Tensor:
    """Returns the elements in order along the first dim."""
    return sorted_values("msort", input, 0)


@op(bare="h")
def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None
) -> tuple[Tensor, Tensor]:
    """Returns the `k` largest (or smallest) elements along `dim`, in order, and their indices.
    Raises RuntimeError for a `k` beyond the dim's size, for bool and for complex numbers."""
    x, axis = dim_argument("topk", input, dim)
    if x._dtype.is_complex:
        raise errors_arithmetic.no_order("topk", x._dtype)
    if x._dtype.kind == "b":
        raise errors_arithmetic.not_of_bool("topk", x._dtype)
    if not 0 <= k <= x._shape[axis]:
        raise errors_arithmetic.selected("topk", k, x._shape[axis], 0)
    k = k if input.ndim else 1  # a 0-d tensor is its own largest element for any k
    results = topk_by_kernel(x, axis, k, largest) if isinstance(largest, bool) else None
    if results is not None:
        pass
    elif 0 < k <= x._shape[axis] // 8 and isinstance(largest, bool) and selects(x):
        picked, positions = select(x, axis, FIRST, k, largest)
        values, order = sort_call("topk", picked, axis, largest)
        results = (values, positions.gather(axis, order))
    else:
        pair = sort_call("topk", x, axis, largest)
        results = tuple([t.narrow(axis, 0, k).contiguous() for t in pair])
    if not input.ndim:
        results = tuple([t.reshape(()) for t in results])
    return returned("topk", results, out)


def _searchsorted(name: str, row: Any, values: Any, out_int32: bool, right: bool, side: Any, sorter: Any) -> Tensor:
    check_tensors(name, sorted_sequence=row)
    if side is not None:
        if side not in ("left", "right") or (right and side == "left"):
            raise errors_arithmetic.search_side(side, right)
        right = side == "right"
    result_dtype = result_type(row, values)
    if not isinstance(values, Tensor):
        values = tensor(values, dtype=result_dtype, device=row.device)
    if values.device != row.device:
        raise errors.different_devices(name, (row.device, values.device))
    if not row.ndim:
        raise errors_arithmetic.search_shapes(row._shape, values._shape)
    if row.ndim > 1 and row._shape[:-1] != values._shape[:-1]:
        raise errors_arithmetic.search_shapes(row._shape, values._shape)
    if result_dtype.is_complex or result_dtype is dtypes.bool:
        raise errors.not_implemented_for(name, result_dtype)
    row, values = row.to(result_dtype), values.to(result_dtype)
    if sorter is not None:
        check_tensors(name, sorter=sorter)
        if sorter._shape != row._shape or sorter._dtype is not dtypes.int64:
            raise errors_arithmetic.search_sorter(sorter._shape, sorter._dtype, row._shape)
        if sorter.numel():
            low, high = sorter.aminmax()
            if int(low) < 0 or int(high) >= row._shape[-1]:
                raise errors_arithmetic.sorter_range(row._shape[-1])
        sorter = sorter.contiguous()
    positions = search(row.contiguous(), values.contiguous(), sorter, right)
    return positions.to(dtypes.int32) if out_int32 else positions


@composed(exact=True, method=False, bare="h")
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Returns the index at which each value would keep the order of a sorted row: the number of
    elements below it, or not above it with `right` or `side="right"`. There is one row of one dim,
    or one row for each outer index of the values. Rows and values of different dtypes are compared
    in their common one. `sorter` gives the order of unsorted rows. Raises RuntimeError for shapes
    that don't agree."""
    return _searchsorted("searchsorted", sorted_sequence, input, out_int32, right, side, sorter)


@composed(exact=True, method=False, bare="h")
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """Returns `searchsorted` in one row of boundaries."""
    if isinstance(boundaries, Tensor) and boundaries.ndim != 1:
        raise errors_arithmetic.boundaries(boundaries._shape)
    return _searchsorted("bucketize", boundaries, input, out_int32, right, None, None)


def _run(name: str, x: Tensor, dim: int, shape: Any) -> tuple[Tensor, ...]:
    return tuple([result.reshape(shape) for result in scan_along(name, x, dim)])


def _cumulative(name: str, input: Any, dim: Any, dtype: Any, out: Any) -> Tensor:
    """Implements cumsum and cumprod, in `dtype`, or in that of `out`, or in int64 for integers."""
    x, axis = dim_argument(name, input, dim)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise errors.not_a_dtype(name, "dtype", dtype, dtypes.parse_dtype(dtype))
    if out is not None and not isinstance(out, Tensor):
        raise errors.not_a_tensor(name, "out", out)
    result_dtype = dtype or (out._dtype if out is not None else None)
    if result_dtype is None:
        result_dtype = x._dtype if x._dtype.kind in "fc" else dtypes.int64
    if result_dtype is dtypes.bool or result_dtype.bare:
        raise errors.not_implemented_for(name, result_dtype)
    # Integers wrap around: the low bits of a sum are those of the wide sum.
    compute = result_dtype if result_dtype.kind in "fc" else dtypes.int64
    result = _run(name, x.to(result_dtype).to(compute), axis, input._shape)[0].to(result_dtype)
    if out is None:
        return result
    return write_outputs(name, result, out, exact=True, fixed=out is input)


@op(inplace=True)
def cumsum(input: Tensor, dim: int, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Returns the sums of the elements up to each along `dim`; integers are summed in int64. Raises
    RuntimeError for an `out` of another dtype than `dtype`, NotImplementedError for `dtype` bool.
    """
    return _cumulative("cumsum", input, dim, dtype, out)


@op(inplace=True)
def cumprod(input: Tensor, dim: int, *, dtype: dtype | None = None, out: Tensor | None = None) -> Tensor:
    """Returns the products of the elements up to each along `dim`; integers are multiplied in
    int64. Raises RuntimeError for an `out` of another dtype than `dtype`, NotImplementedError for
    `dtype` bool."""
    return _cumulative("cumprod", input, dim, dtype, out)


@op()
def logcumsumexp(input: Tensor, dim: int, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithms of the sums of exponentials up to each element along `dim`. Raises
    NotImplementedError for integers."""
    x, axis = dim_argument("logcumsumexp", input, dim)
    check_kind("logcumsumexp", x._dtype, "fc")
    result = _run("logcumsumexp", x, axis, input._shape)[0]
    if out is None:
        return result
    return write_outputs("logcumsumexp", result, out, exact=True)


def _cumulative_extreme(name: str, input: Any, dim: Any, out: Any) -> Any:
    x, axis = dim_argument(name, input, dim)
    check_kind(name, x._dtype, "buif")
    return returned(name, _run(name, x, axis, input._shape), out)


@op(bare="h")
def cummax(input: Tensor, dim: int, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Returns the largest element up to each along `dim`, and its last index; NaN is the largest.
    Raises NotImplementedError for complex numbers."""
    return _cumulative_extreme("cummax", input, dim, out)


@op(bare="h")
def cummin(input: Tensor, dim: int, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Returns the smallest element up to each along `dim`, and its last index; NaN is the smallest.
    Raises NotImplementedError for complex numbers."""
    return _cumulative_extreme("cummin", input, dim, out)
