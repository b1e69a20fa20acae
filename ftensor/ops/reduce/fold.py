"""Reductions that fold to one value: sums, products, means, extremes."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors, return_types
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import reduce as errors_reduce
from ...execute.pointwise import pointwise
from ...execute.reduce import fold
from ...iterator.shape import Ints
from ...rows.catalogue import enter, op
from ...rows.op import Op, Promote, Reduce
from ..view.arguments import ints
from .arguments import checked, count, into, is_int, numpy_names, one_dim, some_dims

_CSUM = ("a", "ft_cadd(x, y)", "ft_cmake(K(0), K(0))")
SUM = Reduce("sum", "a", "x + y", "K(0)", complex_=_CSUM)
NANSUM = Reduce("nansum", "a != a ? K(0) : a", "x + y", "K(0)")
PROD = Reduce("prod", "a", "x * y", "K(1)", complex_=("a", "ft_cmul(x, y)", "ft_cmake(K(1), K(0))"))
MEAN = Reduce("mean", "a", "x + y", "K(0)", ("x / n",), params=("n",))
MEAN_COMPLEX = Reduce(
    "mean", "", "", "", ("ft_cmake(x.re / n, x.im / n)",), complex_=_CSUM, params=("n",)
)
AMAX = Reduce("amax", "a", "ft_max(x, y)", "FT_LOWEST")
AMIN = Reduce("amin", "a", "ft_min(x, y)", "FT_HIGHEST")
ANY = Reduce("any", "a", "x | y", "K(0)")
ALL = Reduce("all", "a", "x & y", "K(1)")
NOT_NAN = Op("nanmean", "nanmean(input) -> Tensor", "a == a", Promote.ALWAYS_BOOL)
QUOTIENT = Op(
    "nanmean", "nanmean(input, n) -> Tensor", "a / b", Promote.INT_TO_FLOAT,
    complex_="ft_cmake(a.re / b.re, a.im / b.re)",
)  # fmt: skip
enter(
    __name__, *(SUM, NANSUM, PROD, MEAN, MEAN_COMPLEX), *(AMAX, AMIN, ANY, ALL), NOT_NAN, QUOTIENT
)

Dims = Any  # an int, a tuple or list of ints, or None


def fold_as(
    red: Reduce, input: Tensor, dims: Ints, keepdim: bool, of: dtype, params: tuple[Any, ...] = ()
) -> Tensor:
    """A fold computed and returned in dtype `of`; bool knows only truth."""
    if of.kind == "b" and red in (SUM, NANSUM):
        red = ANY
    elif of.kind == "b" and red is PROD:
        red = ALL
    return fold(red, (input,), dims, keepdim, of.compute, (of,), params)[0]


def _sum_dtype(name: str, input: Tensor, wanted: dtype | None, out: Tensor | None) -> dtype:
    """What a sum is computed in and returned as: asked for, else `out`'s, else int64 for ints."""
    if wanted is not None:
        if out is not None and out._dtype is not wanted:
            raise errors_reduce.out_dtype(name, out._dtype, wanted)
        return wanted
    if out is not None:
        return out._dtype
    return dtypes.int64 if input._dtype.kind in "bui" else input._dtype


@op()
@numpy_names
def sum(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The sum over `dim` (an int, several, or None for all). Integers are summed as int64 unless
    `dtype` says otherwise. IndexError for a dim that is not there.
    """
    checked("sum", input, keepdim, dtype, out)
    dims = some_dims("sum", dim, input.ndim)
    of = _sum_dtype("sum", input, dtype, out)
    return into("sum", fold_as(SUM, input, dims, keepdim, of), out)


@op()
@numpy_names
def nansum(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """As `sum`, with NaN counted as zero. RuntimeError for complex tensors."""
    checked("nansum", input, keepdim, dtype, out)
    if input._dtype.is_complex:
        raise errors_reduce.not_for("nansum", input._dtype)
    dims = some_dims("nansum", dim, input.ndim)
    of = _sum_dtype("nansum", input, dtype, out)
    red = SUM if input._dtype.kind in "bui" or of.kind != "f" else NANSUM
    return into("nansum", fold_as(red, input, dims, keepdim, of), out)


@op()
@numpy_names
def prod(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The product of all elements, or of those along one dim. Integers as in `sum`."""
    checked("prod", input, keepdim, dtype, out)
    dims = some_dims("prod", None if dim is None else one_dim("prod", dim), input.ndim)
    of = _sum_dtype("prod", input, dtype, out)
    return into("prod", fold_as(PROD, input, dims, keepdim, of), out)


def mean_of(input: Tensor, dims: Ints, keepdim: bool, of: dtype) -> Tensor:
    """The mean in dtype `of`; 0 / 0 where there is nothing."""
    red = MEAN_COMPLEX if of.is_complex else MEAN
    return fold_as(red, input, dims, keepdim, of, (count(input._shape, dims),))


@op()
@numpy_names
def mean(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The mean over `dim` (an int, several, or None for all). RuntimeError for integers, unless
    `dtype` is floating point or complex.
    """
    checked("mean", input, keepdim, dtype, out)
    of = dtype or input._dtype
    if of.kind not in "fc":
        raise errors_reduce.no_mean_of(of, dtype is not None)
    if out is not None and dtype is None and out._dtype.kind in "fc":
        of = out._dtype
    dims = some_dims("mean", dim, input.ndim)
    return into("mean", mean_of(input, dims, keepdim, of), out, exact=True)


@op()
@numpy_names
def nanmean(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of the elements that are not NaN. RuntimeError for integers and complex tensors."""
    checked("nanmean", input, keepdim, dtype, out)
    if input._dtype.kind not in "fc":
        raise errors_reduce.floating_only("nanmean", input._dtype)
    if input._dtype.is_complex:
        raise errors_reduce.not_for("nanmean", input._dtype)
    dims = some_dims("nanmean", dim, input.ndim)
    of = dtype or input._dtype
    if of.kind not in "fc":
        raise errors_reduce.no_mean_of(of, True)
    total = fold_as(NANSUM if of.kind == "f" else SUM, input, dims, keepdim, of)
    there = fold_as(SUM, pointwise(NOT_NAN, (input,)), dims, keepdim, dtypes.int64)
    return pointwise(QUOTIENT, (total, there), (), out)


def check_not_empty(name: str, input: Tensor, dims: Ints, named: bool) -> None:
    """For reductions without an identity: there must be something to choose from."""
    if 0 not in input._shape:
        return
    if not named:
        raise errors_reduce.empty_input(name, input._shape)
    for d in dims:
        if not input._shape[d]:
            raise errors_reduce.empty_dim(name, input._shape, d)


def _extreme(red: Reduce, input: Tensor, dim: Dims, keepdim: bool, out: Tensor | None) -> Tensor:
    checked(red.name, input, keepdim, None, out)
    dims = some_dims(red.name, dim, input.ndim)
    check_not_empty(red.name, input, dims, is_int(dim) or bool(dim))
    if input._dtype.is_complex:
        raise errors.not_implemented_for(red.name, input._dtype)
    if out is not None and out._dtype is not input._dtype:
        raise errors_reduce.out_dtype(red.name, out._dtype, input._dtype)
    return into(red.name, fold_as(red, input, dims, keepdim, input._dtype), out)


@op()
@numpy_names
def amax(
    input: Tensor, dim: Dims = (), keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The largest element over `dim` (an int, several, or () for all); NaN where there is one."""
    return _extreme(AMAX, input, dim, keepdim, out)


@op()
@numpy_names
def amin(
    input: Tensor, dim: Dims = (), keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The smallest element over `dim` (an int, several, or () for all); NaN where there is one."""
    return _extreme(AMIN, input, dim, keepdim, out)


@op()
@numpy_names
def aminmax(
    input: Tensor, *, dim: int | None = None, keepdim: bool = False, out: Any = None
) -> tuple[Tensor, Tensor]:
    """The smallest and the largest element, of all or along one dim."""
    checked("aminmax", input, keepdim)
    dims = some_dims("aminmax", None if dim is None else one_dim("aminmax", dim), input.ndim)
    check_not_empty("aminmax", input, dims, dim is not None)
    if input._dtype.is_complex:
        raise errors.not_implemented_for("aminmax", input._dtype)
    made = [fold_as(red, input, dims, keepdim, input._dtype) for red in (AMIN, AMAX)]
    if out is None:
        return return_types.aminmax(made)
    pairs = zip(made, out, strict=True)
    return return_types.aminmax_out([into("aminmax", m, o, exact=True) for m, o in pairs])


@op(function=False)
def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """The sum over the dims that broadcasting a tensor of this size would have made or stretched.
    RuntimeError when it does not broadcast to this tensor's shape.
    """
    if not size:
        raise errors_reduce.argument_missing("sum_to_size", "size")
    wanted = ints(size[0], size[1:], "sum_to_size", "size")
    shape, lead = input._shape, input.ndim - len(wanted)
    if lead < 0 or [n for n, have in zip(wanted, shape[lead:]) if n not in (1, have)]:
        raise errors_reduce.not_summable_to(shape, wanted)
    dims = tuple([d for d, n in enumerate(shape) if d < lead or (wanted[d - lead] == 1 and n != 1)])
    if wanted and not dims:
        return input
    of = _sum_dtype("sum_to_size", input, None, None)
    made = fold_as(SUM, input, dims, True, of)
    return made._view(wanted, made._strides[lead:], 0)
