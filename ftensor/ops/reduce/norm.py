"""Norms and distances."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import reduce as errors_reduce
from ...execute.output import check_dtype
from ...execute.pointwise import pointwise
from ...execute.reduce import fold
from ...rows.catalogue import ENTRIES, enter, op
from ...rows.op import Op, Promote, Reduce
from .arguments import checked, count, dims_of

_ABS = "ft_cabs(a)"


def _norm(lift: str, complex_lift: str, combine: str, identity: str, finish: str) -> Reduce:
    complex_ = (complex_lift, combine, identity)
    return Reduce(
        "norm",
        lift,
        combine,
        identity,
        (finish,),
        complex_=complex_,
        state_complex=False,
        kinds="fc",
        promote=Promote.COMPLEX_TO_REAL,
        bare="h",
    )


NORM_0 = _norm("a != K(0) ? K(1) : K(0)", f"{_ABS} != K(0) ? K(1) : K(0)", "x + y", "K(0)", "x")
NORM_1 = _norm("fabs(a)", _ABS, "x + y", "K(0)", "x")
NORM_2 = _norm("a * a", "a.re * a.re + a.im * a.im", "x + y", "K(0)", "sqrt(x)")
NORM_HIGH = _norm("fabs(a)", _ABS, "ft_max(x, y)", "K(0)", "x")
NORM_LOW = _norm("fabs(a)", _ABS, "ft_min(x, y)", "K(INFINITY)", "x")
NORM_P = Reduce(
    "norm",
    "pow(fabs(a), p)",
    "x + y",
    "K(0)",
    ("pow(x, K(1) / p)",),
    complex_=("pow(ft_cabs(a), p)", "x + y", "K(0)"),
    state_complex=False,
    params=("p",),
    kinds="fc",
    promote=Promote.COMPLEX_TO_REAL,
    bare="h",
)
_ROWS = {0.0: NORM_0, 1.0: NORM_1, 2.0: NORM_2, math.inf: NORM_HIGH, -math.inf: NORM_LOW}
DIFFERENCE = Op("dist", "dist(input, other) -> Tensor", "a - b", complex_="ft_csub(a, b)", bare="h")
enter(__name__, NORM_0, NORM_1, NORM_2, NORM_HIGH, NORM_LOW, NORM_P, DIFFERENCE)


def _norm_of(input: Tensor, order: float, dim: Any, keepdim: bool, wanted: dtype | None, out: Tensor | None) -> Tensor:
    name = "linalg.vector_norm"
    d = input._dtype
    if d.kind not in "fc":
        raise errors.floating_only(name, d)
    if wanted is not None:
        if wanted.kind not in "fc":
            raise errors_reduce.norm_dtype(wanted, "floating point or complex")
        if wanted.is_complex != d.is_complex:
            raise errors_reduce.norm_dtype(wanted, "complex" if d.is_complex else "real")
        if dtypes.promote_types(d, wanted) is not wanted:
            raise errors_reduce.norm_narrows(d, wanted)
    dims = dims_of(name, dim, input.ndim)
    if (order < 0 or order == math.inf) and 0 in input._shape:
        if not dim and dim != 0:
            raise errors_reduce.empty_norm(order, input._shape, None)
        for k in dims:
            if not input._shape[k]:
                raise errors_reduce.empty_norm(order, input._shape, k)
    of = wanted or d
    red = _ROWS.get(order, NORM_P)
    if red not in (NORM_0, NORM_HIGH) and count(input._shape, dims) == 1:
        red = NORM_HIGH  # of one element: its size, without a power that could leave the range
    params = (order,) if red is NORM_P else ()
    result = of.to_real()
    if out is not None:
        check_dtype(name, out, result)
    return fold(red, (input,), dims, keepdim, of.compute, (result,), params, (out,))[0]


def _order(order: Any) -> float:
    if isinstance(order, Tensor):
        order = order.item()
    if isinstance(order, complex):
        raise errors_reduce.norm_order(order)
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
    """The norm of order `ord` (any number, inf or -inf; 0 counts what is not zero) of all elements
    or over `dim`. RuntimeError for integers.
    """
    checked("linalg.vector_norm", input, keepdim, dtype, out)
    return _norm_of(input, _order(ord), dim, keepdim, dtype, out)


def _norm_method(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: dtype | None = None
) -> Tensor:
    """The vector norm of order `p` of all elements or over `dim`; "fro" is the 2-norm."""
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
    """The vector norm of order `p` of all elements or over `dim`; "fro" is the 2-norm, "nuc" the
    sum of a matrix's singular values (see `linalg.matrix_norm`)."""
    checked("norm", input, keepdim, dtype, out)
    if isinstance(p, str) and p == "nuc":
        of_two = (-2, -1) if dim is None and input.ndim == 2 else dim
        result: Tensor = ENTRIES["linalg.matrix_norm"].call(input, p, of_two, keepdim, dtype=dtype, out=out)
        return result
    if isinstance(p, str) and p != "fro":
        raise errors_reduce.norm_order(p)
    order = 2.0 if p is None or isinstance(p, str) else _order(p)
    return _norm_of(input, order, dim, keepdim, dtype, out)


@op()
def dist(input: Tensor, other: Tensor, p: Any = 2) -> Tensor:
    """The norm of order `p` of all differences."""
    checked("dist", input)
    if not isinstance(other, Tensor):
        raise errors.not_a_tensor("dist", "other", other)
    return _norm_of(pointwise(DIFFERENCE, (input, other)), _order(p), None, False, None, None)
