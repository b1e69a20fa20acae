"""Norms, variance, standard deviation, counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import can_cast, dtype, float64
from ...errors import arithmetic as errors_arithmetic
from ...execute.device_traits import spares_double
from ...execute.output import check_dtype
from ...execute.pointwise import convert, pointwise
from ...execute.reduce import fold
from ...graph.fused import fused
from ...rows.catalogue import ENTRIES, enter, op
from ...rows.op import Op, Promote, Reduce
from ...rows.spelling import MISSING, written
from ..arguments import check_tensors
from ..bind import add_rows
from .fold import MEAN
from .reduction import check_arguments, dims_of, reduced, reduced_elements

_ABS = "ft_cabs(a)"


def _norm(
    lift: str, complex_lift: str, combine: str, identity: str, finish: str, params: tuple[str, ...] = ()
) -> Reduce:
    complex_ = (complex_lift, combine, identity)
    return Reduce(
        "norm", lift, combine, identity, (finish,), complex_=complex_, state_complex=False, params=params, kinds="fc",
        promote=Promote.COMPLEX_TO_REAL, bare="h",
    )  # fmt: skip


NORM_0 = _norm("a != K(0) ? K(1) : K(0)", f"{_ABS} != K(0) ? K(1) : K(0)", "x + y", "K(0)", "x")
NORM_1 = _norm("fabs(a)", _ABS, "x + y", "K(0)", "x")
NORM_2 = _norm("a * a", "a.re * a.re + a.im * a.im", "x + y", "K(0)", "sqrt(x)")
NORM_HIGH = _norm("fabs(a)", _ABS, "ft_max(x, y)", "K(0)", "x")
NORM_LOW = _norm("fabs(a)", _ABS, "ft_min(x, y)", "K(INFINITY)", "x")
NORM_P = _norm("pow(fabs(a), p)", f"pow({_ABS}, p)", "x + y", "K(0)", "pow(x, K(1) / p)", ("p",))
_ROWS = {0.0: NORM_0, 1.0: NORM_1, 2.0: NORM_2, math.inf: NORM_HIGH, -math.inf: NORM_LOW}
DIFFERENCE = Op("dist", "input, other", "a - b", complex_="ft_csub(a, b)", bare="h")
enter(__name__, NORM_0, NORM_1, NORM_2, NORM_HIGH, NORM_LOW, NORM_P, DIFFERENCE)


def _norm_of(
    input: Tensor, order: float, dim: Any, keepdim: bool, requested: dtype | None, out: Tensor | None
) -> Tensor:
    name = "linalg.vector_norm"
    d = input._dtype
    if d.kind not in "fc":
        raise errors.floating_only(name, d)
    if requested is not None:
        if requested.kind not in "fc":
            raise errors_arithmetic.norm_dtype(requested, "floating point or complex")
        if requested.is_complex != d.is_complex:
            raise errors_arithmetic.norm_dtype(requested, "complex" if d.is_complex else "real")
        if dtypes.promote_types(d, requested) is not requested:
            raise errors_arithmetic.norm_narrows(d, requested)
    dims = dims_of(name, dim, input.ndim)
    if (order < 0 or order == math.inf) and 0 in input._shape:
        if not dim and dim != 0:
            raise errors_arithmetic.empty_norm(order, input._shape, None)
        for k in dims:
            if not input._shape[k]:
                raise errors_arithmetic.empty_norm(order, input._shape, k)
    result_dtype = requested or d
    red = _ROWS.get(order, NORM_P)
    if red not in (NORM_0, NORM_HIGH) and reduced_elements(input._shape, dims) == 1:
        red = NORM_HIGH  # one element: its absolute value, because a power could overflow
    params = (order,) if red is NORM_P else ()
    result = result_dtype.to_real()
    if out is not None:
        check_dtype(name, out, result)
    return fold(red, (input,), dims, keepdim, result_dtype.compute, (result,), params, (out,))[0]


def _order(order: Any) -> float:
    if isinstance(order, Tensor):
        order = order.item()
    if isinstance(order, complex):
        raise errors_arithmetic.norm_order(order)
    if not isinstance(order, (int, float)):
        raise errors.argument_type("linalg.vector_norm", "ord", "a number", order)
    return float(order)


@op(namespace="linalg")
def vector_norm(
    input: Tensor,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the norm of order `ord` (any number, inf or -inf; 0 counts nonzero elements) of all
    elements or over `dim`. Raises RuntimeError for integers."""
    check_arguments("linalg.vector_norm", input, keepdim, dtype, out)
    return _norm_of(input, _order(ord), dim, keepdim, dtype, out)


def _norm_method(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: dtype | None = None
) -> Tensor:
    """Returns the vector norm of order `p` of all elements or over `dim`; "fro" is the 2-norm."""
    return norm(input, p, dim, keepdim, None, dtype)


@op(method=_norm_method)
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: dtype | None = None,
) -> Tensor:
    """Returns the vector norm of order `p` of all elements or over `dim`; "fro" is the 2-norm,
    "nuc" the sum of a matrix's singular values (see `linalg.matrix_norm`)."""
    check_arguments("norm", input, keepdim, dtype, out)
    if isinstance(p, str) and p == "nuc":
        of_two = (-2, -1) if dim is None and input.ndim == 2 else dim
        return ENTRIES["linalg.matrix_norm"].call(input, p, of_two, keepdim, dtype=dtype, out=out)
    if isinstance(p, str) and p != "fro":
        raise errors_arithmetic.norm_order(p)
    order = 2.0 if p is None or isinstance(p, str) else _order(p)
    return _norm_of(input, order, dim, keepdim, dtype, out)


@op()
def dist(input: Tensor, other: Tensor, p: Any = 2) -> Tensor:
    """Returns the norm of order `p` of all differences."""
    check_arguments("dist", input)
    check_tensors("dist", other=other)
    return _norm_of(pointwise(DIFFERENCE, (input, other)), _order(p), None, False, None, None)


_CSQUARE = ("(a.re - b.re) * (a.re - b.re) + (a.im - b.im) * (a.im - b.im)", "x + y", "K(0)")


def _squares(name: str, finish: str) -> Reduce:
    return Reduce(
        name,
        "(a - b) * (a - b)",
        "x + y",
        "K(0)",
        (finish,),
        complex_=_CSQUARE,
        state_complex=False,
        params=("n",),
        kinds="fc",
        promote=Promote.COMPLEX_TO_REAL,
        second_input=Promote.UNROUNDED,
    )


VAR, STD = _squares("var", "x / n"), _squares("std", "sqrt(x / n)")
enter(__name__, VAR, STD)


def _summed_in(input: Tensor) -> dtype:
    d = input._dtype
    return float64 if not d.is_complex and spares_double(input) else d.compute


def _dispersion(
    red: Reduce,
    name: str,
    input: Tensor,
    dim: Any,
    unbiased: Any,
    keepdim: Any,
    correction: Any,
    out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns (variance or deviation, mean); the mean has the compute dtype and keeps the dims."""
    if isinstance(dim, bool):  # the form with `unbiased` alone
        if unbiased is not MISSING or correction is not MISSING:
            raise errors_arithmetic.argument_unexpected(name, "unbiased", "twice")
        dim, unbiased = None, dim
    check_arguments(name, input, keepdim)
    if unbiased is not MISSING:
        if correction is not MISSING:
            raise errors_arithmetic.argument_unexpected(name, "correction", "beside `unbiased`")
        if not isinstance(unbiased, bool):
            raise errors.argument_type(name, "unbiased", "a bool", unbiased)
        correction = int(unbiased)
    elif correction is MISSING or correction is None:
        correction = 1
    elif not isinstance(correction, (int, float)):
        raise errors.argument_type(name, "correction", "a number", correction)
    d = input._dtype
    if d.kind not in "fc":
        raise errors.floating_only(name, d)
    dims = dims_of(name, dim, input.ndim)
    compute = _summed_in(input)
    mean = reduced(MEAN, input, dims, True, compute)
    n = max(0, reduced_elements(input._shape, dims) - correction)
    result = fold(red, (input, mean), dims, keepdim, compute, (d.to_real(),), (n,), (out,))[0]
    return result, mean


def _one(red: Reduce, input: Tensor, dim: Any, unbiased: Any, keepdim: Any, correction: Any, out: Any) -> Tensor:
    check_arguments(red.name, input, out=out)
    if out is not None and input._dtype.kind in "fc":
        if not can_cast(input._dtype.to_real(), out._dtype):
            raise errors.cannot_cast_result(red.name, input._dtype, out._dtype)
    return _dispersion(red, red.name, input, dim, unbiased, keepdim, correction, out)[0]


def _both(red: Reduce, input: Tensor, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> tuple[Tensor, Tensor]:
    name = red.name + "_mean"
    dispersion, mean = _dispersion(red, name, input, dim, unbiased, keepdim, correction)
    mean = convert(mean, input._dtype, mean._storage.device)
    return dispersion, mean._view(dispersion._shape, dispersion._strides, 0)


_OPTIONS = (
    "input: Tensor, dim: Any = None, unbiased: Any = MISSING, keepdim: bool = False, *, correction: Any = MISSING"
)


def _enter(red: Reduce, doc: str) -> Callable[..., tuple[Tensor, Tensor]]:
    """Registers a dispersion, and its form that returns the mean, too; returns the latter."""
    name, pair = red.name, "tuple[Tensor, Tensor]"
    scope: dict[str, Any] = {"__name__": __name__, "MISSING": MISSING, "red": red, "one": _one, "both": _both}
    call = "(red, input, dim, unbiased, keepdim, correction"
    op()(fused(written(name, f"{_OPTIONS}, out: Tensor | None = None", f"return one{call}, out)", doc, **scope)))
    doc = f"`{name}` and `mean` over the same dims."
    return op(method=False)(fused(written(f"{name}_mean", _OPTIONS, f"return both{call})", doc, pair, **scope)))


var_mean = _enter(
    VAR,
    """Returns the variance over `dim`: the mean squared distance from the mean, divided by n -
    correction (`unbiased=False` is `correction=0`). The variance of a complex tensor is real.
    Raises RuntimeError for integers.""",
)
_enter(STD, "Returns the standard deviation over `dim`: the square root of `var`.")


def moments(x: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Returns (mean squared distance from the mean, mean) over `dims`, which are kept, in the dtype
    of `x`, a compute dtype. Overflow of the squares is possible, as in torch's norms."""
    n = reduced_elements(x._shape, dims)
    if spares_double(x):  # and where multiplying costs no extra pass
        power_of_two = 2.0 ** n.bit_length()  # more than n, and exact as a factor
        mean = reduced(MEAN, x * (1 / power_of_two), dims, True, x._dtype) * power_of_two
    else:
        mean = reduced(MEAN, x, dims, True, x._dtype)
    return fold(VAR, (x, mean), dims, True, x._dtype, (x._dtype,), (n,), (None,))[0], mean


COUNT = Reduce(
    "count_nonzero",
    "a",
    "x + y",
    "K(0)",
    truth=True,
    promote=Promote.COUNT,
    kinds="buifc",
    bare="h",
    parameters="input, dim=None",
    doc="Returns the number of nonzero elements over `dim`.",
)
add_rows([COUNT], __name__)
