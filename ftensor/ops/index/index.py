"""`t[...]` and `t[...] = value` with ints, slices, None, Ellipsis, masks and tensors; index_put."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...dtypes import bool as bool_
from ...errors import index as errors_index
from ...errors.view import BackwardsError
from ...execute import memory
from ...execute.index_check import get_index_check, known_bounds
from ...execute.indexed import ADD_AT, Operand, fetch, locate, remember
from ...execute.numbers import values_of
from ...execute.output import check_overlap
from ...interop.numpy import beside
from ...iterator.shape import Ints, broadcast_shapes
from ...iterator.stride import broadcast_strides, output_strides
from ...ops.types import copy
from ...rows.catalogue import op
from ...rows.copies import COPY
from ..view.arguments import as_int
from ..view.basic_index import basic_index
from .selection import Selection, forwards, select, spread

Number = (bool, int, float, complex)


@op(name="__getitem__", function=False)
def getitem(input: Tensor, index: Any) -> Tensor:
    """A view for ints, slices, None and Ellipsis; a copy with masks and integer tensors, lists and
    arrays, and with a slice that goes backwards. IndexError for what is out of range or does not
    fit.
    """
    if type(index) is int and input._shape:  # the common case, without sorting
        return input._view(*basic_index(input._shape, input._strides, input._offset, (index,)))
    if type(index) is Tensor and (result := fetch("getitem", input, index)) is not None:
        return _within(input, result)
    try:
        selection = select(input, index)
    except BackwardsError:
        dims, index = forwards(input, index)
        input = input.flip(dims)
        selection = select(input, index)
    return read(selection, input, index) if selection.indices else selection.view


def read(selection: Selection, input: Tensor, index: Any) -> Tensor:
    """The elements that a selection with index tensors leads to."""
    sizes, indices, strides = spread(selection)
    view = selection.view
    kept = output_strides(sizes, [strides, *[i.strides for i in indices]], False)
    result = memory.new(sizes, view._dtype, view._storage.device, kept)
    located = Operand(view, strides, True)
    locate(COPY, sizes, Operand(result, kept), [located], indices)
    if len(indices) == 1 and indices[0].tensor is index:
        remember("getitem", input, index, result, located, indices)
    return _within(view, result)


def _within(source: Tensor, result: Tensor) -> Tensor:
    """Let what was taken of integers lie within what these are known to lie within."""
    known = known_bounds(source._storage)
    if known is not None and known[0] is result._dtype and get_index_check() == "now":
        result._storage.bounds = known  # nothing was left out
    return result


def write(selection: Selection, value: Tensor, accumulate: bool = False) -> None:
    """Write (or add) values, broadcast, to the elements that a selection leads to."""
    view = selection.view
    if value._dtype is not view._dtype:
        raise errors_index.put_dtypes(view._dtype, value._dtype)
    sizes, indices, strides = spread(selection)
    if value._storage is view._storage:
        value = value.clone()
    out = Operand(view, strides, True)
    source = Operand(value, _value_strides(value, sizes))
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
    raise errors_index.value_shape(value._shape, sizes)


def _without_leading_ones(value: Tensor, ndim: int) -> Tensor:
    """torch lets an assigned value have more dims than its place, if the first ones are 1."""
    while value.ndim > ndim and value._shape[0] == 1:
        value = value._view(value._shape[1:], value._strides[1:], value._offset)
    return value


@op(name="__setitem__", function=False)
def setitem(input: Tensor, index: Any, value: Any) -> None:
    """Write a number, or a tensor or NumPy's array broadcast to what the index selects."""
    if index is False:
        return  # nothing is selected, and torch does not look at the value then
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, np.ndarray):
        value = beside(value, input)
    if not isinstance(value, (Tensor, *Number)):
        raise errors_index.assigned_type(value)
    if isinstance(value, int):
        value = value if isinstance(value, bool) else as_int(value, "__setitem__", "value")
    narrow = input._dtype.kind == "f" and input._dtype.itemsize == 2
    if narrow and isinstance(value, (int, float)):  # stored as infinity where it is too large
        (value,) = values_of(value, input._dtype)
    if isinstance(index, Tensor) and index._dtype is bool_ and index._shape == input._shape:
        if input._shape and not isinstance(value, Tensor):
            input.masked_fill_(index, value)  # nobody has to wait for the mask's count
            return
    try:
        selection = select(input, index)
    except BackwardsError:
        dims, index = forwards(input, index)
        turned = input.flip(dims)
        setitem(turned, index, value)
        input.copy_(turned.flip(dims))
        return
    if not isinstance(value, Tensor):
        if not selection.indices:
            check_overlap("__setitem__", selection.view, ())
            selection.view.fill_(value)
            return
        number = memory.new((), input._dtype, input._storage.device)
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
            value = copy.clone(value)  # it may be among the elements that it is written to
        if value._shape != selection.view._shape:
            value = _without_leading_ones(value, 0)
        copy.copy_(selection.view, value)


@op(bare="8h")
def index_put_(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """`input[indices] = values`; with `accumulate`, values that meet the same element are
    summed.
    """
    if not isinstance(indices, (tuple, list)) or not all(isinstance(i, Tensor) for i in indices):
        raise errors_index.put_indices(indices)
    if not isinstance(values, Tensor):
        raise errors.not_a_tensor_or_number("index_put_", values)
    return put(input, indices, values, accumulate)


def put(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool) -> Tensor:
    """index_put_ of tensors and whole slices, unchecked."""
    # A 0-d index is a tensor here, not an int: the result's place is the same.
    indices = [i.reshape(1) if isinstance(i, Tensor) and not i._shape else i for i in indices]
    selection = select(input, tuple(indices))
    if selection.indices:
        write(selection, values, accumulate)
    elif accumulate:
        selection.view.add_(values)
    else:
        copy.copy_(selection.view, values)
    return input


@op(bare="8h")
def index_put(input: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy, put into."""
    return index_put_(copy.clone(input), indices, values, accumulate)
