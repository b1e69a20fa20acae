"""Reading the arguments of view ops: ints in the spellings torch accepts, tensors, in-place."""

from __future__ import annotations

import operator
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import view as errors_view
from .layout import Ints, Layout


def layout(tensor: Tensor, function: str, argument: str = "input") -> Layout:
    """Shape, strides and offset of what must be a tensor."""
    try:
        return tensor._shape, tensor._strides, tensor._offset
    except AttributeError:
        raise errors.not_a_tensor(function, argument, tensor) from None


def as_int(value: Any, function: str, argument: str) -> int:
    """An int, or what has `__index__` (NumPy's ints, 0-d integer tensors), but no bool."""
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
    """A tuple or list of ints."""
    if not isinstance(values, (tuple, list)):
        raise errors_view.not_ints(function, argument, values)
    try:
        return tuple([as_int(value, function, argument) for value in values])
    except ValueError:  # torch has a TypeError for ints too large in a list
        raise errors_view.not_ints(function, argument, values) from None


def ints(first: Any, more: tuple[Any, ...], function: str, argument: str) -> Ints:
    """Ints given one by one, or all in one tuple or list."""
    if not more and isinstance(first, (tuple, list)):
        return int_list(first, function, argument)
    return int_list((first, *more), function, argument)


def with_layout(input: Tensor, geometry: Layout) -> Tensor:
    """A view of the tensor's storage with another layout.

    As a function, so that `geometry` is computed, and what is no tensor refused, before `input` is
    asked for anything.
    """
    return input._view(*geometry)


def set_layout(input: Tensor, geometry: Layout) -> Tensor:
    """Give the tensor itself another layout over its storage, as in-place view ops do."""
    return input._become(input._view(*geometry))
