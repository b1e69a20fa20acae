"""Arithmetic on two inputs: sums, products, division in all its roundings, extremes, and real
functions of two variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import arithmetic as errors_arithmetic
from ...execute.pointwise import common_dtype, pointwise
from ...execute.scalars import check_fits, is_traced_scalar, values_of
from ...rows.catalogue import add_to_namespace, op
from ...rows.op import BARE, Op, Promote
from ..arguments import check_operands
from ..bind import add_rows

_FLOAT = Promote.INT_TO_FLOAT


def _dtypes(inputs: Any) -> list[dtypes.dtype]:
    return [x._dtype if type(x) is Tensor else dtypes.scalar_dtype(x) for x in inputs]


def check_factor(op: Op, inputs: Any, params: Any, common_dtype: dtypes.dtype) -> None:
    """Raises RuntimeError if a factor's category is above that of the operands."""
    for name, value in zip(op.params, params):
        kind = dtypes.scalar_dtype(value).kind
        # A bool factor requires bools; an integer factor is always allowed; otherwise the category
        # decides.
        allowed_kinds = {"b": "b", "f": "fc", "c": "c"}.get(kind, "buifc")
        if common_dtype.kind not in allowed_kinds:
            raise errors_arithmetic.alpha_kind(op.name, name, value, common_dtype)


def _check_subtraction(op: Op, inputs: Any, params: Any, common_dtype: dtypes.dtype) -> None:
    operand_dtypes = _dtypes(inputs)
    if dtypes.bool in operand_dtypes:
        raise errors_arithmetic.bool_subtraction(op.name, operand_dtypes)
    check_factor(op, inputs, params, common_dtype)


def _check_same(op: Op, inputs: Any, params: Any, common_dtype: dtypes.dtype) -> None:
    operand_dtypes = _dtypes(inputs)
    if common_dtype.is_complex:
        raise errors.dtype_not_supported(op.name, common_dtype)
    if operand_dtypes[0] is not operand_dtypes[1]:
        raise errors.dtypes_differ(op.name, operand_dtypes)


ADD = Op(
    "add",
    "input, other",
    "a + b",
    bool_="a | b",
    complex_="ft_cadd(a, b)",
    bare="h",
    allows_only_scalars=True,
    operators=("__add__", "__radd__", "__iadd__"),
)
ADD_SCALED = Op(
    "add",
    "input, other, *, alpha",
    "a + ftb_narrow(b * alpha)",
    int_="a + b * alpha",
    bool_="a | (b & alpha)",
    complex_="ft_cadd(a, ft_cmul(b, alpha))",
    params=("alpha",),
    check=check_factor,
    bare="h",
    allows_only_scalars=True,
)
SUB = Op(
    "sub",
    "input, other",
    "a - b",
    complex_="ft_csub(a, b)",
    check=_check_subtraction,
    bare="h",
    allows_only_scalars=True,
    operators=("__sub__", "__rsub__", "__isub__"),
)
SUB_SCALED = Op(
    "sub",
    "input, other, *, alpha",
    "a - ftb_narrow(b * alpha)",
    int_="a - b * alpha",
    complex_="ft_csub(a, ft_cmul(b, alpha))",
    params=("alpha",),
    check=_check_subtraction,
    bare="h",
    allows_only_scalars=True,
)


def _alpha(row: Op, input: Any, other: Any, alpha: Any) -> Any:
    if isinstance(alpha, (int, float)) and (is_traced_scalar(alpha) or not -100 <= alpha <= 100):
        if type(input) is Tensor or type(other) is Tensor:
            check_fits(row.name, alpha, common_dtype(row, (input, other)))
    return alpha


@op(inplace=True, rows=(ADD, ADD_SCALED))
def add(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """Returns the sum of `input` and `alpha` times `other`, in the promoted dtype. Raises
    RuntimeError for an `alpha` of a higher category than the inputs."""
    if alpha.__class__ is int and alpha == 1:
        return pointwise(ADD, (input, other), (), out)
    return pointwise(ADD_SCALED, (input, other), (_alpha(ADD, input, other, alpha),), out)


@op(inplace=True, aliases=("subtract",), rows=(SUB, SUB_SCALED))
def sub(input: Any, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """Returns `input` minus `alpha` times `other`. Raises RuntimeError for bool operands (use `^`
    or `~`) and for an `alpha` of a higher category than the inputs."""
    if alpha.__class__ is int and alpha == 1:
        return pointwise(SUB, (input, other), (), out)
    return pointwise(SUB_SCALED, (input, other), (_alpha(SUB, input, other, alpha),), out)


@op(method=False)
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Returns `other` minus `alpha` times `input`."""
    if type(input) is not Tensor:
        raise errors.not_a_tensor("rsub", 1, input)
    return sub(other, input, alpha=alpha)


def _check_product(op: Op, inputs: Any, params: Any, common_dtype: dtypes.dtype) -> None:
    if common_dtype.bare == "8" and any(type(x) is not Tensor for x in inputs):
        raise errors.not_implemented_for(op.name, common_dtype)


def _row(name: str, doc: str, body: str, **fields: Any) -> Op:
    return Op(name, "input, other", body, doc=doc, **{"tensors": (0, 1), **fields})


def _extreme(name: str, doc: str, body: str, int_: str | None = None) -> Op:
    return _row(name, doc, body, int_=int_, refusal=errors.dtype_not_supported, inplace=False)


MUL = Op(
    "mul",
    "input, other",
    "a * b",
    doc="Returns `input * other`.",
    round_scalars=False,
    bare=BARE,
    check=_check_product,
    allows_only_scalars=True,
    bool_="a & b",
    complex_="ft_cmul(a, b)",
    operators=("__mul__", "__rmul__", "__imul__"),
    aliases=("multiply",),
)
ROWS = [
    MUL,
    _extreme("maximum", "Returns the larger element of each pair; NaN if either is NaN.", "ft_max(a, b)"),
    _extreme("minimum", "Returns the smaller element of each pair; NaN if either is NaN.", "ft_min(a, b)"),
    _extreme("fmax", "Returns the larger element of each pair; the other element if one is NaN.",
             "fmax(a, b)", "ft_max(a, b)"),
    _extreme("fmin", "Returns the smaller element of each pair; the other element if one is NaN.",
             "fmin(a, b)", "ft_min(a, b)"),
    _row("atan2", "Returns the angle of the point (`other`, `input`), from -pi to pi.", "ft_atan2(a, b)",
         promote=_FLOAT, aliases=("arctan2",)),
    _row("hypot", "Returns sqrt(input ** 2 + other ** 2), without overflow of the squares.", "hypot(a, b)",
         float_only=True),
    _row("copysign", "Returns the magnitude of `input` with the sign of `other`, which may be -0.", "copysign(a, b)",
         tensors=(0,), promote=_FLOAT),
    _row("logaddexp", "Returns log(exp(input) + exp(other)), without overflow.", "ftb_logaddexp(a, b)",
         complex_="ftb_clogaddexp(a, b)", float_only=True, inplace=False),
    _row("logaddexp2", "Returns log2(2 ** input + 2 ** other), without overflow.", "ftb_logaddexp2(a, b)",
         float_only=True, inplace=False),
    _row("xlogy", "Returns `input * log(other)`; 0 where `input` is 0, unless `other` is NaN.", "ftb_xlogy(a, b)",
         tensors=(), promote=_FLOAT),
    _row("xlog1py", "Returns `input * log1p(other)`; 0 where `input` is 0, unless `other` is NaN.",
         "ftb_xlog1py(a, b)", tensors=(), promote=_FLOAT, namespace="special"),
    Op("heaviside", "input, values", "a == K(0) ? b : (a > K(0) ? K(1) : K(0))", tensors=(0, 1), check=_check_same,
       doc="Returns 0 for negative elements, 1 for positive ones, and `values`, of the same dtype, for 0."),
    _row("gcd", "Returns the greatest common divisor of integers, which is not negative.", "",
         int_="ftb_gcd(a, b)", bool_=""),
    _row("lcm", "Returns the least common multiple of integers, not negative; 0 if one is 0.", "",
         int_="ftb_lcm(a, b)", bool_=""),
]  # fmt: skip
add_rows(ROWS, __name__)
add_to_namespace("special", "xlogy")

NEXTAFTER = Op("nextafter", "input, other", "nextafter(a, b)", tensors=(0, 1), float_only=True)
NEXTAFTER_NARROW = {
    d: replace(NEXTAFTER, name=f"nextafter_{d.name}", body=f"ftb_nextafter_{d.name}(a, b)", only=(d.name,))
    for d in (dtypes.float16, dtypes.bfloat16)
}


@op(inplace=True, rows=(NEXTAFTER, *NEXTAFTER_NARROW.values()))
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the next number after `input` towards `other`, in the promoted dtype."""
    for word, x in (("input", input), ("other", other)):
        if not isinstance(x, (Tensor, int, float)):
            raise errors.not_a_tensor("nextafter", word, x)
    compute = common_dtype(NEXTAFTER, (input, other))
    return pointwise(NEXTAFTER_NARROW.get(compute, NEXTAFTER), (input, other), (), out)


LDEXP = Op(
    "ldexp",
    "input, other",
    "ldexp(a, FT_CONVERT(int, fmax(fmin(b, K(9999)), K(-9999))))",
    tensors=(0, 1),
    float_only=True,
)


@op(inplace=True, rows=(LDEXP,))
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns `input` times 2 to the power of `other`.

    With floating-point `input` and integer `other`, only the exponent changes.
    """
    check_operands("ldexp", input, other)
    if input._dtype.kind == "f" and other._dtype.kind in "bui":
        return pointwise(LDEXP, (input, other), (), out)
    return pointwise(MUL, (input, 2.0**other), (), out)


def check_number_fits(row: Op, input: Any, *numbers: Any) -> None:
    compute = common_dtype(row, (input, *numbers))
    for number in numbers:
        check_fits(row.name, number, compute)


DIVIDE = Op(
    "true_divide",
    "input, other",
    "a / b",
    complex_="ftb_cdiv(a, b)",
    promote=Promote.INT_TO_FLOAT,
    round_scalars=False,
    allows_only_scalars=True,
    operators=("__truediv__", "__rtruediv__", "__itruediv__", "__rdiv__", "__idiv__", "__div__"),
)
FLOOR_DIVIDE = Op(
    "floor_divide", "input, other", "ftb_floor_divide(a, b)", bool_="", round_scalars=False, allows_only_scalars=True
)
TRUNC_DIVIDE = Op(
    "trunc_divide",
    "input, other",
    "trunc(ftb_narrow(a / b))",
    int_="ftb_quotient(a, b)",
    bool_="",
    allows_only_scalars=True,
)
TRUNC_DIVIDE_BY_NUMBER = replace(TRUNC_DIVIDE, body="trunc(a / b)", round_scalars=False)
REMAINDER = Op("remainder", "input, other", "ftb_remainder(a, b)", bool_="")
_INTEGERS = ((int, int), (int, bool), (bool, int))  # pairs of Python types that divide as integers
DIVISION_ROWS = (DIVIDE, FLOOR_DIVIDE, TRUNC_DIVIDE, TRUNC_DIVIDE_BY_NUMBER)
FMOD = Op("fmod", "input, other", "ftb_fmod(a, b)", bool_="", tensors=(0,))


def _divide(row: Op, input: Any, other: Any, out: Tensor | None) -> Tensor:
    """Runs a row that divides integers as integers. Raises RuntimeError for the number 0 as integer
    divisor."""
    if isinstance(other, int) and type(input) is Tensor and input._dtype.kind in "bui":
        if other == 0 or not values_of(other, common_dtype(row, (input, other)))[0]:
            raise errors_arithmetic.zero_division(row.name)
    elif row.allows_only_scalars and (input.__class__, other.__class__) in _INTEGERS and not other:
        raise errors_arithmetic.zero_division(row.name)
    return pointwise(row, (input, other), (), out)


@op(inplace=True, aliases=("divide",), rows=DIVISION_ROWS)
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
    raise errors_arithmetic.rounding_mode(rounding_mode)


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
