"""Triangles and diagonals: tril, triu, diag, diag_embed, diagflat."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import shape as errors_shape
from ...errors import view as errors_view
from ...execute import memory
from ...execute.copy import into
from ...execute.output import check_written, out_or_new
from ...execute.pointwise import pointwise
from ...iterator.shape import normalize_dim
from ...iterator.stride import contiguous_strides
from ...ops.types import copy
from ...rows.catalogue import enter, op
from ...rows.op import Op
from ..index.gather import check_tensors
from ..view.arguments import as_int

CATEGORY = "ranges"
# Zeros take the place of what the mask leaves out, whatever it is (nan times 0 would be nan).
KEEP = Op(
    "keep",
    "keep(input, mask) -> Tensor",
    "b ? a : K(0)",
    bool_="b ? a : K(0)",
    complex_="ftb_cwhere(b, a, ft_cmake((FT_V)(0), (FT_V)(0)))",
    masks=(1,),
    bare="h",
)
enter(__name__, KEEP)


def _triangle(input: Tensor, diagonal: int, lower: bool) -> Tensor:
    """A bool view over the input's matrices, true where `column - row` is on the kept side.

    It is one row of values of `column - row`, seen with a negative stride: next to no memory.
    """
    rows, columns = input._shape[-2:]
    count = rows + columns - 1
    line = memory.new((count,), dtypes.bool, input._storage.device)
    # Value p of the line is about column - row == p - (rows - 1).
    cut = min(max(diagonal + rows - 1 + lower, 0), count)
    copy.fill_(line._view((cut,), (1,), 0), lower)
    copy.fill_(line._view((count - cut,), (1,), cut), not lower)
    strides = (0,) * (input.ndim - 2) + (-1, 1)
    return line._view(input._shape, strides, rows - 1)


def _kept(name: str, input: Tensor, diagonal: Any, lower: bool, out: Tensor | None) -> Tensor:
    check_tensors(name, input=input)
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
    """The lower triangle of each matrix, up to the diagonal with this number; zeros elsewhere."""
    return _kept("tril", input, diagonal, True, out)


@op(inplace=True, bare="h")
def triu(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of each matrix, from the diagonal with this number on; zeros elsewhere."""
    return _kept("triu", input, diagonal, False, out)


@op()
def diag(input: Tensor, diagonal: int = 0, *, out: Tensor | None = None) -> Tensor:
    """A copy of a matrix's diagonal, or a matrix of zeros with a 1-d tensor on its diagonal."""
    check_tensors("diag", input=input)
    diagonal = as_int(diagonal, "diag", "diagonal")
    if input.ndim == 1:
        return into("diag", out, diag_embed(input, diagonal))
    if input.ndim != 2:
        raise errors_shape.diag_ndim(input.ndim)
    view = input.diagonal(diagonal)
    result = out_or_new("diag", out, view._shape, input._dtype, input, (input,))
    return copy.copy_(result, view)


@op()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of zeros over dim1 and dim2 with the last dim's entries on a diagonal."""
    check_tensors("diag_embed", input=input)
    first, second = normalize_dim(dim1, input.ndim + 1), normalize_dim(dim2, input.ndim + 1)
    offset = as_int(offset, "diag_embed", "offset")
    if first == second:
        raise errors_view.diagonal_same_dims(dim1, dim2)
    size = input._shape[-1] + abs(offset)
    shape = list(input._shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, size)
    result = memory.new(tuple(shape), input._dtype, input._storage.device)
    copy.zero_(result)
    copy.copy_(result.diagonal(offset, first, second), input)
    return result


@op()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with the flattened input on a diagonal."""
    check_tensors("diagflat", input=input)
    return diag_embed(input.reshape(-1), as_int(offset, "diagflat", "offset"))


@op(function=False)
def fill_diagonal_(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number into the main diagonal of a matrix, or of a tensor with more dims, all of one
    size. `wrap` goes on below a square in matrices with more rows than columns. RuntimeError for
    vectors, and where the sizes of more than two dims differ.
    """
    check_tensors("fill_diagonal_", input=input)
    sizes = input._shape
    if len(sizes) < 2:
        raise errors.too_few_dims("fill_diagonal_", 2, len(sizes))
    if len(sizes) > 2 and len(set(sizes)) > 1:
        raise errors_shape.diagonal_sizes(sizes)
    step, offset = sum(input._strides), input._offset
    copy.fill_(input._view((min(sizes),), (step,), offset), fill_value)
    rows, columns = sizes[0], sizes[-1]
    # The next diagonals begin one row below each square.
    for top in range(columns + 1, rows if wrap and len(sizes) == 2 else 0, columns + 1):
        start = offset + top * input._strides[0]
        copy.fill_(input._view((min(rows - top, columns),), (step,), start), fill_value)
    return input
