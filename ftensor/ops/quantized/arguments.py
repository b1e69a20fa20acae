"""What quantized ops check of their arguments."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import dtype, int8, int16, uint8
from ...errors import quantized as errors_quantized
from ...limits import iinfo

INTEGERS = (uint8, int8, int16)


def a_tensor(op: str, name: str, given: Any) -> Tensor:
    """`given`; TypeError unless it is a tensor."""
    if type(given) is not Tensor:
        raise errors.not_a_tensor(op, name, given)
    return given


def integers(op: str, of: Any) -> dtype:
    """`of`; ValueError unless quantized tensors have that dtype."""
    if of not in INTEGERS:
        raise errors_quantized.not_integers(op, of)
    found: dtype = of
    return found


def bounds(op: str, low: Any, high: Any, of: dtype) -> None:
    """AssertionError for bounds that the dtype doesn't hold."""
    least, most = iinfo(of).min, iinfo(of).max
    if not (least <= low <= most and least <= high <= most):
        raise errors_quantized.bounds(op, low, high, least, most, of)


def scale(op: str, name: str, given: Any) -> float:
    """A scale as a number; ValueError unless it is positive and finite."""
    if not isinstance(given, (int, float)) or not (isfinite(given) and given > 0):
        raise errors_quantized.scale(op, name, given)
    return float(given)


def zero_point(op: str, name: str, given: Any, of: dtype) -> int:
    """A zero point; ValueError unless it is an integer that the dtype holds."""
    least, most = iinfo(of).min, iinfo(of).max
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        raise errors_quantized.zero_point(op, name, given, least, most, of)
    return given


def along(op: str, name: str, given: Any, of: Tensor, axis: int) -> Tensor:
    """One value for each channel, as it broadcasts along `axis`; RuntimeError for another shape."""
    given = a_tensor(op, name, given)
    size = of._shape[axis]
    if given._shape != (size,):
        raise errors_quantized.scales(op, name, size, given._shape)
    return given.reshape(size, *(1,) * (of.ndim - 1 - axis))
