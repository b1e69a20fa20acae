"""`numpy.pad` on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tensor import Tensor
from ..rows.catalogue import op_of
from .values import first_tensor, tensor

# The options of each mode of `numpy.pad` that ops compute.
_OPTIONS = {
    "constant": {"constant_values"},
    "edge": set(),
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "wrap": set(),
}


def pad(array: Tensor, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Implements `numpy.pad` in the modes that copy elements or write constants."""
    options = _OPTIONS.get(mode) if isinstance(mode, str) else None
    if options is None or not kwargs.keys() <= options or first_tensor(pad_width, kwargs) is not None:
        return NotImplemented
    widths, constants = np.asarray(pad_width), np.asarray(kwargs.get("constant_values", 0))
    numbers = "biufc" if array.dtype.kind == "c" else "biuf"
    if widths.dtype.kind != "i" or (widths < 0).any() or constants.dtype.kind not in numbers:
        return NotImplemented  # NumPy raises the error
    pairs, values = [np.broadcast_to(x, (array.ndim, 2)).tolist() for x in (widths, constants)]
    if not any(map(any, pairs)):
        return array.clone()
    if mode == "constant":
        return _pad_constant(array, pairs, values)
    is_odd = kwargs.get("reflect_type", "even") == "odd"
    longest = [size - (mode == "reflect") for size in array.shape]
    if is_odd and (array.dtype.kind == "b" or any(max(pair) > n > 0 for pair, n in zip(pairs, longest))):
        return NotImplemented
    # the indices to read, padded in the way NumPy pads the array
    for axis, pair in enumerate(pairs):
        source_index = np.pad(np.arange(array.shape[axis]), pair, mode=mode)
        padded = array.index_select(axis, tensor(source_index, array))
        array = _reflect_odd(padded, axis, pair) if is_odd and array.shape[axis] > 1 else padded
    return array


def _pad_constant(array: Tensor, pairs: list[list[int]], constants: list[list[Any]]) -> Any:
    """Pads with one value in one op, with several side by side."""
    constant_pad = op_of("constant_pad_nd")
    value = constants[0][0]
    if all(v == value for pair in constants for v in pair):
        return constant_pad(array, [n for pair in reversed(pairs) for n in pair], value)
    for axis, (pair, values) in enumerate(zip(pairs, constants, strict=True)):
        later = [0, 0] * (array.ndim - 1 - axis)
        array = constant_pad(array, [*later, pair[0], 0], values[0])
        array = constant_pad(array, [*later, 0, pair[1]], values[1])
    return array


def _reflect_odd(padded: Tensor, axis: int, pair: list[int]) -> Any:
    """Returns an axis with its two reflections turned about its first and its last element."""
    before, after = pair
    size = padded.shape[axis] - before - after
    left, inner, right = op_of("split")(padded, [before, size, after], axis)
    first, last = inner.narrow(axis, 0, 1), inner.narrow(axis, size - 1, 1)
    return op_of("cat")([first * 2 - left, inner, last * 2 - right], axis)
