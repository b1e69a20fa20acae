"""Shape, strides and offset of every view: pure arithmetic, without tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import view as errors_view
from ...iterator.shape import infer_shape, normalize_dim, normalize_dims, numel, view_strides
from ...rows.catalogue import op
from ...rows.spelling import written

Ints = tuple[int, ...]
Layout = tuple[Ints, Ints, int]


def view(shape: Ints, strides: Ints, offset: int, size: Ints) -> Layout:
    """Returns the layout of the same elements in row-major order under another shape; one size may
    be -1."""
    size = infer_shape(size, numel(shape))
    new_strides = view_strides(shape, strides, size)
    if new_strides is None:
        raise errors_view.view_needs_copy(shape, strides, size)
    return size, new_strides, offset


def reinterpret(shape: Ints, strides: Ints, offset: int, old_itemsize: int, new_itemsize: int) -> Layout:
    """Returns the layout of the same bytes as elements of `new_itemsize` instead of `old_itemsize`
    bytes; only the last dim changes."""
    if old_itemsize == new_itemsize:
        return shape, strides, offset
    if not shape:
        raise errors_view.cannot_reinterpret(old_itemsize, new_itemsize, "the number of dims", 0, "at least 1")
    if strides[-1] != 1:
        raise errors_view.cannot_reinterpret(old_itemsize, new_itemsize, "the last stride", strides[-1], "1")
    if old_itemsize > new_itemsize:
        ratio = old_itemsize // new_itemsize
        wider = tuple(s * ratio for s in strides[:-1])
        return (*shape[:-1], shape[-1] * ratio), (*wider, 1), offset * ratio
    ratio = new_itemsize // old_itemsize
    numbers = [("the last size", shape[-1]), ("the storage offset", offset)]
    numbers += [(f"the stride of dim {i}", s) for i, s in enumerate(strides[:-1])]
    for description, value in numbers:
        if value % ratio:
            need = f"divisible by {ratio}"
            raise errors_view.cannot_reinterpret(old_itemsize, new_itemsize, description, value, need)
    narrower = tuple(s // ratio for s in strides[:-1])
    return (*shape[:-1], shape[-1] // ratio), (*narrower, 1), offset // ratio


def transpose(shape: Ints, strides: Ints, offset: int, dim0: int, dim1: int) -> Layout:
    """Returns the layout with two dims exchanged."""
    ndim = len(shape)
    dim0, dim1 = normalize_dim(dim0, ndim), normalize_dim(dim1, ndim)
    if dim0 == dim1:
        return shape, strides, offset
    order = list(range(ndim))
    order[dim0], order[dim1] = dim1, dim0
    return reorder(shape, strides, offset, order)


def permute(shape: Ints, strides: Ints, offset: int, dims: Ints) -> Layout:
    if len(dims) != len(shape):
        raise errors_view.permute_count(dims, len(shape))
    return reorder(shape, strides, offset, _in_turn(dims, len(shape)))


def _in_turn(dims: Ints, ndim: int) -> Ints:
    for count in range(1, len(dims)):
        normalize_dims(dims[:count], ndim)
    return normalize_dims(dims, ndim)


def reorder(shape: Ints, strides: Ints, offset: int, order: Sequence[int]) -> Layout:
    return tuple([shape[d] for d in order]), tuple([strides[d] for d in order]), offset


def movedim(shape: Ints, strides: Ints, offset: int, source: Ints, destination: Ints) -> Layout:
    """Returns the layout with dims moved from `source` to `destination`; the others keep their
    order."""
    ndim = len(shape)
    if len(source) != len(destination):
        raise errors_view.movedim_counts(source, destination)
    # As in torch, both lists are checked for range before repeats.
    source_dims = [normalize_dim(d, ndim) for d in source]
    target_dims = [normalize_dim(d, ndim) for d in destination]
    target = dict(zip(normalize_dims(target_dims, ndim), normalize_dims(source_dims, ndim), strict=True))
    if not shape:
        return shape, strides, offset
    remaining = iter([d for d in range(ndim) if d not in source_dims])
    order = [target[d] if d in target else next(remaining) for d in range(ndim)]
    return reorder(shape, strides, offset, order)


def expand(shape: Ints, strides: Ints, offset: int, size: Ints) -> Layout:
    """Returns the layout with dims of size 1 repeated by stride 0 and new dims in front; -1 keeps a
    size."""
    leading = len(size) - len(shape)
    if leading < 0:
        raise errors_view.expand_too_few(shape, size)
    sizes, steps = list(size), [0] * len(size)
    # From the last dim: a new dim of size 1 gets the stride that would skip all later dims.
    for i in range(len(size) - 1, -1, -1):
        want = size[i]
        if i >= leading:
            dim_size, step = shape[i - leading], strides[i - leading]
            if want == -1:
                want = dim_size
        else:
            dim_size, step = 1, (sizes[i + 1] * steps[i + 1] if shape else 0)
        if want != dim_size:
            if dim_size != 1 or want < 0:
                raise errors_view.expand_size(shape, size, i)
            step = 0
        sizes[i], steps[i] = want, step
    if numel(sizes) >= 2**63:
        raise errors_view.size_overflow(sizes)
    return tuple(sizes), tuple(steps), offset


def squeeze(shape: Ints, strides: Ints, offset: int, dims: int | Ints | None) -> Layout:
    """Returns the layout without those of `dims` (all if None) whose size is 1."""
    ndim = len(shape)
    candidates = _in_turn(dims, ndim) if isinstance(dims, tuple) else normalize_dims(dims, ndim)
    kept_dims = [d for d, size in enumerate(shape) if size != 1 or d not in candidates]
    return reorder(shape, strides, offset, kept_dims)


def unsqueeze(shape: Ints, strides: Ints, offset: int, dim: int) -> Layout:
    """Returns the layout with a new dim of size 1 before dim `dim`."""
    dim = normalize_dim(dim, len(shape) + 1)
    step = shape[dim] * strides[dim] if dim < len(shape) else 1
    return (*shape[:dim], 1, *shape[dim:]), (*strides[:dim], step, *strides[dim:]), offset


def narrow(shape: Ints, strides: Ints, offset: int, dim: int, start: int, length: int) -> Layout:
    """Returns the layout of `length` entries of a dim, starting at `start`."""
    if not shape:
        raise errors_view.scalar_has_no_dims("narrow")
    if length < 0:
        raise errors_view.narrow_negative(length)
    dim = normalize_dim(dim, len(shape))
    size = shape[dim]
    if not -size <= start <= size:
        raise errors_view.narrow_start(start, size)
    first = start + size if start < 0 else start
    if first + length > size:
        raise errors_view.narrow_length(start, length, size)
    return (*shape[:dim], length, *shape[dim + 1 :]), strides, offset + first * strides[dim]


def select(shape: Ints, strides: Ints, offset: int, dim: int, index: int) -> Layout:
    """Returns the layout of one entry of a dim, without that dim."""
    if not shape:
        raise errors_view.scalar_has_no_dims("select", kind=IndexError)
    dim = normalize_dim(dim, len(shape))
    size = shape[dim]
    if not -size <= index < size:
        raise errors_view.select_index(index, shape, dim)
    offset += (index + size if index < 0 else index) * strides[dim]
    return shape[:dim] + shape[dim + 1 :], strides[:dim] + strides[dim + 1 :], offset


def slice_dim(shape: Ints, strides: Ints, offset: int, dim: int, start: int, stop: int, step: int = 1) -> Layout:
    """Returns the layout of `start:stop:step` of a dim, with Python's slicing rules; `step` is
    positive."""
    size = shape[dim]
    start = min(max(start + size if start < 0 else start, 0), size)
    stop = min(max(stop + size if stop < 0 else stop, start), size)
    length = (stop - start + step - 1) // step
    offset += start * strides[dim]
    shape = (*shape[:dim], length, *shape[dim + 1 :])
    return shape, (*strides[:dim], strides[dim] * step, *strides[dim + 1 :]), offset


def flatten_shape(shape: Ints, start: int, end: int) -> Ints:
    """Returns the shape with dims `start` to `end` (included) joined into one."""
    ndim = len(shape)
    start, end = normalize_dim(start, ndim), normalize_dim(end, ndim)
    if start > end:
        raise errors_view.flatten_order(start, end)
    return (*shape[:start], numel(shape[start : end + 1]), *shape[end + 1 :])


def unflatten_shape(shape: Ints, dim: int, sizes: Ints) -> Ints:
    """Returns the shape with one dim split into `sizes`, one of which may be -1."""
    if not sizes:
        raise errors_view.unflatten_into_nothing()
    dim_in = normalize_dim(dim, len(shape))
    if not shape:
        raise errors_view.unflatten_scalar(sizes)
    return shape[:dim_in] + infer_shape(sizes, shape[dim_in]) + shape[dim_in + 1 :]


def diagonal(shape: Ints, strides: Ints, offset: int, diagonal: int, dim1: int, dim2: int) -> Layout:
    """Returns the layout with the entries of two dims whose indices differ by `diagonal` as a new
    last dim."""
    ndim = len(shape)
    first, second = normalize_dim(dim1, ndim), normalize_dim(dim2, ndim)
    if first == second:
        raise errors_view.diagonal_same_dims(dim1, dim2)
    if diagonal >= 0:
        length, start = min(shape[first], shape[second] - diagonal), diagonal * strides[second]
    else:
        length, start = min(shape[first] + diagonal, shape[second]), -diagonal * strides[first]
    if length <= 0:
        length, start = 0, 0  # an empty diagonal keeps the offset, inside the memory
    kept_dims = [d for d in range(ndim) if d not in (first, second)]
    shape_kept, strides_kept, _ = reorder(shape, strides, offset, kept_dims)
    step = strides[first] + strides[second]
    return (*shape_kept, length), (*strides_kept, step), offset + start


def unfold(shape: Ints, strides: Ints, offset: int, dim: int, size: int, step: int) -> Layout:
    """Returns the layout with windows of `size` entries of a dim, one every `step`, as a new last
    dim."""
    dim = normalize_dim(dim, len(shape))
    length = shape[dim] if shape else 1
    if not 0 <= size <= length:
        raise errors_view.unfold_window("size", size, f"from 0 to the dim's size {length}")
    if step <= 0:
        raise errors_view.unfold_window("step", step, "greater than 0")
    if not shape:
        return (size,), (1,), offset
    count = (length - size) // step + 1
    stride = strides[dim]
    return (
        (*shape[:dim], count, *shape[dim + 1 :], size),
        (*strides[:dim], stride * step, *strides[dim + 1 :], stride),
        offset,
    )


def as_strided(size: Ints, stride: Ints, offset: int, itemsize: int, nbytes: int) -> Layout:
    """Returns the given layout, checked against a storage of `nbytes`."""
    if len(size) != len(stride) or min((*size, *stride, offset), default=0) < 0:
        raise errors_view.as_strided_layout(size, stride, offset)
    if 0 not in size:
        last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
        if (last + 1) * itemsize > nbytes:
            need = (last + 1) * itemsize
            raise errors_view.as_strided_bounds(size, stride, offset, need, nbytes)
    return size, stride, offset


def atleast_1d(shape: Ints, strides: Ints, offset: int) -> Layout:
    return (shape, strides, offset) if shape else ((1,), (1,), offset)


def atleast_3d(shape: Ints, strides: Ints, offset: int) -> Layout:
    if len(shape) < 2:
        shape, strides, offset = atleast_2d(shape, strides, offset)
    return unsqueeze(shape, strides, offset, -1) if len(shape) < 3 else (shape, strides, offset)


def atleast_2d(shape: Ints, strides: Ints, offset: int) -> Layout:
    if not shape:
        return (1, 1), (1, 1), offset
    return unsqueeze(shape, strides, offset, 0) if len(shape) < 2 else (shape, strides, offset)


def as_real(shape: Ints, strides: Ints, offset: int) -> Layout:
    return (*shape, 2), (*[2 * s for s in strides], 1), 2 * offset


def as_complex(shape: Ints, strides: Ints, offset: int) -> Layout:
    """Returns the layout of pairs in the last dim as complex numbers."""
    layout_error = errors_view.complex_view_layout
    if not shape:
        raise layout_error("the number of dims", 0, "at least 1")
    if shape[-1] != 2:
        raise layout_error("the last size", shape[-1], "2")
    if strides[-1] != 1:
        raise layout_error("the last stride", strides[-1], "1")
    for d, (size, stride) in enumerate(zip(shape[:-1], strides[:-1], strict=True)):
        if stride % 2 and size != 1:
            raise layout_error(f"the stride of dim {d}", stride, "even")
    if offset % 2:
        raise layout_error("the storage offset", offset, "even")
    return shape[:-1], tuple([s // 2 for s in strides[:-1]]), offset // 2


Pieces = list[tuple[int, int]]  # (start, stop) of each piece, as a slice would read them


def pieces_of_sizes(sizes: Iterable[int]) -> Pieces:
    """Returns the (start, stop) of adjacent pieces of these sizes."""
    pieces, start = [], 0
    for size in sizes:
        pieces.append((start, start + size))
        start += size
    return pieces


def equal_pieces(length: int, size: int) -> Pieces:
    """Returns pieces of `size`; the last one is shorter. An empty dim gives one empty piece."""
    if size < 0 or (size == 0 and length):
        raise errors_view.split_size(size, length)
    if not length:
        return [(0, 0)]
    return [(start, min(start + size, length)) for start in range(0, length, size)]


def sized_pieces(length: int, sizes: Ints) -> Pieces:
    """Returns pieces of the given sizes. Raises RuntimeError unless they add up to the dim."""
    if sum(sizes) != length or min(sizes, default=0) < 0:
        raise errors_view.split_sizes(sizes, length)
    return pieces_of_sizes(sizes)


def chunks(length: int, count: int) -> Pieces:
    """Returns at most `count` pieces, all but the last of one size."""
    if count <= 0:
        raise errors_view.piece_count("chunk", count)
    if not length:
        return [(0, 0)] * count
    return equal_pieces(length, -(-length // count))


def sections(length: int, count: int) -> Pieces:
    """Returns exactly `count` pieces whose sizes differ by at most 1, the larger ones first."""
    if count <= 0:
        raise errors_view.piece_count("tensor_split", count)
    size, larger = divmod(length, count)
    return pieces_of_sizes([size + 1] * larger + [size] * (count - larger))


def pieces_between(length: int, indices: Ints) -> Pieces:
    return list(zip((0, *indices), (*indices, length), strict=True))


def layout(tensor: Tensor, function: str, argument: str = "input") -> Layout:
    """Returns (shape, strides, offset) of a tensor. Raises TypeError for anything else."""
    try:
        return tensor._shape, tensor._strides, tensor._offset
    except AttributeError:
        raise errors.not_a_tensor(function, argument, tensor) from None


def as_int(value: Any, function: str, argument: str) -> int:
    """Returns an int, from an int or an object with `__index__` (NumPy's ints, 0-d integer
    tensors); bool is refused."""
    if type(value) is not int:
        if isinstance(value, bool):
            raise errors_view.not_an_int(function, argument, value)
        try:
            value = operator.index(value)
        except TypeError:
            raise errors_view.not_an_int(function, argument, value) from None
    if not -(2**63) <= value < 2**63:
        raise errors_view.int_too_large(function, argument, value)
    return int(value)


def int_list(values: Any, function: str, argument: str) -> Ints:
    """Returns a tuple or list of ints as a tuple."""
    if not isinstance(values, (tuple, list)):
        raise errors_view.not_ints(function, argument, values)
    try:
        return tuple([as_int(value, function, argument) for value in values])
    except ValueError:  # torch raises TypeError for ints that are too large
        raise errors_view.not_ints(function, argument, values) from None


def ints(first: Any, more: tuple[Any, ...], function: str, argument: str) -> Ints:
    if not more and isinstance(first, (tuple, list)):
        return int_list(first, function, argument)
    return int_list((first, *more), function, argument)


def ints_by_name(function: str, argument: str, given: tuple[Any, ...], named: dict[str, Any]) -> Ints:
    """Returns ints that are given one by one, as one tuple or list, or by name. Raises TypeError if
    they are missing, and for other names."""
    values = named.pop(argument, None)
    if named or (values is None and not given):
        raise errors.missing_argument(function, argument)
    if values is None:
        values = given[0] if len(given) == 1 else given
    return ints(values, (), function, argument)


def with_layout(input: Tensor, geometry: Layout) -> Tensor:
    """Returns a view of the tensor's storage with another layout.

    It is a function so that `geometry`, which refuses an argument that is no tensor, is evaluated
    before any attribute of `input`.
    """
    return input._view(*geometry)


def in_place(view: Callable[..., Tensor], parameters: str, arguments: str, **entry: Any) -> None:
    """Registers the in-place form of a view op: it sets the layout of the tensor itself. `parameters`
    follow the input, as in a definition; `arguments` are their names."""
    name = view.__name__
    body, doc = f"return input._become(view(input{arguments}))", f"`{name}` in place."
    op(**entry)(written(f"{name}_", f"input: Tensor{parameters}", body, doc, __name__=__name__, view=view))


LARGEST = 2**63 - 1


def basic_index(shape: Ints, strides: Ints, offset: int, items: Sequence[Any]) -> Layout:
    """Returns the layout of `tensor[items]`; sizes, strides and offset in elements.

    Anything with `__index__` counts as an int. Callers handle bool and index tensors with dims.
    Raises IndexError for indices out of bounds and too many indices, ValueError for a step that is
    not positive.
    """
    ndim = len(shape)
    dims_used = sum(1 for item in items if item is not None and item is not Ellipsis)
    if dims_used > ndim:
        raise errors_view.too_many_indices(dims_used, ndim)
    sizes: list[int] = []
    steps: list[int] = []
    item_dim = 0  # the dim that the next item indexes
    for item in items:
        if item is Ellipsis:
            # torch lets a second ... count its dims again; only a later item without a dim is an
            # error
            skip = item_dim + ndim - dims_used
            sizes += shape[item_dim:skip]
            steps += strides[item_dim:skip]
            item_dim = skip
            continue
        if isinstance(item, slice) and item.start is item.stop is item.step is None:
            sizes += shape[item_dim : item_dim + 1]
            steps += strides[item_dim : item_dim + 1]
            item_dim += 1
            continue
        if item_dim > ndim or (item_dim == ndim and item is not None):
            raise errors_view.index_after_ellipsis(ndim)
        if item is None:
            sizes.append(1)
            steps.append(shape[item_dim] * strides[item_dim] if item_dim < ndim else 1)
        elif isinstance(item, slice):
            start, stop, step = slice_bounds(item)
            size, stride, offset = slice_dim(
                shape[item_dim : item_dim + 1], strides[item_dim : item_dim + 1], offset, 0, start, stop, step
            )
            if stride[0] > LARGEST:
                raise errors_view.size_overflow(stride)
            sizes += size
            steps += stride
            item_dim += 1
        else:
            index, size_at = as_index(item), shape[item_dim]
            if not -size_at <= index < size_at:
                raise errors_view.index_out_of_bounds(index, item_dim, size_at)
            offset += (index + size_at if index < 0 else index) * strides[item_dim]
            item_dim += 1
    return (*sizes, *shape[item_dim:]), (*steps, *strides[item_dim:]), offset


def slice_bounds(item: slice) -> tuple[int, int, int]:
    """Returns start, stop and step of a slice as ints, before they are clamped to a size."""
    step = 1 if item.step is None else _bound(item.step)
    if step <= 0:
        raise errors_view.slice_step(step)
    start = 0 if item.start is None else _bound(item.start)
    stop = LARGEST if item.stop is None else _bound(item.stop)
    return start, stop, step


def _bound(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise errors_view.slice_bound(value) from None


def as_index(item: Any) -> int:
    """Returns an item as an int, from anything with `__index__`."""
    if type(item) is int:
        return item
    try:
        return operator.index(item)
    except TypeError:
        raise errors_view.not_an_index(item) from None
