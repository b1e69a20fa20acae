"""What creation ops are given: sizes, dtype, device, further options, numbers to fill with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ... import dtypes
from ..._device import resolve
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...execute.memory import new
from ...formats import contiguous_format, memory_format, preserve_format, strided
from ...ops.types.copy import resize_
from ..scalars import as_dtype, number
from ..view.arguments import ints

if TYPE_CHECKING:
    from ..._device import DeviceLike, device

Ints = tuple[int, ...]


def sizes(function: str, given: tuple[Any, ...], size: Any = None) -> Ints:
    """A shape given as ints one by one, as one tuple or list, or by the keyword `size`."""
    if size is not None:
        given += (size,)
    if not given:
        raise errors_creation.missing_argument(function, "size")
    if len(given) > 1 and isinstance(given[0], (tuple, list)):
        raise errors_creation.surplus_arguments(function, 1, len(given))
    return checked_shape(ints(given[0], given[1:], function, "size"))


def checked_shape(shape: Ints) -> Ints:
    """The shape, if no size is negative."""
    if shape and min(shape) < 0:
        raise errors_creation.negative_dimension(shape)
    return shape


def options(
    function: str,
    given_dtype: Any,
    given_device: DeviceLike | None,
    layout: Any = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
    default: device | None = None,
) -> tuple[dtype | None, device]:
    """The dtype (None where not given) and the device; the other options are refused or void."""
    if layout is not None and layout is not strided:
        raise errors_creation.not_a_layout(function, layout)
    if requires_grad:
        raise errors_creation.no_autograd(function)
    of = as_dtype(function, given_dtype)
    where = default if given_device is None and default is not None else resolve(given_device)
    if pin_memory and where.type != "cpu":
        raise errors_creation.pinned_memory(function, where)
    return of, where


def checked_format(function: str, given: Any) -> memory_format:
    """A memory format; None is torch's way to leave it open."""
    if given is None:
        return contiguous_format
    if not isinstance(given, memory_format):
        raise errors_creation.not_a_memory_format(function, given)
    if given is preserve_format:
        raise errors_creation.memory_format_unsupported(function, given)
    return given


def destination(
    function: str,
    shape: Ints,
    of: dtype | None,
    where: device,
    out: Tensor | None,
    fallback: dtype | None = None,
    given_device: DeviceLike | None = None,
) -> Tensor:
    """The tensor that a creation op fills: a fresh one, or `out` brought to the shape.

    A fresh one has the dtype `of`, or else `fallback`, or else the default dtype.
    """
    if out is None:
        return new(shape, of or fallback or dtypes.get_default_dtype(), where)
    check_out(function, out, of, given_device)
    return resize_(out, shape)


def check_out(
    function: str, out: Tensor, of: dtype | None, given_device: DeviceLike | None
) -> None:
    """RuntimeError where `dtype` or `device` says something else than `out`."""
    if of is not None and of is not out._dtype:
        raise errors_creation.out_dtype(function, of, out._dtype)
    if given_device is not None and resolve(given_device) is not out._storage.device:
        raise errors_creation.out_device(function, given_device, out._storage.device)


def given_number(function: str, argument: str, value: Any) -> Any:
    """A Python number, from any number or 0-d tensor."""
    found = number(value)
    if found is None:
        raise errors_creation.not_a_number(function, argument, value)
    return found


def number_dtype(value: Any) -> dtype:
    """The dtype that a fresh tensor of this Python number has."""
    return dtypes.scalar_dtype(value)


def rounded_up(count: float) -> int:
    """A number of elements that is computed in floating point."""
    if not math.isfinite(count) or count >= 2.0**63:
        raise errors_creation.range_too_long(count)
    return max(0, math.ceil(count))
