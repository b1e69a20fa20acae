"""Reductions with one row each, and reductions that return indices."""

from __future__ import annotations

from typing import Any

from ... import errors, return_types
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import arithmetic as errors_arithmetic
from ...execute.output import check_dtype
from ...execute.pointwise import pointwise, write_result
from ...rows.catalogue import enter, op
from ...rows.op import Dims, Op, Promote, Reduce
from ...rows.spelling import MISSING
from ..arguments import check_kind, check_tensors
from ..bind import add_rows
from ..view.layout import ints
from .reduction import check_arguments, check_not_empty, dims_of, is_int, reduce_call, reduced

_CSUM = ("a", "ft_cadd(x, y)", "ft_cmake(K(0), K(0))")


def _truth(name: str, combine: str, identity: str, doc: str) -> Reduce:
    return Reduce(name, "a", combine, identity, promote=Promote.TRUTH, kinds="buifc", dims=Dims.LISTED, doc=doc)


ANY = _truth("any", "x | y", "K(0)", "Returns True if any element over `dim` is nonzero.")
ALL = _truth("all", "x & y", "K(1)", "Returns True if all elements over `dim` are nonzero.")
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
    doc="Returns the sum over `dim`.",
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
    doc="Returns the sum over `dim`, with NaN as zero.",
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
    doc="Returns the product over `dim`.",
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
    refusal=errors_arithmetic.no_fractions,
    refuses_first=True,
    converts=True,
    doc="Returns the mean over `dim`; NaN without elements.",
)
_DIMS = "input, dim=(), keepdim=False, *, out=None"
AMAX = Reduce("amax", "a", "ft_max(x, y)", "FT_LOWEST", nothing=RuntimeError, parameters=_DIMS,
              doc="Returns the largest element over `dim`; NaN if there is one.")  # fmt: skip
AMIN = Reduce("amin", "a", "ft_min(x, y)", "FT_HIGHEST", nothing=RuntimeError, parameters=_DIMS,
              doc="Returns the smallest element over `dim`; NaN if there is one.")  # fmt: skip
enter(__name__, SUM, NANSUM, PROD, MEAN, MEAN_COMPLEX)
add_rows([SUM, NANSUM, PROD, MEAN, AMAX, AMIN, ANY, ALL], __name__)

NOT_NAN = Op("nanmean", "input", "a == a", Promote.ALWAYS_BOOL)
QUOTIENT = Op("nanmean", "input, n", "a / b", Promote.INT_TO_FLOAT, complex_="ft_cmake(a.re / b.re, a.im / b.re)")


@op(rows=(NOT_NAN, QUOTIENT))
def nanmean(
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """Returns the mean of the elements that are not NaN. Raises RuntimeError for integers and
    complex tensors."""
    check_arguments("nanmean", input, keepdim, dtype, out)
    if input._dtype.kind not in "fc":
        raise errors.floating_only("nanmean", input._dtype)
    if input._dtype.is_complex:
        raise errors.dtype_not_supported("nanmean", input._dtype)
    dims = dims_of("nanmean", dim, input.ndim)
    result_dtype = dtype or input._dtype
    if result_dtype.kind not in "fc":
        raise errors_arithmetic.no_fractions("nanmean", result_dtype)
    total = reduced(NANSUM if result_dtype.kind == "f" else SUM, input, dims, keepdim, result_dtype)
    count = reduced(SUM, pointwise(NOT_NAN, (input,)), dims, keepdim)
    return pointwise(QUOTIENT, (total, count), (), out)


@op()
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Any = None) -> tuple[Tensor, Tensor]:
    """Returns the smallest and the largest element, of all or along one dim."""
    check_arguments("aminmax", input, keepdim)
    dims = dims_of("aminmax", dim, input.ndim, Dims.ONE)
    check_not_empty("aminmax", input, dims, dim)
    check_kind("aminmax", input._dtype, "buif")
    for target in out or ():
        check_dtype("aminmax", target, input._dtype)
    pairs = zip((AMIN, AMAX), out or (None, None), strict=True)
    results = [reduced(row, input, dims, keepdim, out=target) for row, target in pairs]
    return return_types.aminmax(results) if out is None else return_types.aminmax_out(results)


@op(function=False)
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """Sums over the dims that broadcasting from this size would add or expand. Raises RuntimeError
    if the size doesn't broadcast to this tensor's shape."""
    if not size:
        raise errors.missing_argument("sum_to_size", "size")
    target_shape = ints(size[0], size[1:], "sum_to_size", "size")
    shape, leading = input._shape, input.ndim - len(target_shape)
    if leading < 0 or [n for n, dim_size in zip(target_shape, shape[leading:]) if n not in (1, dim_size)]:
        raise errors_arithmetic.not_summable_to(shape, target_shape)
    dims = tuple([d for d, n in enumerate(shape) if d < leading or (target_shape[d - leading] == 1 and n != 1)])
    if target_shape and not dims:
        return input
    sums = reduced(SUM, input, dims, True)
    return sums._view(target_shape, sums._strides[leading:], 0)


# NaN wins over every number; among equal elements the first wins.
_SAME = "y == x || (y != y && x != x)"
_PLACE = (
    "Returns the index of the {0} element over `dim`, or of all in row-major order; of the first one where\n"
    "there are several. NaN counts as the {0}."
)


def _located(name: str, sign: str, identity: str, finish: tuple[str, ...], **fields: Any) -> Reduce:
    return Reduce(
        name, "a", _SAME, identity, finish, arg=True, beats=f"y {sign} x || (y != y && x == x)", dims=Dims.ONE,
        refusal=errors.dtype_not_supported, **fields,
    )  # fmt: skip


def _index_of(name: str, sign: str, identity: str, word: str) -> Reduce:
    fields = {"kinds": "uif", "nothing": IndexError, "refuses_first": True, "doc": _PLACE.format(word)}
    return _located(name, sign, identity, ("i",), **fields)


MAX = _located("max", ">", "FT_LOWEST", ("x", "i"), nothing=RuntimeError)
MIN = _located("min", "<", "FT_HIGHEST", ("x", "i"), nothing=RuntimeError)
ARGMAX = _index_of("argmax", ">", "FT_LOWEST", "largest")
ARGMIN = _index_of("argmin", "<", "FT_HIGHEST", "smallest")


def _extreme(
    row_along_dim: Reduce, row_of_all: Reduce, input: Tensor, dim: Any, keepdim: Any, other: Any, out: Any
) -> Any:
    """Implements max and min in their three forms: of all elements, along a dim, of two tensors."""
    name = row_along_dim.name
    if isinstance(dim, Tensor):
        if other is not MISSING:
            raise errors_arithmetic.argument_unexpected(name, "other", "twice")
        dim, other = MISSING, dim
    if other is not MISSING:
        if dim is not MISSING or keepdim is not MISSING:
            raise errors_arithmetic.argument_unexpected(name, "dim", "beside another tensor")
        check_arguments(name, input)
        check_tensors(name, other=other)
        return (input.maximum if name == "max" else input.minimum)(other, out=out)
    if dim is MISSING:
        if keepdim is not MISSING:
            raise errors.missing_argument(name, "dim")
        check_arguments(name, input, False, None, out)
        dims = dims_of(name, None, input.ndim)
        check_not_empty(name, input, dims, None)
        check_kind(name, input._dtype, "buif")
        return write_result(name, out, reduced(row_of_all, input, dims), cast=True)
    if not is_int(dim):
        raise errors.argument_type(name, "dim", "an int", dim)
    return reduce_call(row_along_dim, input, dim, keepdim is not MISSING and keepdim, None, out)


def _forms(name: str) -> tuple[str, ...]:
    return (
        f"{name}(input, *, out=None) -> Tensor",
        f"{name}(input, dim, keepdim=False, *, out=None) -> (values, indices)",
        f"{name}(input, other, *, out=None) -> Tensor",
    )


@op(rows=(MAX,), forms=_forms("max"))
def max(input: Tensor, dim: Any = MISSING, keepdim: Any = MISSING, *, other: Any = MISSING, out: Any = None) -> Any:
    """Returns the largest element of all; the largest along a dim, with its first index; or the
    larger of two tensors' elements, like `maximum`. A NaN is the largest."""
    return _extreme(MAX, AMAX, input, dim, keepdim, other, out)


@op(rows=(MIN,), forms=_forms("min"))
def min(input: Tensor, dim: Any = MISSING, keepdim: Any = MISSING, *, other: Any = MISSING, out: Any = None) -> Any:
    """Returns the smallest element of all; the smallest along a dim, with its first index; or the
    smaller of two tensors' elements, like `minimum`. A NaN is the smallest."""
    return _extreme(MIN, AMIN, input, dim, keepdim, other, out)


add_rows([ARGMAX, ARGMIN], __name__)
