"""What creation ops are given: sizes, dtype, device, further options, numbers to fill with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ... import dtypes, errors
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...formats import contiguous_format, memory_format, preserve_format
from ..user_values import number
from ..view.arguments import ints

if TYPE_CHECKING:
    pass

Ints = tuple[int, ...]


def sizes(function: str, args: tuple[Any, ...], size: Any = None) -> Ints:
    """A shape given as ints one by one, as one tuple or list, or by the keyword `size`."""
    if size is not None:
        args += (size,)
    if not args:
        raise errors.missing_argument(function, "size")
    if len(args) > 1 and isinstance(args[0], (tuple, list)):
        raise errors_creation.surplus_arguments(function, 1, len(args))
    return checked_shape(ints(args[0], args[1:], function, "size"))


def checked_shape(shape: Ints) -> Ints:
    """The shape, if no size is negative."""
    if shape and min(shape) < 0:
        raise errors_creation.negative_dimension(shape)
    return shape


def checked_format(function: str, value: Any) -> memory_format:
    """A memory format; None is torch's way to leave it open."""
    if value is None:
        return contiguous_format
    if not isinstance(value, memory_format):
        raise errors_creation.not_a_memory_format(function, value)
    if value is preserve_format:
        raise errors_creation.memory_format_unsupported(function, value)
    return value


def number_argument(function: str, argument: str, value: Any) -> Any:
    """A Python number, from any number or 0-d tensor."""
    scalar = number(value)
    if scalar is None:
        raise errors_creation.not_a_number(function, argument, value)
    return scalar


def number_dtype(value: Any) -> dtype:
    """The dtype that a fresh tensor of this Python number has."""
    return dtypes.scalar_dtype(value)


def rounded_up(count: float) -> int:
    """A number of elements that is computed in floating point."""
    if not math.isfinite(count) or count >= 2.0**63:
        raise errors_creation.range_too_long(count)
    return max(0, math.ceil(count))
