"""Writing through one index tensor: scatter, scatter_add, scatter_reduce, put."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import index as errors_index
from ...execute import memory
from ...execute.indexed import ADD_AT, Index, Operand, locate
from ...execute.output import check_written, out_or_new
from ...iterator.shape import normalize_dim
from ...ops.types import copy
from ...rows.catalogue import enter, op
from ...rows.copies import COPY
from ...rows.op import Op
from .gather import INDEX_DTYPES, check_tensors, lifted, put_at

CATEGORY = "locating"
# How a value (a) joins what lies there (b).
MULTIPLY_AT = Op(
    "multiply_at", "multiply_at(value, self) -> Tensor", "b * a", bool_="a & b", complex_="ft_cmul(b, a)", located=True
)
LEAST_AT = Op(
    "least_at",
    "least_at(value, self) -> Tensor",
    "a < b || a != a ? a : b",
    int_="a < b ? a : b",
    bool_="a & b",
    located=True,
)
MOST_AT = Op(
    "most_at",
    "most_at(value, self) -> Tensor",
    "a > b || a != a ? a : b",
    int_="a > b ? a : b",
    bool_="a | b",
    located=True,
)
JOINS = {"sum": ADD_AT, "prod": MULTIPLY_AT, "mean": ADD_AT, "amin": LEAST_AT, "amax": MOST_AT}
enter(__name__, ADD_AT, MULTIPLY_AT, LEAST_AT, MOST_AT)


def copy_to_write(name: str, input: Tensor, out: Tensor | None, read: Sequence[Any], keep: bool = False) -> Tensor:
    """A copy of the input (in `out`, where given) that is to be written to.

    With `keep`, a fresh one lies in memory as the input does; otherwise it is contiguous.
    """
    if out is input:
        return input
    strides = memory.layout_strides(input, memory.preserve_format) if keep else None
    result = out_or_new(name, out, input._shape, input._dtype, input, (input, *read), strides)
    return copy.copy_(result, input)


def _check(name: str, input: Tensor, dim: Any, index: Tensor, src: Tensor | None) -> int:
    dim = normalize_dim(dim, input.ndim)
    if index.numel() and index._dtype not in INDEX_DTYPES:
        raise errors_index.index_dtype_of(name, "int32 or int64", index._dtype)
    if src is not None and src._dtype is not input._dtype:
        raise errors_index.same_dtypes(name, input._dtype, src._dtype)
    if not index.numel():
        return dim
    sizes = lifted(index)._shape
    if len(sizes) != max(1, input.ndim):
        raise errors_index.index_ndim(index.ndim, input.ndim)
    if src is not None and len(sizes) != max(1, src.ndim):
        kind = IndexError if 0 < src.ndim < len(sizes) else RuntimeError
        raise errors_index.index_ndim(index.ndim, src.ndim, kind)
    for d, n in enumerate(sizes):
        beyond = d != dim and n > lifted(input)._shape[d]
        if beyond or (src is not None and n > lifted(src)._shape[d]):
            raise errors_index.scatter_shapes(sizes, input._shape, dim, None if src is None else src._shape)
    return dim


def put_once(input: Tensor, index: Tensor, src: Tensor) -> Tensor:
    """Write the elements of `src` to those of `input` that `index` leads to along the last dim, no
    two to one place: in any order, so that all compute units take part."""
    return _write(input, input.ndim - 1, index, src, COPY, ordered=False)


def _write(input: Tensor, dim: int, index: Tensor, src: Tensor, join: Op, ordered: bool = True) -> Tensor:
    """Let the elements of `src` (or its only one) join those of `input` that `index` leads to."""
    if not index.numel():
        return input
    index, whole = lifted(index), lifted(input)
    strides = lifted(src)._strides if src._shape or index.ndim == 1 else (0,) * index.ndim
    if not src._shape:
        strides = (0,) * index.ndim
    where = Index(index, index._strides, whole._shape[dim], whole._strides[dim], dim, strict=True)
    target = Operand(whole, put_at(whole._strides, dim, 0), True)
    inputs = [Operand(src, strides)] + ([] if join is COPY else [target])
    locate(join, index._shape, target, inputs, [where], ordered, errors_index.gather_bounds)
    return input


@op(bare="")
def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of the input with the elements of `src`, or a number, at the places that `index` leads
    to along a dim; the last one stays where several meet. `reduce` "add" or "multiply" joins them
    with what lies there. RuntimeError for an index out of range.
    """
    check_tensors("scatter", input=input, index=index)
    result = copy_to_write("scatter", input, out, (index, src))
    return scatter_(result, dim, index, src, value=value, reduce=reduce)


@op(function=False, bare="")
def scatter_(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """In-place form of `scatter`."""
    check_tensors("scatter_", input=input, index=index)
    src = value if src is None else src
    source = src if isinstance(src, Tensor) else None
    dim = _check("scatter", input, dim, index, source)
    join = COPY
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise errors_index.scatter_reduce_name(reduce, ("add", "multiply"))
        join = ADD_AT if reduce == "add" else MULTIPLY_AT
    check_written("scatter", input, [index] if source is None else [index, source])
    if source is None:
        source = copy.number_like("scatter", input, src)
    return _write(input, dim, index, source, join)


@op(bare="")
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of the input with the elements of `src` added where `index` leads to along a dim, in
    order. RuntimeError for an index out of range.
    """
    check_tensors("scatter_add", input=input, index=index, src=src)
    return scatter_add_(copy_to_write("scatter_add", input, out, (index, src)), dim, index, src)


@op(function=False, bare="")
def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """In-place form of `scatter_add`."""
    check_tensors("scatter_add_", input=input, index=index, src=src)
    dim = _check("scatter_add", input, dim, index, src)
    check_written("scatter_add", input, (index, src))
    return _write(input, dim, index, src, ADD_AT)


@op(bare="")
def scatter_reduce(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """As `scatter_add`, with "sum", "prod", "mean", "amax" or "amin" of the elements that meet; of
    these and what lay there, unless `include_self` is False.
    """
    check_tensors("scatter_reduce", input=input, index=index, src=src)
    result = copy_to_write("scatter_reduce", input, out, (index, src))
    return scatter_reduce_(result, dim, index, src, reduce, include_self=include_self)


@op(function=False, bare="")
def scatter_reduce_(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """In-place form of `scatter_reduce`."""
    name = "scatter_reduce"
    check_tensors(name, input=input, index=index, src=src)
    if reduce not in JOINS:
        raise errors_index.scatter_reduce_name(reduce, tuple(JOINS))
    dim = _check(name, input, dim, index, src)
    check_written(name, input, (index, src))
    _check_reducible(name, reduce, input)
    if not include_self:
        _write(input, dim, index, first_value(reduce, src), COPY)
    _write(input, dim, index, src, JOINS[reduce])
    if reduce == "mean":
        counts = copy.fill_(memory.new_like(input, input._shape, dtypes.int64), int(include_self))
        one = copy.number_like("scatter", counts, 1)
        divide_by_counts(input, _write(counts, dim, index, one, ADD_AT))
    return input


def _check_reducible(name: str, reduce: str, input: Tensor) -> None:
    of = input._dtype
    if not JOINS[reduce].expression(of.compute) or (reduce == "mean" and of is dtypes.bool):
        raise errors.not_implemented_for(name, of)


def first_value(reduce: str, src: Tensor) -> Tensor:
    """What stands in the place of a tensor's own elements where they do not count.

    For the extremes it is any of the values: it meets them all again.
    """
    if reduce in ("amin", "amax"):
        return src
    return copy.number_like("scatter_reduce", src, 1 if reduce == "prod" else 0)


def divide_by_counts(sums: Tensor, counts: Tensor) -> None:
    """Sums to means in place: where nothing was counted the sum stays; integers round down."""
    counts = counts.masked_fill_(counts.eq(0), 1)
    if sums._dtype.kind in "fc":
        sums.div_(counts)
    else:
        sums.div_(counts.to(sums._dtype), rounding_mode="floor")


@op(function=False, bare="")
def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Write the elements of `source` to places of the flattened tensor, in order; with `accumulate`
    add them. IndexError for an index out of range.
    """
    name = "put_"
    check_tensors(name, input=input, index=index, source=source)
    if index._dtype is not dtypes.int64:
        raise errors_index.index_dtype_of(name, "int64", index._dtype)
    if source._dtype is not input._dtype:
        raise errors_index.same_dtypes(name, input._dtype, source._dtype)
    if source.numel() != index.numel():
        raise errors_index.put_counts(source.numel(), index.numel())
    check_written(name, input, (index, source))
    if not input.is_contiguous():
        whole = put_(input.contiguous(), index, source, accumulate)
        return copy.copy_(input, whole)
    index, source = index.reshape(-1), source.reshape(-1)
    where = Index(index, index._strides, input.numel(), 1, 0)
    target = Operand(input, (0,), True)
    values = Operand(source, source._strides)
    locate(
        ADD_AT if accumulate else COPY,
        index._shape,
        target,
        [values, target] if accumulate else [values],
        [where],
        ordered=True,
        refusal=errors_index.take_bounds,
    )
    return input


@op(bare="")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy, put into."""
    check_tensors("put", input=input)
    return put_(copy.clone(input), index, source, accumulate)
