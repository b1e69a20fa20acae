"""Reading through one index tensor: gather, index_select, take, take_along_dim."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import index as errors_index
from ...execute import memory
from ...execute.index_check import Refusal
from ...execute.indexed import Index, Operand, fetch, locate, remember
from ...execute.output import out_or_new
from ...execute.pointwise import pointwise
from ...iterator.shape import broadcast_shapes, normalize_dim
from ...iterator.stride import broadcast_strides, contiguous_strides
from ...rows.catalogue import enter, op
from ...rows.copies import COPY
from ...rows.op import Op

# A coordinate of a linear position, with division and remainder that round down.
UNRAVEL = Op(
    "unravel",
    "unravel(position) -> Tensor",
    "rest < K(0) ? rest + size : rest",
    params=("step", "size"),
    lets=(("turns", "a / step - (a % step < K(0) ? K(1) : K(0))"), ("rest", "turns % size")),
    only=("int64",),
)
enter(__name__, UNRAVEL)
INDEX_DTYPES = (dtypes.int64, dtypes.int32)


def lifted(t: Tensor) -> Tensor:
    """A 0-d tensor as one of a single element in one dim, as torch sees it here."""
    return t if t._shape else t._view((1,), (1,), t._offset)


def check_tensors(name: str, **tensors: Any) -> None:
    """TypeError for an argument that is no Tensor."""
    for argument, value in tensors.items():
        if not isinstance(value, Tensor):
            raise errors.not_a_tensor(name, argument, value)


def put_at(values: tuple[int, ...], dim: int, value: int) -> tuple[int, ...]:
    """The tuple with another value at one place."""
    return (*values[:dim], value, *values[dim + 1 :])


def check_gather_shapes(input: Tensor, dim: int, index: Tensor) -> None:
    """RuntimeError for an index that reaches beyond the tensor in another dim than `dim`."""
    if input.ndim != index.ndim:
        raise errors_index.index_ndim(index.ndim, input.ndim)
    for d, (n, most) in enumerate(zip(index._shape, input._shape)):
        if d != dim and n > most:
            raise errors_index.index_beyond(index._shape, input._shape, d, dim)


@op(bare="")
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Tensor | None = None) -> Tensor:
    """The element `input[i][index[i][j]]` (for dim 1 of a matrix) for every place of `index`, which
    has as many dims as the input and is no larger in the others. RuntimeError for an index out of
    range; negative ones are.
    """
    if out is None:
        result = fetch("gather", input, index, dim, True, errors_index.gather_bounds)
        if result is not None:
            return result
    check_tensors("gather", input=input, index=index)
    original_dim, dim = dim, normalize_dim(dim, input.ndim)
    shape = index._shape
    if index.numel():
        if index._dtype not in INDEX_DTYPES:
            raise errors_index.index_dtype_of("gather", "int32 or int64", index._dtype)
        check_gather_shapes(lifted(input), dim, lifted(index))
    result = out_or_new("gather", out, shape, input._dtype, input, (input, index))
    if index.numel():
        located, where = _gather(result, lifted(input), dim, index, strict=True)
        if out is None and input._shape and shape:
            remember("gather", input, index, result, located, [where], original_dim)
    return result


def of_classes(input: Tensor, dim: int, target: Tensor) -> Tensor:
    """The element of each target's class, which lies along `dim`, without that dim; IndexError for
    a target that is no class."""
    index = target.unsqueeze(dim)
    result = memory.new_like(input, index._shape)
    if index.numel():
        check_gather_shapes(input, dim, index)
        _gather(result, input, dim, index, True, errors_index.class_bounds)
    return result.squeeze(dim)


def _gather(
    target: Tensor, input: Tensor, dim: int, index: Tensor, strict: bool, refusal: Refusal = errors_index.gather_bounds
) -> tuple[Operand, Index]:
    """Fill `target`; what was read, and where."""
    index, whole = lifted(index), lifted(target)
    where = Index(index, index._strides, input._shape[dim], input._strides[dim], dim, strict=strict)
    source = Operand(input, put_at(input._strides, dim, 0), True)
    out = Operand(whole, whole._strides)
    locate(COPY, index._shape, out, [source], [where], refusal=refusal)
    return source, where


@op(bare="8hu")
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The entries of a dim that are listed.

    `index` has one dim (or none) and holds int32 or int64; IndexError for one out of range.
    """
    return selected("index_select", input, dim, index, out)


def selected(
    name: str,
    input: Tensor,
    dim: int,
    index: Tensor,
    out: Tensor | None = None,
    refusal: Refusal = errors_index.out_of_bounds,
) -> Tensor:
    """`index_select` for an op `name`, which may refuse an index out of range in its own words."""
    if out is None and (result := fetch(name, input, index, dim, True, refusal)) is not None:
        return result
    check_tensors(name, input=input, index=index)
    if input._dtype.bare == "u" and input.ndim < 2:  # torch copies whole rows of any dtype
        raise errors.not_implemented_for(name, input._dtype)
    original_dim, dim = dim, normalize_dim(dim, input.ndim)
    if index.ndim > 1:
        raise errors_index.index_vector(name, index.ndim, IndexError)
    if index._dtype not in INDEX_DTYPES:
        raise errors_index.index_dtype_of(name, "int32 or int64", index._dtype)
    if not input._shape and index.numel() != 1:
        raise errors_index.index_of_one(name, index.numel())
    listed, index, source = index, lifted(index), lifted(input)
    shape = put_at(source._shape, dim, index._shape[0])
    result = out_or_new(name, out, shape if input._shape else (), input._dtype, input, (input, index))
    whole = lifted(result)
    zeros = (0,) * len(shape)
    where = Index(
        index, put_at(zeros, dim, index._strides[0]), source._shape[dim], source._strides[dim], dim, strict=True
    )
    from_source = Operand(source, put_at(source._strides, dim, 0), True)
    locate(COPY, shape, Operand(whole, whole._strides), [from_source], [where], refusal=refusal)
    if out is None and result is whole and index is listed:
        remember(name, input, index, result, from_source, [where], original_dim)
    return result


@op(bare="")
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Elements by their place in the flattened input.

    The result has the index's shape. IndexError for an index out of range.
    """
    check_tensors("take", input=input, index=index)
    if index._dtype is not dtypes.int64:
        raise errors_index.index_dtype_of("take", "int64", index._dtype)
    result = out_or_new("take", out, index._shape, input._dtype, input, (input, index))
    flat = input.reshape(-1)
    where = Index(index, index._strides, flat._shape[0], flat._strides[0], 0)
    source = Operand(flat, (0,) * index.ndim, True)
    refusal = errors_index.take_bounds
    locate(COPY, index._shape, Operand(result, result._strides), [source], [where], refusal=refusal)
    return result


@op(bare="")
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """As `gather`, with input and indices broadcast together in the other dims, and with negative
    indices counting from the end; without `dim`, both are flattened and negative ones refused.
    """
    name = "take_along_dim"
    check_tensors(name, input=input, indices=indices)
    if indices._dtype is not dtypes.int64:
        raise errors_index.index_dtype_of(name, "int64", indices._dtype)
    strict = dim is None  # as torch has it
    if dim is None:
        input, indices, dim = input.reshape(-1), indices.reshape(-1), 0
    elif input.ndim != indices.ndim:
        raise errors_index.index_ndim(indices.ndim, input.ndim)
    dim = normalize_dim(dim, input.ndim)
    if input._shape:
        others = put_at(input._shape, dim, 1), put_at(indices._shape, dim, 1)
        shape = broadcast_shapes(*others)
        input = _expanded(input, put_at(shape, dim, input._shape[dim]))
        indices = _expanded(indices, put_at(shape, dim, indices._shape[dim]))
    result = out_or_new(name, out, indices._shape, input._dtype, input, (input, indices))
    if indices.numel():
        _gather(result, lifted(input), dim, indices, strict=strict)
    return result


def _expanded(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    return t._view(shape, broadcast_strides(t._shape, t._strides, shape), t._offset)


@op()
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates of places in a shape, as int64; places beyond it, or negative, wrap
    around.
    """
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
    wide = indices.to(dtypes.int64)
    steps = contiguous_strides(sizes)
    # Side by side in memory, as torch has them.
    packed = memory.new((*wide._shape, len(sizes)), dtypes.int64, wide._storage.device)
    coordinates = []
    for k, (step, n) in enumerate(zip(steps, sizes)):
        column = packed._view(wide._shape, packed._strides[:-1], k)
        coordinates.append(pointwise(UNRAVEL, (wide,), (step, max(n, 1)), column, True))
    return tuple(coordinates)
