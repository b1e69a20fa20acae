"""Elements in another order: flip, roll, rot90."""

from __future__ import annotations

from itertools import product
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import shape as errors_shape
from ...execute import memory
from ...iterator.shape import normalize_dim, normalize_dims
from ...iterator.stride import channels_last_strides, contiguous_strides, is_channels_last
from ...ops.types import copy
from ...rows.catalogue import op
from ..index.gather import check_tensors
from ..view.arguments import as_int, int_list, ints


def _flipped(op: str, input: Tensor, dims: Any) -> Tensor:
    dims = normalize_dims(dims, input.ndim) if dims else ()
    if input._dtype.bare and input.ndim - 1 in dims and input.numel():
        raise errors.not_implemented_for(op, input._dtype)  # as torch: whole rows are copied
    result = memory.new(
        input._shape, input._dtype, input._storage.device, memory.layout_strides(input, memory.preserve_format)
    )
    strides, offset = list(input._strides), input._offset
    if input.numel():
        for d in dims:
            if d < input.ndim:
                offset += (input._shape[d] - 1) * strides[d]
                strides[d] = -strides[d]
        # A view that no user gets to see: elsewhere strides are never negative.
        copy.copy_(result, input._view(input._shape, tuple(strides), offset))
    return result


@op()
def flip(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """A copy with the order along these dims reversed."""
    check_tensors("flip", input=input)
    axes = named.pop("dims", None)
    if named or (axes is None and not dims):
        raise errors.missing_argument("flip", "dims")
    if axes is None:
        axes = dims[0] if len(dims) == 1 else dims
    return _flipped("flip", input, ints(axes, (), "flip", "dims"))


@op()
def fliplr(input: Tensor) -> Tensor:
    """A copy with the columns (dim 1) reversed."""
    check_tensors("fliplr", input=input)
    if input.ndim < 2:
        raise errors.too_few_dims("fliplr", 2, input.ndim)
    return _flipped("fliplr", input, (1,))


@op()
def flipud(input: Tensor) -> Tensor:
    """A copy with the rows (dim 0) reversed."""
    check_tensors("flipud", input=input)
    if input.ndim < 1:
        raise errors.too_few_dims("flipud", 1, input.ndim)
    return _flipped("flipud", input, (0,))


@op()
def roll(input: Tensor, shifts: Any = None, dims: Any = ()) -> Tensor:
    """A copy with elements moved along dims; what leaves at the end comes back at the start.
    Without dims the tensor is rolled as if flattened.
    """
    check_tensors("roll", input=input)
    if shifts is None:
        raise errors.missing_argument("roll", "shifts")
    steps = ints(shifts, (), "roll", "shifts")
    axes = () if dims is None else ints(dims, (), "roll", "dims")
    if not steps:
        raise errors_shape.shifts_required()
    if not axes and len(steps) == 1:
        flat = input.contiguous().reshape(-1)
        return _rolled(flat, {0: steps[0]}).reshape(input._shape)
    if len(steps) != len(axes):
        raise errors_shape.shifts_and_dims(len(steps), len(axes))
    if not input.numel() and len(axes) == 1:
        return copy.clone(input)
    moves: dict[int, int] = {}
    for step, dim in zip(steps, axes):
        if not input._shape:
            raise errors_shape.no_dims("roll", dim)
        dim = normalize_dim(dim, input.ndim)
        moves[dim] = moves.get(dim, 0) + step
    return _rolled(input, moves)


def _rolled(input: Tensor, moves: dict[int, int]) -> Tensor:
    """A copy of each piece that stays together."""
    shape = input._shape
    strides = contiguous_strides(shape)
    if len(shape) in (4, 5) and is_channels_last(shape, input._strides):
        strides = channels_last_strides(shape)
    result = memory.new(shape, input._dtype, input._storage.device, strides)
    if not input.numel():
        return result
    cuts = []  # per dim: (from, to, length) of its pieces
    for d, n in enumerate(shape):
        step = moves.get(d, 0) % n
        cuts.append([(0, step, n - step), (n - step, 0, step)] if step else [(0, 0, n)])
    for pieces in product(*cuts):
        sizes = tuple([length for _, _, length in pieces])
        there = sum(to * s for (_, to, _), s in zip(pieces, result._strides))
        here = sum(at * s for (at, _, _), s in zip(pieces, input._strides))
        source = input._view(sizes, input._strides, input._offset + here)
        copy.copy_(result._view(sizes, result._strides, there), source)
    return result


@op(bare="")
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy turned k times from dims[0] to dims[1]."""
    check_tensors("rot90", input=input)
    times = as_int(k, "rot90", "k") % 4
    axes = int_list(dims, "rot90", "dims")
    if len(axes) != 2:
        raise errors_shape.rotation_dims(axes)
    if input.ndim < 2:
        raise errors.too_few_dims("rot90", 2, input.ndim)
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == input.ndim:
        raise errors_shape.rotation_dims(axes)
    for dim in axes:
        if not -input.ndim <= dim < input.ndim:
            raise errors_shape.rotation_dim(dim, input.ndim)
    first, second = [normalize_dim(dim, input.ndim) for dim in axes]
    if times == 0:
        return copy.clone(input, memory_format=memory.contiguous_format)
    if times == 2:
        return _flipped("rot90", input, (first, second))
    turned = _flipped("rot90", input, (second if times == 1 else first,))
    return turned.transpose(first, second)
