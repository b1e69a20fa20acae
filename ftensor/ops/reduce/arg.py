"""Reductions that tell where: argmax, argmin, max and min along a dim."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import reduce as errors_reduce
from ...execute.copy import into
from ...rows.catalogue import op
from ...rows.op import Dims, Reduce
from ...rows.spelling import MISSING
from ..bind import add_rows
from .arguments import check_not_empty, checked, dims_of, is_int
from .fold import AMAX, AMIN
from .reduction import called, reduced

# NaN wins over every number; among equals, the first one.
_SAME = "y == x || (y != y && x != x)"
_WINS = "y {} x || (y != y && x == x)"
MAX = Reduce(
    "max",
    "a",
    _SAME,
    "FT_LOWEST",
    ("x", "i"),
    arg=True,
    beats=_WINS.format(">"),
    dims=Dims.ONE,
    nothing=RuntimeError,
    refusal=errors.dtype_not_supported,
)
MIN = Reduce(
    "min",
    "a",
    _SAME,
    "FT_HIGHEST",
    ("x", "i"),
    arg=True,
    beats=_WINS.format("<"),
    dims=Dims.ONE,
    nothing=RuntimeError,
    refusal=errors.dtype_not_supported,
)
_PLACE = (
    "The index of the {} element over `dim`, or of all in row-major order; of the first one where\n"
    "there are several. NaN counts as the {}."
)
ARGMAX = Reduce(
    "argmax", "a", _SAME, "FT_LOWEST", ("i",), arg=True, beats=MAX.beats, kinds="uif",
    dims=Dims.ONE, nothing=IndexError, refusal=errors.dtype_not_supported, refuses_first=True,
    doc=_PLACE.format("largest", "largest"),
)  # fmt: skip
ARGMIN = Reduce(
    "argmin", "a", _SAME, "FT_HIGHEST", ("i",), arg=True, beats=MIN.beats, kinds="uif",
    dims=Dims.ONE, nothing=IndexError, refusal=errors.dtype_not_supported, refuses_first=True,
    doc=_PLACE.format("smallest", "smallest"),
)  # fmt: skip


def _extreme(along: Reduce, of_all: Reduce, input: Tensor, dim: Any, keepdim: Any, other: Any, out: Any) -> Any:
    """max and min in their three forms: of all elements, along a dim, of two tensors."""
    name = along.name
    if isinstance(dim, Tensor):
        if other is not MISSING:
            raise errors_reduce.argument_unexpected(name, "other", "twice")
        dim, other = MISSING, dim
    if other is not MISSING:
        if dim is not MISSING or keepdim is not MISSING:
            raise errors_reduce.argument_unexpected(name, "dim", "beside another tensor")
        checked(name, input)
        if not isinstance(other, Tensor):
            raise errors.not_a_tensor(name, "other", other)
        return (input.maximum if name == "max" else input.minimum)(other, out=out)
    if dim is MISSING:
        if keepdim is not MISSING:
            raise errors.missing_argument(name, "dim")
        checked(name, input, False, None, out)
        dims = dims_of(name, None, input.ndim)
        check_not_empty(name, input, dims, None)
        if input._dtype.is_complex:
            raise errors.not_implemented_for(name, input._dtype)
        return into(name, out, reduced(of_all, input, dims), cast=True)
    if not is_int(dim):
        raise errors.argument_type(name, "dim", "an int", dim)
    return called(along, input, dim, keepdim is not MISSING and keepdim, None, out)


@op(
    rows=(MAX,),
    forms=(
        "max(input, *, out=None) -> Tensor",
        "max(input, dim, keepdim=False, *, out=None) -> (values, indices)",
        "max(input, other, *, out=None) -> Tensor",
    ),
)
def max(input: Tensor, dim: Any = MISSING, keepdim: Any = MISSING, *, other: Any = MISSING, out: Any = None) -> Any:
    """The largest element of all; the largest along a dim, with the first index it is found at; or
    the larger of two tensors' elements, as `maximum`. A NaN is the largest.
    """
    return _extreme(MAX, AMAX, input, dim, keepdim, other, out)


@op(
    rows=(MIN,),
    forms=(
        "min(input, *, out=None) -> Tensor",
        "min(input, dim, keepdim=False, *, out=None) -> (values, indices)",
        "min(input, other, *, out=None) -> Tensor",
    ),
)
def min(input: Tensor, dim: Any = MISSING, keepdim: Any = MISSING, *, other: Any = MISSING, out: Any = None) -> Any:
    """The smallest element of all; the smallest along a dim, with the first index it is found at;
    or the smaller of two tensors' elements, as `minimum`. A NaN is the smallest.
    """
    return _extreme(MIN, AMIN, input, dim, keepdim, other, out)


add_rows([ARGMAX, ARGMIN], __name__)
