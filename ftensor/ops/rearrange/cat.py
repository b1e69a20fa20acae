"""Tensors joined, and elements repeated."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import dtypes, errors
from ..._device import current_device
from ..._tensor import Tensor
from ...dtypes import can_cast, get_default_dtype, result_dtype
from ...errors import view as errors_shape
from ...execute import output
from ...execute.dispatch import cache_copies, cached_result
from ...execute.indexed import host_tensor
from ...execute.layers import FLOAT_CAT, is_traced, layer
from ...execute.output import check_written, resize_out
from ...iterator.shape import Ints, channels_last_strides, contiguous_strides, is_channels_last, normalize_dim
from ...rows.catalogue import op
from ..arguments import check_tensors
from ..index.gather import index_select
from ..types import conversion
from ..view.dims import atleast_1d, atleast_2d, atleast_3d
from ..view.layout import as_int, ints_by_name


def _some_tensors(name: str, tensors: Any) -> list[Tensor]:
    """Like `tensor_list`. Raises RuntimeError for no tensors."""
    inputs = tensor_list(name, tensors)
    if not inputs:
        raise errors_shape.no_tensors(name)
    return inputs


def tensor_list(name: str, tensors: Any) -> list[Tensor]:
    """Returns a tuple or list of tensors as a list. Raises TypeError for anything else."""
    if not isinstance(tensors, (tuple, list)):
        raise errors_shape.not_tensors(name, tensors)
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise errors_shape.element_not_a_tensor(name, k, t)
    return list(tensors)


def suggested_strides(shape: Ints, tensors: Sequence[Tensor]) -> Ints:
    if len(shape) in (4, 5) and all(is_channels_last(t._shape, t._strides) for t in tensors):
        return channels_last_strides(shape)
    return contiguous_strides(shape)


@op(method=False, aliases=("concat", "concatenate"))
def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """Concatenates tensors along a dim.

    Their dtypes are promoted to a common one. The other dims must have equal sizes; an empty 1-d
    tensor is skipped. Raises RuntimeError for shapes that don't fit.
    """
    inputs = tensor_list("cat", tensors)
    if not inputs:
        raise errors_shape.no_tensors_to_cat()
    dim = as_int(dim if axis is None else axis, "cat", "dim")
    if out is None and (cached := cached_result(("cat", dim), *inputs)) is not None:
        return cached
    first = next((t for t in inputs if t._shape != (0,)), inputs[0])
    for k, t in enumerate(inputs):
        if not t._shape:
            raise errors_shape.cat_scalar(k)
        if t._storage.device is not first._storage.device:
            raise errors.different_devices("cat", [p.device for p in inputs])
    if out is None and is_traced(first):
        return layer(FLOAT_CAT, inputs, {"dim": normalize_dim(dim, first.ndim)}, lambda: _joined(inputs, dim, out))
    return _joined(inputs, dim, out)


def _joined(inputs: Sequence[Tensor], dim: int, out: Tensor | None) -> Tensor:
    element = result_dtype([(t._dtype, 0) for t in inputs])
    first = next((t for t in inputs if t._shape != (0,)), inputs[0])
    original_dim, dim = dim, normalize_dim(dim, first.ndim)
    full = [t for t in inputs if t._shape != (0,) or first._shape == (0,)]
    for k, t in enumerate(inputs):
        if t._shape != (0,):
            _check_fits(first, t, dim, k)
    total = sum(t._shape[dim] for t in full)
    shape = (*first._shape[:dim], total, *first._shape[dim + 1 :])
    if out is None:
        strides = suggested_strides(shape, full)
        result = output.new(shape, element, first._storage.device, strides)
    else:
        if not can_cast(element, out._dtype):
            raise errors_shape.cat_out(element, out._dtype)
        check_written("cat", out, inputs)
        if out._shape != shape:
            resize_out(out, shape)
        result = out
    start, pieces = 0, []
    for t in full:
        piece = result._view(t._shape, result._strides, result._offset + start * result._strides[dim])
        pieces.append(conversion.copy_(piece, t))
        start += t._shape[dim]
    if out is None and len(full) == len(inputs):
        cache_copies(("cat", original_dim), inputs, result, pieces)
    return result


def _check_fits(first: Tensor, t: Tensor, dim: int, k: int) -> None:
    if t.ndim != first.ndim:
        raise errors_shape.cat_ndim(first.ndim, t.ndim, k)
    for d, (n, m) in enumerate(zip(first._shape, t._shape)):
        if d != dim and n != m:
            raise errors_shape.cat_size(first._shape, t._shape, dim, k)


@op(method=False)
def stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Concatenates tensors of one shape along a new dim."""
    inputs = _some_tensors("stack", tensors)
    shape = inputs[0]._shape
    dim = normalize_dim(as_int(dim, "stack", "dim"), len(shape) + 1)
    for k, t in enumerate(inputs):
        if t._shape != shape:
            raise errors_shape.stack_shape(shape, t._shape, k)
    if out is None and dim < len(shape):
        # As in torch, the memory format is that of the concatenation without the new dim.
        result = cat(inputs, dim)
        sizes, steps = result._shape, result._strides
        step = shape[dim] * steps[dim] if 0 not in sizes else None
        if step is not None:
            result_shape = (*sizes[:dim], len(inputs), shape[dim], *sizes[dim + 1 :])
            return result._view(result_shape, (*steps[:dim], step, *steps[dim:]), result._offset)
    return cat([t.unsqueeze(dim) for t in inputs], dim, out=out)


def _with_min_ndim(name: str, ndim: int, tensors: Any) -> list[Tensor]:
    """Returns the tensors with at least 1, 2 or 3 dims."""
    lift: Any = (atleast_1d, atleast_2d, atleast_3d)[ndim - 1]
    return [lift(t) for t in _some_tensors(name, tensors)]


@op(method=False)
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Concatenates along the columns (dim 1; dim 0 of 1-d tensors)."""
    inputs = _with_min_ndim("hstack", 1, tensors)
    return cat(inputs, 0 if inputs[0].ndim == 1 else 1, out=out)


@op(method=False, aliases=("row_stack",))
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Concatenates along the rows, of tensors made 2-d."""
    return cat(_with_min_ndim("vstack", 2, tensors), 0, out=out)


@op(method=False)
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Concatenates along dim 2, of tensors made 3-d."""
    return cat(_with_min_ndim("dstack", 3, tensors), 2, out=out)


@op(method=False)
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Like `hstack`, with 1-d tensors as columns."""
    inputs = _some_tensors("column_stack", tensors)
    columns = [t.reshape(t.numel(), 1) if t.ndim <= 1 else t for t in inputs]
    return hstack(columns, out=out)


@op(method=False)
def block_diag(*tensors: Tensor) -> Tensor:
    """Returns a matrix of zeros with the given matrices along its diagonal."""
    if not tensors:
        return output.new((1, 0), get_default_dtype(), current_device())
    blocks = []
    for k, t in enumerate(tensor_list("block_diag", tensors)):
        if t.ndim > 2:
            raise errors_shape.block_ndim(k, t.ndim)
        blocks.append(t if t.ndim == 2 else t.reshape(1, t.numel()))
    element = result_dtype([(t._dtype, 0) for t in blocks])
    sizes = (sum(t._shape[0] for t in blocks), sum(t._shape[1] for t in blocks))
    result = conversion.zero_(output.new(sizes, element, blocks[0]._storage.device))
    row = column = 0
    for t in blocks:
        conversion.copy_(result._view(t._shape, result._strides, row * sizes[1] + column), t)
        row, column = row + t._shape[0], column + t._shape[1]
    return result


@op(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Returns views of 1-d tensors expanded to a common grid, with one dim for each; "xy" swaps the
    first two dims."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    inputs = _some_tensors("meshgrid", tensors)
    if indexing is None:
        warnings.warn(errors_shape.meshgrid_default(), stacklevel=2)
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise errors_shape.meshgrid_indexing(indexing)
    for t in inputs:
        if t.ndim > 1:
            raise errors_shape.meshgrid_ndim(t.ndim)
        if t._dtype is not inputs[0]._dtype:
            raise errors_shape.meshgrid_dtypes(inputs[0]._dtype, t._dtype)
        if t._storage.device is not inputs[0]._storage.device:
            raise errors.different_devices("meshgrid", [p.device for p in inputs])
    swap = indexing == "xy" and len(inputs) >= 2
    if swap:
        inputs[:2] = inputs[1::-1]
    shape = tuple([t.numel() for t in inputs])
    grids = []
    for d, t in enumerate(inputs):
        # A dim of size 1 keeps the stride of torch's view.
        strides = [1 if n == 1 else 0 for n in shape]
        strides[d] = t._strides[0] if t._shape else 1
        grids.append(t._view(shape, tuple(strides), t._offset))
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


@op(function=False)
def repeat(input: Tensor, *repeats: Any, **named: Any) -> Tensor:
    """Returns a copy that repeats the tensor along each dim by these counts.

    More counts than dims add new dims in front.
    """
    counts = ints_by_name("repeat", "repeats", repeats, named)
    if len(counts) < input.ndim:
        raise errors_shape.repeat_dims(counts, input._shape)
    return _repeated(input, counts)


def _repeated(input: Tensor, counts: Ints) -> Tensor:
    leading = len(counts) - input.ndim
    sizes = (1,) * leading + input._shape
    strides = (0,) * leading + input._strides
    shape = tuple([n * c for n, c in zip(sizes, counts)])
    if any(n < 0 for n in counts):
        raise errors.negative_size(min(shape), shape)
    result = output.new(shape, input._dtype, input._storage.device)
    if result.numel():
        # Each dim as a pair: number of the copy, position in it.
        pairs = tuple([n for pair in zip(counts, sizes) for n in pair])
        steps = [(n * s, s) for n, s in zip(sizes, result._strides)]
        target = result._view(pairs, tuple([s for pair in steps for s in pair]), 0)
        source = input._view(pairs, tuple([s for x in strides for s in (0, x)]), input._offset)
        conversion.copy_(target, source)
    return result


@op()
def tile(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """Like `repeat`; fewer counts than dims apply to the last dims."""
    counts = ints_by_name("tile", "dims", dims, named)
    return _repeated(input, (1,) * max(0, input.ndim - len(counts)) + counts)


@op()
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeats each entry of a dim, one after the other: `repeats` times each, or by a 1-d integer
    tensor with one count for each entry, for which the call waits. Without `dim` the input is
    flattened. `repeat_interleave(repeats)` returns the indices that this would take."""
    name = "repeat_interleave"
    check_tensors(name, input=input)
    if repeats is None:
        if input.ndim != 1:
            raise errors_shape.repeats_ndim(input.ndim)
        return host_tensor(_repeated_positions(input, output_size), input).to(input._dtype)
    if dim is None:
        input, dim = input.reshape(-1), 0
    dim = normalize_dim(dim, input.ndim)
    if not input._shape:
        if not isinstance(repeats, Tensor):
            raise errors.dim_out_of_range(dim + 1, 0)  # torch's error
        input = input.reshape(1)
    size = input._shape[dim]
    if isinstance(repeats, Tensor):
        if repeats.ndim > 1:
            raise errors_shape.repeats_ndim(repeats.ndim)
        if repeats.numel() != 1:
            if repeats._shape[0] != size:
                raise errors_shape.repeats_count(repeats.numel(), size)
        else:
            repeats = repeats.reshape(1).expand(size)
        index = host_tensor(_repeated_positions(repeats, output_size), input)
        return index_select(input, dim, index)
    count = as_int(repeats, name, "repeats")
    if count < 0:
        raise errors_shape.negative_repeats()
    if output_size is not None and output_size != count * size:
        raise errors_shape.repeated_size(output_size, count * size)
    sizes = (*input._shape[: dim + 1], count, *input._shape[dim + 1 :])
    strides = (*input._strides[: dim + 1], 0, *input._strides[dim + 1 :])
    shape = (*input._shape[:dim], size * count, *input._shape[dim + 1 :])
    result = output.new(shape, input._dtype, input._storage.device)
    if result.numel():
        step = result._strides[dim]
        target = (*result._strides[:dim], count * step, step, *result._strides[dim + 1 :])
        source = input._view(sizes, strides, input._offset)
        conversion.copy_(result._view(sizes, target, 0), source)
    return result


def _repeated_positions(repeats: Tensor, output_size: int | None) -> np.ndarray[Any, Any]:
    """Returns the positions 0, 1, ..., each repeated as often as its entry in `repeats`."""
    if repeats._dtype not in (dtypes.int64, dtypes.int32):
        raise errors.not_implemented_for("repeat_interleave", repeats._dtype)
    pool = repeats._storage.backend.pool
    pool.check_capacity(8 * repeats.numel())
    counts = repeats._host()
    if (counts < 0).any():
        raise errors_shape.negative_repeats()
    total = int(counts.sum())
    if output_size is not None and output_size != total:
        raise errors_shape.repeated_size(output_size, total)
    pool.check_capacity(8 * total)
    return np.repeat(np.arange(len(counts), dtype=np.int64), counts)
