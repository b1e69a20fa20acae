"""The standard's elementwise functions: tables of the supported dtypes and of the op that computes
each."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from ..dtypes import bool as bool_
from ..dtypes import dtype
from ..errors import creation as messages
from ..rows.catalogue import op_of
from ..rows.spelling import named
from .dtypes import CATEGORIES, NUMBERS, check, check_number, common_dtype, is_outside, limited, with_number

# The op of a function whose name differs, and the supported kinds of dtypes.
_UNARY: dict[str, tuple[str, str]] = {
    name: (op or name, category)
    for category, names in {
        "floating-point": (
            "acos acosh asin asinh atan atanh cos cosh exp log log10 log1p log2 reciprocal sin sinh sqrt tan tanh"
        ),
        "numeric": ("abs isfinite isinf isnan negative:neg positive square conj:conj_physical real"),
        "real numeric": "ceil floor trunc",
        "integer or boolean": "bitwise_invert:bitwise_not",
        "boolean": "logical_not",
        "real floating-point": "signbit",
        "complex floating-point": "imag",
    }.items()
    for name, _, op in (word.partition(":") for word in names.split())
}
_BINARY: dict[str, tuple[str, str]] = {
    name: (op or name, category)
    for category, names in {
        "numeric": "add multiply:mul pow subtract:sub",
        "floating-point": "divide:div",
        "all": "equal:eq not_equal:ne",
        "real numeric": ("greater:gt greater_equal:ge less:lt less_equal:le floor_divide remainder maximum minimum"),
        "real floating-point": "atan2 copysign hypot logaddexp nextafter",
        "integer or boolean": "bitwise_and bitwise_or bitwise_xor",
        "integer": "bitwise_left_shift bitwise_right_shift",
        "boolean": "logical_and logical_or logical_xor",
    }.items()
    for name, _, op in (word.partition(":") for word in names.split())
}
# Functions that return some kinds unchanged, by these kinds.
_SAME_NAME = {"ui": "ceil floor trunc", "uif": "real conj", "u": "abs"}
_IDENTITY = {name: kinds for kinds, names in _SAME_NAME.items() for name in names.split()}
# Ops that accept a Python number as an operand; for others it becomes a 0-d tensor.
_NUMBERS = "add mul sub div pow eq ne gt ge lt le floor_divide remainder bitwise_and bitwise_or bitwise_xor"
ACCEPTS_NUMBERS = frozenset(_NUMBERS.split())


# Comparisons accept Python ints outside the dtype, as in NumPy; other ops of integers refuse them.
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


def as_array(value: Any, d: dtype, device: Any) -> Tensor:
    return op_of("full")((), value, dtype=d, device=device)


def compare_outside(op: str, x1: Any, x2: Any) -> Tensor:
    """Returns the result of comparing a tensor with a Python int that its integer dtype can't hold;
    it is the same for every element."""
    x = x1 if isinstance(x1, Tensor) else x2
    result: bool = COMPARISONS[op](*(0 if v is x else v for v in (x1, x2)))
    return op_of("full")(x.shape, result, dtype=bool_, device=x.device)


def two_arrays(name: str, category: str, x1: Any, x2: Any, any_number: bool = False) -> tuple[dtype, Any, Any]:
    """Returns (common dtype, x1, x2); the operands are tensors of that dtype, or numbers.

    Raises TypeError if both are numbers, and for dtypes that the function doesn't support;
    OverflowError, unless `any_number`, for a Python int that the dtype can't hold.
    """
    arrays = [x for x in (x1, x2) if not isinstance(x, NUMBERS)]
    check(name, category, *arrays)
    if not arrays:
        raise messages.no_array_among(name)
    if len(arrays) == 2:
        d = common_dtype(x1.dtype, x2.dtype)
    else:
        number = x2 if arrays[0] is x1 else x1
        d = with_number(arrays[0].dtype, number, name)
        if d.kind not in CATEGORIES[category]:
            raise messages.dtype_category(name, category, d)
        if not any_number:
            check_number(name, number, d)
    return d, *(x if isinstance(x, NUMBERS) or x.dtype is d else x.to(d) for x in (x1, x2))


def _unary(name: str, op: str, category: str) -> Callable[..., Tensor]:
    call = op_of(op)
    identity_kinds = _IDENTITY.get(name, "")

    def function(x: Tensor, /) -> Tensor:
        check(name, category, x)
        if x.dtype.kind in identity_kinds:
            return x.clone()
        return call(x)

    return _set_metadata(function, name, op, category)


def _binary(name: str, op: str, category: str) -> Callable[..., Tensor]:
    call = op_of(op)
    numbers = op in ACCEPTS_NUMBERS

    def function(x1: Tensor | complex, x2: Tensor | complex, /) -> Tensor:
        d, a, b = two_arrays(name, category, x1, x2, op in COMPARISONS)
        if is_outside(a, d) or is_outside(b, d):
            return compare_outside(op, a, b)
        if isinstance(a, NUMBERS):
            a = as_array(a, d, b.device)
        elif isinstance(b, NUMBERS) and not numbers:
            b = as_array(b, d, a.device)
        result: Tensor = call(a, b)
        if d.kind == "f" and op in _SPECIAL_CASES:
            result = _SPECIAL_CASES[op](a, as_array(b, d, result.device) if isinstance(b, NUMBERS) else b, result)
        return result

    return _set_metadata(function, name, op, category)


def _remainder(a: Tensor, b: Tensor, result: Tensor) -> Tensor:
    """Returns torch's remainder; zeros have the divisor's sign."""
    return result.copysign(b).where(result.eq(0), result)


def _floor_divide(a: Tensor, b: Tensor, result: Tensor) -> Tensor:
    """Returns torch's floor division; an infinity gives the quotient, rounded down, where torch has NaN or -1."""
    return a.div(b).floor().where(a.isinf().logical_or(b.isinf()), result)


_SPECIAL_CASES = {"remainder": _remainder, "floor_divide": _floor_divide}


def _set_metadata(function: Callable[..., Tensor], name: str, op: str, category: str) -> Callable[..., Tensor]:
    doc = (
        f"`ftensor.{op}` by the standard's rules: of {category} dtypes, TypeError for others."
        "\n\nOperands are promoted by their dtypes alone and broadcast together."
    )
    return named(name, doc, "ftensor.array_api")(function)


FUNCTIONS: dict[str, Callable[..., Any]] = {name: _unary(name, *how) for name, how in _UNARY.items()} | {
    name: _binary(name, *how) for name, how in _BINARY.items()
}


def sign(x: Tensor, /) -> Tensor:
    """Returns the sign of each number, x / abs(x) for complex ones; NaN stays NaN. Raises TypeError
    for bool."""
    check("sign", "numeric", x)
    if x.dtype.kind == "u":
        return x.ne(0).to(x.dtype)
    if x.dtype.kind == "c":
        return x.sgn()
    signs = x.sign()
    return signs if x.dtype.kind != "f" else x.where(x.isnan(), signs)


def round(x: Tensor, /) -> Tensor:
    """Rounds to the nearest integer, ties to even; each component of complex numbers.

    Raises TypeError for bool.
    """
    check("round", "numeric", x)
    if x.dtype.kind in "ui":
        return x.clone()
    if x.dtype.kind == "c":
        return op_of("complex")(x.real.round(), x.imag.round())
    return x.round()


def _bound(x: Tensor, bound: Any) -> Tensor:
    """Returns a bound of `clip` as a tensor in the dtype of `x`; a number is rounded to the nearest
    value of that dtype."""
    d = x.dtype
    if isinstance(bound, NUMBERS):
        with_number(d, bound, "clip")
        return as_array(limited(bound, d), d, x.device)
    check("clip", "real numeric", bound)
    if (bound.dtype.kind == "f") != (d.kind == "f"):
        raise messages.no_common_dtype(d, bound.dtype)
    return bound.to(d)


def clip(x: Tensor, /, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Tensor:
    """Returns the elements limited to `min` and `max`, in the dtype of `x`; NaN stays NaN.

    Bounds broadcast with `x`. Raises TypeError for bool and complex arrays, and for floating-point
    bounds of integers.
    """
    check("clip", "real numeric", x)
    result = x
    if min is not None:
        result = FUNCTIONS["maximum"](result, _bound(x, min))
    if max is not None:
        result = FUNCTIONS["minimum"](result, _bound(x, max))
    return result.clone() if result is x else result


def expm1(x: Tensor, /) -> Tensor:
    """Returns exp(x) - 1, accurate near 0; for complex infinities and zeros the value of `exp(x) - 1`.

    Raises TypeError for integers and bool.
    """
    check("expm1", "floating-point", x)
    result = x.expm1()
    if x.dtype.kind != "c":
        return result
    # torch has NaN where `exp` has a value, and keeps the sign of a real part of -0.
    return result.where(result.isfinite().logical_and(result.ne(0)), x.exp().sub(1))


FUNCTIONS |= {"expm1": expm1, "sign": sign, "round": round, "clip": clip}
