"""The limits of dtypes, and conversions of the dtypes that NumPy lacks."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from .. import errors
from .element import bfloat16, complex32, dtype, get_default_dtype, parse_dtype


class iinfo:
    """The limits of an integer dtype: `bits`, `min`, `max`, `dtype` (its name)."""

    __slots__ = ("bits", "dtype", "max", "min")
    __hash__ = None  # type: ignore[assignment]  # as torch's: equal by value, not a key

    def __init__(self, type: dtype) -> None:
        if not isinstance(type, dtype):
            raise errors.not_a_dtype("iinfo", "type", type, parse_dtype(type))
        if type.kind not in "ui":
            raise errors.no_integer_limits(type)
        self.dtype: str = type.name
        self.bits: int = 8 * type.itemsize
        value_bits = self.bits - type.is_signed
        self.min: int = -(1 << value_bits) if type.is_signed else 0
        self.max: int = (1 << value_bits) - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


class finfo:
    """The limits of a floating-point dtype, or of a complex dtype's components.

    `bits`, `eps` (distance from 1 to the next number), `max`, `min`, `tiny` and its synonym
    `smallest_normal`, `resolution` (ten to minus the decimal digits kept), `dtype` (its name).
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")
    __hash__ = None  # type: ignore[assignment]  # as torch's: equal by value, not a key

    def __init__(self, type: dtype | None = None) -> None:
        type = get_default_dtype() if type is None else type
        if not isinstance(type, dtype):
            raise errors.not_a_dtype("finfo", "type", type, parse_dtype(type))
        if type.kind not in "fc":
            raise errors.no_floating_limits(type)
        real = type.to_real()
        # IEEE 754's layout: sign, biased exponent, fraction; `top` is the largest exponent.
        fraction_bits = 8 * real.itemsize - 1 - real.exponent_bits
        top = (1 << (real.exponent_bits - 1)) - 1
        self.dtype: str = real.name
        self.bits: int = 8 * real.itemsize
        self.eps: float = 2.0**-fraction_bits
        self.max: float = (2.0 - self.eps) * 2.0**top
        if not real.infinite:  # only the largest fraction of the largest exponent is a NaN
            self.max = (2.0 - 2 * self.eps) * 2.0 ** (top + 1)
        self.min: float = -self.max
        self.tiny: float = 2.0 ** (1 - top)
        self.smallest_normal: float = self.tiny
        digits = math.floor(fraction_bits * math.log10(2))
        self.resolution: float = float(f"1e-{digits}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


# The same objects, cached for each dtype. Internal: users get their own.
integer_limits = cache(iinfo)
floating_limits = cache(finfo)


Array = np.ndarray[Any, Any]


def to_computable(bits: Array, element: dtype) -> Array:
    """Returns stored elements as float32 or complex64 values; elements of a dtype that NumPy has
    unchanged."""
    if element.in_numpy:
        return bits
    if element is bfloat16:
        return (bits.astype(np.uint32) << 16).view(np.float32)
    if element is complex32:
        halves = np.ascontiguousarray(bits).view(np.float16).astype(np.float32)
        return halves.view(np.complex64).reshape(bits.shape)
    return _float8_values(element)[bits]


def to_storage(values: Array, element: dtype) -> Array:
    """Converts double-precision numbers to a dtype's storage, rounded to nearest even.

    The conversion passes through float32, as in torch. e4m3fn has no infinities: numbers beyond its
    range, and infinity, become its largest number.
    """
    with np.errstate(over="ignore"):
        if element is complex32:
            halves = values.astype(np.complex64).view(np.float32).astype(np.float16)
            return halves.view(np.uint32)
        if element.kind == "f" and element.itemsize < 4:
            values = values.astype(np.float32)
        if element is bfloat16:
            bits = values.view(np.uint32)
            rounded = (bits + (((bits >> 16) & 1) + np.uint32(0x7FFF))) >> 16
            return np.where(np.isnan(values), np.uint32(0x7FC0), rounded).astype(np.uint16)
        return values.astype(element.numpy, copy=False) if element.in_numpy else _to_float8(values, element)


@cache
def _float8_values(element: dtype) -> Array:
    """Returns the value of each of the 256 bytes."""
    fraction = 7 - element.exponent_bits
    limits, bits = finfo(element), np.arange(256)
    mantissa, exponent = bits & ((1 << fraction) - 1), (bits & 0x7F) >> fraction
    scale = limits.tiny * limits.eps
    values = np.where(exponent == 0, mantissa * scale, (mantissa + (1 << fraction)) * scale * 2.0 ** (exponent - 1))
    values[values > limits.max] = np.nan
    if element.infinite:
        values[(exponent == exponent.max()) & (mantissa == 0)] = np.inf
    return (values * np.where(bits & 0x80, -1.0, 1.0)).astype(np.float32)


def _to_float8(values: Array, element: dtype) -> Array:
    limits, size = finfo(element), np.abs(values)
    # Between two powers of two, numbers are equidistant, so rounding to a multiple of the step is
    # exact.
    _, exponent = np.frexp(np.where(np.isfinite(size), size, 1))
    step = np.maximum(np.ldexp(limits.eps, exponent - 1), limits.tiny * limits.eps)
    with np.errstate(invalid="ignore"):
        rounded = np.where(np.isfinite(size), np.rint(size / step) * step, size)
    rounded = np.where(rounded > limits.max, np.inf if element.infinite else limits.max, rounded)
    table = _float8_values(element)[:128]
    finite = table[~np.isnan(table)]
    bits = np.where(np.isnan(values), 0x7F, np.searchsorted(finite, rounded.astype(np.float32)))
    return (bits | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)
