"""What an index selects: a view, and index tensors for some of the view's dims."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import dtypes
from ..._tensor import Tensor
from ...errors import index as errors_index
from ...errors import view as errors_view
from ...execute.index_check import know_bounds
from ...execute.indexed import Index, host_tensor
from ...execute.pointwise import pointwise
from ...execute.positions import positions
from ...iterator.shape import Ints, broadcast_shapes, numel
from ...iterator.stride import broadcast_strides, contiguous_strides, view_strides
from ...rows.catalogue import enter
from ...rows.op import Op
from ..create.nested import items
from ..view.basic_index import basic_index

_INTS = (dtypes.int64, dtypes.int32)
_ITEMS = (*_INTS, dtypes.int16, dtypes.int8)  # what a 0-d tensor may hold to stand for an int
# Longer sequences are never taken for the tuple that somebody forgot to make of them.
_LONGEST_TUPLE = 32

# One coordinate of linear positions.
COORDINATE = Op(
    "coordinate", "coordinate(position) -> Tensor", "a / step % size", params=("step", "size"), only=("int64",)
)
enter(__name__, COORDINATE)


@dataclass(frozen=True)
class Selection:
    """A view, index tensors by the view's dim, and whether these are known to be in range."""

    view: Tensor
    indices: dict[int, Tensor]
    checked: bool = True


def select(t: Tensor, index: Any) -> Selection:
    """Sort an index into the part that is a view and the part that needs index tensors."""
    items = _items(index)
    if not all(_is_plain(item) for item in items):
        items = tuple([_prepared(item, t) for item in items])
    plain: list[Any] = []  # the index of the view
    tensors: dict[int, Tensor] = {}  # position in `plain` -> index tensor
    checked = True
    used = sum(map(_dims_taken, items))
    if used > t.ndim:
        if not t.ndim and len(items) == 1 and _is_plain(items[0]):
            raise errors_index.index_of_scalar()
        raise errors_view.too_many_indices(used, t.ndim)
    at = 0  # the dim of t that the next item is about
    for item in items:
        if item is Ellipsis:
            plain.append(item)
            at += t.ndim - used
        elif not isinstance(item, Tensor):
            plain.append(item)
            at += 0 if item is None else 1
        elif item._dtype is dtypes.bool:
            _check_mask(item, t._shape, at)
            # A 0-d mask is one of size 1 for a new dim.
            new = slice(None) if item._shape else None
            for one in nonzero_tuple(item if item._shape else item.reshape(1)):
                tensors[len(plain)] = one
                plain.append(new)
            at += item.ndim
        else:
            checked = False
            tensors[len(plain)] = item
            plain.append(slice(None))
            at += 1
    view = t._view(*basic_index(t._shape, t._strides, t._offset, plain))
    indices = {}
    dim = at = 0  # of the view, and of t
    for k, item in enumerate(plain):
        if k in tensors:
            indices[dim] = tensors[k]
        taken = 0 if item is None else 1
        if item is Ellipsis:
            taken = min(t.ndim - used, t.ndim - at)
            dim += taken
        at += taken
        dim += item is None or isinstance(item, slice)
    return Selection(view, indices, checked)


def forwards(t: Tensor, index: Any) -> tuple[list[int], tuple[Any, ...]]:
    """The dims that an index with slices of negative steps goes backwards along, and the index
    that selects the same of the tensor flipped there."""
    items = tuple([_prepared(item, t) for item in _items(index)])
    used = sum(map(_dims_taken, items))
    turned: list[int] = []
    forward: list[Any] = []
    at = 0  # the dim of t that the next item is about
    for item in items:
        if isinstance(item, slice) and item.step is not None and item.step < 0:
            turned.append(at)
            last = t._shape[at] - 1
            start, stop, step = item.indices(last + 1)
            item = slice(last - start, last - stop, -step)
        forward.append(item)
        at += t.ndim - used if item is Ellipsis else _dims_taken(item)
    return turned, tuple(forward)


def _items(index: Any) -> tuple[Any, ...]:
    """An index as a tuple; torch still takes a short list of indices for one."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < _LONGEST_TUPLE:
        kinds = (Tensor, slice, list, tuple, np.ndarray)
        if any(item is None or item is Ellipsis or isinstance(item, kinds) for item in index):
            errors_index.warn_list_as_tuple()
            return tuple(index)
    return (index,)


def _is_plain(item: Any) -> bool:
    """Whether an item selects a view."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return True
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def _prepared(item: Any, t: Tensor) -> Any:
    """An item of an index as a plain one, a bool tensor or an int32 or int64 one."""
    if _is_plain(item):
        return item
    if not isinstance(item, Tensor):
        item = _index_tensor(item, t)
    if item._dtype in _ITEMS and not item._shape:
        return item.item()
    if item._dtype is dtypes.uint8:
        if item._shape:
            errors_index.warn_uint8_mask()
        item = item.to(dtypes.bool)
    if item._dtype is not dtypes.bool and item._dtype not in _INTS:
        raise errors_index.index_dtype(item._dtype)
    return item.to(t._storage.device)


def _index_tensor(item: Any, t: Tensor) -> Tensor:
    """A bool, a sequence or an array as a tensor; numbers that are no ints are cut, as in torch."""
    if isinstance(item, (str, bytes)):
        raise errors_index.bad_index_type(item)
    if not isinstance(item, (bool, np.ndarray)) and not (
        hasattr(item, "__len__") and hasattr(item, "__getitem__") and not isinstance(item, dict)
    ):
        try:
            item = operator.index(item)
        except Exception as error:  # its own __index__ may raise anything: it is no index then
            raise errors_index.bad_index(item) from error
    elif not isinstance(item, (bool, np.ndarray)):
        item = items(item)
    array = np.asarray(item)
    if array.dtype.kind not in "biuf":
        raise errors_index.bad_index_type(item)
    if array.dtype.kind != "b" and array.dtype != np.uint8:
        array = array.astype(np.int64)
    return host_tensor(array, t)


def _dims_taken(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, Tensor) and item._dtype is dtypes.bool else 1


def _check_mask(mask: Tensor, shape: Ints, at: int) -> None:
    for k, n in enumerate(mask._shape):
        if at + k < len(shape) and shape[at + k] != n:
            raise errors_index.mask_shape(mask._shape, k, shape, at + k)


def nonzero_tuple(mask: Tensor) -> tuple[Tensor, ...]:
    """The coordinates of a bool tensor's true elements, one int64 tensor for each dim."""
    linear = positions(mask)
    if mask.ndim == 1:
        return (linear,)
    steps = contiguous_strides(mask._shape)
    return tuple(
        [
            know_bounds(pointwise(COORDINATE, (linear,), (step, max(size, 1))), 0, size - 1)
            for step, size in zip(steps, mask._shape)
        ]
    )


def spread(selection: Selection) -> tuple[Ints, list[Index], Ints]:
    """(result shape, indices over it, the view's strides over it) of a selection with tensors.

    The indices' common shape stands in the place of the dims they index when these are
    neighbours, else in front.
    """
    view, indices = selection.view, selection.indices
    dims = sorted(indices)
    shapes = [indices[d]._shape for d in dims]
    try:
        common = broadcast_shapes(*shapes)
    except RuntimeError:
        raise errors_index.indices_do_not_broadcast(shapes) from None
    first = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    kept = [d for d in range(view.ndim) if d not in indices]
    before, after = kept[:first], kept[first:]

    def around(sizes: Sequence[int], middle: Ints) -> Ints:
        return (*[sizes[d] for d in before], *middle, *[sizes[d] for d in after])

    sizes = around(view._shape, common)
    # The indices as torch shapes them, whose strides decide how a result lies in memory.
    lifted = around((1,) * view.ndim, common)
    entries = []
    for d in dims:
        over = broadcast_strides(indices[d]._shape, indices[d]._strides, common)
        steps = view_strides(common, over, lifted)
        assert steps is not None, (common, over, lifted)
        over = broadcast_strides(lifted, steps, sizes)
        where = (view._shape[d], view._strides[d], d)
        entries.append(Index(indices[d], over, *where, checked=selection.checked))
    if numel(common):
        for i in entries:
            if not i.size:
                raise errors_index.out_of_bounds(0, i.dim, 0)
    return sizes, entries, around(view._strides, (0,) * len(common))
