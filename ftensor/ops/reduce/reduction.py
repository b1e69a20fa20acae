"""What the functions of reductions do, all from their rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ... import dtypes, errors, return_types
from ..._tensor import Tensor
from ...dtypes import dtype, get_default_dtype
from ...errors import reduce as errors_reduce
from ...execute.output import check_dtype
from ...execute.reduce import fold
from ...iterator.shape import Ints
from ...rows.op import Promote, Reduce, dtypes_through, refuses_bare
from .arguments import check_not_empty, checked, count, dims_of, several


@cache
def _taken(row: Reduce, own: dtype, of: dtype | None, default: dtype) -> tuple[Reduce, dtype, tuple[dtype, ...]]:
    """(the row that computes, what it computes in, the dtypes of its outputs).

    `default` is the default dtype, on which promotion depends.
    """
    compute, result = dtypes_through(row.promote, own) if of is None else (of.compute, of)
    return row.instead.get(result.kind, row), compute, row.results(result)


@cache
def _refused(row: Reduce, own: dtype, of: dtype | None) -> bool:
    """Whether a row has no words for a tensor's dtype, or for the one it is to be taken as."""
    if refuses_bare(row.promote, row.bare, of or own) or (of is not None and of.bare):
        return True
    return not row.serves((of or own).kind) or (own.is_complex and not row.serves("c"))


def outputs(
    row: Reduce,
    input: Tensor,
    dims: Ints,
    keepdim: bool = False,
    of: dtype | None = None,
    into: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    """A row's reduction over `dims`, counted from the front; no argument is read or checked here.

    `of` is the dtype of the computation and the result in place of the one that the row promotes
    to; `into` has a tensor for each output, of any dtype that can hold it.
    """
    runs, compute, results = _taken(row, input._dtype, of, get_default_dtype())
    numbers = (count(input._shape, dims),) if row.params else ()
    return fold(runs, (input,), dims, keepdim, compute, results, numbers, into)


def reduced(
    row: Reduce, input: Tensor, dims: Ints, keepdim: bool = False, of: dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """As `outputs`, of a row with one."""
    return outputs(row, input, dims, keepdim, of, None if out is None else (out,))[0]


def _refusal(row: Reduce, of: dtype) -> Exception:
    """The row's, but for a dtype of few ops whose kind it serves: as torch, which has no kernel."""
    if of.bare and row.serves(of.kind):
        return errors.not_implemented_for(row.name, of)
    return row.refusal(row.name, of)


def called(row: Reduce, input: Any, dim: Any, keepdim: Any, of: Any, out: Any) -> Any:
    """A row's reduction as a user calls it, `of` being the argument `dtype`.

    TypeError for arguments of the wrong type, IndexError for dims that are not there, the row's
    exceptions for dtypes and for no elements, RuntimeError for an `out` of another dtype. Several
    outputs are a named tuple, and so are the tensors of `out`.
    """
    single = len(row.finish) == 1
    checked(row.name, input, keepdim, of, out if single else None)
    refused = _refused(row, input._dtype, of)
    if refused and row.refuses_first:
        raise _refusal(row, of or input._dtype)
    dims = dims_of(row.name, dim, len(input._shape), row.dims)
    if row.nothing is not None:
        check_not_empty(row.name, input, dims, dim, row.nothing)
    if refused:
        raise _refusal(row, of or input._dtype)
    if out is None:
        results = outputs(row, input, dims, keepdim, of)
    else:
        into = (out,) if single else several(row.name, out, len(row.finish))
        if of is None and row.converts and row.serves(into[0]._dtype.kind):
            of = into[0]._dtype
        _check_out(row, input._dtype, of, into)
        results = outputs(row, input, dims, keepdim, of, into)
    if single:
        return results[0]
    return getattr(return_types, row.name if out is None else row.name + "_out", tuple)(results)


def _check_out(row: Reduce, own: dtype, of: dtype | None, into: Sequence[Tensor]) -> None:
    if row.promote is Promote.TRUTH:
        if into[0]._dtype not in (dtypes.bool, dtypes.uint8):
            raise errors_reduce.out_not_bool(row.name, into[0]._dtype)
        return
    for one, needed in zip(into, _taken(row, own, of, get_default_dtype())[2]):
        check_dtype(row.name, one, needed)
