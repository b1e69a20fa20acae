"""Tensors put together: cat, stack and their spellings, block_diag, meshgrid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import errors
from ..._device import current_device
from ..._tensor import Tensor
from ...dtypes import can_cast, get_default_dtype, result_dtype
from ...errors import shape as errors_shape
from ...execute import memory
from ...execute.known import know_copies, known
from ...execute.output import check_written, sized
from ...iterator.shape import Ints, normalize_dim
from ...iterator.stride import channels_last_strides, contiguous_strides, is_channels_last
from ...ops.types import copy
from ...rows.catalogue import op
from ..view.arguments import as_int
from ..view.dims import atleast_1d, atleast_2d, atleast_3d


def tensor_list(name: str, tensors: Any) -> list[Tensor]:
    """A tuple or list of tensors; TypeError for anything else."""
    if not isinstance(tensors, (tuple, list)):
        raise errors_shape.not_tensors(name, tensors)
    for k, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise errors_shape.element_not_a_tensor(name, k, t)
    return list(tensors)


def suggested_strides(shape: Ints, tensors: Sequence[Tensor]) -> Ints:
    """The strides of a fresh tensor: channels last if that is how all of these lie in memory."""
    if len(shape) in (4, 5) and all(is_channels_last(t._shape, t._strides) for t in tensors):
        return channels_last_strides(shape)
    return contiguous_strides(shape)


@op(method=False, aliases=("concat", "concatenate"))
def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors one after another along a dim.

    Their dtypes are promoted to a common one, and the other dims must have equal sizes; an empty
    1-d tensor fits anywhere. RuntimeError for shapes that don't fit.
    """
    parts = tensor_list("cat", tensors)
    if not parts:
        raise errors_shape.no_tensors_to_cat()
    dim = as_int(dim if axis is None else axis, "cat", "dim")
    if out is None and (kept := known(("cat", dim), *parts)) is not None:
        return kept
    of = result_dtype([(t._dtype, 0) for t in parts])
    first = next((t for t in parts if t._shape != (0,)), parts[0])
    for k, t in enumerate(parts):
        if not t._shape:
            raise errors_shape.cat_scalar(k)
        if t._storage.device is not first._storage.device:
            raise errors.different_devices("cat", [p.device for p in parts])
    original_dim, dim = dim, normalize_dim(dim, first.ndim)
    full = [t for t in parts if t._shape != (0,) or first._shape == (0,)]
    for k, t in enumerate(parts):
        if t._shape != (0,):
            _check_fits(first, t, dim, k)
    total = sum(t._shape[dim] for t in full)
    shape = (*first._shape[:dim], total, *first._shape[dim + 1 :])
    if out is None:
        strides = suggested_strides(shape, full)
        result = memory.new(shape, of, first._storage.device, strides)
    else:
        if not can_cast(of, out._dtype):
            raise errors_shape.cat_out(of, out._dtype)
        check_written("cat", out, parts)
        if out._shape != shape:
            sized(out, shape)
        result = out
    at, pieces = 0, []
    for t in full:
        piece = result._view(t._shape, result._strides, result._offset + at * result._strides[dim])
        pieces.append(copy.copy_(piece, t))
        at += t._shape[dim]
    if out is None and len(full) == len(parts):
        know_copies(("cat", original_dim), parts, result, pieces)
    return result


def _check_fits(first: Tensor, t: Tensor, dim: int, k: int) -> None:
    if t.ndim != first.ndim:
        raise errors_shape.cat_ndim(first.ndim, t.ndim, k)
    for d, (n, m) in enumerate(zip(first._shape, t._shape)):
        if d != dim and n != m:
            raise errors_shape.cat_size(first._shape, t._shape, dim, k)


@op(method=False)
def stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape, along a new dim."""
    parts = tensor_list("stack", tensors)
    if not parts:
        raise errors_shape.no_tensors("stack")
    shape = parts[0]._shape
    dim = normalize_dim(as_int(dim, "stack", "dim"), len(shape) + 1)
    for k, t in enumerate(parts):
        if t._shape != shape:
            raise errors_shape.stack_shape(shape, t._shape, k)
    if out is None and dim < len(shape):
        # As torch does, the memory order is that of the tensors put together without a new dim.
        result = cat(parts, dim)
        sizes, steps = result._shape, result._strides
        step = shape[dim] * steps[dim] if 0 not in sizes else None
        if step is not None:
            new = (*sizes[:dim], len(parts), shape[dim], *sizes[dim + 1 :])
            return result._view(new, (*steps[:dim], step, *steps[dim:]), result._offset)
    return cat([t.unsqueeze(dim) for t in parts], dim, out=out)


def _at_least(name: str, ndim: int, tensors: Any) -> list[Tensor]:
    """The tensors with at least 1, 2 or 3 dims."""
    parts = tensor_list(name, tensors)
    if not parts:
        raise errors_shape.no_tensors(name)
    lift: Any = (atleast_1d, atleast_2d, atleast_3d)[ndim - 1]
    return [lift(t) for t in parts]


@op(method=False)
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """`cat` along the columns (dim 1; dim 0 if 1-d)."""
    parts = _at_least("hstack", 1, tensors)
    return cat(parts, 0 if parts[0].ndim == 1 else 1, out=out)


@op(method=False, aliases=("row_stack",))
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """`cat` along the rows, of tensors made 2-d."""
    return cat(_at_least("vstack", 2, tensors), 0, out=out)


@op(method=False)
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """`cat` along dim 2, of tensors made 3-d."""
    return cat(_at_least("dstack", 3, tensors), 2, out=out)


@op(method=False)
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """`hstack`, with 1-d tensors as columns."""
    parts = tensor_list("column_stack", tensors)
    if not parts:
        raise errors_shape.no_tensors("column_stack")
    columns = [t.reshape(t.numel(), 1) if t.ndim <= 1 else t for t in parts]
    return hstack(columns, out=out)


@op(method=False)
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along the diagonal of a matrix of zeros."""
    if not tensors:
        return memory.new((1, 0), get_default_dtype(), current_device())
    blocks = []
    for k, t in enumerate(tensor_list("block_diag", tensors)):
        if t.ndim > 2:
            raise errors_shape.block_ndim(k, t.ndim)
        blocks.append(t if t.ndim == 2 else t.reshape(1, t.numel()))
    of = result_dtype([(t._dtype, 0) for t in blocks])
    sizes = (sum(t._shape[0] for t in blocks), sum(t._shape[1] for t in blocks))
    result = copy.zero_(memory.new(sizes, of, blocks[0]._storage.device))
    row = column = 0
    for t in blocks:
        copy.copy_(result._view(t._shape, result._strides, row * sizes[1] + column), t)
        row, column = row + t._shape[0], column + t._shape[1]
    return result


@op(method=False)
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Views of 1-d tensors expanded to a common grid, with one dim for each; with "xy" the first
    two dims are swapped.
    """
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    parts = tensor_list("meshgrid", tensors)
    if not parts:
        raise errors_shape.no_tensors("meshgrid")
    if indexing is None:
        errors_shape.warn_meshgrid()
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise errors_shape.meshgrid_indexing(indexing)
    for t in parts:
        if t.ndim > 1:
            raise errors_shape.meshgrid_ndim(t.ndim)
        if t._dtype is not parts[0]._dtype:
            raise errors_shape.meshgrid_dtypes(parts[0]._dtype, t._dtype)
        if t._storage.device is not parts[0]._storage.device:
            raise errors.different_devices("meshgrid", [p.device for p in parts])
    swap = indexing == "xy" and len(parts) >= 2
    if swap:
        parts[:2] = parts[1::-1]
    shape = tuple([t.numel() for t in parts])
    grids = []
    for d, t in enumerate(parts):
        # A dim of size 1 keeps the stride that torch's view of it has.
        strides = [1 if n == 1 else 0 for n in shape]
        strides[d] = t._strides[0] if t._shape else 1
        grids.append(t._view(shape, tuple(strides), t._offset))
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)
