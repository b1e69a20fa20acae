"""Reductions of truth: any, all, count_nonzero."""

from __future__ import annotations

from ... import dtypes
from ..._tensor import Tensor
from ...errors import reduce as errors_reduce
from ...execute.reduce import fold
from ...rows.catalogue import enter, op
from ...rows.op import Reduce
from .arguments import checked, into, numpy_names, some_dims
from .fold import ALL, ANY, Dims

COUNT = Reduce("count_nonzero", "a", "x + y", "K(0)", truth=True)
enter(__name__, COUNT)


def _truth(red: Reduce, input: Tensor, dim: Dims, keepdim: bool, out: Tensor | None) -> Tensor:
    checked(red.name, input, keepdim, None, out)
    if out is not None and out._dtype not in (dtypes.bool, dtypes.uint8):
        raise errors_reduce.out_not_bool(red.name, out._dtype)
    dims = some_dims(red.name, dim, input.ndim, empty_is_all=False)
    of = dtypes.uint8 if input._dtype is dtypes.uint8 else dtypes.bool
    made = fold(red, (input,), dims, keepdim, dtypes.bool, (of,))[0]
    return into(red.name, made, out)


@op()
@numpy_names
def any(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Whether any element over `dim` is not zero. uint8 tensors give uint8, all others bool."""
    return _truth(ANY, input, dim, keepdim, out)


@op()
@numpy_names
def all(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None
) -> Tensor:
    """Whether all elements over `dim` are not zero. uint8 tensors give uint8, all others bool."""
    return _truth(ALL, input, dim, keepdim, out)


@op()
@numpy_names
def count_nonzero(input: Tensor, dim: Dims = None) -> Tensor:
    """How many elements are not zero, as int64."""
    checked("count_nonzero", input)
    dims = some_dims("count_nonzero", dim, input.ndim)
    return fold(COUNT, (input,), dims, False, dtypes.int64, (dtypes.int64,))[0]
