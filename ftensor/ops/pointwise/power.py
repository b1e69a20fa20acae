"""Powers of tensors and numbers, integers and complex numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import dtypes
from ..._tensor import Tensor
from ...errors import arithmetic as errors_arithmetic
from ...execute.output import check_capacity, check_dtype, new_like
from ...execute.pointwise import common_dtype, pointwise, write_result
from ...execute.scalars import check_fits
from ...iterator.shape import broadcast_shapes, numel
from ...rows.catalogue import op
from ...rows.op import Op

POW = Op("pow", "input, exponent", "ftb_pow(a, b)", bool_="", complex_="ftb_cpow(a, b)", numbers_affect_strides=False)


def _exact(name: str, body: str, int_: str, bool_: str, complex_: str) -> Op:
    row = Op(f"pow_{name}", "input, exponent", body, int_=int_, bool_=bool_, complex_=complex_)
    return replace(row, numbers_affect_strides=False)


# Exponents with a faster form, which also decides the special values as in torch.
EXACT: dict[Any, Op] = {
    0: _exact("0", "K(1)", "K(1)", "K(1)", "FT_CONE"),
    1: _exact("1", "a", "a", "a", "a"),
    2: _exact("2", "a * a", "a * a", "", "ft_cmul(a, a)"),
    3: _exact("3", "a * a * a", "a * a * a", "", "ft_cmul(ft_cmul(a, a), a)"),
    0.5: _exact("half", "sqrt(a)", "", "", "ft_csqrt(a)"),
    -0.5: _exact("minus_half", "K(1) / sqrt(a)", "", "", "ft_crecip(ft_csqrt(a))"),
    -1: _exact("minus_1", "K(1) / a", "", "", "ft_crecip(a)"),
    -2: _exact("minus_2", "K(1) / (a * a)", "", "", "ft_crecip(ft_cmul(a, a))"),
}


@op(inplace=True, operators=("__pow__", "__rpow__", "__ipow__"), rows=(POW, *EXACT.values()))
def pow(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """Returns `input` to the power of `exponent`; one of them may be a number. Integers stay
    integers and wrap: a negative number as exponent raises RuntimeError, negative elements of a
    tensor give 0 (1 and -1 excepted)."""
    if type(exponent) is Tensor and type(input) is not Tensor:
        return _power_of_number(input, exponent, out)
    if type(exponent) is Tensor or type(input) is not Tensor:
        return pointwise(POW, (input, exponent), (), out)
    if isinstance(exponent, int) and exponent < 0 and input._dtype.kind in "bui":
        raise errors_arithmetic.negative_integer_power(exponent)
    if isinstance(exponent, (int, float, complex)):
        row = EXACT.get(exponent, POW)
        if row is POW:
            check_fits("pow", exponent, common_dtype(POW, (input, exponent)))
        elif input._dtype is dtypes.float16 and isinstance(exponent, float) and exponent % 1:
            row = POW  # torch doesn't use sqrt here; the result for -inf differs
        return pointwise(row, (input, exponent), (), out)
    return pointwise(POW, (input, exponent), (), out)


def _power_of_number(base: Any, exponent: Tensor, out: Tensor | None) -> Tensor:
    operands, shape = (base, exponent), exponent._shape
    if exponent.is_contiguous() or (out is not None and out._shape == shape):
        return pointwise(POW, operands, (), out)
    result = pointwise(POW, operands, (), new_like(exponent, shape, common_dtype(POW, operands)))
    return write_result("pow", out, result, cast=True)


@op(inplace=True)
def float_power(input: Any, exponent: Any, *, out: Tensor | None = None) -> Tensor:
    """Returns `pow` in double precision: float64, or complex128 if an input is complex. `out` must
    have exactly that dtype."""
    operands = (input, exponent)
    is_complex = any(x._dtype.is_complex if type(x) is Tensor else isinstance(x, complex) for x in operands)
    result_dtype = dtypes.complex128 if is_complex else dtypes.float64
    if out is not None:
        check_dtype("float_power", out, result_dtype)
    tensors = [x for x in operands if type(x) is Tensor]
    if tensors:
        check_capacity(tensors[0], numel(broadcast_shapes(*[x._shape for x in tensors])), result_dtype)
    base, power = (_widened(x, result_dtype) for x in operands)
    return pow(base, power, out=out)


def _widened(x: Any, result_dtype: dtypes.dtype) -> Any:
    if type(x) is Tensor:
        return x.to(result_dtype)
    if isinstance(x, (int, float, complex)):
        return complex(x) if result_dtype.is_complex else float(x)  # type: ignore[arg-type]
    return x
