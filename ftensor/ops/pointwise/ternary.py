"""Ops on three inputs, selections, limits, and complex numbers from their parts."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import arithmetic as errors_arithmetic
from ...execute.pointwise import common_dtype, pointwise
from ...execute.scalars import fitted, storable
from ...rows.catalogue import op
from ...rows.op import BARE, Op, Promote
from ..arguments import check_operands
from .binary import check_number_fits


def _check_clamp(row: Op, inputs: Any, params: Any, common_dtype: dtypes.dtype) -> None:
    if common_dtype.kind == "b" and not all(type(x) is Tensor for x in inputs):
        raise errors.not_implemented_for(row.name, common_dtype)


WHERE = Op(
    "where",
    "condition, input, other",
    "a ? b : c",
    complex_="ftb_cwhere(a, b, c)",
    masks=(0,),
    exact_out=True,
    bare=BARE,
)
CLAMP = Op("clamp", "input, min, max", "ft_min(ft_max(a, b), c)", bool_="", tensors=(0,), numbers_affect_strides=False)
CLAMP_MIN = Op(
    "clamp_min",
    "input, min",
    "ft_max(a, b)",
    bool_="ft_max(a, b)",
    tensors=(0,),
    check=_check_clamp,
    numbers_affect_strides=False,
)
CLAMP_MAX = Op(
    "clamp_max",
    "input, max",
    "ft_min(a, b)",
    bool_="ft_min(a, b)",
    tensors=(0,),
    check=_check_clamp,
    numbers_affect_strides=False,
)


def _where_method(input: Any, condition: Any, other: Any) -> Tensor:
    """Returns the tensor where the condition is True, else `other`."""
    return where(condition, input, other)


@op(
    method=_where_method,
    rows=(WHERE,),
    forms=("where(condition, input, other, *, out=None) -> Tensor", "where(condition) -> tuple[Tensor, ...]"),
)
def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """Returns `input` where the condition is True, else `other`; both may be numbers. With the
    condition alone, returns the indices of its nonzero elements, a tuple with one tensor for each
    dim."""
    if type(condition) is not Tensor:
        raise errors.not_a_tensor("where", 1, condition)
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if input is None or other is None:
        raise errors_arithmetic.where_arguments()
    kind = condition._dtype
    if kind is not dtypes.bool and kind is not dtypes.uint8:
        raise errors_arithmetic.not_a_condition(kind)
    common = None
    for x in (input, other):
        if isinstance(x, (int, float)) and not -100 <= x <= 100:
            common = common or common_dtype(WHERE, (condition, input, other))
            storable("where", x, common, is_single=True)
    return pointwise(WHERE, (condition, input, other), (), out)


@op(inplace=True, aliases=("clip",), rows=(CLAMP, CLAMP_MIN, CLAMP_MAX))
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Limits the elements to [`min`, `max`]; `max` wins if the limits cross. Limits are numbers or
    tensors and take part in type promotion; NaN in any of them gives NaN."""
    if min is None and max is None:
        raise errors_arithmetic.no_bounds("clamp")
    if min is None:
        return _limited(CLAMP_MAX, input, (max,), out)
    if max is None:
        return _limited(CLAMP_MIN, input, (min,), out)
    return _limited(CLAMP, input, (min, max), out)


@op(inplace=True)
def clamp_min(input: Tensor, min: Any, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, at least `min`."""
    return _limited(CLAMP_MIN, input, (min,), out)


@op(inplace=True)
def clamp_max(input: Tensor, max: Any, *, out: Tensor | None = None) -> Tensor:
    """Returns the elements, at most `max`."""
    return _limited(CLAMP_MAX, input, (max,), out)


def _limited(row: Op, input: Tensor, bounds: tuple[Any, ...], out: Tensor | None) -> Tensor:
    numbers = [b for b in bounds if type(b) is not Tensor]
    if numbers and not all(-100 <= b <= 100 for b in numbers if not isinstance(b, complex)):
        check_number_fits(row, input, *numbers)
    return pointwise(row, (input, *bounds), (), out)


def _check_lerp(row: Op, inputs: Any, params: Any, common_dtype: dtypes.dtype) -> None:
    first = inputs[0]._dtype
    if first.kind in "bui":
        raise errors.not_implemented_for("lerp", first)
    for x in inputs[1:]:
        if type(x) is Tensor and x._dtype is not first:
            raise errors.dtypes_differ("lerp", (first, x._dtype))


LERP = Op(
    "lerp",
    "input, end, weight",
    "ftb_lerp(a, b, c)",
    complex_="ftb_clerp(a, b, c)",
    float_only=True,
    check=_check_lerp,
    round_scalars=False,
    numbers_affect_strides=False,
    tensors=(0, 1),
)


@op(inplace=True, rows=(LERP,))
def lerp(input: Tensor, end: Tensor, weight: Any, *, out: Tensor | None = None) -> Tensor:
    """Interpolates linearly from `input` (weight 0) to `end` (weight 1). The tensors must have one
    dtype; a 0-d weight may have another."""
    check_operands("lerp", input, end)
    if type(weight) is not Tensor:
        if input._dtype.kind in "fc":
            weight = fitted("lerp", weight, input._dtype.compute)
    elif not weight._shape and weight._dtype is not input._dtype:
        weight = weight.to(input._dtype)
    return pointwise(LERP, (input, end, weight), (), out)


def _check_addcdiv(row: Op, inputs: Any, params: Any, common_dtype: dtypes.dtype) -> None:
    if all(type(x) is Tensor and x._dtype.kind in "bui" for x in inputs[1:]):
        raise errors_arithmetic.integer_addcdiv()


ADDCMUL = Op(
    "addcmul",
    "input, tensor1, tensor2",
    "a + b * c",
    bool_="",
    tensors=(0, 1, 2),
    complex_="ft_cadd(a, ft_cmul(b, c))",
    bare="h",
)
ADDCMUL_SCALED = Op(
    "addcmul",
    "input, tensor1, tensor2, *, value",
    "a + value * b * c",
    bool_="",
    complex_="ft_cadd(a, ft_cmul(ft_cmul(value, b), c))",
    params=("value",),
    bare="h",
)
ADDCDIV = Op(
    "addcdiv",
    "input, tensor1, tensor2, *, value",
    "a + value * b / c",
    int_="",
    complex_="ft_cadd(a, ftb_cdiv(ft_cmul(value, b), c))",
    params=("value",),
    check=_check_addcdiv,
)


@op(inplace=True, rows=(ADDCMUL, ADDCMUL_SCALED))
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
    """Returns `input + value * tensor1 * tensor2`. `value` is converted to the dtype of the
    result.
    """
    inputs = (input, tensor1, tensor2)
    if value.__class__ is int and value == 1:
        return pointwise(ADDCMUL, inputs, (), out)
    return pointwise(ADDCMUL_SCALED, inputs, (_factor_as_compute(ADDCMUL, inputs, value),), out)


@op(inplace=True, rows=(ADDCDIV,))
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1, out: Tensor | None = None) -> Tensor:
    """Returns `input + value * tensor1 / tensor2`. Raises RuntimeError if both divided tensors are
    integers."""
    inputs = (input, tensor1, tensor2)
    return pointwise(ADDCDIV, inputs, (_factor_as_compute(ADDCDIV, inputs, value),), out)


def _factor_as_compute(row: Op, inputs: tuple[Any, ...], value: Any) -> Any:
    """Returns `value`, checked against the compute dtype of the inputs."""
    check_operands(row.name, *inputs)
    compute = common_dtype(row, inputs)
    return fitted(row.name, value, compute.compute if compute.kind == "f" else compute)


def _check_parts(row: Op, inputs: Any, params: Any, common_dtype: dtypes.dtype) -> None:
    first, second = (x._dtype for x in inputs)
    if {first, second} - {dtypes.float16, dtypes.float32, dtypes.float64}:
        raise errors_arithmetic.needs_real_floats(row.name, (first, second))
    if first is not second:
        raise errors.dtypes_differ(row.name, (first, second))


COMPLEX = Op(
    "complex", "real, imag", "ft_cmake(a, b)", promote=Promote.REAL_TO_COMPLEX, check=_check_parts, tensors=(0, 1)
)
POLAR = Op(
    "polar",
    "abs, angle",
    "ft_cmake(a * ft_cos(b), a * ft_sin(b))",
    promote=Promote.REAL_TO_COMPLEX,
    check=_check_parts,
    tensors=(0, 1),
    refuses=("float16",),
)


def _from_parts(row: Op, parts: tuple[Any, Any], out: Any) -> Tensor:
    check_operands(row.name, *parts)
    if out is not None and out._dtype is not parts[0]._dtype.to_complex():
        raise errors.out_dtype(row.name, parts[0]._dtype.to_complex(), out._dtype)
    return pointwise(row, parts, (), out)


@op(name="complex", method=False, rows=(COMPLEX,))
def complex_(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns complex numbers from their parts, which must have one dtype: float16, float32 or
    float64."""
    return _from_parts(COMPLEX, (real, imag), out)


@op(method=False, rows=(POLAR,))
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns complex numbers from absolute values and angles, which must both be float32 or both
    float64."""
    return _from_parts(POLAR, (abs, angle), out)
