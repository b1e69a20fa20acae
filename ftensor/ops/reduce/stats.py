"""Statistics: variance and standard deviation in two passes over the elements, counts."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import can_cast, dtype, float64
from ...errors import reduce as errors_reduce
from ...execute.choices import spares_double
from ...execute.copy import converted
from ...execute.reduce import fold
from ...graph.fused import fused
from ...rows.catalogue import enter, op
from ...rows.op import Promote, Reduce
from ...rows.spelling import MISSING
from ..bind import add_rows
from .arguments import checked, count, dims_of
from .fold import MEAN
from .reduction import reduced

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
        beside=Promote.UNROUNDED,
    )


VAR, STD = _squares("var", "x / n"), _squares("std", "sqrt(x / n)")
enter(__name__, VAR, STD)


def _summed_in(input: Tensor) -> dtype:
    """float64 for real numbers where the device has it to spare, as torch does: squares leave
    float32's range."""
    d = input._dtype
    return float64 if not d.is_complex and spares_double(input) else d.compute


def _spread(
    red: Reduce,
    name: str,
    input: Tensor,
    dim: Any,
    unbiased: Any,
    keepdim: Any,
    correction: Any,
    out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """(variance or deviation, mean); the mean in the dtype that is computed in, dims kept."""
    if isinstance(dim, bool):  # the form with `unbiased` alone
        if unbiased is not MISSING or correction is not MISSING:
            raise errors_reduce.argument_unexpected(name, "unbiased", "twice")
        dim, unbiased = None, dim
    checked(name, input, keepdim)
    if unbiased is not MISSING:
        if correction is not MISSING:
            raise errors_reduce.argument_unexpected(name, "correction", "beside `unbiased`")
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
    n = max(0, count(input._shape, dims) - correction)
    spread = fold(red, (input, mean), dims, keepdim, compute, (d.to_real(),), (n,), (out,))[0]
    return spread, mean


def _one(red: Reduce, input: Tensor, dim: Any, unbiased: Any, keepdim: Any, correction: Any, out: Any) -> Tensor:
    checked(red.name, input, out=out)
    if out is not None and input._dtype.kind in "fc":
        if not can_cast(input._dtype.to_real(), out._dtype):
            raise errors.cannot_cast_result(red.name, input._dtype, out._dtype)
    return _spread(red, red.name, input, dim, unbiased, keepdim, correction, out)[0]


def _both(red: Reduce, input: Tensor, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> tuple[Tensor, Tensor]:
    name = red.name + "_mean"
    spread, mean = _spread(red, name, input, dim, unbiased, keepdim, correction)
    mean = converted(mean, input._dtype, mean._storage.device)
    return spread, mean._view(spread._shape, spread._strides, 0)


@op()
@fused
def var(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = MISSING,
    keepdim: bool = False,
    *,
    correction: Any = MISSING,
    out: Tensor | None = None,
) -> Tensor:
    """The variance over `dim`: the mean square distance from the mean, divided by n - correction
    (`unbiased=False` is `correction=0`). A complex tensor's is real. RuntimeError for integers.
    """
    return _one(VAR, input, dim, unbiased, keepdim, correction, out)


@op()
@fused
def std(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = MISSING,
    keepdim: bool = False,
    *,
    correction: Any = MISSING,
    out: Tensor | None = None,
) -> Tensor:
    """The standard deviation over `dim`: the square root of `var`."""
    return _one(STD, input, dim, unbiased, keepdim, correction, out)


@op(method=False)
@fused
def var_mean(
    input: Tensor, dim: Any = None, unbiased: Any = MISSING, keepdim: bool = False, *, correction: Any = MISSING
) -> tuple[Tensor, Tensor]:
    """`var` and `mean` over the same dims."""
    return _both(VAR, input, dim, unbiased, keepdim, correction)


@op(method=False)
@fused
def std_mean(
    input: Tensor, dim: Any = None, unbiased: Any = MISSING, keepdim: bool = False, *, correction: Any = MISSING
) -> tuple[Tensor, Tensor]:
    """`std` and `mean` over the same dims."""
    return _both(STD, input, dim, unbiased, keepdim, correction)


def moments(x: Tensor, dims: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """(mean square distance from the mean, mean) over dims, which are kept, in the dtype of `x`,
    one that is computed in: only squares leave its range, as those of torch's norms do."""
    n = count(x._shape, dims)
    if spares_double(x):  # where a factor costs nothing, too: no pass of its own
        whole = 2.0 ** n.bit_length()  # more than n, and exact as a factor
        mean = reduced(MEAN, x * (1 / whole), dims, True, x._dtype) * whole
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
    signature="count_nonzero(input, dim=None)",
    doc="How many elements over `dim` are not zero.",
)
add_rows([COUNT], __name__)
