"""Reductions that tell where: argmax, argmin, max and min along a dim."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors, return_types
from ..._tensor import Tensor
from ...errors import reduce as errors_reduce
from ...execute.reduce import fold
from ...rows.catalogue import ENTRIES, enter, op
from ...rows.op import Reduce
from ...rows.spelling import MISSING
from .arguments import checked, into, is_int, numpy_names, one_dim, some_dims
from .fold import AMAX, AMIN, check_not_empty, fold_as

# NaN wins over every number; among equals, the first one.
_SAME = "y == x || (y != y && x != x)"
MAX = Reduce(
    "max", "a", _SAME, "FT_LOWEST", ("x", "i"), arg=True, beats="y > x || (y != y && x == x)"
)
MIN = Reduce(
    "min", "a", _SAME, "FT_HIGHEST", ("x", "i"), arg=True, beats="y < x || (y != y && x == x)"
)
ARGMAX = Reduce("argmax", MAX.lift, _SAME, MAX.identity, ("i",), arg=True, beats=MAX.beats)
ARGMIN = Reduce("argmin", MIN.lift, _SAME, MIN.identity, ("i",), arg=True, beats=MIN.beats)
enter(__name__, MAX, MIN, ARGMAX, ARGMIN)


def _where(red: Reduce, input: Tensor, dim: Any, keepdim: bool, out: Tensor | None) -> Tensor:
    checked(red.name, input, keepdim, None, out)
    if input._dtype.kind in "bc":
        raise errors_reduce.not_for(red.name, input._dtype)
    dims = some_dims(red.name, None if dim is None else one_dim(red.name, dim), input.ndim)
    if dim is None and 0 in input._shape:
        raise errors_reduce.empty_input_index(red.name, input._shape)
    check_not_empty(red.name, input, dims, dim is not None)
    made = fold(red, (input,), dims, keepdim, input._dtype.compute, (dtypes.int64,))[0]
    return into(red.name, made, out, exact=True)


@op()
@numpy_names
def argmax(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The index of the largest element along a dim, or of all in row-major order; of the first one
    where there are several. NaN counts as the largest.
    """
    return _where(ARGMAX, input, dim, keepdim, out)


@op()
@numpy_names
def argmin(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The index of the smallest element along a dim, or of all in row-major order; of the first one
    where there are several. NaN counts as the smallest.
    """
    return _where(ARGMIN, input, dim, keepdim, out)


def _extreme(red: Reduce, input: Tensor, dim: Any, keepdim: Any, other: Any, out: Any) -> Any:
    """max and min in their three forms: of all elements, along a dim, of two tensors."""
    name = red.name
    if isinstance(dim, Tensor):
        if other is not MISSING:
            raise errors_reduce.argument_unexpected(name, "other", "twice")
        dim, other = MISSING, dim
    if other is not MISSING:
        if dim is not MISSING or keepdim is not MISSING:
            raise errors_reduce.argument_unexpected(name, "dim", "beside another tensor")
        checked(name, input)
        if not isinstance(other, Tensor):
            raise errors_reduce.argument_type(name, "other", "a Tensor", other)
        return ENTRIES[name + "imum"].call(input, other, out=out)
    if dim is MISSING:
        if keepdim is not MISSING:
            raise errors_reduce.argument_missing(name, "dim")
        checked(name, input, False, None, out)
        dims = some_dims(name, None, input.ndim)
        check_not_empty(name, input, dims, False)
        if input._dtype.is_complex:
            raise errors.not_implemented_for(name, input._dtype)
        made = fold_as(AMAX if red is MAX else AMIN, input, dims, False, input._dtype)
        return into(name, made, out)
    if not is_int(dim):
        raise errors_reduce.argument_type(name, "dim", "an int", dim)
    keepdim = False if keepdim is MISSING else keepdim
    checked(name, input, keepdim)
    dims = some_dims(name, dim, input.ndim)
    check_not_empty(name, input, dims, True)
    if input._dtype.is_complex:
        raise errors_reduce.not_for(name, input._dtype)
    of = (input._dtype, dtypes.int64)
    pair = fold(red, (input,), dims, keepdim, input._dtype.compute, of)
    if out is None:
        return getattr(return_types, name)(pair)
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise errors_reduce.argument_type(name, "out", "a pair of Tensors", out)
    written = [into(name, m, o, exact=True) for m, o in zip(pair, out, strict=True)]
    return getattr(return_types, name + "_out")(written)


@op(
    forms=(
        "max(input, *, out=None) -> Tensor",
        "max(input, dim, keepdim=False, *, out=None) -> (values, indices)",
        "max(input, other, *, out=None) -> Tensor",
    )
)
@numpy_names
def max(
    input: Tensor, dim: Any = MISSING, keepdim: Any = MISSING, *,
    other: Any = MISSING, out: Any = None,
) -> Any:  # fmt: skip
    """The largest element of all; the largest along a dim, with the first index it is found at; or
    the larger of two tensors' elements, as `maximum`. A NaN is the largest.
    """
    return _extreme(MAX, input, dim, keepdim, other, out)


@op(
    forms=(
        "min(input, *, out=None) -> Tensor",
        "min(input, dim, keepdim=False, *, out=None) -> (values, indices)",
        "min(input, other, *, out=None) -> Tensor",
    )
)
@numpy_names
def min(
    input: Tensor, dim: Any = MISSING, keepdim: Any = MISSING, *,
    other: Any = MISSING, out: Any = None,
) -> Any:  # fmt: skip
    """The smallest element of all; the smallest along a dim, with the first index it is found at;
    or the smaller of two tensors' elements, as `minimum`. A NaN is the smallest.
    """
    return _extreme(MIN, input, dim, keepdim, other, out)
