"""Arguments and functions that reductions share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ... import dtypes, errors, return_types
from ..._tensor import Tensor
from ...dtypes import dtype, get_default_dtype
from ...errors import arithmetic as errors_arithmetic
from ...execute.output import check_dtype
from ...execute.reduce import fold
from ...iterator.shape import Ints, normalize_dims, numel
from ...rows.op import Dims, Promote, Reduce, compute_and_result_dtypes, refuses_bare

MAX_DIMS = 64  # torch's limit for reductions
_SOME, _ONE = Dims.SOME, Dims.ONE


def check_arguments(name: str, input: Any, keepdim: Any = False, dtype: Any = None, out: Any = None) -> None:
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(name, "input", input)
    if keepdim is not False and keepdim is not True:
        raise errors.argument_type(name, "keepdim", "a bool", keepdim)
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        raise errors.not_a_dtype(name, "dtype", dtype, dtypes.parse_dtype(dtype))
    if out is not None and not isinstance(out, Tensor):
        raise errors.not_a_tensor(name, "out", out)


def check_out_tuple(name: str, out: Any, count: int) -> Sequence[Tensor]:
    if not isinstance(out, (tuple, list)) or len(out) != count:
        raise errors.argument_type(name, "out", f"a tuple of {count} Tensors", out)
    return out


def is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def one_dim(name: str, dim: Any) -> int:
    """Returns a dim as an int. Raises TypeError for anything else."""
    if is_int(dim):
        return int(dim)
    if isinstance(dim, Tensor) or not hasattr(dim, "__index__") or isinstance(dim, bool):
        raise errors.argument_type(name, "dim", "an int", dim)
    return int(dim.__index__())


def dims_of(name: str, dim: Any, ndim: int, rule: Dims = _SOME) -> Ints:
    """Returns the dims that an argument names, counted from the front."""
    if type(dim) is int or dim is None:
        pass
    elif is_int(dim):
        dim = int(dim)
    else:
        if rule is _ONE or not isinstance(dim, (tuple, list)):
            dim = one_dim(name, dim)
        else:
            dim = tuple([one_dim(name, d) for d in dim])
            if not dim and rule is _SOME:
                dim = None
    dims = normalize_dims(dim, ndim)
    if ndim > MAX_DIMS and dim is not None:
        raise errors_arithmetic.too_many_dims(name, ndim, MAX_DIMS)
    return dims if ndim else ()


def reduced_elements(shape: Sequence[int], dims: Ints) -> int:
    return numel([shape[d] for d in dims])


def check_not_empty(name: str, input: Tensor, dims: Ints, dim: Any, kind: type[Exception] = RuntimeError) -> None:
    """For reductions without an identity: raises `kind` for an empty reduction if `dim` names no
    dim, IndexError if a named dim has no elements."""
    if 0 not in input._shape:
        return
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        raise errors_arithmetic.empty_input(name, input._shape, kind)
    for d in dims:
        if not input._shape[d]:
            raise errors_arithmetic.empty_dim(name, input._shape, d)


@cache
def _variant_for(
    row: Reduce, input_dtype: dtype, requested: dtype | None, default: dtype
) -> tuple[Reduce, dtype, tuple[dtype, ...]]:
    compute, result = (
        compute_and_result_dtypes(row.promote, input_dtype) if requested is None else (requested.compute, requested)
    )
    return row.instead.get(result.kind, row), compute, row.results(result)


@cache
def _is_refused(row: Reduce, input_dtype: dtype, requested: dtype | None) -> bool:
    if refuses_bare(row.promote, row.bare, requested or input_dtype) or (requested is not None and requested.bare):
        return True
    return not row.serves((requested or input_dtype).kind) or (input_dtype.is_complex and not row.serves("c"))


def outputs(
    row: Reduce,
    input: Tensor,
    dims: Ints,
    keepdim: bool = False,
    requested: dtype | None = None,
    outs: Sequence[Tensor] | None = None,
) -> tuple[Tensor, ...]:
    variant, compute, results = _variant_for(row, input._dtype, requested, get_default_dtype())
    scalars = (reduced_elements(input._shape, dims),) if row.params else ()
    return fold(variant, (input,), dims, keepdim, compute, results, scalars, outs)


def reduced(
    row: Reduce,
    input: Tensor,
    dims: Ints,
    keepdim: bool = False,
    requested: dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    return outputs(row, input, dims, keepdim, requested, None if out is None else (out,))[0]


def _refusal(row: Reduce, input_dtype: dtype) -> Exception:
    if input_dtype.bare and row.serves(input_dtype.kind):
        return errors.not_implemented_for(row.name, input_dtype)
    return row.refusal(row.name, input_dtype)


def reduce_call(row: Reduce, input: Any, dim: Any, keepdim: Any, requested: Any, out: Any) -> Any:
    """Runs a row's reduction with a user's arguments; `requested` is the argument `dtype`.

    Raises TypeError for arguments of the wrong type, IndexError for dims out of range, the row's
    exceptions for dtypes and empty inputs, RuntimeError for an `out` of another dtype. Several
    outputs are a named tuple, and `out` is a tuple of tensors then.
    """
    single = len(row.finish) == 1
    check_arguments(row.name, input, keepdim, requested, out if single else None)
    refused = _is_refused(row, input._dtype, requested)
    if refused and row.refuses_first:
        raise _refusal(row, requested or input._dtype)
    dims = dims_of(row.name, dim, len(input._shape), row.dims)
    if row.nothing is not None:
        check_not_empty(row.name, input, dims, dim, row.nothing)
    if refused:
        raise _refusal(row, requested or input._dtype)
    if out is None:
        results = outputs(row, input, dims, keepdim, requested)
    else:
        outs = (out,) if single else check_out_tuple(row.name, out, len(row.finish))
        if requested is None and row.converts and row.serves(outs[0]._dtype.kind):
            requested = outs[0]._dtype
        _check_out(row, input._dtype, requested, outs)
        if row.promote is Promote.TRUTH and outs[0]._dtype is dtypes.bool:
            requested = dtypes.bool  # also of uint8, whose truth values are uint8 otherwise
        results = outputs(row, input, dims, keepdim, requested, outs)
    if single:
        return results[0]
    return getattr(return_types, row.name if out is None else row.name + "_out", tuple)(results)


def _check_out(row: Reduce, input_dtype: dtype, requested: dtype | None, outs: Sequence[Tensor]) -> None:
    if row.promote is Promote.TRUTH:
        if outs[0]._dtype not in (dtypes.bool, dtypes.uint8):
            raise errors_arithmetic.out_not_bool(row.name, outs[0]._dtype)
        return
    for target, expected in zip(outs, _variant_for(row, input_dtype, requested, get_default_dtype())[2]):
        check_dtype(row.name, target, expected)
