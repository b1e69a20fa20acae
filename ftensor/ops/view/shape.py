"""Views with another shape, another dtype or other strides over the same elements."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import view as errors_view
from ...formats import Size
from ...iterator.shape import broadcast_shapes as common_shape
from ...iterator.shape import contiguous_strides, infer_shape, numel, view_strides
from ...rows.catalogue import op
from ...rows.spelling import MISSING
from ..types.conversion import contiguous
from . import layout as view_math
from .layout import as_int, in_place, int_list, ints, layout, with_layout


@op(function=False, forms=("view(*shape) -> Tensor", "view(dtype) -> Tensor"))
def view(input: Tensor, size: Any = MISSING, *more: int, dtype: Any = MISSING) -> Tensor:
    """Returns the same memory under another shape (one size may be -1), or its bytes as another
    dtype. Raises RuntimeError if strides or sizes would require a copy; `reshape` copies."""
    if size is MISSING:
        size, dtype = dtype, MISSING
    if more or isinstance(size, (tuple, list)):
        if dtype is not MISSING:
            raise errors_view.reinterpret_as_what(dtype)
        geometry = view_math.view(*layout(input, "view"), ints(size, more, "view", "size"))
        return with_layout(input, geometry)
    if dtype is not MISSING or size is MISSING:
        raise errors_view.reinterpret_as_what((size, dtype) if dtype is not MISSING else ())
    if isinstance(size, str):
        raise errors.not_a_dtype("view", "dtype", size, dtypes.parse_dtype(size))
    if isinstance(size, type) or dtypes.parse_dtype(size) is not None:
        size = dtypes.as_dtype("view", size)
    if not isinstance(size, dtypes.dtype):
        geometry = view_math.view(*layout(input, "view"), ints(size, more, "view", "size"))
        return with_layout(input, geometry)
    old_itemsize = input.dtype.itemsize
    if size.itemsize > old_itemsize:
        input._start_is_read(size.itemsize)
    geometry = view_math.reinterpret(*layout(input, "view"), old_itemsize, size.itemsize)
    return Tensor._make(input._storage, size, *geometry)


@op(function=False)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns the tensor viewed with `other`'s shape."""
    size, _, _ = layout(other, "view_as", "other")
    return with_layout(input, view_math.view(*layout(input, "view_as"), size))


def _reshape(input: Tensor, size: tuple[int, ...], function: str) -> Tensor:
    shape, strides, offset = layout(input, function)
    size = infer_shape(size, numel(shape))
    new_strides = view_strides(shape, strides, size)
    if new_strides is None:
        copy = contiguous(input)
        return copy._view(size, contiguous_strides(size), copy._offset)
    return input._view(size, new_strides, offset)


@op()
def reshape(input: Tensor, shape: Any, *more: int) -> Tensor:
    """Returns the elements in row-major order under another shape, one size of which may be -1: a
    view if the strides allow it, else a copy. Raises RuntimeError if the shape doesn't fit."""
    return _reshape(input, ints(shape, more, "reshape", "shape"), "reshape")


@op(function=False)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns the tensor reshaped to `other`'s shape."""
    return _reshape(input, layout(other, "reshape_as", "other")[0], "reshape_as")


@op()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Joins dims `start_dim` to `end_dim` into one: a view if the strides allow it, else a copy,
    and the tensor itself if there is nothing to join."""
    shape, _, _ = layout(input, "flatten")
    start = as_int(start_dim, "flatten", "start_dim")
    end = as_int(end_dim, "flatten", "end_dim")
    size = view_math.flatten_shape(shape, start, end)
    return input if len(size) == len(shape) else _reshape(input, size, "flatten")


@op()
def ravel(input: Tensor) -> Tensor:
    """Returns all elements in one dim, copied unless they are contiguous."""
    shape, _, _ = layout(input, "ravel")
    return _reshape(contiguous(input), (numel(shape),), "ravel")


@op()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Returns a view with one dim split into `sizes`, one of which may be -1. Raises RuntimeError
    if their product is not the dim's size."""
    shape, strides, offset = layout(input, "unflatten")
    dim = as_int(dim, "unflatten", "dim")
    target_sizes = () if sizes is None else int_list(sizes, "unflatten", "sizes")
    size = view_math.unflatten_shape(shape, dim, target_sizes)
    return with_layout(input, view_math.view(shape, strides, offset, size))


@op(function=False)
def expand(input: Tensor, size: Any, *more: int, implicit: bool = False) -> Tensor:
    """Returns a view with dims of size 1 repeated (by stride 0) and new dims in front; -1 keeps a
    size. Raises RuntimeError if another dim would have to change."""
    target_sizes = ints(size, more, "expand", "size")
    return with_layout(input, view_math.expand(*layout(input, "expand"), target_sizes))


@op(function=False)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Returns the tensor expanded to `other`'s shape."""
    size, _, _ = layout(other, "expand_as", "other")
    return with_layout(input, view_math.expand(*layout(input, "expand_as"), size))


@op()
def broadcast_to(input: Tensor, size: Any, *more: int) -> Tensor:
    """Returns the same as `input.expand(size)`."""
    target_sizes = ints(size, more, "broadcast_to", "size")
    return with_layout(input, view_math.expand(*layout(input, "broadcast_to"), target_sizes))


@op(method=False)
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Returns the tensors expanded to their common shape."""
    layouts = [layout(t, "broadcast_tensors", f"tensors[{i}]") for i, t in enumerate(tensors)]
    size = common_shape(*[shape for shape, _, _ in layouts])
    return tuple(
        [
            t if geometry[0] == size else t._view(*view_math.expand(*geometry, size))
            for t, geometry in zip(tensors, layouts, strict=True)
        ]
    )


@op(method=False)
def broadcast_shapes(*shapes: Any) -> Size:
    """Returns the shape that tensors of these shapes (tuples, lists or single ints) broadcast to.
    Raises ValueError for a negative size, RuntimeError if they don't broadcast."""
    read = []
    for shape in shapes:
        if not isinstance(shape, (tuple, list)):
            if not hasattr(shape, "__index__"):
                raise errors_view.broadcast_not_a_shape(shape)
            shape = (shape,)
        sizes = int_list(shape, "broadcast_shapes", "shapes")
        if min(sizes, default=0) < 0:
            raise errors_view.broadcast_negative(sizes)
        read.append(sizes)
    return Size(common_shape(*read))


@op()
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Returns a view with this layout over the tensor's whole storage, in elements;
    `storage_offset` None means the tensor's own. Raises RuntimeError beyond the storage's end."""
    name = "as_strided"
    _, _, start = layout(input, name)
    if storage_offset is not None:
        start = as_int(storage_offset, name, "storage_offset")
    input._start_is_read()
    shape, strides = int_list(size, name, "size"), int_list(stride, name, "stride")
    return input._view(*view_math.as_strided(shape, strides, start, input.dtype.itemsize, input._storage.nbytes))


in_place(as_strided, ", size: Any, stride: Any, storage_offset: int | None = None", ", size, stride, storage_offset")


@op(function=False)
def unfold(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Returns a view of all windows of `size` entries of a dim, one every `step`, as a new last
    dim."""
    args = (("dimension", dimension), ("size", size), ("step", step))
    dim, length, step_ = (as_int(value, "unfold", name) for name, value in args)
    return with_layout(input, view_math.unfold(*layout(input, "unfold"), dim, length, step_))


@op()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Returns a view of the diagonal of two dims as a new last dim; offset > 0 is above the main
    diagonal, < 0 below."""
    args = (("offset", offset), ("dim1", dim1), ("dim2", dim2))
    offset_, first, second = (as_int(value, "diagonal", name) for name, value in args)
    return with_layout(input, view_math.diagonal(*layout(input, "diagonal"), offset_, first, second))


@op()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """Returns a view of `length` entries of a dim, starting at `start` (an int or a 0-d integer
    tensor; negative counts from the end)."""
    geometry = layout(input, "narrow")
    if isinstance(start, Tensor) and (start.ndim or start.dtype.kind not in "iu"):
        raise errors_view.narrow_start_tensor(start.dtype, start.ndim)
    args = (("dim", dim), ("start", start), ("length", length))
    return with_layout(input, view_math.narrow(*geometry, *[as_int(v, "narrow", n) for n, v in args]))


@op()
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Returns a view of one entry of a dim, without that dim."""
    dim, index = as_int(dim, "select", "dim"), as_int(index, "select", "index")
    return with_layout(input, view_math.select(*layout(input, "select"), dim, index))


@op()
def detach(input: Tensor) -> Tensor:
    """Returns a new tensor over the same memory."""
    return with_layout(input, layout(input, "detach"))


@op()
def detach_(input: Tensor) -> Tensor:
    """Returns the tensor itself; ftensor records no gradients."""
    return input


@op(function=False, method=False)
def alias(input: Tensor) -> Tensor:
    """Returns a new tensor over the same memory, like `detach`."""
    return with_layout(input, layout(input, "alias"))
