"""Python numbers among operands: traced, range-checked, and passed as kernel arguments."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..dtypes.limits import floating_limits, integer_limits, to_computable, to_storage
from ..errors import arithmetic as errors_arithmetic


class TracedScalar:
    """Placeholder for an int, a float or a complex number among the arguments of a traced function.

    It is an instance of the number's type and behaves like the number. Any use of its value sets
    `_read`. A tensor op takes it without reading it: the placeholder reaches the launch, and
    `_fits` records the dtypes that it must fit.
    """

    __slots__ = ("_fits", "_place", "_read", "_value")

    def __init__(self, value: Any, place: int) -> None:
        self._value, self._place = value, place
        self._read = False
        self._fits: list[tuple[str, dtype]] = []

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Returns the number's type, which `isinstance` uses."""
        return type(self._value)

    def __getattr__(self, name: str) -> Any:
        return getattr(read_scalar(self), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(read_scalar(self), dtype)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return read_scalar(self).__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return read_scalar(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return read_scalar(self)


def read_scalar(number: TracedScalar) -> Any:
    """Returns the number, and marks it as read: the trace is then valid for this value alone."""
    number._read = True
    return number._value


def is_traced_scalar(x: Any) -> bool:
    return type(x) is TracedScalar


def plain(x: Any) -> Any:
    """Returns `x`, or the value of a TracedScalar, which is then marked as read."""
    return read_scalar(x) if type(x) is TracedScalar else x


def _unary_method(function: Callable[..., Any]) -> Any:
    def method(self: TracedScalar, *args: Any) -> Any:
        return function(read_scalar(self), *[plain(x) for x in args])

    return method


def _binary_method(function: Callable[..., Any], is_reflected: bool) -> Any:
    """Returns a binary operator. It returns NotImplemented for a tensor, whose own operator then
    takes the number."""

    def method(self: TracedScalar, other: Any, *more: Any) -> Any:
        if type(other) is Tensor:
            return NotImplemented
        mine, other = read_scalar(self), plain(other)
        return function(other, mine) if is_reflected else function(mine, other, *map(plain, more))

    return method


_ONE: dict[str, Callable[..., Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index,
    "hash": hash, "repr": repr, "str": str, "format": format, "round": round, "neg": operator.neg,
    "pos": operator.pos, "abs": abs, "invert": operator.invert, "trunc": math.trunc,
    "floor": math.floor, "ceil": math.ceil,
}  # fmt: skip
_TWO: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "divmod": divmod,
    "pow": pow,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
for _name, _of in _ONE.items():
    setattr(TracedScalar, f"__{_name}__", _unary_method(_of))
for _name, _of in _TWO.items():
    setattr(TracedScalar, f"__{_name}__", _binary_method(_of, False))
    setattr(TracedScalar, f"__r{_name}__", _binary_method(_of, True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(TracedScalar, f"__{_name}__", _binary_method(getattr(operator, _name), False))


class CapturedRandom(int):
    """A random number of a capture (capture.py): element `part` of draw number `draw`. Each replay
    draws a new one."""

    capture: Any
    draw: int
    part: int


def values_of(number: Any, d: dtype) -> tuple[Any, ...]:
    """Returns the kernel arguments for a Python number in a dtype: integers wrap, floats are
    rounded."""
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
    integer = int(number)
    _check_width(integer)
    if kind == "u":
        return (integer & (1 << 8 * d.itemsize) - 1,)
    half = 1 << (8 * d.itemsize - 1)
    return (((integer + half) & (2 * half - 1)) - half,)


def check_values(number: Any, d: dtype) -> None:
    """Raises the errors of `values_of`, also for a number whose kernel never runs."""
    if type(number) is TracedScalar:
        number._fits.append(("", d))
        number = number._value
    values_of(number, d)


def _check_width(integer: int) -> None:
    if not -(1 << 63) <= integer < 1 << 64:
        raise errors.integer_overflow(integer)


def rounded(value: float, d: dtype) -> float:
    """Returns `value` rounded to a floating dtype of at most 16 bits, to nearest with ties to
    even."""
    if d.bare:
        return float(to_computable(to_storage(np.array([value]), d), d)[0])
    if d.name == "float16":
        try:
            (nearest,) = struct.unpack("<e", struct.pack("<e", value))
        except OverflowError:
            nearest = float("inf") if value > 0 else -float("inf")
        return float(nearest)
    if value != value:
        return value
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    (nearest,) = struct.unpack("<f", struct.pack("<I", bits))
    return float(nearest)


def check_fits(op: str, number: Any, d: dtype) -> None:
    """Raises RuntimeError for a number that torch would not convert to `d`.

    An unsigned type accepts negative integers of its width, and no other negative number. Fractions
    are dropped. Raises OverflowError for an integer beyond 64 bits.
    """
    if type(number) is TracedScalar:
        number._fits.append((op, d))
        number = number._value
    if type(number) is int:
        _check_width(number)
    if d.kind in "bc":
        return
    if isinstance(number, complex):
        if number.imag:
            raise errors_arithmetic.number_does_not_fit(op, number, d)
        number = number.real
    if d.kind == "f":
        fits = abs(number) <= floating_limits(d).max or number != number or abs(number) == float("inf")
    elif number != number:
        fits = False
    else:
        limits = integer_limits(d)
        least = limits.min if isinstance(number, float) else limits.min or -limits.max
        fits = least <= number <= limits.max
    if not fits:
        raise errors_arithmetic.number_does_not_fit(op, number, d)


def fitted(op: str, number: Any, d: dtype) -> Any:
    """Returns a factor or limit after checking that it fits `d`. A complex number without imaginary
    part becomes real for a real dtype."""
    check_fits(op, number, d)
    return number.real if isinstance(number, complex) and not d.is_complex else number


def number(value: Any) -> Any:
    """Returns the Python number of a number or a 0-d tensor; None for anything else."""
    if value.__class__ in (int, float, bool, complex):
        return value
    if isinstance(value, Tensor):
        return value.item() if not value._shape else None
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return value.item()
    return value if isinstance(value, (int, float, complex)) else None


def as_float(op: str, argument: str, value: Any) -> Any:
    scalar = number(value)
    if value is not None and (scalar is None or isinstance(scalar, complex)):
        raise errors.argument_type(op, argument, "a float", value)
    return None if value is None else float(scalar)


def storable(op: str, value: Any, target_dtype: dtype, is_single: bool = False) -> Any:
    """Returns a Python number converted to `target_dtype`. Raises RuntimeError if that would
    overflow (torch's rule).

    A fraction is dropped silently, an imaginary part is not. Negative integers wrap in an unsigned
    dtype down to minus its maximum. Infinities and NaN fit floating-point dtypes only. `is_single`
    applies to a tensor of one element: a number too large for a floating-point dtype of fewer than
    32 bits becomes infinite or its largest number. In other tensors this applies to the parts of
    complex32.
    """
    if target_dtype.is_complex:
        z = complex(value)
        if target_dtype.bare and not is_single:
            return value
        check_fits(op, z.real, target_dtype.to_real())
        check_fits(op, z.imag, target_dtype.to_real())
        return value
    is_half = is_single and target_dtype.kind == "f" and target_dtype.compute is not target_dtype
    check_fits(op, complex(0, value.imag) if is_half else value, target_dtype)
    if isinstance(value, complex):
        value = value if target_dtype.kind == "b" else value.real
    return int(value) if target_dtype.kind in "ui" else value
