"""Indexing: `t[...]` and `t[...] = value` with ints, slices, None, Ellipsis, masks and tensors."""

from __future__ import annotations


from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes, errors, errors_index
from ..iterator.shape import Ints, broadcast_shapes, numel
from ..iterator.stride import broadcast_strides, contiguous_strides
from ..tensor import Tensor
from . import memory
from .basic_index import basic_index
from .call import pointwise
from .catalogue import op
from .locate import Index, Operand, contiguous_like, locate, positions
from .memory import COPY
from .op import Op

_INTS = (dtypes.int64, dtypes.int32, dtypes.int16, dtypes.int8)
_MASKS = (dtypes.bool, dtypes.uint8)

ADD_AT = Op("add_at", "add_at(values, self) -> Tensor", "b + a", bool_="a | b",
            complex_="ft_cadd(b, a)")  # fmt: skip
FILL_WHERE = Op(
    "masked_fill", "masked_fill(input, mask, value) -> Tensor", "b ? value : a",
    complex_="ft_cwhere(b, value, a)", sees="VM", params=("value",), any_out=True,
)  # fmt: skip
MERGE = Op("merge", "merge(input, mask, value) -> Tensor", "b ? c : a",
           complex_="ft_cwhere(b, c, a)", sees="VMV", any_out=True)  # fmt: skip
# One coordinate of linear positions; params are numbers that fit any position.
COORDINATE = Op(
    "coordinate", "coordinate(position) -> Tensor", "a / step % size", params=("step", "size")
)


class Selection:
    """What an index selects: a view, and index tensors for some of the view's dims."""

    __slots__ = ("view", "indices", "checked")

    def __init__(self, view: Tensor, indices: dict[int, Tensor], checked: bool) -> None:
        self.view, self.indices, self.checked = view, indices, checked


def _as_index(item: Any, like: Tensor) -> Tensor:
    """A sequence or array used as an index, as a tensor on the indexed tensor's device."""
    from .creation import as_tensor

    made = as_tensor(item, device=like.device)
    if not made.numel() and made._dtype.is_floating_point:
        made = made.to(dtypes.int64)  # an empty list
    return made


def _is_plain(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice) or (
        isinstance(item, (int, np.integer)) and not isinstance(item, (bool, np.bool_))
    )


def select(t: Tensor, items: Any) -> Selection:
    """Sort an index into the part that is a view and the part that needs index tensors."""
    if not isinstance(items, tuple):
        items = (items,)
    if all(_is_plain(item) for item in items):
        return Selection(t._view(*basic_index(t._shape, t._strides, t._offset, items)), {}, True)
    plain: list[Any] = []
    found: dict[int, Tensor] = {}  # position in `plain` -> index
    checked = True
    prepared: list[Any] = []
    for item in items:
        if not _is_plain(item) and not isinstance(item, (Tensor, bool, np.bool_)):
            if isinstance(item, (str, bytes)) or not hasattr(item, "__len__"):
                if not hasattr(item, "__index__"):
                    raise errors_index.bad_index(item)
            else:
                item = _as_index(item, t)
        if isinstance(item, Tensor) and not item._shape and item._dtype in _INTS:
            item = item.item()
        prepared.append(item)
    used = sum(_dims_taken(item) for item in prepared)
    at = 0  # the dim of t that the next item is about
    for item in prepared:
        if item is Ellipsis:
            fill = max(0, t.ndim - used)
            plain += [slice(None)] * fill
            at += fill
            used = t.ndim  # a further ... stands for nothing
            continue
        if isinstance(item, (bool, np.bool_)):
            item = _as_index([0] if item else [], t)
            plain.append(None)
            found[len(plain) - 1] = item
            continue
        if isinstance(item, Tensor):
            if item._dtype in _MASKS:
                if item._dtype is dtypes.uint8:
                    errors_index.warn_uint8_mask()
                    item = item.to(dtypes.bool)
                _check_mask(item, t._shape, at, len(plain))
                if not item._shape:
                    plain.append(None)
                    found[len(plain) - 1] = nonzero_tuple(item.reshape(1))[0]
                    continue
                for index in nonzero_tuple(item.to(t.device)):
                    plain.append(slice(None))
                    found[len(plain) - 1] = index
                at += item.ndim
                continue
            if item._dtype not in _INTS:
                raise errors_index.index_dtype(item._dtype)
            checked = False
            plain.append(slice(None))
            found[len(plain) - 1] = item.to(t.device)
            at += 1
            continue
        plain.append(item)
        at += 0 if item is None else 1
    view = t._view(*basic_index(t._shape, t._strides, t._offset, plain))
    indices = {}
    dim = 0
    for k, item in enumerate(plain):
        if k in found:
            indices[dim] = found[k]
        dim += 0 if not (item is None or isinstance(item, slice)) else 1
    return Selection(view, indices, checked)


def _dims_taken(item: Any) -> int:
    if item is None or item is Ellipsis or isinstance(item, (bool, np.bool_)):
        return 0
    if isinstance(item, Tensor) and item._dtype in _MASKS:
        return item.ndim
    return 1


def _check_mask(mask: Tensor, shape: Ints, at: int, position: int) -> None:
    covered = shape[at : at + mask.ndim]
    for k, n in enumerate(mask._shape):
        if k >= len(covered) or covered[k] != n:
            raise errors_index.mask_shape(mask._shape, k, shape, at + k)


def _layout(selection: Selection) -> tuple[Ints, list[Index], Ints]:
    """(result shape, indices over it, the view's strides over it) of a selection with tensors."""
    view, indices = selection.view, selection.indices
    dims = sorted(indices)
    shapes = [indices[d]._shape for d in dims]
    try:
        common = broadcast_shapes(*shapes)
    except RuntimeError:
        raise errors_index.indices_do_not_broadcast(shapes) from None
    first = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    kept = [d for d in range(view.ndim) if d not in indices]
    before = [d for d in kept if d < first]
    after = [d for d in kept if d >= first] if first or dims[0] == 0 else kept
    if dims != list(range(dims[0], dims[-1] + 1)):
        before, after = [], kept
    sizes = tuple(view._shape[d] for d in before) + common + tuple(view._shape[d] for d in after)
    strides = (
        tuple(view._strides[d] for d in before) + (0,) * len(common)
        + tuple(view._strides[d] for d in after)
    )  # fmt: skip
    made = []
    for d in dims:
        index = indices[d]
        over = broadcast_strides(index._shape, index._strides, common)
        over = (0,) * len(before) + over + (0,) * len(after)
        made.append(Index(index, over, view._shape[d], view._strides[d], d, selection.checked))
    if numel(common):
        for i in made:
            if i.size == 0:
                raise errors_index.out_of_bounds(0, i.dim, 0)
    return sizes, made, strides


@op(name="__getitem__", function=False)
def getitem(input: Tensor, index: Any) -> Tensor:
    """input[index] -> Tensor

    A view for ints, slices, None and Ellipsis; a copy with masks and integer tensors, lists and
    arrays. IndexError for what is out of range or does not fit.
    """
    if type(index) is int:  # the common case, without sorting
        return input._view(*basic_index(input._shape, input._strides, input._offset, (index,)))
    selection = select(input, index)
    if not selection.indices:
        return selection.view
    return read(selection)


def read(selection: Selection) -> Tensor:
    """The elements that a selection with index tensors leads to."""
    sizes, indices, strides = _layout(selection)
    view = selection.view
    out = contiguous_like(sizes, view._dtype, view)
    locate(COPY, sizes, out, [Operand(view, strides, True)], indices)
    return out.tensor


def write(selection: Selection, value: Tensor, accumulate: bool = False) -> None:
    """Write (or add) values, broadcast, to the elements that a selection leads to."""
    sizes, indices, strides = _layout(selection)
    view = selection.view
    over = _value_strides(value, sizes)
    out = Operand(view, strides, True)
    if value._storage is view._storage:
        value = value.clone()
        over = _value_strides(value, sizes)
    if accumulate:
        locate(ADD_AT, sizes, out, [Operand(value, over), out], indices, ordered=True)
    else:
        locate(COPY, sizes, out, [Operand(value, over)], indices, ordered=True)


def _value_strides(value: Tensor, sizes: Ints) -> Ints:
    try:
        if broadcast_shapes(value._shape, sizes) == sizes:
            return broadcast_strides(value._shape, value._strides, sizes)
    except RuntimeError:
        pass
    raise errors_index.value_shape(value._shape, sizes)


def _without_leading_ones(value: Tensor, ndim: int) -> Tensor:
    """torch lets an assigned value have more dims than its place, if the first ones are 1."""
    while value.ndim > ndim and value._shape[0] == 1:
        value = value._view(value._shape[1:], value._strides[1:], value._offset)
    return value


@op(name="__setitem__", function=False)
def setitem(input: Tensor, index: Any, value: Any) -> None:
    """input[index] = value: a number, or a tensor broadcast to what the index selects."""
    if isinstance(index, Tensor) and index._dtype is dtypes.bool and not isinstance(value, Tensor):
        if index._shape == input._shape and isinstance(value, (bool, int, float, complex)):
            masked_fill_(input, index, value)  # nobody has to wait for the mask's count
            return
    selection = select(input, index)
    if not isinstance(value, Tensor):
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            raise errors_index.assigned_type(value)
        if not selection.indices:
            selection.view.fill_(value.item() if isinstance(value, np.generic) else value)
            return
        from .creation import full

        value = full((), value, dtype=input._dtype, device=input.device)
    if value.device != input.device:
        if value._shape:
            raise errors.different_devices("__setitem__", (input.device, value.device))
        value = value.to(input.device)
    if not selection.indices:
        memory.copy_(selection.view, _without_leading_ones(value, selection.view.ndim))
        return
    sizes = _layout(selection)[0]
    value = _without_leading_ones(value, len(sizes))
    if value._dtype is not input._dtype:
        value = value.to(input._dtype)
    write(selection, value)


def _put_selection(input: Tensor, indices: Sequence[Any]) -> Selection:
    return select(input, tuple(slice(None) if i is None else i for i in indices))


@op(function=False)
def index_put_(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """index_put_(indices, values, accumulate=False) -> Tensor

    `input[indices] = values`; with `accumulate`, values that meet the same element are summed.
    """
    if values._dtype is not input._dtype:
        raise errors_index.put_dtypes(input._dtype, values._dtype)
    selection = _put_selection(input, indices)
    if selection.indices:
        write(selection, values, accumulate)
    elif accumulate:
        selection.view.add_(values)  # type: ignore[attr-defined]
    else:
        memory.copy_(selection.view, values)
    return input


@op()
def index_put(
    input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Tensor:
    """index_put(input, indices, values, accumulate=False) -> Tensor: a copy, put into."""
    return index_put_(input.clone(), indices, values, accumulate)


# Masks


def nonzero_tuple(mask: Tensor) -> tuple[Tensor, ...]:
    """The coordinates of a bool tensor's true elements, one int64 tensor for each dim."""
    linear = positions(mask)
    steps = contiguous_strides(mask._shape)
    if mask.ndim == 1:
        return (linear,)
    return tuple(
        pointwise(COORDINATE, (linear,), (step, max(size, 1)))
        for step, size in zip(steps, mask._shape)
    )


@op()
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """nonzero(input, *, out=None, as_tuple=False) -> Tensor or tuple of Tensors

    The indices of the elements that are not zero: int64, one row for each, in order; or one
    tensor for each dim. Waits for the input.
    """
    mask = input if input._dtype is dtypes.bool else input.to(dtypes.bool)
    if as_tuple:
        return nonzero_tuple(mask if mask._shape else mask.reshape(1))
    found = nonzero_tuple(mask) if mask._shape else ()
    count = found[0]._shape[0] if found else int(mask.item())
    made = memory.new((count, len(found)), dtypes.int64, input._storage.device)
    for d, column in enumerate(found):
        memory.copy_(made._view((count,), (made._strides[0],), made._offset + d), column)
    if out is None:
        return made
    return into(out, made, "nonzero")


def into(out: Tensor, made: Tensor, name: str) -> Tensor:
    """A result put into `out=`: the same dtype is needed, the shape is made to fit."""
    from .call import resize_output

    if out._dtype is not made._dtype:
        raise errors_index.out_dtype(name, made._dtype, out._dtype)
    if out._shape != made._shape:
        resize_output(out, made._shape)
    return memory.copy_(out, made)


def _mask(mask: Any, name: str) -> Tensor:
    if not isinstance(mask, Tensor) or mask._dtype is not dtypes.bool:
        raise errors_index.mask_dtype(name, getattr(mask, "dtype", type(mask).__name__))
    return mask


def _fill_number(input: Tensor, value: Any) -> Any:
    if isinstance(value, Tensor):
        if value._shape:
            raise errors_index.fill_dims(value._shape)
        value = value.item()
    if isinstance(value, complex) and not input._dtype.is_complex:
        raise errors.complex_to_real_value(value, input._dtype)
    return value


@op(function=False)
def masked_fill_(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """masked_fill_(mask, value) -> Tensor: write a number where the (broadcast) mask is True."""
    mask = _mask(mask, "masked_fill_")
    if isinstance(value, Tensor) and not value._shape and value._dtype is input._dtype:
        return pointwise(MERGE, (input, mask, value), (), input, True)
    return pointwise(FILL_WHERE, (input, mask), (_fill_number(input, value),), input, True)


@op()
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """masked_fill(input, mask, value) -> Tensor: `value` where the mask is True, else the input."""
    return pointwise(FILL_WHERE, (input, _mask(mask, "masked_fill")), (_fill_number(input, value),))


@op()
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """masked_select(input, mask, *, out=None) -> Tensor: the elements where the mask is True, 1-d.

    Shapes are broadcast together. Waits for the mask.
    """
    mask = _mask(mask, "masked_select")
    shape = broadcast_shapes(input._shape, mask._shape)
    full = mask._view(shape, broadcast_strides(mask._shape, mask._strides, shape), mask._offset)
    source = input._view(shape, broadcast_strides(input._shape, input._strides, shape), input._offset)
    found = getitem(source, full) if shape else getitem(source.reshape(1), full.reshape(1))
    return found if out is None else into(out, found, "masked_select")


