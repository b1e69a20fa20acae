"""Checks of the arguments of quantized ops."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import dtype, int8, int16, uint8
from ...dtypes.limits import iinfo
from ...errors import nn as errors_quantized

INTEGERS = (uint8, int8, int16)


def a_tensor(op: str, name: str, value: Any) -> Tensor:
    if type(value) is not Tensor:
        raise errors.not_a_tensor(op, name, value)
    return value


def check_integer_dtype(op: str, element: Any) -> dtype:
    """Returns `element`. Raises ValueError if no quantized tensor has that dtype."""
    if element not in INTEGERS:
        raise errors_quantized.not_integers(op, element)
    integer: dtype = element
    return integer


def check_bounds(op: str, low: Any, high: Any, element: dtype) -> None:
    lowest, highest = iinfo(element).min, iinfo(element).max
    if not (lowest <= low <= highest and lowest <= high <= highest):
        raise errors_quantized.bounds(op, low, high, lowest, highest, element)


def scale(op: str, name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or not (isfinite(value) and value > 0):
        raise errors_quantized.scale(op, name, value)
    return float(value)


def zero_point(op: str, name: str, value: Any, element: dtype) -> int:
    """Returns a zero point. Raises ValueError unless it is an integer that the dtype holds."""
    lowest, highest = iinfo(element).min, iinfo(element).max
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise errors_quantized.zero_point(op, name, value, lowest, highest, element)
    return value


def channel_values(op: str, name: str, values: Any, tensor: Tensor, axis: int) -> Tensor:
    """Returns one value for each channel, shaped to broadcast along `axis`. Raises RuntimeError for
    another shape."""
    values = a_tensor(op, name, values)
    size = tensor._shape[axis]
    if values._shape != (size,):
        raise errors_quantized.scales(op, name, size, values._shape)
    return values.reshape(size, *(1,) * (tensor.ndim - 1 - axis))
