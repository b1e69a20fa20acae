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


def integers(op: str, of: Any) -> dtype:
    """Returns `of`. Raises ValueError if no quantized tensor has that dtype."""
    if of not in INTEGERS:
        raise errors_quantized.not_integers(op, of)
    integer: dtype = of
    return integer


def bounds(op: str, low: Any, high: Any, of: dtype) -> None:
    least, most = iinfo(of).min, iinfo(of).max
    if not (least <= low <= most and least <= high <= most):
        raise errors_quantized.bounds(op, low, high, least, most, of)


def scale(op: str, name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or not (isfinite(value) and value > 0):
        raise errors_quantized.scale(op, name, value)
    return float(value)


def zero_point(op: str, name: str, value: Any, of: dtype) -> int:
    """Returns a zero point. Raises ValueError unless it is an integer that the dtype holds."""
    least, most = iinfo(of).min, iinfo(of).max
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise errors_quantized.zero_point(op, name, value, least, most, of)
    return value


def channel_values(op: str, name: str, values: Any, of: Tensor, axis: int) -> Tensor:
    """Returns one value for each channel, shaped to broadcast along `axis`. Raises RuntimeError for
    another shape."""
    values = a_tensor(op, name, values)
    size = of._shape[axis]
    if values._shape != (size,):
        raise errors_quantized.scales(op, name, size, values._shape)
    return values.reshape(size, *(1,) * (of.ndim - 1 - axis))
