"""Writes whole entries of a dim, and views of a copy: index_add and its relatives,
select_scatter."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import view as errors_index
from ...execute import output
from ...execute.indexed import ADD_AT
from ...execute.output import check_written
from ...execute.pointwise import write_result
from ...iterator.shape import has_internal_overlap, normalize_dim
from ...rows.catalogue import op
from ...rows.copies import COPY
from ...rows.op import Op
from ..arguments import check_tensors
from ..types import conversion
from .gather import INDEX_DTYPES, addressed, at_least_1d, combine_at, copy_to_write, put_at, reduce_into
from .index import getitem


def _write(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    combine: Op,
    *,
    strict: bool = True,
    refusal: Any = errors_index.out_of_bounds,
) -> Tensor:
    """Combines the entries of `source` (or its only element) by the row `combine` with the entries
    of dim `dim` that `index` lists."""
    index, target_view = at_least_1d(index), at_least_1d(input)
    shape = put_at(target_view._shape, dim, index._shape[0])
    steps = put_at((0,) * len(shape), dim, index._strides[0])
    target, place = addressed(target_view, dim, index, steps, strict)
    combine_at(combine, shape, target, place, source, refusal=refusal)
    return input


@op(bare="h")
def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1, out: Tensor | None = None
) -> Tensor:
    """Returns a copy of the input with `alpha * source` added to the entries of a dim listed in
    `index`. Raises RuntimeError for an index out of range; negative indices are out of range."""
    result = copy_to_write("index_add", input, out, (index, source))
    return index_add_(result, dim, index, source, alpha=alpha)


@op(function=False, bare="h")
def index_add_(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """In-place form of `index_add`."""
    name = "index_add_"
    dim = _check_added(name, input, dim, index, source)
    check_written(name, input, (index, source))
    if isinstance(alpha, complex) and not input._dtype.is_complex:
        raise errors.complex_to_real_value(alpha, input._dtype)
    if alpha != 1:
        source = source.mul(conversion.number_like(name, source, alpha))
    return _write(input, dim, index, source, ADD_AT, refusal=errors_index.gather_bounds)


def _check_added(name: str, input: Any, dim: Any, index: Any, source: Any) -> int:
    """Checks the arguments of index_add and index_reduce; returns the dim counted from the
    front."""
    check_tensors(name, input=input, index=index, source=source)
    dim = normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise errors_index.index_vector(name, index.ndim, kind=IndexError)
    if index._dtype not in INDEX_DTYPES:
        raise errors_index.index_dtype_of(name, "int32 or int64", index._dtype)
    if source._dtype is not input._dtype:
        raise errors_index.same_dtypes(name, input._dtype, source._dtype)
    if dim >= max(1, source.ndim):
        raise errors_index.source_ndim(name, source.ndim, input.ndim, kind=IndexError)
    count = at_least_1d(source)._shape[dim]
    if count != index.numel():
        raise errors_index.source_count(name, count, index.numel(), kind=RuntimeError)
    expected_shape = put_at(input._shape, dim, count) if input._shape else ()
    if expected_shape != source._shape:
        raise errors_index.source_shape(name, source._shape, input._shape, dim)
    return dim


@op(bare="")
def index_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """Like `index_add`, with "prod", "mean", "amax" or "amin" over the entries that share an index.
    The input's own entry takes part unless `include_self` is False."""
    result = copy_to_write("index_reduce", input, out, (index, source))
    return index_reduce_(result, dim, index, source, reduce, include_self=include_self)


@op(function=False, bare="")
def index_reduce_(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """In-place form of `index_reduce`."""
    name = "index_reduce"
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise errors_index.scatter_reduce_name(reduce, ("prod", "mean", "amax", "amin"))
    dim = _check_added(name, input, dim, index, source)
    if input._dtype is dtypes.bool or input._dtype.is_complex:
        raise errors.not_implemented_for(name, input._dtype)
    check_written(name, input, (index, source))
    return reduce_into(input, source, reduce, include_self, lambda t, values, row: _write(t, dim, index, values, row))


@op(bare="h")
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of the input with the entries of `source` written over those that `index`
    (int64) lists. Raises IndexError for an index out of range; negative indices are out of range.
    """
    result = copy_to_write("index_copy", input, out, (index, source))
    return index_copy_(result, dim, index, source)


@op(function=False, bare="h")
def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """In-place form of `index_copy`."""
    name = "index_copy_"
    check_tensors(name, input=input, index=index, source=source)
    dim = normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise errors_index.index_vector(name, index.ndim, kind=IndexError)
    if not source._shape and index.numel() != 1:
        raise errors_index.source_count(name, 1, index.numel(), kind=IndexError)
    if source._shape and input._shape and source.ndim != input.ndim:
        raise errors_index.source_ndim(name, source.ndim, input.ndim, kind=IndexError)
    if index._dtype is not dtypes.int64:
        raise errors_index.index_dtype_of(name, "int64", index._dtype)
    if source._dtype is not input._dtype:
        raise errors_index.same_dtypes(name, input._dtype, source._dtype)
    other_sizes = tuple(n for d, n in enumerate(input._shape) if d != dim)
    if other_sizes != tuple(n for d, n in enumerate(source._shape) if d != dim):
        raise errors_index.source_shape(name, source._shape, input._shape, dim)
    if source._shape and source._shape[dim] != index.numel():
        raise errors_index.source_count(name, source._shape[dim], index.numel(), kind=IndexError)
    check_written(name, input, (index, source))
    return _write(input, dim, index, source, COPY)


@op(bare="h")
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Returns a copy of the input after `index_fill_`."""
    return index_fill_(conversion.clone(input), dim, index, value)


@op(function=False, bare="h")
def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Writes a number (or a 0-d tensor's value) into the entries of a dim that `index` (int64)
    lists. Raises IndexError for an index out of range."""
    name = "index_fill_"
    check_tensors(name, input=input, index=index)
    if isinstance(value, Tensor):
        if value._shape:
            raise errors_index.fill_dims(name, value._shape)
        value = value.item()
    if index._dtype is not dtypes.int64:
        raise errors_index.index_fill_dtype(index._dtype)
    dim = normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise errors_index.index_vector(name, index.ndim, kind=RuntimeError)
    if isinstance(value, complex) and not input._dtype.is_complex:
        raise errors.complex_to_real_value(value, input._dtype)
    check_written(name, input, (index,))
    return _write(input, dim, index, conversion.number_like(name, input, value), COPY, strict=False)


def _in_place_of(input: Tensor) -> Tensor:
    """Returns a copy with the input's strides and offset, including gaps, as torch returns. If
    elements of the input share memory, the copy has no gaps."""
    if has_internal_overlap(input._shape, input._strides):
        return conversion.clone(input)
    size = input._storage.nbytes // input._dtype.itemsize
    memory_of = output.new((size,), input._dtype, input._storage.device)
    result = memory_of._view(input._shape, input._strides, input._offset)
    conversion.copy_(result, input)
    return result


def _written_view(input: Tensor, view: Tensor, src: Tensor, name: str) -> None:
    check_tensors(name, src=src)
    if view._shape != src._shape:
        raise errors_index.slice_shape(name, src._shape, view._shape)
    conversion.copy_(view, src)


@op()
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """Returns a copy of the input with one entry of a dim replaced."""
    result = _in_place_of(input)
    view = result.select(dim, index)
    _written_view(result, view, src, "select_scatter")
    return result


@op()
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns a copy of the input with a slice of a dim replaced."""
    result = _in_place_of(input)
    dim = normalize_dim(dim, input.ndim)
    view = getitem(result, (slice(None),) * dim + (slice(start, end, step),))
    _written_view(result, view, src, "slice_scatter")
    return write_result("slice_scatter", out, result)


@op()
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Returns a copy of the input with a diagonal replaced."""
    result = _in_place_of(input)
    view = result.diagonal(offset, dim1, dim2)
    _written_view(result, view, src, "diagonal_scatter")
    return result


@op()
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Returns a copy of the input with the elements of an `as_strided` view replaced."""
    result = _in_place_of(input)
    view = result.as_strided(size, stride, storage_offset)
    _written_view(result, view, src, "as_strided_scatter")
    return result
