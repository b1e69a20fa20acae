"""The limits of dtypes: `iinfo`, `finfo`."""

from __future__ import annotations

import math
from functools import cache

from .. import errors
from .element import dtype
from .promotion import get_default_dtype
from .spelling import meant_by


class iinfo:
    """The limits of an integer dtype: `bits`, `min`, `max`, `dtype` (its name)."""

    __slots__ = ("bits", "dtype", "max", "min")
    __hash__ = None  # type: ignore[assignment]  # as torch's: equal by value, not a key

    def __init__(self, type: dtype) -> None:
        if not isinstance(type, dtype):
            raise errors.not_a_dtype("iinfo", "type", type, meant_by(type))
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
            raise errors.not_a_dtype("finfo", "type", type, meant_by(type))
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
        if not real.infinite:  # of the largest exponent only the largest fraction is a NaN
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


# The same, made once for each dtype: to look at, not to hand to users.
integer_limits = cache(iinfo)
floating_limits = cache(finfo)
