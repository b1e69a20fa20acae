"""`t[...]` and `t[...] = value`; index_put."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import bool as bool_
from ...dtypes import uint64
from ...errors import view as errors_view
from ...errors.view import BackwardsError
from ...execute import output
from ...execute.indexed import (
    ADD_AT,
    Index,
    IndexedOperand,
    cache_gather,
    cached_gather,
    get_index_check,
    host_tensor,
    known_bounds,
    locate,
    record_bounds,
)
from ...execute.output import check_overlap
from ...execute.pointwise import pointwise
from ...execute.scalars import values_of
from ...execute.scan import positions
from ...interop.host import operand_tensor
from ...iterator.plan import like_strides, output_strides
from ...iterator.shape import Ints, broadcast_shapes, broadcast_strides, contiguous_strides, numel, view_strides
from ...rows.catalogue import enter, op
from ...rows.copies import COPY
from ...rows.op import Op
from ..create.data import items
from ..types import conversion
from ..view.layout import as_int, basic_index

_INTS = (dtypes.int64, dtypes.int32)
_ITEMS = (*_INTS, dtypes.int16, dtypes.int8)  # dtypes of a 0-d tensor that counts as an int
# A longer sequence is never read as a tuple of indices.
_LONGEST_TUPLE = 32

# One coordinate of a linear position.
COORDINATE = Op("coordinate", "position", "a / step % size", params=("step", "size"), only=("int64",))
enter(__name__, COORDINATE)


@dataclass(frozen=True)
class Selection:
    """A parsed index: a view, index tensors by the view's dim, and whether these are known to be in
    range."""

    view: Tensor
    indices: dict[int, Tensor]
    bounds_checked: bool = True


def select(t: Tensor, index: Any) -> Selection:
    """Splits an index into the part that is a view and the part that needs index tensors."""
    items = _items(index)
    if not all(_is_plain(item) for item in items):
        items = tuple([_prepared(item, t) for item in items])
    view_index: list[Any] = []  # the index of the view
    tensors: dict[int, Tensor] = {}  # position in `view_index` -> index tensor
    checked = True
    dims_used = sum(map(_dims_taken, items))
    if dims_used > t.ndim:
        if not t.ndim and len(items) == 1 and _is_plain(items[0]):
            raise errors_view.index_of_scalar()
        raise errors_view.too_many_indices(dims_used, t.ndim)
    item_dim = 0  # the dim of t that the next item indexes
    for item in items:
        if item is Ellipsis:
            view_index.append(item)
            item_dim += t.ndim - dims_used
        elif not isinstance(item, Tensor):
            view_index.append(item)
            item_dim += 0 if item is None else 1
        elif item._dtype is dtypes.bool:
            _check_mask(item, t._shape, item_dim)
            # A 0-d mask adds a dim of size 1, which it selects from.
            mask_dim = slice(None) if item._shape else None
            for positions in nonzero_tuple(item if item._shape else item.reshape(1)):
                tensors[len(view_index)] = positions
                view_index.append(mask_dim)
            item_dim += item.ndim
        else:
            checked = False
            tensors[len(view_index)] = item
            view_index.append(slice(None))
            item_dim += 1
    view = t._view(*basic_index(t._shape, t._strides, t._offset, view_index))
    indices = {}
    dim = item_dim = 0  # dims of the view and of t
    for k, item in enumerate(view_index):
        if k in tensors:
            indices[dim] = tensors[k]
        dim_count = 0 if item is None else 1
        if item is Ellipsis:
            dim_count = min(t.ndim - dims_used, t.ndim - item_dim)
            dim += dim_count
        item_dim += dim_count
        dim += item is None or isinstance(item, slice)
    return Selection(view, indices, checked)


def without_negative_steps(t: Tensor, index: Any) -> tuple[list[int], tuple[Any, ...]]:
    """Returns (the dims that slices of negative step reverse, an equivalent index with positive
    steps for the tensor flipped in those dims)."""
    items = tuple([_prepared(item, t) for item in _items(index)])
    dims_used = sum(map(_dims_taken, items))
    reversed_dims: list[int] = []
    forward: list[Any] = []
    dim = 0  # the dim of t that the next item indexes
    for item in items:
        if isinstance(item, slice) and item.step is not None and item.step < 0:
            reversed_dims.append(dim)
            last = t._shape[dim] - 1
            start, stop, step = item.indices(last + 1)
            item = slice(last - start, last - stop, -step)
        forward.append(item)
        dim += t.ndim - dims_used if item is Ellipsis else _dims_taken(item)
    return reversed_dims, tuple(forward)


def _items(index: Any) -> tuple[Any, ...]:
    """Returns an index as a tuple. A short list of indices counts as a tuple, as in torch."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < _LONGEST_TUPLE:
        kinds = (Tensor, slice, list, tuple, np.ndarray)
        if any(item is None or item is Ellipsis or isinstance(item, kinds) for item in index):
            warnings.warn(errors_view.list_as_tuple(), stacklevel=4)
            return tuple(index)
    return (index,)


def _is_plain(item: Any) -> bool:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return True
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def _prepared(item: Any, t: Tensor) -> Any:
    """Returns an item of an index as an int, a slice, None, Ellipsis, or a bool, int32 or int64
    tensor."""
    if _is_plain(item):
        return item
    if not isinstance(item, Tensor):
        item = _index_tensor(item, t)
    if item._dtype in _ITEMS and not item._shape:
        return item.item()
    if item._dtype is dtypes.uint8:
        if item._shape:
            warnings.warn(errors_view.uint8_mask(), stacklevel=3)
        item = item.to(dtypes.bool)
    if item._dtype is not dtypes.bool and item._dtype not in _INTS:
        raise errors_view.index_dtype(item._dtype)
    return item.to(t._storage.device)


def _index_tensor(item: Any, t: Tensor) -> Tensor:
    """Converts a bool, a sequence or an array to an index tensor; non-integer numbers are
    truncated, as in torch."""
    if isinstance(item, (str, bytes)):
        raise errors_view.bad_index_type(item)
    if not isinstance(item, (bool, np.ndarray)) and not (
        hasattr(item, "__len__") and hasattr(item, "__getitem__") and not isinstance(item, dict)
    ):
        try:
            item = operator.index(item)
        except Exception as error:  # an __index__ of a user's class may raise anything
            raise errors_view.bad_index(item) from error
    elif not isinstance(item, (bool, np.ndarray)):
        item = items(item)
    array = np.asarray(item)
    if array.dtype.kind not in "biuf":
        raise errors_view.bad_index_type(item)
    if array.dtype.kind != "b" and array.dtype != np.uint8:
        array = array.astype(np.int64)
    return host_tensor(array, t)


def _dims_taken(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, Tensor) and item._dtype is dtypes.bool else 1


def _check_mask(mask: Tensor, shape: Ints, first_dim: int) -> None:
    """Raises IndexError unless each dim of the mask has the indexed dim's size, or 0 as NumPy allows."""
    for k, n in enumerate(mask._shape):
        if n and first_dim + k < len(shape) and shape[first_dim + k] != n:
            raise errors_view.mask_shape(mask._shape, k, shape, first_dim + k)


def nonzero_tuple(mask: Tensor) -> tuple[Tensor, ...]:
    """Returns the coordinates of a bool tensor's true elements, one int64 tensor for each dim."""
    linear = positions(mask)
    if mask.ndim == 1:
        return (linear,)
    steps = contiguous_strides(mask._shape)
    return tuple(
        [
            record_bounds(pointwise(COORDINATE, (linear,), (step, max(size, 1))), 0, size - 1)
            for step, size in zip(steps, mask._shape)
        ]
    )


def broadcast_selection(selection: Selection) -> tuple[Ints, list[Index], Ints]:
    """Returns (result shape, indices over it, the view's strides over it) of a selection with
    tensors.

    The common shape of the indices replaces the dims they index if these are adjacent; otherwise it
    comes first.
    """
    view, indices = selection.view, selection.indices
    dims = sorted(indices)
    shapes = [indices[d]._shape for d in dims]
    try:
        index_shape = broadcast_shapes(*shapes)
    except RuntimeError:
        raise errors_view.indices_do_not_broadcast(shapes) from None
    first = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    kept_dims = [d for d in range(view.ndim) if d not in indices]
    dims_before, dims_after = kept_dims[:first], kept_dims[first:]

    def with_kept(sizes: Sequence[int], middle: Ints) -> Ints:
        return (*[sizes[d] for d in dims_before], *middle, *[sizes[d] for d in dims_after])

    sizes = with_kept(view._shape, index_shape)
    result_shape = with_kept((1,) * view.ndim, index_shape)

    def over_result(index_strides: Ints) -> Ints:
        steps = view_strides(index_shape, index_strides, result_shape)
        assert steps is not None, (index_shape, index_strides, result_shape)
        return broadcast_strides(result_shape, steps, sizes)

    entries = []
    for d in dims:
        index_strides = broadcast_strides(indices[d]._shape, indices[d]._strides, index_shape)
        # torch converts an int32 index to int64 after it broadcasts it, which gives it a memory order.
        copied = like_strides(index_shape, index_strides) if indices[d]._dtype is dtypes.int32 else index_strides
        entries.append(
            Index(
                indices[d],
                over_result(index_strides),
                view._shape[d],
                view._strides[d],
                d,
                checked=selection.bounds_checked,
                layout=over_result(copied),
            )
        )
    if numel(index_shape):
        for i in entries:
            if not i.size:
                raise errors_view.out_of_bounds(0, i.dim, 0)
    return sizes, entries, with_kept(view._strides, (0,) * len(index_shape))


Number = (bool, int, float, complex)


@op(name="__getitem__", function=False)
def getitem(input: Tensor, index: Any) -> Tensor:
    """Returns a view for ints, slices, None and Ellipsis. Returns a copy for masks, integer
    tensors, lists, arrays, and slices with a negative step. Raises IndexError for an index out of
    range or of a wrong shape."""
    if type(index) is int and input._shape:  # the common case, without sorting
        return input._view(*basic_index(input._shape, input._strides, input._offset, (index,)))
    if type(index) is Tensor and (result := cached_gather("getitem", input, index)) is not None:
        return _copy_bounds(input, result)
    try:
        selection = select(input, index)
    except BackwardsError:
        dims, index = without_negative_steps(input, index)
        input = input.flip(dims)
        selection = select(input, index)
    return read(selection, input, index) if selection.indices else selection.view


def read(selection: Selection, input: Tensor, index: Any) -> Tensor:
    """Returns the elements that a selection with index tensors refers to."""
    sizes, indices, strides = broadcast_selection(selection)
    view = selection.view
    result_strides = output_strides(sizes, [strides, *[i.layout for i in indices]], False)
    result = output.new(sizes, view._dtype, view._storage.device, result_strides)
    located = IndexedOperand(view, strides, True)
    locate(COPY, sizes, IndexedOperand(result, result_strides), [located], indices)
    if len(indices) == 1 and indices[0].tensor is index:
        cache_gather("getitem", input, index, result, located, indices)
    return _copy_bounds(view, result)


def _copy_bounds(source: Tensor, result: Tensor) -> Tensor:
    bounds = known_bounds(source._storage)
    if bounds is not None and bounds[0] is result._dtype and get_index_check() == "now":
        result._storage.bounds = bounds  # every element was in range
    return result


def write(selection: Selection, value: Tensor, accumulate: bool = False) -> None:
    """Writes (or adds) values, broadcast, to the elements of a selection."""
    view = selection.view
    if value._dtype is not view._dtype:
        raise errors_view.put_dtypes(view._dtype, value._dtype)
    sizes, indices, strides = broadcast_selection(selection)
    if value._storage is view._storage:
        value = value.clone()
    out = IndexedOperand(view, strides, True)
    source = IndexedOperand(value, _value_strides(value, sizes))
    if accumulate:
        locate(ADD_AT, sizes, out, [source, out], indices, ordered=True)
    else:
        locate(COPY, sizes, out, [source], indices, ordered=True)


def _value_strides(value: Tensor, sizes: Ints) -> Ints:
    try:
        if broadcast_shapes(value._shape, sizes) == sizes:
            return broadcast_strides(value._shape, value._strides, sizes)
    except RuntimeError:
        pass
    raise errors_view.value_shape(value._shape, sizes)


def _without_leading_ones(value: Tensor, ndim: int) -> Tensor:
    while value.ndim > ndim and value._shape[0] == 1:
        value = value._view(value._shape[1:], value._strides[1:], value._offset)
    return value


@op(name="__setitem__", function=False)
def setitem(input: Tensor, index: Any, value: Any) -> None:
    """Writes a number, or a tensor or NumPy array broadcast to the selected shape."""
    if index is False:
        return  # nothing is selected; torch ignores the value then
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, np.ndarray):
        value = operand_tensor(value, input)
    if not isinstance(value, (Tensor, *Number)):
        raise errors_view.assigned_type(value)
    if isinstance(value, int) and not isinstance(value, bool):
        unsigned = input._dtype is uint64 and 1 << 63 <= value < 1 << 64
        value = value if unsigned else as_int(value, "__setitem__", "value")
    is_half = input._dtype.kind == "f" and input._dtype.itemsize == 2
    if is_half and isinstance(value, (int, float)):  # a value beyond the range becomes infinite
        (value,) = values_of(value, input._dtype)
    if isinstance(index, Tensor) and index._dtype is bool_ and index._shape == input._shape:
        if input._shape and not isinstance(value, Tensor):
            input.masked_fill_(index, value)  # doesn't wait for the mask's count
            return
    try:
        selection = select(input, index)
    except BackwardsError:
        dims, index = without_negative_steps(input, index)
        flipped = input.flip(dims)
        setitem(flipped, index, value)
        input.copy_(flipped.flip(dims))
        return
    if not isinstance(value, Tensor):
        if not selection.indices:
            check_overlap("__setitem__", selection.view, ())
            selection.view.fill_(value)
            return
        number = output.new((), input._dtype, input._storage.device)
        value = number.fill_(value)
    if value._storage.device is not input._storage.device:
        if value._shape:
            raise errors.different_devices("__setitem__", (input.device, value.device))
        value = value.to(input.device)
    if selection.indices:
        write(selection, _without_leading_ones(value, 0))
    else:
        spread_out = not value._shape or value.numel() == 1 < selection.view.numel()
        if spread_out and value._storage is input._storage:
            value = conversion.clone(value)  # the value may overlap the elements to write
        if value._shape != selection.view._shape:
            value = _without_leading_ones(value, 0)
        conversion.copy_(selection.view, value)


@op()
def index_put_(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """Implements `input[indices] = values`. With `accumulate`, values for the same element are
    summed."""
    if not isinstance(indices, (tuple, list)) or not all(isinstance(i, Tensor) for i in indices):
        raise errors_view.put_indices(indices)
    if not isinstance(values, Tensor):
        raise errors.not_a_tensor_or_number("index_put_", values)
    return put(input, indices, values, accumulate)


def put(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool) -> Tensor:
    """Implements `index_put_` without checks, for tensors and full slices."""
    # index_put treats a 0-d index as a tensor, not as an int: the position of its dim is the same.
    indices = [i.reshape(1) if isinstance(i, Tensor) and not i._shape else i for i in indices]
    selection = select(input, tuple(indices))
    if selection.indices:
        write(selection, values, accumulate)
    elif accumulate:
        selection.view.add_(values)
    else:
        conversion.copy_(selection.view, values)
    return input


@op()
def index_put(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """Returns a copy of the input after `index_put_`."""
    return index_put_(conversion.clone(input), indices, values, accumulate)
