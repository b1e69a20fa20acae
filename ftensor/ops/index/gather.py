"""Reading and writing through one index tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import view as errors_index
from ...execute import output
from ...execute.indexed import ADD_AT, Index, IndexedOperand, Refusal, cache_gather, cached_gather, locate
from ...execute.output import check_written, out_or_new
from ...execute.pointwise import pointwise
from ...iterator.shape import Ints, broadcast_shapes, broadcast_strides, contiguous_strides, normalize_dim
from ...rows.catalogue import enter, op
from ...rows.copies import COPY
from ...rows.op import Op
from ..arguments import check_tensors
from ..types import conversion

# One coordinate of a linear position, by division and remainder that round down.
UNRAVEL = Op(
    "unravel",
    "position",
    "rest < K(0) ? rest + size : rest",
    params=("step", "size"),
    lets=(("turns", "a / step - (a % step < K(0) ? K(1) : K(0))"), ("rest", "turns % size")),
    only=("int64",),
)
enter(__name__, UNRAVEL)
INDEX_DTYPES = (dtypes.int64, dtypes.int32)


def at_least_1d(t: Tensor) -> Tensor:
    """Returns a 0-d tensor as a 1-d view with one element; other tensors unchanged."""
    return t if t._shape else t._view((1,), (1,), t._offset)


def put_at(values: Ints, dim: int, value: int) -> Ints:
    return (*values[:dim], value, *values[dim + 1 :])


def check_gather_shapes(input: Tensor, dim: int, index: Tensor) -> None:
    """Raises RuntimeError if `index` is larger than `input` in a dim other than `dim`."""
    if input.ndim != index.ndim:
        raise errors_index.index_ndim(index.ndim, input.ndim)
    for d, (n, limit) in enumerate(zip(index._shape, input._shape)):
        if d != dim and n > limit:
            raise errors_index.index_beyond(index._shape, input._shape, d, dim)


@op(bare="")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """Returns the elements along `dim` at the indices `index`: `input[i][index[i][j]]` for dim 1 of
    a matrix. `index` has as many dims as the input and is no larger in the other dims. Raises
    RuntimeError for an index out of range; negative indices are out of range."""
    if out is None:
        result = cached_gather("gather", input, index, dim, True, errors_index.gather_bounds)
        if result is not None:
            return result
    check_tensors("gather", input=input, index=index)
    original_dim, dim = dim, normalize_dim(dim, input.ndim)
    shape = index._shape
    if index.numel():
        if index._dtype not in INDEX_DTYPES:
            raise errors_index.index_dtype_of("gather", "int32 or int64", index._dtype)
        check_gather_shapes(at_least_1d(input), dim, at_least_1d(index))
    result = out_or_new("gather", out, shape, input._dtype, input, (input, index))
    if index.numel():
        located, index_operand = _gather(result, at_least_1d(input), dim, index, strict=True)
        if out is None and input._shape and shape:
            cache_gather("gather", input, index, result, located, [index_operand], original_dim)
    return result


def of_classes(input: Tensor, dim: int, target: Tensor) -> Tensor:
    """Returns, for each target, the element of its class: gathers along `dim` by class indices
    `target` and drops that dim. Raises IndexError for a target that is no class."""
    index = target.unsqueeze(dim)
    result = output.new_like(input, index._shape)
    if index.numel():
        check_gather_shapes(input, dim, index)
        _gather(result, input, dim, index, True, errors_index.class_bounds)
    return result.squeeze(dim)


def _gather(
    target: Tensor, input: Tensor, dim: int, index: Tensor, strict: bool, refusal: Refusal = errors_index.gather_bounds
) -> tuple[IndexedOperand, Index]:
    """Fills `target` with gathered elements; returns (the operand read, the index tensor used).
    With `strict`, negative indices are out of range; `refusal` creates the error for an index out
    of range."""
    index, target_view = at_least_1d(index), at_least_1d(target)
    source, index_operand = addressed(input, dim, index, index._strides, strict)
    out = IndexedOperand(target_view, target_view._strides)
    locate(COPY, index._shape, out, [source], [index_operand], refusal=refusal)
    return source, index_operand


def addressed(t: Tensor, dim: int, index: Tensor, steps: Ints, strict: bool = True) -> tuple[IndexedOperand, Index]:
    """Returns (a tensor as an operand that an index addresses along `dim`, that index); `steps` are
    the index's strides over the iteration space."""
    place = Index(index, steps, t._shape[dim], t._strides[dim], dim, strict=strict)
    return IndexedOperand(t, put_at(t._strides, dim, 0), True), place


@op()
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the entries of dim `dim` that `index` lists.

    `index` has one dim (or none) and holds int32 or int64. Raises IndexError for an index out of
    range.
    """
    return select_rows("index_select", input, dim, index, out)


def select_rows(
    name: str,
    input: Tensor,
    dim: int,
    index: Tensor,
    out: Tensor | None = None,
    refusal: Refusal = errors_index.out_of_bounds,
) -> Tensor:
    """Implements `index_select` for an op `name`; `refusal` makes the error for an index out of
    range."""
    if out is None and (result := cached_gather(name, input, index, dim, True, refusal)) is not None:
        return result
    check_tensors(name, input=input, index=index)
    original_dim, dim = dim, normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise errors_index.index_vector(name, index.ndim, kind=IndexError)
    if index._dtype not in INDEX_DTYPES:
        raise errors_index.index_dtype_of(name, "int32 or int64", index._dtype)
    if not input._shape and index.numel() != 1:
        raise errors_index.index_of_one(name, index.numel())
    index_shape_like, index, source = index, at_least_1d(index), at_least_1d(input)
    shape = put_at(source._shape, dim, index._shape[0])
    result = out_or_new(name, out, shape if input._shape else (), input._dtype, input, (input, index))
    result_view = at_least_1d(result)
    from_source, index_operand = addressed(source, dim, index, put_at((0,) * len(shape), dim, index._strides[0]))
    to_result = IndexedOperand(result_view, result_view._strides)
    locate(COPY, shape, to_result, [from_source], [index_operand], refusal=refusal)
    if out is None and result is result_view and index is index_shape_like:
        cache_gather(name, input, index, result, from_source, [index_operand], original_dim)
    return result


@op(bare="")
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns elements by their position in the flattened input.

    The result has the index's shape. Raises IndexError for an index out of range.
    """
    check_tensors("take", input=input, index=index)
    if index._dtype is not dtypes.int64:
        raise errors_index.index_dtype_of("take", "int64", index._dtype)
    result = out_or_new("take", out, index._shape, input._dtype, input, (input, index))
    flat = input.reshape(-1)
    index_operand = Index(index, index._strides, flat._shape[0], flat._strides[0], 0)
    source = IndexedOperand(flat, (0,) * index.ndim, True)
    refusal = errors_index.take_bounds
    locate(COPY, index._shape, IndexedOperand(result, result._strides), [source], [index_operand], refusal=refusal)
    return result


@op(bare="")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Like `gather`, but input and indices broadcast together in the other dims, and negative
    indices count from the end. Without `dim` both are flattened and negative indices raise
    RuntimeError."""
    name = "take_along_dim"
    check_tensors(name, input=input, indices=indices)
    if indices._dtype is not dtypes.int64:
        raise errors_index.index_dtype_of(name, "int64", indices._dtype)
    strict = dim is None  # torch refuses negative indices there
    if dim is None:
        input, indices, dim = input.reshape(-1), indices.reshape(-1), 0
    elif input.ndim != indices.ndim:
        raise errors_index.index_ndim(indices.ndim, input.ndim)
    dim = normalize_dim(dim, input.ndim)
    if input._shape:
        other_shapes = put_at(input._shape, dim, 1), put_at(indices._shape, dim, 1)
        shape = broadcast_shapes(*other_shapes)
        input = _expanded(input, put_at(shape, dim, input._shape[dim]))
        indices = _expanded(indices, put_at(shape, dim, indices._shape[dim]))
    result = out_or_new(name, out, indices._shape, input._dtype, input, (input, indices))
    if indices.numel():
        _gather(result, at_least_1d(input), dim, indices, strict=strict)
    return result


def _expanded(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    return t._view(shape, broadcast_strides(t._shape, t._strides, shape), t._offset)


@op()
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Returns the coordinates of flat positions in a shape, one int64 tensor for each dim.
    Positions outside the shape, or negative, wrap around."""
    check_tensors("unravel_index", indices=indices)
    if indices._dtype.kind not in "iu":
        raise errors_index.unravel_dtype(indices._dtype)
    if isinstance(shape, Tensor):
        raise errors_index.unravel_shape_type(shape)
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in sizes):
        raise errors_index.unravel_shape_type(sizes)
    if any(n < 0 for n in sizes):
        raise errors_index.unravel_shape(sizes)
    flat_index = indices.to(dtypes.int64)
    steps = contiguous_strides(sizes)
    # Interleaved in memory, as in torch.
    packed = output.new((*flat_index._shape, len(sizes)), dtypes.int64, flat_index._storage.device)
    coordinates = []
    for k, (step, n) in enumerate(zip(steps, sizes)):
        column = packed._view(flat_index._shape, packed._strides[:-1], k)
        coordinates.append(pointwise(UNRAVEL, (flat_index,), (step, max(n, 1)), column, True))
    return tuple(coordinates)


CATEGORY = "locating"
# Ways to combine a new value (a) with the present element (b).
MULTIPLY_AT = Op("multiply_at", "value, self", "b * a", bool_="a & b", complex_="ft_cmul(b, a)", located=True)
MIN_AT = Op("least_at", "value, self", "a < b || a != a ? a : b", int_="a < b ? a : b", bool_="a & b", located=True)
MAX_AT = Op("most_at", "value, self", "a > b || a != a ? a : b", int_="a > b ? a : b", bool_="a | b", located=True)
COMBINE_ROWS = {"sum": ADD_AT, "prod": MULTIPLY_AT, "mean": ADD_AT, "amin": MIN_AT, "amax": MAX_AT}
enter(__name__, ADD_AT, MULTIPLY_AT, MIN_AT, MAX_AT)


def copy_to_write(
    name: str, input: Tensor, out: Tensor | None, read: Sequence[Any], keep_input: bool = False
) -> Tensor:
    """Returns a copy of the input (in `out`, if given) for an op that writes into it.

    With `keep_input` a fresh copy has the input's memory layout; otherwise it is contiguous.
    """
    if out is input:
        return input
    strides = output.layout_strides(input, output.preserve_format) if keep_input else None
    result = out_or_new(name, out, input._shape, input._dtype, input, (input, *read), strides)
    return conversion.copy_(result, input)


def _check(name: str, input: Tensor, dim: Any, index: Tensor, src: Tensor | None) -> int:
    dim = normalize_dim(dim, input.ndim)
    if index.numel() and index._dtype not in INDEX_DTYPES:
        raise errors_index.index_dtype_of(name, "int32 or int64", index._dtype)
    if src is not None and src._dtype is not input._dtype:
        raise errors_index.same_dtypes(name, input._dtype, src._dtype)
    if not index.numel():
        return dim
    sizes = at_least_1d(index)._shape
    if len(sizes) != max(1, input.ndim):
        raise errors_index.index_ndim(index.ndim, input.ndim)
    if src is not None and len(sizes) != max(1, src.ndim):
        kind = IndexError if 0 < src.ndim < len(sizes) else RuntimeError
        raise errors_index.index_ndim(index.ndim, src.ndim, kind=kind)
    for d, n in enumerate(sizes):
        is_too_long = d != dim and n > at_least_1d(input)._shape[d]
        if is_too_long or (src is not None and n > at_least_1d(src)._shape[d]):
            raise errors_index.scatter_shapes(sizes, input._shape, dim, None if src is None else src._shape)
    return dim


def put_once(input: Tensor, index: Tensor, src: Tensor) -> Tensor:
    """Writes the elements of `src` to the positions `index` of `input` along the last dim. No two
    indices may be equal: the writes happen in any order, on all compute units."""
    return _write(input, input.ndim - 1, index, src, COPY, ordered=False)


def _write(input: Tensor, dim: int, index: Tensor, src: Tensor, combine: Op, ordered: bool = True) -> Tensor:
    """Combines the elements of `src` (or its only one) by the row `combine` with the elements of
    `input` at `index` along `dim`."""
    if index.numel():
        index = at_least_1d(index)
        target, place = addressed(at_least_1d(input), dim, index, index._strides)
        combine_at(combine, index._shape, target, place, src, ordered)
    return input


def combine_at(
    combine: Op,
    shape: Ints,
    target: IndexedOperand,
    place: Index,
    source: Tensor,
    ordered: bool = True,
    refusal: Refusal = errors_index.gather_bounds,
) -> None:
    """Combines the elements of `source` (or its only one) over `shape` by a row with those of the
    target at `place`."""
    values = IndexedOperand(source, source._strides or (0,) * len(shape))
    inputs = [values] if combine is COPY else [values, target]
    locate(combine, shape, target, inputs, [place], ordered, refusal)


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
    """Returns a copy of the input with the elements of `src`, or a number, written at `index` along
    a dim. The last write to a position stays. `reduce` "add" or "multiply" combines them with the
    present elements. Raises RuntimeError for an index out of range."""
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
    combine = COPY
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise errors_index.scatter_reduce_name(reduce, ("add", "multiply"))
        combine = ADD_AT if reduce == "add" else MULTIPLY_AT
    check_written("scatter", input, [index] if source is None else [index, source])
    if source is None:
        source = conversion.number_like("scatter", input, src)
    return _write(input, dim, index, source, combine)


@op(bare="")
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of the input with the elements of `src` added at `index` along a dim, in
    order. Raises RuntimeError for an index out of range."""
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
    """Like `scatter_add`, with "sum", "prod", "mean", "amax" or "amin" over the elements that share
    a position. The input's own element takes part unless `include_self` is False."""
    result = copy_to_write("scatter_reduce", input, out, (index, src))
    return scatter_reduce_(result, dim, index, src, reduce, include_self=include_self)


@op(function=False, bare="")
def scatter_reduce_(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """In-place form of `scatter_reduce`."""
    name = "scatter_reduce"
    check_tensors(name, input=input, index=index, src=src)
    if reduce not in COMBINE_ROWS:
        raise errors_index.scatter_reduce_name(reduce, tuple(COMBINE_ROWS))
    dim = _check(name, input, dim, index, src)
    check_written(name, input, (index, src))
    _check_reducible(name, reduce, input)
    return reduce_into(input, src, reduce, include_self, lambda t, values, row: _write(t, dim, index, values, row))


def _check_reducible(name: str, reduce: str, input: Tensor) -> None:
    element = input._dtype
    if not COMBINE_ROWS[reduce].expression(element.compute) or (reduce == "mean" and element is dtypes.bool):
        raise errors.not_implemented_for(name, element)


def reduce_into(
    input: Tensor, src: Tensor, reduce: str, include_self: bool, write: Callable[[Tensor, Tensor, Op], Any]
) -> Tensor:
    """Combines the elements of `src` with those of the input by a key of COMBINE_ROWS.
    `write(t, values, row)` combines values by a row with the elements of `t` at the positions."""
    if not include_self:
        # Any element of `src` will do for "amin" and "amax", since all take part anyway.
        first = src if reduce in ("amin", "amax") else conversion.number_like("reduce", src, int(reduce == "prod"))
        write(input, first, COPY)
    write(input, src, COMBINE_ROWS[reduce])
    if reduce == "mean":
        counts = conversion.fill_(output.new_like(input, input._shape, dtypes.int64), int(include_self))
        write(counts, conversion.number_like("reduce", counts, 1), ADD_AT)
        _divide_by_counts(input, counts)
    return input


def _divide_by_counts(sums: Tensor, counts: Tensor) -> None:
    """Divides sums by counts in place. Positions with a count of 0 keep their sum; integers round
    down."""
    counts = counts.masked_fill_(counts.eq(0), 1)
    if sums._dtype.kind in "fc":
        sums.div_(counts)
    else:
        sums.div_(counts.to(sums._dtype), rounding_mode="floor")


@op(function=False, bare="")
def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Writes the elements of `source` to positions of the flattened tensor, in order; `accumulate`
    adds them. Raises IndexError for an index out of range."""
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
        contiguous = put_(input.contiguous(), index, source, accumulate)
        return conversion.copy_(input, contiguous)
    index, source = index.reshape(-1), source.reshape(-1)
    index_operand = Index(index, index._strides, input.numel(), 1, 0)
    target, refusal = IndexedOperand(input, (0,), True), errors_index.take_bounds
    combine_at(ADD_AT if accumulate else COPY, index._shape, target, index_operand, source, refusal=refusal)
    return input


@op(bare="")
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Returns a copy of the input after `put_`."""
    return put_(conversion.clone(input), index, source, accumulate)
