"""Reductions that are one row each, and what is made of them: nanmean, aminmax, sum_to_size."""

from __future__ import annotations

from typing import Any

from ... import errors, return_types
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import reduce as errors_reduce
from ...execute.output import check_dtype
from ...execute.pointwise import pointwise
from ...rows.catalogue import enter, op
from ...rows.op import Dims, Op, Promote, Reduce
from ..bind import add_rows
from ..view.arguments import ints
from .arguments import check_not_empty, checked, dims_of
from .reduction import reduced

_CSUM = ("a", "ft_cadd(x, y)", "ft_cmake(K(0), K(0))")
ANY = Reduce(
    "any",
    "a",
    "x | y",
    "K(0)",
    promote=Promote.TRUTH,
    kinds="buifc",
    dims=Dims.LISTED,
    doc="Whether any element over `dim` is not zero.",
)
ALL = Reduce(
    "all",
    "a",
    "x & y",
    "K(1)",
    promote=Promote.TRUTH,
    kinds="buifc",
    dims=Dims.LISTED,
    doc="Whether all elements over `dim` are not zero.",
)
SUM = Reduce(
    "sum",
    "a",
    "x + y",
    "K(0)",
    complex_=_CSUM,
    kinds="buifc",
    instead={"b": ANY},
    promote=Promote.INT_TO_LONG,
    converts=True,
    doc="The sum over `dim`.",
)
NANSUM = Reduce(
    "nansum",
    "a != a ? K(0) : a",
    "x + y",
    "K(0)",
    kinds="f",
    instead={"b": ANY, "u": SUM, "i": SUM},
    refusal=errors.dtype_not_supported,
    promote=Promote.INT_TO_LONG,
    converts=True,
    doc="The sum over `dim`, NaN counted as zero.",
)
PROD = Reduce(
    "prod",
    "a",
    "x * y",
    "K(1)",
    complex_=("a", "ft_cmul(x, y)", "ft_cmake(K(1), K(0))"),
    kinds="buifc",
    instead={"b": ALL},
    dims=Dims.ONE,
    promote=Promote.INT_TO_LONG,
    converts=True,
    doc="The product over `dim`.",
)
MEAN_COMPLEX = Reduce("mean", "", "", "", ("ft_cmake(x.re / n, x.im / n)",), complex_=_CSUM, params=("n",), kinds="c")
MEAN = Reduce(
    "mean",
    "a",
    "x + y",
    "K(0)",
    ("x / n",),
    params=("n",),
    kinds="f",
    instead={"c": MEAN_COMPLEX},
    refusal=errors_reduce.no_fractions,
    refuses_first=True,
    converts=True,
    doc="The mean over `dim`; NaN where there is nothing.",
)
AMAX = Reduce(
    "amax",
    "a",
    "ft_max(x, y)",
    "FT_LOWEST",
    nothing=RuntimeError,
    signature="amax(input, dim=(), keepdim=False, *, out=None)",
    doc="The largest element over `dim`; NaN where there is one.",
)
AMIN = Reduce(
    "amin",
    "a",
    "ft_min(x, y)",
    "FT_HIGHEST",
    nothing=RuntimeError,
    signature="amin(input, dim=(), keepdim=False, *, out=None)",
    doc="The smallest element over `dim`; NaN where there is one.",
)
enter(__name__, SUM, NANSUM, PROD, MEAN, MEAN_COMPLEX)
add_rows([SUM, NANSUM, PROD, MEAN, AMAX, AMIN, ANY, ALL], __name__)

NOT_NAN = Op("nanmean", "nanmean(input) -> Tensor", "a == a", Promote.ALWAYS_BOOL)
QUOTIENT = Op(
    "nanmean",
    "nanmean(input, n) -> Tensor",
    "a / b",
    Promote.INT_TO_FLOAT,
    complex_="ft_cmake(a.re / b.re, a.im / b.re)",
)


@op(rows=(NOT_NAN, QUOTIENT))
def nanmean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """The mean of the elements that are not NaN. RuntimeError for integers and complex tensors."""
    checked("nanmean", input, keepdim, dtype, out)
    if input._dtype.kind not in "fc":
        raise errors.floating_only("nanmean", input._dtype)
    if input._dtype.is_complex:
        raise errors.dtype_not_supported("nanmean", input._dtype)
    dims = dims_of("nanmean", dim, input.ndim)
    of = dtype or input._dtype
    if of.kind not in "fc":
        raise errors_reduce.no_fractions("nanmean", of)
    total = reduced(NANSUM if of.kind == "f" else SUM, input, dims, keepdim, of)
    there = reduced(SUM, pointwise(NOT_NAN, (input,)), dims, keepdim)
    return pointwise(QUOTIENT, (total, there), (), out)


@op()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """The smallest and the largest element, of all or along one dim."""
    checked("aminmax", input, keepdim)
    dims = dims_of("aminmax", dim, input.ndim, Dims.ONE)
    check_not_empty("aminmax", input, dims, dim)
    if input._dtype.is_complex:
        raise errors.not_implemented_for("aminmax", input._dtype)
    for one in out or ():
        check_dtype("aminmax", one, input._dtype)
    pairs = zip((AMIN, AMAX), out or (None, None), strict=True)
    results = [reduced(row, input, dims, keepdim, out=one) for row, one in pairs]
    return return_types.aminmax(results) if out is None else return_types.aminmax_out(results)


@op(function=False)
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """The sum over the dims that broadcasting a tensor of this size would have made or stretched.
    RuntimeError when it does not broadcast to this tensor's shape.
    """
    if not size:
        raise errors.missing_argument("sum_to_size", "size")
    wanted = ints(size[0], size[1:], "sum_to_size", "size")
    shape, lead = input._shape, input.ndim - len(wanted)
    if lead < 0 or [n for n, have in zip(wanted, shape[lead:]) if n not in (1, have)]:
        raise errors_reduce.not_summable_to(shape, wanted)
    dims = tuple([d for d, n in enumerate(shape) if d < lead or (wanted[d - lead] == 1 and n != 1)])
    if wanted and not dims:
        return input
    sums = reduced(SUM, input, dims, True)
    return sums._view(wanted, sums._strides[lead:], 0)
