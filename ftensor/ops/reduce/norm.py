"""Norms, distances and the exponential sums: logsumexp, softmax, log_softmax."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import reduce as errors_reduce
from ...execute.copy import into
from ...execute.memory import new_like
from ...execute.pointwise import pointwise
from ...execute.reduce import fold
from ...iterator.shape import normalize_dim, numel
from ...rows.catalogue import Entry, enter, op, register
from ...rows.op import Op, Promote, Reduce
from .arguments import checked, count, dims_of, numpy_names, one_dim
from .fold import AMAX
from .reduction import reduced

_ABS = "ft_cabs(a)"


def _norm(lift: str, complex_lift: str, combine: str, identity: str, finish: str) -> Reduce:
    complex_ = (complex_lift, combine, identity)
    return Reduce(
        "norm", lift, combine, identity, (finish,), complex_=complex_, state_complex=False,
        kinds="fc", promote=Promote.COMPLEX_TO_REAL,
    )  # fmt: skip


NORM_0 = _norm("a != K(0) ? K(1) : K(0)", f"{_ABS} != K(0) ? K(1) : K(0)", "x + y", "K(0)", "x")
NORM_1 = _norm("fabs(a)", _ABS, "x + y", "K(0)", "x")
NORM_2 = _norm("a * a", "a.re * a.re + a.im * a.im", "x + y", "K(0)", "sqrt(x)")
NORM_HIGH = _norm("fabs(a)", _ABS, "ft_max(x, y)", "K(0)", "x")
NORM_LOW = _norm("fabs(a)", _ABS, "ft_min(x, y)", "K(INFINITY)", "x")
NORM_P = Reduce(
    "norm", "pow(fabs(a), p)", "x + y", "K(0)", ("pow(x, K(1) / p)",),
    complex_=("pow(ft_cabs(a), p)", "x + y", "K(0)"), state_complex=False, params=("p",),
    kinds="fc", promote=Promote.COMPLEX_TO_REAL,
)  # fmt: skip
_ROWS = {0.0: NORM_0, 1.0: NORM_1, 2.0: NORM_2, math.inf: NORM_HIGH, -math.inf: NORM_LOW}
DIFFERENCE = Op("dist", "dist(input, other) -> Tensor", "a - b", complex_="ft_csub(a, b)")
enter(__name__, NORM_0, NORM_1, NORM_2, NORM_HIGH, NORM_LOW, NORM_P, DIFFERENCE)


def _norm_of(
    input: Tensor, order: float, dim: Any, keepdim: bool, wanted: dtype | None, out: Tensor | None
) -> Tensor:
    name = "linalg.vector_norm"
    d = input._dtype
    if d.kind not in "fc":
        raise errors_reduce.floating_only(name, d)
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
    made = fold(red, (input,), dims, keepdim, of.compute, (of.to_real(),), params)[0]
    return into(name, out, made)


def _order(order: Any) -> float:
    if isinstance(order, Tensor):
        order = order.item()
    if isinstance(order, complex):
        raise errors_reduce.norm_order(order)
    if not isinstance(order, (int, float)):
        raise errors.argument_type("linalg.vector_norm", "ord", "a number", order)
    return float(order)


@op(namespace="linalg")
@numpy_names
def vector_norm(
    input: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *,
    dtype: dtype | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The norm of order `ord` (any number, inf or -inf; 0 counts what is not zero) of all elements
    or over `dim`. RuntimeError for integers.
    """
    checked("linalg.vector_norm", input, keepdim, dtype, out)
    return _norm_of(input, _order(ord), dim, keepdim, dtype, out)


@op()
@numpy_names
def norm(
    input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False,
    dtype: dtype | None = None, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The vector norm of order `p` of all elements or over `dim`; "fro" is the 2-norm."""
    checked("norm", input, keepdim, dtype, out)
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


# An infinite largest element is left where it is: inf - inf would be NaN.
_CENTER = "(fabs(b) == K(INFINITY) ? K(0) : b)"
EXP_SUM = Reduce(
    "logsumexp", f"exp(a - {_CENTER})", "x + y", "K(0)", ("log(x)",), kinds="f",
    promote=Promote.UNROUNDED, beside=Promote.UNROUNDED_REAL,
)  # fmt: skip
EXP_SUM_COMPLEX = Reduce(
    "logsumexp", "", "", "", ("ft_clog(x)",),
    complex_=(
        "ft_cexp(ft_cmake(a.re - (fabs(b.re) == K(INFINITY) ? K(0) : b.re), a.im))",
        "ft_cadd(x, y)", "ft_cmake(K(0), K(0))",
    ),
    kinds="c", promote=Promote.UNROUNDED, beside=Promote.UNROUNDED_REAL,
)  # fmt: skip
UNCENTER = Op(
    "logsumexp", "logsumexp(input, largest) -> Tensor", f"a + {_CENTER}",
    complex_="ft_cmake(a.re + (fabs(b.re) == K(INFINITY) ? K(0) : b.re), a.im)",
    float_only=True,
)  # fmt: skip
enter(__name__, EXP_SUM, EXP_SUM_COMPLEX, UNCENTER)


@op()
@numpy_names
def logsumexp(
    input: Tensor, dim: Any, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The logarithm of the sum of exponentials over `dim`, without overflow in between."""
    checked("logsumexp", input, keepdim, None, out)
    if out is not None and out._dtype.kind not in "fc":
        raise errors_reduce.out_not_floating("logsumexp", out._dtype)
    if dim is None:
        raise errors.argument_type("logsumexp", "dim", "an int or a tuple of ints", dim)
    of = input._dtype if input._dtype.kind in "fc" else dtypes.get_default_dtype()
    dims = dims_of("logsumexp", dim, input.ndim)
    compute, real = of.compute, of.compute.to_real()
    largest = new_like(input, tuple([1] * input.ndim), real)
    parts = input
    if of.is_complex:
        from ..view.complex import view_as_real

        parts = view_as_real(input).select(-1, 0)
    if 0 not in input._shape:
        largest = reduced(AMAX, parts, dims, True, real)
    else:
        largest.zero_()
    red = EXP_SUM_COMPLEX if of.is_complex else EXP_SUM
    total = fold(red, (input, largest), dims, keepdim, compute, (compute,))[0]
    if total.numel() == largest.numel():
        largest = largest._view(total._shape, total._strides, 0)
    else:
        largest = largest._view((), (), 0)
    made = pointwise(UNCENTER, (total, largest), (), total, True)
    if of is not compute and out is None:
        made = made.to(of)
    return into("logsumexp", out, made, cast=True)


SHIFTED_EXP = Reduce(
    "softmax", "exp(a - b)", "x + y", "K(0)", kinds="f",
    promote=Promote.UNROUNDED, beside=Promote.UNROUNDED,
)  # fmt: skip
LOG_EXP = Reduce(
    "log_softmax", "exp(a - b)", "x + y", "K(0)", ("log(x)",), kinds="f",
    promote=Promote.UNROUNDED, beside=Promote.UNROUNDED,
)  # fmt: skip
LOG = Op("log_softmax", "log(input) -> Tensor", "log(a)", float_only=True)
SOFTMAX = Op(
    "softmax", "softmax(input, largest, total) -> Tensor", "exp(a - b) / c", float_only=True
)
LOG_SOFTMAX = Op(
    "log_softmax", "log_softmax(input, largest, log_total) -> Tensor", "(a - b) - c",
    float_only=True,
)  # fmt: skip
enter(__name__, SHIFTED_EXP, LOG_EXP, LOG, SOFTMAX, LOG_SOFTMAX)


def _softmax(row: Op, input: Any, dim: Any, of: dtype | None, out: Tensor | None) -> Tensor:
    checked(row.name, input, False, of, out)
    dim = one_dim(row.name, dim)
    dim = normalize_dim(dim, input.ndim)
    of = of or input._dtype
    if of.kind != "f":
        raise errors.not_implemented_for(row.name, of)
    if out is not None and out._dtype is not of:
        raise errors.out_dtype(row.name, of, out._dtype)
    made = new_like(input, input._shape, of)
    if numel(input._shape):
        dims = (dim,) if input.ndim else ()
        source = input if input._dtype.kind == "f" else input.to(of)
        largest = reduced(AMAX, source, dims, True, of.compute)
        # Along the last dim torch keeps a logarithm's argument and value in the narrow dtype.
        last = dim == input.ndim - 1
        narrow = row is LOG_SOFTMAX and last and input._dtype is of is not of.compute
        red = SHIFTED_EXP if row is SOFTMAX or narrow else LOG_EXP
        held = of if narrow else of.compute
        total = fold(red, (source, largest), dims, True, of.compute, (held,))[0]
        if narrow:
            total = pointwise(LOG, (total,))
        pointwise(row, (source, largest, total), (), made)
    return into(row.name, out, made)


@op()
@numpy_names
def softmax(
    input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Exponentials along a dim, divided by their sum."""
    return _softmax(SOFTMAX, input, dim, dtype, out)


@op()
@numpy_names
def log_softmax(
    input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The logarithm of `softmax`."""
    return _softmax(LOG_SOFTMAX, input, dim, dtype, out)


for _call in (logsumexp, softmax, log_softmax):
    register(Entry(_call.__name__, _call, method=False, namespace="special"))


def _layer(call: Any, name: str, doc: str) -> None:
    """The nn.functional form, whose dim follows from the number of dims where it is left out."""

    def layer(
        input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: dtype | None = None
    ) -> Tensor:
        if dim is None:
            checked(name, input)
            warnings.warn(errors_reduce.implicit_dim(name), stacklevel=_stacklevel)
            dim = 0 if input.ndim in (0, 1, 3) else 1
        made: Tensor = call(input, dim, dtype)
        return made

    layer.__name__ = layer.__qualname__ = name
    layer.__doc__ = doc
    op(namespace="nn.functional")(layer)


_layer(softmax, "softmax", "Exponentials along a dim, divided by their sum.")
_layer(log_softmax, "log_softmax", "The logarithm of `softmax`.")
