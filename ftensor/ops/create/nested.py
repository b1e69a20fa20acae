"""Nested sequences of numbers: their shape, their dtype, and their numbers in one flat list."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from ... import dtypes
from ..._tensor import Tensor
from ...dtypes import dtype, from_numpy_dtype, promote_types, scalar_dtype
from ...errors import creation as errors_creation
from ...iterator.shape import numel

Flattened = tuple[tuple[int, ...], list[Any], dtype]

_NUMBERS = {bool, int, float, complex}
_SEQUENCES = {list, tuple}
# Deeper than this torch reads no data; a list that holds itself has no end.
MOST_DIMS = 128
# More numbers than any host could hold: a list that holds another one many times says so quickly.
MOST_NUMBERS = 2**36


def flattened(data: Any) -> Flattened | None:
    """Shape, numbers and dtype of plain Python data; None for anything that is not quite that.

    Works on whole levels of nesting at once, so that long lists pass at the speed of C.
    """
    shape = _first_shape(data)
    level: list[Any] = [data]
    for size in (*shape, None):
        types = set(map(type, level))
        if types <= _NUMBERS:
            return (shape, level, _dtype_of(types)) if level else None
        if not types <= _SEQUENCES:
            return None
        lengths = set(map(len, level))
        if lengths != {size}:
            return None
        if not size:
            return shape, [], dtypes.get_default_dtype()
        level = list(chain.from_iterable(level))
    return None


def _first_shape(data: Any) -> tuple[int, ...]:
    """The shape that the first elements tell; ValueError for one that no data can have."""
    shape: list[int] = []
    while type(data) in _SEQUENCES:
        shape.append(len(data))
        _check_shape(shape, data)
        if not shape[-1]:
            break
        data = data[0]
    return tuple(shape)


def _check_shape(shape: Sequence[int], data: Any) -> None:
    """ValueError for more dims or more numbers than there can be."""
    if len(shape) > MOST_DIMS:
        raise errors_creation.too_deep(data, MOST_DIMS)
    if numel([n for n in shape if n]) > MOST_NUMBERS:
        raise errors_creation.too_many_numbers(shape)


def _dtype_of(types: set[type]) -> dtype:
    if complex in types:
        return dtypes.get_default_dtype().to_complex()
    if float in types:
        return dtypes.get_default_dtype()
    return dtypes.int64 if int in types else dtypes.bool


def described(data: Any, of: dtype | None) -> Flattened:
    """Shape, numbers and dtype of any data that torch takes; its exceptions for any other.

    The first elements alone say how deep the nesting goes and how long each level is; the dtype
    is inferred before the others are held to that. `of`, if given, is the dtype.
    """
    shape = _shape(data)
    inferred = of or _inferred(data)
    values: list[Any] = []
    if numel(shape):
        _collect(data, shape, 0, values)
    return shape, values, inferred


def _is_sequence(data: Any) -> bool:
    if isinstance(data, (Tensor, str, bytes, dict, np.generic)):
        return False
    return hasattr(type(data), "__getitem__") and hasattr(type(data), "__len__")


def _shape(data: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = ()
    nested = False
    while _is_sequence(data):
        shape += (len(data),)
        _check_shape(shape, data)
        if hasattr(type(data), "to_numpy") and hasattr(data, "columns"):
            raise errors_creation.table_in_data(data)
        if not shape[-1]:
            break
        data, nested = _first(data), True
    if isinstance(data, (str, bytes)):
        raise errors_creation.text_in_data(data, nested)
    return shape


def _first(data: Any) -> Any:
    """The first of a sequence that says it holds some; ValueError where it gives none."""
    try:
        return data[0]
    except (IndexError, KeyError) as error:
        raise errors_creation.lying_length(data, len(data), 0, ValueError) from error


def _inferred(data: Any, depth: int = 0) -> dtype:
    if isinstance(data, (str, bytes)):
        raise errors_creation.text_in_data(data, False)
    if isinstance(data, Tensor):
        return data._dtype
    if isinstance(data, (np.ndarray, np.generic)):
        return from_numpy_dtype(data.dtype)
    if isinstance(data, (bool, int, float, complex)):
        return scalar_dtype(data)
    if not _is_sequence(data):
        raise errors_creation.no_dtype_for(data)
    if not len(data):
        return dtypes.get_default_dtype()
    if depth >= MOST_DIMS:
        raise errors_creation.holds_itself(data, MOST_DIMS)
    promoted: dtype | None = None
    for item in items(data):
        mine = _inferred(item, depth + 1)
        promoted = mine if promoted is None else promote_types(promoted, mine)
    assert promoted is not None
    return promoted


def items(data: Any) -> Sequence[Any]:
    """What a sequence holds: as many as it says, for some say one thing and go on for ever."""
    if type(data) in _SEQUENCES:
        return data
    held = list(islice(data, len(data) + 1))
    if len(held) != len(data):
        raise errors_creation.lying_length(data, len(data), len(held))
    return held


def _collect(data: Any, shape: tuple[int, ...], dim: int, values: list[Any]) -> None:
    if dim == len(shape):
        values.append(_number(data))
        return
    if not _is_sequence(data):
        raise errors_creation.number_in_place_of_sequence(data, dim)
    if len(data) != shape[dim]:
        raise errors_creation.ragged(shape[dim], len(data), dim)
    for item in data.tolist() if isinstance(data, np.ndarray) else items(data):
        _collect(item, shape, dim + 1, values)


def _number(data: Any) -> Any:
    """An element as a Python number, or as something that float() or int() takes."""
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise errors_creation.sequence_in_place_of_number(data)
        return data.item()
    if isinstance(data, np.generic):
        return data.item()
    if _is_sequence(data):
        raise errors_creation.sequence_in_place_of_number(data)
    if isinstance(data, (bool, int, float, complex)):
        return data
    return float(data)  # a TypeError of Python's own for what is no number
