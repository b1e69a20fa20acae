"""Ops that split a tensor along a dim into views."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor, method
from ...errors import view as errors_view
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ...rows.spelling import named
from . import layout as split_math
from .layout import as_int, int_list, ints, layout, slice_dim, with_layout

VIEW_BYTES = 384  # bytes of a view on the host: the object, its shape, strides and offset


def _cut_dim(input: Tensor, dim: Any, function: str) -> tuple[int, int]:
    """Returns (the dim counted from the front, its size). Raises RuntimeError for a 0-d tensor."""
    shape, _, _ = layout(input, function)
    if not shape:
        raise errors_view.scalar_has_no_dims(function)
    dim = normalize_dim(as_int(dim, function, "dim"), len(shape))
    return dim, shape[dim]


def _check_view_memory(input: Tensor, views: int) -> None:
    input._storage.backend.pool.check_capacity(views * VIEW_BYTES)


def _pieces(input: Tensor, dim: int, pieces: split_math.Pieces) -> tuple[Tensor, ...]:
    geometry = layout(input, "split")
    return tuple([with_layout(input, slice_dim(*geometry, dim, start, stop)) for start, stop in pieces])


@op()
def unsafe_split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns `ft.split(input, split_size, dim)`."""
    return split(input, split_size, dim)


def _split(input: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of `split_size` entries of a dim each (the last may have fewer), or of the
    sizes in a list, which must add up to the dim's."""
    return split(input, split_size, dim)


@op(method=_split)
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of `split_size_or_sections` entries of a dim each (the last may have fewer), or
    of the sizes in a list, which must add up to the dim's."""
    size = split_size_or_sections
    if isinstance(size, (tuple, list)):
        return split_with_sizes(tensor, size, dim)
    dim, length = _cut_dim(tensor, dim, "split")
    size = as_int(size, "split", "split_size_or_sections")
    _check_view_memory(tensor, length // max(size, 1))
    return _pieces(tensor, dim, split_math.equal_pieces(length, size))


@op(aliases=("unsafe_split_with_sizes",))
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns views of these sizes along a dim."""
    sizes = int_list(split_sizes, "split_with_sizes", "split_sizes")
    dim, length = _cut_dim(input, dim, "split_with_sizes")
    return _pieces(input, dim, split_math.sized_pieces(length, sizes))


@op(aliases=("unsafe_chunk",))
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns at most `chunks` views of a dim, equal but for the last; `tensor_split` returns
    exactly as many."""
    count = as_int(chunks, "chunk", "chunks")
    dim, length = _cut_dim(input, dim, "chunk")
    _check_view_memory(input, min(count, length) if length else count)
    return _pieces(input, dim, split_math.chunks(length, count))


@op()
def tensor_split(
    input: Tensor,
    indices_or_sections: Any = None,
    dim: int = 0,
    *,
    sections: Any = None,
    indices: Any = None,
    tensor_indices_or_sections: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Returns that many views of a dim, with sizes that differ by at most 1, or the views between
    the indices in a tuple. An int64 tensor of 0 dims is a number, one of 1 dim a tuple of indices.
    """
    arguments = (indices_or_sections, sections, indices, tensor_indices_or_sections)
    sections_or_indices = next((value for value in arguments if value is not None), None)
    if isinstance(sections_or_indices, Tensor):
        if sections_or_indices.dtype is not dtypes.int64 or sections_or_indices.ndim > 1:
            raise errors_view.split_tensor(sections_or_indices.dtype, sections_or_indices.ndim)
        _check_view_memory(input, sections_or_indices.numel())
        sections_or_indices = sections_or_indices.tolist()
    dim, length = _cut_dim(input, dim, "tensor_split")
    if isinstance(sections_or_indices, (tuple, list)):
        pieces = split_math.pieces_between(length, int_list(sections_or_indices, "tensor_split", "indices_or_sections"))
    else:
        count = as_int(sections_or_indices, "tensor_split", "indices_or_sections")
        _check_view_memory(input, count)
        pieces = split_math.sections(length, count)
    return _pieces(input, dim, pieces)


@op()
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Returns a view of every entry of a dim."""
    shape, strides, offset = layout(input, "unbind")
    if not shape:
        raise errors_view.scalar_has_no_dims("unbind", kind=IndexError)
    dim = normalize_dim(as_int(dim, "unbind", "dim"), len(shape))
    size, stride = shape[:dim] + shape[dim + 1 :], strides[:dim] + strides[dim + 1 :]
    step = strides[dim]
    _check_view_memory(input, shape[dim])
    return tuple([input._view(size, stride, offset + i * step) for i in range(shape[dim])])


@method("__iter__")
def iterated(self: Tensor) -> Iterator[Tensor]:
    if not self._shape:
        raise errors.iteration_over_zero_dim()
    return iter(unbind(self, 0))


def _stacked_split(
    input: Tensor, sections: Any, more_sections: tuple[Any, ...], dim: int, need: int, function: str
) -> tuple[Tensor, ...]:
    """Implements hsplit, vsplit and dsplit: a number of equal sections, or indices as in
    tensor_split."""
    shape, _, _ = layout(input, function)
    if len(shape) < need:
        raise errors.too_few_dims(function, need, len(shape))
    if more_sections or isinstance(sections, (tuple, list)):
        indices = ints(sections, more_sections, function, "indices")
        return _pieces(input, dim, split_math.pieces_between(shape[dim], indices))
    count = as_int(sections, function, "sections")
    if count == 0 or shape[dim] % count:
        raise errors_view.split_uneven(function, count, dim, shape[dim])
    _check_view_memory(input, count)
    return _pieces(input, dim, split_math.sections(shape[dim], count))


def _enter_split(name: str, need: int, dim_of: Callable[[int], int], doc: str) -> None:
    @op(forms=tuple(f"{name}(input, {word}) -> tuple[Tensor, ...]" for word in ("sections", "indices")))
    @named(name, doc)
    def cut(input: Tensor, sections: Any = None, *more: int, indices: Any = None) -> tuple[Tensor, ...]:
        dim = dim_of(len(layout(input, name)[0]))
        return _stacked_split(input, indices if sections is None else sections, more, dim, need, name)


_enter_split("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1, """
Returns views of the columns (dim 1; dim 0 of a 1-d tensor): a number of equal ones, or those
between the indices.
""")  # fmt: skip
_enter_split("vsplit", 2, lambda ndim: 0, "Like hsplit, along the rows (dim 0).")
_enter_split("dsplit", 3, lambda ndim: 2, "Like hsplit, along dim 2.")
