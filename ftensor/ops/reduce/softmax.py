"""Sums of exponentials: logsumexp, softmax, log_softmax."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import arithmetic as errors_arithmetic
from ...execute.device_traits import revisits_rows
from ...execute.layers import SOFTMAX as LAYER
from ...execute.layers import is_traced, layer
from ...execute.output import new_like
from ...execute.pointwise import pointwise, write_result
from ...execute.reduce import fold, whole_softmax
from ...graph.fused import fused
from ...graph.fusion_group import CACHED_ROW_BYTES
from ...iterator.shape import normalize_dim, numel
from ...rows.catalogue import Entry, enter, op, register
from ...rows.op import Op, Promote, Reduce
from ...rows.spelling import named
from ..arguments import check_kind
from ..view.dims import view_as_real
from .fold import AMAX
from .reduction import check_arguments, dims_of, one_dim, reduced

# An infinite maximum is not subtracted: inf - inf would be NaN.
_CENTER = "(fabs(b) == K(INFINITY) ? K(0) : b)"
EXP_SUM = Reduce(
    "logsumexp",
    f"exp(a - {_CENTER})",
    "x + y",
    "K(0)",
    ("log(x)",),
    kinds="f",
    promote=Promote.UNROUNDED,
    second_input=Promote.UNROUNDED_REAL,
)
EXP_SUM_COMPLEX = Reduce(
    "logsumexp",
    "",
    "",
    "",
    ("ft_clog(x)",),
    complex_=(
        "ft_cexp(ft_cmake(a.re - (fabs(b.re) == K(INFINITY) ? K(0) : b.re), a.im))",
        "ft_cadd(x, y)",
        "ft_cmake(K(0), K(0))",
    ),
    kinds="c",
    promote=Promote.UNROUNDED,
    second_input=Promote.UNROUNDED_REAL,
)
UNCENTER = Op(
    "logsumexp",
    "input, largest",
    f"a + {_CENTER}",
    complex_="ft_cmake(a.re + (fabs(b.re) == K(INFINITY) ? K(0) : b.re), a.im)",
    float_only=True,
)
enter(__name__, EXP_SUM, EXP_SUM_COMPLEX, UNCENTER)


@op()
@fused
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of the sum of exponentials over `dim`, computed without overflow."""
    check_arguments("logsumexp", input, keepdim, None, out)
    if out is not None and out._dtype.kind not in "fc":
        raise errors_arithmetic.out_not_floating("logsumexp", out._dtype)
    if dim is None:
        raise errors.argument_type("logsumexp", "dim", "an int or a tuple of ints", dim)
    result_dtype = input._dtype if input._dtype.kind in "fc" else dtypes.get_default_dtype()
    dims = dims_of("logsumexp", dim, input.ndim)
    compute, real = result_dtype.compute, result_dtype.compute.to_real()
    largest = new_like(input, tuple([1] * input.ndim), real)
    operands = input
    if result_dtype.is_complex:
        operands = view_as_real(input).select(-1, 0)
    if 0 not in input._shape:
        largest = reduced(AMAX, operands, dims, True, real)
    else:
        largest.zero_()
    red = EXP_SUM_COMPLEX if result_dtype.is_complex else EXP_SUM
    total = fold(red, (input, largest), dims, keepdim, compute, (compute,))[0]
    if total.numel() == largest.numel():
        largest = largest._view(total._shape, total._strides, 0)
    else:
        largest = largest._view((), (), 0)
    result = pointwise(UNCENTER, (total, largest), (), total, True)
    if result_dtype is not compute and out is None:
        result = result.to(result_dtype)
    return write_result("logsumexp", out, result, cast=True)


SHIFTED_EXP = Reduce(
    "softmax", "exp(a - b)", "x + y", "K(0)", kinds="f", promote=Promote.UNROUNDED, second_input=Promote.UNROUNDED
)
LOG_EXP = Reduce(
    "log_softmax",
    "exp(a - b)",
    "x + y",
    "K(0)",
    ("log(x)",),
    kinds="f",
    promote=Promote.UNROUNDED,
    second_input=Promote.UNROUNDED,
)
LOG = Op("log_softmax", "input", "log(a)", float_only=True)
SOFTMAX = Op("softmax", "input, largest, total", "exp(a - b) / c", float_only=True)
LOG_SOFTMAX = Op("log_softmax", "input, largest, log_total", "(a - b) - c", float_only=True)
enter(__name__, SHIFTED_EXP, LOG_EXP, LOG, SOFTMAX, LOG_SOFTMAX)


def _softmax(row: Op, input: Any, dim: Any, requested: dtype | None, out: Tensor | None) -> Tensor:
    check_arguments(row.name, input, False, requested, out)
    dim = one_dim(row.name, dim)
    dim = normalize_dim(dim, input.ndim)
    requested = requested or input._dtype
    check_kind(row.name, requested, "f")
    if out is not None and out._dtype is not requested:
        raise errors.out_dtype(row.name, requested, out._dtype)
    if out is None and row is SOFTMAX and is_traced(input):
        return layer(LAYER, (input,), {"dim": dim, "dtype": requested}, lambda: softmaxed(row, input, dim, requested))
    return write_result(row.name, out, softmaxed(row, input, dim, requested))


def softmaxed(row: Op, input: Tensor, dim: int, result_dtype: dtype) -> Tensor:
    """Runs SOFTMAX or LOG_SOFTMAX along `dim`, counted from the front, with elements converted to
    `result_dtype`, a floating-point dtype; the result is contiguous."""
    # Elements are first rounded to a narrower dtype, as in torch.
    fits = input._dtype is result_dtype or (
        input._dtype.kind == "f" and dtypes.promote_types(input._dtype, result_dtype) is result_dtype
    )
    source = input if fits else input.to(result_dtype)
    # Along the last dim torch stores a logarithm's argument and value in the narrow dtype.
    last = dim == input.ndim - 1
    rounds_once = row is LOG_SOFTMAX and last and source._dtype is result_dtype is not result_dtype.compute
    if last and source._dtype is result_dtype:
        whole_row = whole_softmax(row.name, source)
        if whole_row is not None:
            return whole_row
    result = new_like(input, input._shape, result_dtype)
    if numel(input._shape):
        dims = (dim,) if input.ndim else ()
        largest = reduced(AMAX, source, dims, True, result_dtype.compute)
        if row is SOFTMAX and _keeps_terms(source, dim):
            terms = (source.to(result_dtype.compute) - largest).exp()
            return result.copy_(terms / terms.sum(dims, keepdim=True))
        red = SHIFTED_EXP if row is SOFTMAX or rounds_once else LOG_EXP
        sum_dtype = result_dtype if rounds_once else result_dtype.compute
        total = fold(red, (source, largest), dims, True, result_dtype.compute, (sum_dtype,))[0]
        if rounds_once:
            total = pointwise(LOG, (total,))
        pointwise(row, (source, largest, total), (), result)
    return result


def _keeps_terms(source: Tensor, dim: int) -> bool:
    row = (source._shape or (1,))[dim] * source._dtype.compute.itemsize
    return revisits_rows(source) and row <= CACHED_ROW_BYTES


@op()
@fused
def softmax(input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns exponentials along a dim, divided by their sum."""
    return _softmax(SOFTMAX, input, dim, dtype, out)


@op()
@fused
def log_softmax(input: Tensor, dim: int, dtype: dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns the logarithm of `softmax`."""
    return _softmax(LOG_SOFTMAX, input, dim, dtype, out)


for _call in (logsumexp, softmax):
    register(Entry(_call.__name__, _call, method=False, namespace="special"))


@op(name="log_softmax", namespace="special")
def _special(input: Tensor, dim: int, *, dtype: dtype | None = None) -> Tensor:
    """Returns the logarithm of `softmax`."""
    return _softmax(LOG_SOFTMAX, input, dim, dtype, None)


def _layer(call: Callable[..., Tensor], name: str, doc: str) -> Callable[..., Tensor]:
    """Returns the nn.functional form, whose default dim depends on the number of dims."""

    @op(namespace="nn.functional")
    @named(name, doc)
    def layer(input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: dtype | None = None) -> Tensor:
        if dim is None:
            check_arguments(name, input)
            warnings.warn(errors_arithmetic.implicit_dim(name), stacklevel=_stacklevel)
            dim = 0 if input.ndim in (0, 1, 3) else 1
        return call(input, dim, dtype)

    return layer


nn_softmax = _layer(softmax, "softmax", "Returns exp(input) divided by its sum along `dim`.")
nn_log_softmax = _layer(log_softmax, "log_softmax", "Returns the logarithm of `softmax`.")
