"""Views that order, add or drop dims, or show complex numbers as pairs."""

from __future__ import annotations

import warnings
from typing import Any

from ... import dtypes
from ..._tensor import Tensor
from ...errors import view as errors_view
from ...rows.catalogue import op
from . import layout as view_math
from .layout import as_int, in_place, int_list, ints, layout, with_layout


@op(aliases=("swapdims",))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Returns a view with two dims exchanged."""
    first, second = as_int(dim0, "transpose", "dim0"), as_int(dim1, "transpose", "dim1")
    return with_layout(input, view_math.transpose(*layout(input, "transpose"), first, second))


in_place(transpose, ", dim0: int, dim1: int", ", dim0, dim1", function=False, aliases=("swapdims_",))


@op()
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`transpose` under NumPy's name."""
    first, second = as_int(axis0, "swapaxes", "axis0"), as_int(axis1, "swapaxes", "axis1")
    return with_layout(input, view_math.transpose(*layout(input, "swapaxes"), first, second))


in_place(swapaxes, ", axis0: int, axis1: int", ", axis0, axis1", function=False)


@op()
def permute(input: Tensor, dims: Any, *more: int) -> Tensor:
    """Returns a view with all dims in the order given."""
    order = ints(dims, more, "permute", "dims")
    return with_layout(input, view_math.permute(*layout(input, "permute"), order))


@op(aliases=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Returns a view with the `source` dims (an int or a tuple) at the `destination` positions and
    the other dims in their order."""
    if isinstance(source, (tuple, list)) or isinstance(destination, (tuple, list)):
        source_dims = int_list(source, "movedim", "source")
        target = int_list(destination, "movedim", "destination")
    else:
        source_dims = (as_int(source, "movedim", "source"),)
        target = (as_int(destination, "movedim", "destination"),)
    return with_layout(input, view_math.movedim(*layout(input, "movedim"), source_dims, target))


@op()
def t(input: Tensor) -> Tensor:
    """Returns a matrix transposed, as a view. Raises RuntimeError for more than 2 dims."""
    shape, strides, offset = layout(input, "t")
    if len(shape) > 2:
        raise errors_view.beyond_matrix("t", len(shape))
    return input._view(shape[::-1], strides[::-1], offset)


in_place(t, "", "", function=False)


@op(name="T", function=False, method=False, prop=True)
def reversed_dims(input: Tensor) -> Tensor:
    """Returns a view with all dims in reverse order; meant for matrices."""
    shape, strides, offset = layout(input, "T")
    if len(shape) != 2:
        warnings.warn(errors_view.transpose_deprecated("T", len(shape)), stacklevel=2)
    return input._view(shape[::-1], strides[::-1], offset)


def _matrices(input: Tensor, name: str) -> Tensor:
    """Returns a view with the last two dims exchanged; a 0-d tensor itself, as torch does."""
    shape, strides, offset = layout(input, name)
    if not shape:
        warnings.warn(errors_view.transpose_deprecated(name, 0), stacklevel=3)
        return input
    if len(shape) == 1:
        raise errors_view.not_a_matrix(name, 1)
    return with_layout(input, view_math.transpose(shape, strides, offset, -2, -1))


def _conjugate(input: Tensor) -> Tensor:
    return input.conj() if input.dtype.is_complex else input


@op(name="mT", function=False, method=False, prop=True)
def matrix_transposed(input: Tensor) -> Tensor:
    """Returns a view with the last two dims exchanged, for a matrix or a batch of matrices."""
    return _matrices(input, "mT")


@op(name="mH", function=False, method=False, prop=True)
def batch_adjoint(input: Tensor) -> Tensor:
    """The matrix transposed and, if complex, conjugated: then a copy. Torch has a lazy view."""
    return _conjugate(_matrices(input, "mH"))


@op(name="H", function=False, method=False, prop=True)
def matrix_adjoint(input: Tensor) -> Tensor:
    """Returns a matrix transposed, and conjugated when complex (then a copy)."""
    shape, _, _ = layout(input, "H")
    if len(shape) > 2:
        raise errors_view.not_a_matrix("H", len(shape))
    return _conjugate(_matrices(input, "H"))


@op()
def adjoint(input: Tensor) -> Tensor:
    """Returns the last two dims exchanged, conjugated when complex."""
    return _conjugate(_matrices(input, "adjoint"))


@op()
def squeeze(input: Tensor, dim: Any = None, *more: int) -> Tensor:
    """Returns a view without the dims of size 1, or without those of them named by `dim` (int or
    tuple)."""
    geometry = layout(input, "squeeze")
    if more or isinstance(dim, (tuple, list)):
        dim = ints(dim, more, "squeeze", "dim")
    elif dim is not None:
        dim = as_int(dim, "squeeze", "dim")
    return input._view(*view_math.squeeze(*geometry, dim))


in_place(squeeze, ", dim: Any = None, *more: int", ", dim, *more", function=False)


@op()
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Returns a view with a new dim of size 1 at `dim`."""
    position = as_int(dim, "unsqueeze", "dim")
    return with_layout(input, view_math.unsqueeze(*layout(input, "unsqueeze"), position))


in_place(unsqueeze, ", dim: int", ", dim", function=False)


def _atleast(tensors: tuple[Any, ...], ndim: int, function: str) -> Any:
    if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
        geometry = layout(tensors[0], function)
        if len(geometry[0]) >= ndim:
            return tensors[0]
        return tensors[0]._view(*_RAISE[ndim](*geometry))
    if len(tensors) == 1:
        tensors = tuple(tensors[0])
    for i, tensor in enumerate(tensors):
        layout(tensor, function, f"tensors[{i}]")
    return tuple([_atleast((tensor,), ndim, function) for tensor in tensors])


_RAISE = {1: view_math.atleast_1d, 2: view_math.atleast_2d, 3: view_math.atleast_3d}


@op(method=False)
def atleast_1d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """Returns tensors with at least one dim: a 0-d tensor gets one dim."""
    return _atleast(tensors, 1, "atleast_1d")


@op(method=False)
def atleast_2d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """Returns tensors with at least two dims; missing dims of size 1 are added in front."""
    return _atleast(tensors, 2, "atleast_2d")


@op(method=False)
def atleast_3d(*tensors: Any) -> Tensor | tuple[Tensor, ...]:
    """Returns tensors with at least three dims: 0-d and 1-d tensors become (1, n, 1), matrices (n,
    m, 1)."""
    return _atleast(tensors, 3, "atleast_3d")


def _pairs(input: Tensor) -> view_math.Layout:
    return view_math.as_real(input._shape, input._strides, input._offset)


@op(method=False)
def view_as_real(input: Tensor) -> Tensor:
    """Returns a view of a complex tensor with (real, imag) in a new last dim of size 2."""
    layout(input, "view_as_real")
    if not input.dtype.is_complex:
        raise errors_view.real_view_of_real(input.dtype)
    return Tensor._make(input._storage, input.dtype.to_real(), *_pairs(input))


@op(method=False)
def view_as_complex(input: Tensor) -> Tensor:
    """Returns a complex view of a float16, float32 or float64 tensor whose last dim holds (real,
    imag) with stride 1. All other strides and the offset must be even."""
    geometry = layout(input, "view_as_complex")
    if input.dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise errors_view.complex_view_of(input.dtype)
    complex_type = input.dtype.to_complex()
    input._start_is_read(complex_type.itemsize)
    return Tensor._make(input._storage, complex_type, *view_math.as_complex(*geometry))


def _component(input: Tensor, index: int) -> Tensor:
    shape, strides, offset = _pairs(input)
    geometry = (shape[:-1], strides[:-1], offset + index)
    return Tensor._make(input._storage, input.dtype.to_real(), *geometry)


@op(method=False, prop=True)
def real(input: Tensor) -> Tensor:
    """Returns a view of the real parts; a real tensor itself."""
    layout(input, "real")
    return _component(input, 0) if input.dtype.is_complex else input


@op(method=False, prop=True)
def imag(input: Tensor) -> Tensor:
    """Returns a view of the imaginary parts. Raises RuntimeError for a real tensor."""
    layout(input, "imag")
    if not input.dtype.is_complex:
        raise errors_view.imag_of_real(input.dtype)
    return _component(input, 1)
