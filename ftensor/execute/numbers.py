"""Python numbers among an op's operands: as kernel arguments, and whether a dtype can hold them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .. import errors
from ..dtypes import dtype
from ..dtypes.encoding import narrowed, widened
from ..dtypes.limits import floating_limits, integer_limits
from ..errors import arith as errors_arith
from .passed import Passed


def values_of(number: Any, d: dtype) -> tuple[Any, ...]:
    """A Python number as the kernel argument(s) of a dtype: integers wrap, floats are rounded."""
    kind = d.kind
    if kind == "f":
        if type(number) is int:
            _check_width(number)
        value = float(number)
        return (value,) if d.itemsize > 2 else (rounded(value, d),)
    if kind == "c":
        if type(number) is int:
            _check_width(number)
        z = complex(number)
        if d.bare:
            return rounded(z.real, d.to_real()), rounded(z.imag, d.to_real())
        return (z.real, z.imag)
    if kind == "b":
        return (int(bool(number)),)
    whole = int(number)
    _check_width(whole)
    if kind == "u":
        return (whole & (1 << 8 * d.itemsize) - 1,)
    half = 1 << (8 * d.itemsize - 1)
    return (((whole + half) & (2 * half - 1)) - half,)


def check_values(number: Any, d: dtype) -> None:
    """What `values_of` raises for a number, also for one whose kernel never runs."""
    if type(number) is Passed:
        number._fits.append(("", d))
        number = number._value
    values_of(number, d)


def _check_width(whole: int) -> None:
    if not -(1 << 63) <= whole < 1 << 64:
        raise errors.integer_overflow(whole)


def rounded(value: float, d: dtype) -> float:
    """`value` as a floating dtype of at most 16 bits has it, to the nearest and ties to even."""
    if d.bare:
        return float(widened(narrowed(np.array([value]), d), d)[0])
    if d.name == "float16":
        try:
            (near,) = struct.unpack("<e", struct.pack("<e", value))
        except OverflowError:
            near = float("inf") if value > 0 else -float("inf")
        return float(near)
    if value != value:
        return value
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    (near,) = struct.unpack("<f", struct.pack("<I", bits))
    return float(near)


def check_fits(op: str, number: Any, d: dtype) -> None:
    """RuntimeError for a number that torch would not convert to `d`.

    An unsigned type takes negative integers of its width, and no other negative number; a fraction
    is dropped. OverflowError for an integer beyond 64 bits.
    """
    if type(number) is Passed:
        number._fits.append((op, d))
        number = number._value
    if type(number) is int:
        _check_width(number)
    if d.kind in "bc":
        return
    if isinstance(number, complex):
        if number.imag:
            raise errors_arith.number_does_not_fit(op, number, d)
        number = number.real
    if d.kind == "f":
        fits = abs(number) <= floating_limits(d).max or number != number or abs(number) == float("inf")
    elif number != number:
        fits = False
    else:
        whole = integer_limits(d)
        least = whole.min if isinstance(number, float) else whole.min or -whole.max
        fits = least <= number <= whole.max
    if not fits:
        raise errors_arith.number_does_not_fit(op, number, d)


def fitted(op: str, number: Any, d: dtype) -> Any:
    """A factor or limit, checked against `d`; a complex one without imaginary part becomes real."""
    check_fits(op, number, d)
    return number.real if isinstance(number, complex) and not d.is_complex else number
