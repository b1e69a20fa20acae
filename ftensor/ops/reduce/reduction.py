"""What the functions of reductions do, all from their rows."""

from __future__ import annotations

from typing import Any

from ... import dtypes
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import reduce as errors_reduce
from ...execute.reduce import fold
from ...iterator.shape import Ints
from ...rows.op import Promote, Reduce, dtypes_through
from .arguments import check_not_empty, checked, count, dims_of


def reduced(
    row: Reduce, input: Tensor, dims: Ints, keepdim: bool = False, of: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A row's reduction over `dims`, counted from the front; no argument is read or checked here.

    `of` is the dtype of the computation and the result in place of the one that the row promotes
    to; `out` may have any that can hold it.
    """
    if of is None:
        compute, result = dtypes_through(row.promote, input._dtype)
    else:
        compute, result = of.compute, of
    row = row.instead.get(result.kind, row)
    numbers = (count(input._shape, dims),) if row.params else ()
    return fold(row, (input,), dims, keepdim, compute, row.results(result), numbers, (out,))[0]


def called(
    row: Reduce, input: Any, dim: Any, keepdim: Any, of: Any, out: Any
) -> Tensor:  # fmt: skip
    """A row's reduction as a user calls it, `of` being the argument `dtype`.

    TypeError for arguments of the wrong type, IndexError for dims that are not there, the row's
    exceptions for dtypes and for no elements, RuntimeError for an `out` of another dtype.
    """
    checked(row.name, input, keepdim, of, out)
    own: dtype = input._dtype
    taken = of or own
    refused = not row.serves(taken.kind) or (own.is_complex and not row.serves("c"))
    if refused and row.refuses_first:
        raise row.refusal(row.name, taken)
    dims = dims_of(row.name, dim, input.ndim, row.dims)
    if row.nothing is not None:
        check_not_empty(row.name, input, dims, dim, row.nothing)
    if refused:
        raise row.refusal(row.name, taken)
    if out is not None:
        if of is None and row.converts and row.serves(out._dtype.kind):
            of = out._dtype
        _check_out(row, own, of, out._dtype)
    return reduced(row, input, dims, keepdim, of, out)


def _check_out(row: Reduce, own: dtype, of: dtype | None, given: dtype) -> None:
    if row.promote is Promote.TRUTH:
        if given not in (dtypes.bool, dtypes.uint8):
            raise errors_reduce.out_not_bool(row.name, given)
        return
    (needed,) = row.results(of or dtypes_through(row.promote, own)[1])
    if given is not needed:
        raise errors_reduce.out_dtype(row.name, given, needed)
