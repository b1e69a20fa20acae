"""Complex tensors as pairs of real numbers and back, without a copy."""

from __future__ import annotations

from ... import dtypes
from ..._tensor import Tensor
from ...errors import view as errors_view
from ...rows.catalogue import op
from . import layout as view_math
from .arguments import layout


def _pairs(input: Tensor) -> view_math.Layout:
    return view_math.as_real(input._shape, input._strides, input._offset)


@op(method=False)
def view_as_real(input: Tensor) -> Tensor:
    """A view of a complex tensor with (real, imag) in a new last dim of size 2."""
    layout(input, "view_as_real")
    if not input.dtype.is_complex:
        raise errors_view.real_view_of_real(input.dtype)
    return Tensor._make(input._storage, input.dtype.to_real(), *_pairs(input))


@op(method=False)
def view_as_complex(input: Tensor) -> Tensor:
    """A complex view of a float16, float32 or float64 tensor whose last dim holds (real, imag),
    with stride 1; all other strides and the offset must be even.
    """
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
    """A view of the real parts; a real tensor is returned itself."""
    layout(input, "real")
    return _component(input, 0) if input.dtype.is_complex else input


@op(method=False, prop=True)
def imag(input: Tensor) -> Tensor:
    """A view of the imaginary parts; RuntimeError for a real tensor."""
    layout(input, "imag")
    if not input.dtype.is_complex:
        raise errors_view.imag_of_real(input.dtype)
    return _component(input, 1)
