"""Flips, rolls, rotations; triangular parts and diagonals."""

from __future__ import annotations

from itertools import product
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import view as errors_view
from ...execute import output
from ...execute.output import check_written, out_or_new
from ...execute.pointwise import pointwise, write_result
from ...iterator.shape import channels_last_strides, contiguous_strides, is_channels_last, normalize_dim, normalize_dims
from ...rows.catalogue import enter, op
from ...rows.op import Op
from ..types import conversion
from ..view.layout import as_int, int_list, ints, ints_by_name


def _flipped(op: str, input: Tensor, dims: Any) -> Tensor:
    dims = normalize_dims(dims, input.ndim) if dims else ()
    if input._dtype.bare and input.ndim - 1 in dims and input.numel():
        raise errors.not_implemented_for(op, input._dtype)  # torch copies whole rows
    result = output.new(
        input._shape, input._dtype, input._storage.device, output.layout_strides(input, output.preserve_format)
    )
    strides, offset = list(input._strides), input._offset
    if input.numel():
        for d in dims:
            if d < input.ndim:
                offset += (input._shape[d] - 1) * strides[d]
                strides[d] = -strides[d]
        # Internal view with negative strides, which public tensors never have.
        conversion.copy_(result, input._view(input._shape, tuple(strides), offset))
    return result


@op()
def flip(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """Returns a copy with the order along these dims reversed."""
    return _flipped("flip", input, ints_by_name("flip", "dims", dims, named))


@op()
def fliplr(input: Tensor) -> Tensor:
    """Returns a copy with the columns (dim 1) reversed."""
    if input.ndim < 2:
        raise errors.too_few_dims("fliplr", 2, input.ndim)
    return _flipped("fliplr", input, (1,))


@op()
def flipud(input: Tensor) -> Tensor:
    """Returns a copy with the rows (dim 0) reversed."""
    if input.ndim < 1:
        raise errors.too_few_dims("flipud", 1, input.ndim)
    return _flipped("flipud", input, (0,))


@op()
def roll(input: Tensor, shifts: Any = None, dims: Any = ()) -> Tensor:
    """Returns a copy with elements shifted along dims; elements that leave at the end return at the
    start. Without dims the tensor is rolled as if flattened."""
    if shifts is None:
        raise errors.missing_argument("roll", "shifts")
    steps = ints(shifts, (), "roll", "shifts")
    axes = () if dims is None else ints(dims, (), "roll", "dims")
    if not steps:
        raise errors_view.shifts_required()
    if not axes and len(steps) == 1:
        flat = input.contiguous().reshape(-1)
        return _rolled(flat, {0: steps[0]}).reshape(input._shape)
    if len(steps) != len(axes):
        raise errors_view.shifts_and_dims(len(steps), len(axes))
    if not input.numel() and len(axes) == 1:
        return conversion.clone(input)
    shift_of_dim: dict[int, int] = {}
    for step, dim in zip(steps, axes):
        if not input._shape:
            raise errors_view.no_dims("roll", dim)
        dim = normalize_dim(dim, input.ndim)
        shift_of_dim[dim] = shift_of_dim.get(dim, 0) + step
    return _rolled(input, shift_of_dim)


def _rolled(input: Tensor, shift_of_dim: dict[int, int]) -> Tensor:
    """Returns the rolled tensor: copies each block of elements that stays contiguous."""
    shape = input._shape
    strides = contiguous_strides(shape)
    if len(shape) in (4, 5) and is_channels_last(shape, input._strides):
        strides = channels_last_strides(shape)
    result = output.new(shape, input._dtype, input._storage.device, strides)
    if not input.numel():
        return result
    blocks = []  # for each dim: (from, to, length) of its blocks
    for d, n in enumerate(shape):
        step = shift_of_dim.get(d, 0) % n
        blocks.append([(0, step, n - step), (n - step, 0, step)] if step else [(0, 0, n)])
    for pieces in product(*blocks):
        sizes = tuple([length for _, _, length in pieces])
        target_offset = sum(target * s for (_, target, _), s in zip(pieces, result._strides))
        source_offset = sum(source_start * s for (source_start, _, _), s in zip(pieces, input._strides))
        source = input._view(sizes, input._strides, input._offset + source_offset)
        conversion.copy_(result._view(sizes, result._strides, target_offset), source)
    return result


@op(bare="")
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Returns a copy rotated k times from dims[0] to dims[1]."""
    times = as_int(k, "rot90", "k") % 4
    axes = int_list(dims, "rot90", "dims")
    if len(axes) != 2:
        raise errors_view.rotation_dims(axes)
    if input.ndim < 2:
        raise errors.too_few_dims("rot90", 2, input.ndim)
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == input.ndim:
        raise errors_view.rotation_dims(axes)
    for dim in axes:
        if not -input.ndim <= dim < input.ndim:
            raise errors_view.rotation_dim(dim, input.ndim)
    first, second = [normalize_dim(dim, input.ndim) for dim in axes]
    if times == 0:
        return conversion.clone(input, memory_format=output.contiguous_format)
    if times == 2:
        return _flipped("rot90", input, (first, second))
    flipped = _flipped("rot90", input, (second if times == 1 else first,))
    return flipped.transpose(first, second)


CATEGORY = "ranges"
# Zero replaces masked elements; a product would keep NaN.
KEEP = Op(
    "keep",
    "input, mask",
    "b ? a : K(0)",
    bool_="b ? a : K(0)",
    complex_="ftb_cwhere(b, a, ft_cmake((FT_V)(0), (FT_V)(0)))",
    masks=(1,),
    bare="h",
)
enter(__name__, KEEP)


def _triangle(input: Tensor, diagonal: int, lower: bool) -> Tensor:
    """Returns a bool view with the input's shape, True where `column - row` is on the kept side.

    It is one row of values of `column - row`, viewed with a negative stride: next to no memory.
    """
    rows, columns = input._shape[-2:]
    count = rows + columns - 1
    diagonal_mask = output.new((count,), dtypes.bool, input._storage.device)
    # Element p of the row is True or False for column - row == p - (rows - 1).
    true_count = min(max(diagonal + rows - 1 + lower, 0), count)
    conversion.fill_(diagonal_mask._view((true_count,), (1,), 0), lower)
    conversion.fill_(diagonal_mask._view((count - true_count,), (1,), true_count), not lower)
    strides = (0,) * (input.ndim - 2) + (-1, 1)
    return diagonal_mask._view(input._shape, strides, rows - 1)


def _keep_triangle(name: str, input: Tensor, diagonal: Any, lower: bool, out: Tensor | None) -> Tensor:
    if input.ndim < 2:
        raise errors.too_few_dims(name, 2, input.ndim)
    diagonal = as_int(diagonal, name, "diagonal")
    if out is input:
        check_written(name, input, ())
        result = input
    else:
        strides = contiguous_strides(input._shape)
        result = out_or_new(name, out, input._shape, input._dtype, input, (input,), strides)
    if not input.numel():
        return result
    return pointwise(KEEP, (input, _triangle(input, diagonal, lower)), (), result, True)


@op(inplace=True, bare="h")
def tril(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Returns the lower triangle of each matrix, up to diagonal number `diagonal`; zeros
    elsewhere.
    """
    return _keep_triangle("tril", input, diagonal, True, out)


@op(inplace=True, bare="h")
def triu(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Returns the upper triangle of each matrix, from diagonal number `diagonal` on; zeros
    elsewhere."""
    return _keep_triangle("triu", input, diagonal, False, out)


@op()
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Returns a copy of a matrix's diagonal, or a matrix of zeros with a 1-d tensor on its
    diagonal."""
    diagonal = as_int(diagonal, "diag", "diagonal")
    if input.ndim == 1:
        return write_result("diag", out, diag_embed(input, diagonal))
    if input.ndim != 2:
        raise errors_view.diag_ndim(input.ndim)
    view = input.diagonal(diagonal)
    result = out_or_new("diag", out, view._shape, input._dtype, input, (input,))
    return conversion.copy_(result, view)


@op()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Returns matrices of zeros over dim1 and dim2, with the last dim's entries on a diagonal."""
    first, second = normalize_dim(dim1, input.ndim + 1), normalize_dim(dim2, input.ndim + 1)
    offset = as_int(offset, "diag_embed", "offset")
    if first == second:
        raise errors_view.diagonal_same_dims(dim1, dim2)
    size = input._shape[-1] + abs(offset)
    shape = list(input._shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, size)
    result = output.new(tuple(shape), input._dtype, input._storage.device)
    conversion.zero_(result)
    conversion.copy_(result.diagonal(offset, first, second), input)
    return result


@op()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Returns a matrix with the flattened input on a diagonal."""
    return diag_embed(input.reshape(-1), as_int(offset, "diagflat", "offset"))


@op(function=False)
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Writes a number into the main diagonal of a matrix, or of a tensor with more dims, all of one
    size. `wrap` restarts the diagonal below a square in matrices with more rows than columns.
    Raises RuntimeError for vectors, and if the sizes of more than two dims differ."""
    sizes = input._shape
    if len(sizes) < 2:
        raise errors.too_few_dims("fill_diagonal_", 2, len(sizes))
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise errors_view.diagonal_sizes(sizes)
    step, offset = sum(input._strides), input._offset
    conversion.fill_(input._view((min(sizes),), (step,), offset), fill_value)
    rows, columns = sizes[0], sizes[-1]
    # The next diagonals start one row below each square.
    for top in range(columns + 1, rows if wrap and len(sizes) == 2 else 0, columns + 1):
        start = offset + top * input._strides[0]
        conversion.fill_(input._view((min(rows - top, columns),), (step,), start), fill_value)
    return input
