"""Division in all its roundings, and remainders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..._tensor import Tensor
from ...errors import pointwise as errors_arith
from ...execute.pointwise import common_dtype, pointwise
from ...execute.scalars import values_of
from ...rows.catalogue import op
from ...rows.op import Op, Promote

CATEGORY = "binary"
DIVIDE = Op(
    "true_divide",
    "true_divide(input, other) -> Tensor",
    "a / b",
    complex_="ftb_cdiv(a, b)",
    promote=Promote.INT_TO_FLOAT,
    round_numbers=False,
    numbers_alone=True,
    operators=("__truediv__", "__rtruediv__", "__itruediv__", "__rdiv__", "__idiv__", "__div__"),
)
FLOOR_DIVIDE = Op(
    "floor_divide",
    "floor_divide(input, other) -> Tensor",
    "ftb_floor_divide(a, b)",
    bool_="",
    round_numbers=False,
    numbers_alone=True,
)
TRUNC_DIVIDE = Op(
    "trunc_divide",
    "trunc_divide(input, other) -> Tensor",
    "trunc(ftb_narrow(a / b))",
    int_="ftb_quotient(a, b)",
    bool_="",
    numbers_alone=True,
)
TRUNC_DIVIDE_BY_NUMBER = replace(TRUNC_DIVIDE, body="trunc(a / b)", round_numbers=False)
REMAINDER = Op("remainder", "remainder(input, other) -> Tensor", "ftb_remainder(a, b)", bool_="")
_INTEGERS = ((int, int), (int, bool), (bool, int))  # pairs of Python types that divide as integers
ROWS = (DIVIDE, FLOOR_DIVIDE, TRUNC_DIVIDE, TRUNC_DIVIDE_BY_NUMBER)
FMOD = Op("fmod", "fmod(input, other) -> Tensor", "ftb_fmod(a, b)", bool_="", tensors=(0,))


def _divide(row: Op, input: Any, other: Any, out: Tensor | None) -> Tensor:
    """Runs a row that divides integers as integers. Raises RuntimeError for the number 0 as integer
    divisor."""
    if isinstance(other, int) and type(input) is Tensor and input._dtype.kind in "bui":
        if other == 0 or not values_of(other, common_dtype(row, (input, other)))[0]:
            raise errors_arith.zero_division(row.name)
    elif row.numbers_alone and (input.__class__, other.__class__) in _INTEGERS and not other:
        raise errors_arith.zero_division(row.name)
    return pointwise(row, (input, other), (), out)


@op(inplace=True, aliases=("divide",), rows=ROWS)
def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """Returns the quotient: true division (integers become the default dtype), or with
    `rounding_mode` "trunc" (towards zero) or "floor" (down) in the promoted dtype. Integers divided
    by the number 0 raise RuntimeError; zeros in a tensor give -1 (all bits set)."""
    if rounding_mode is None:
        return pointwise(DIVIDE, (input, other), (), out)
    if rounding_mode == "floor":
        return _divide(FLOOR_DIVIDE, input, other, out)
    if rounding_mode == "trunc":
        has_dims = type(other) is Tensor and other._shape
        return _divide(TRUNC_DIVIDE if has_dims else TRUNC_DIVIDE_BY_NUMBER, input, other, out)
    raise errors_arith.rounding_mode(rounding_mode)


@op(inplace=True)
def true_divide(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """Like `div` without rounding."""
    return pointwise(DIVIDE, (input, other), (), out)


@op(inplace=True, operators=("__floordiv__", "__rfloordiv__", "__ifloordiv__"))
def floor_divide(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """Like `div` with rounding_mode="floor"."""
    return _divide(FLOOR_DIVIDE, input, other, out)


@op(inplace=True, operators=("__mod__", "__rmod__", "__imod__"), rows=(REMAINDER,))
def remainder(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """Returns the remainder of floor division, with the sign of `other`, like Python's `%`.
    Integers modulo the number 0 raise RuntimeError; zeros in a tensor leave them unchanged."""
    return _divide(REMAINDER, input, other, out)


@op(inplace=True, rows=(FMOD,))
def fmod(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """Returns the remainder of division towards zero, with the sign of `input`, like C's fmod.
    Integers modulo the number 0 raise RuntimeError; zeros in a tensor leave them unchanged."""
    return _divide(FMOD, input, other, out)
