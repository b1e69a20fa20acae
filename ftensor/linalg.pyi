"""The functions of ftensor.linalg, torch's.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from ._device import DeviceLike, device as _device
from ._tensor import Tensor as _Tensor
from .dtypes import dtype as _dtype
from .formats import Size as _Size, layout as _layout, memory_format as _memory_format
from . import return_types as _return_types

_Number = _complex | np.generic

@overload
def cross(input: _Tensor, other: _Tensor, *, dim: _int=-1, out: _Tensor | None=None) -> _Tensor:
    """The cross products along `dim`, which has size 3; the other dims are broadcast. RuntimeError
    for other sizes and different numbers of dims.
    """
@overload
def cross(input: _Tensor, other: _Tensor, dim: _int=-1, out: _Tensor | None=None) -> _Tensor: ...
def diagonal(input: _Tensor, offset: _int=0, dim1: _int=0, dim2: _int=1) -> _Tensor:
    """A view of the diagonal of two dims as a new last dim; offset > 0 lies above it, < 0 below."""
def matmul(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """The matrix product. A vector on the left is a row, one on the right a column, and that dim is
    left out of the result; all dims before the last two are batches, which broadcast.
    RuntimeError for 0-d operands, sizes that don't fit, or different dtypes.
    """
def matrix_power(input: _Tensor, n: _int, *, out: _Tensor | None=None) -> _Tensor:
    """Square matrices to an integer power, by repeated squaring; power 0 is the identity."""
def multi_dot(tensors: Sequence[_Tensor], *, out: _Tensor | None=None) -> _Tensor:
    """The product of a chain of matrices in the order that takes the fewest multiplications. The
    first may be a vector (a row), and so may the last (a column).
    """
def vander(x: _Tensor, N: _int | None=None) -> _Tensor:
    """(..., n) to (..., n, N): the powers 0 to N - 1 of each element, N being n unless it is given.
    RuntimeError for an N below 2 and bool.
    """
def vecdot(x: _Tensor, y: _Tensor, *, dim: _int=-1, out: _Tensor | None=None) -> _Tensor:
    """`vdot` along a dim, of tensors that broadcast."""
@overload
def vector_norm(input: _Tensor, ord: Any=2, dim: _int | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """The norm of order `ord` (any number, inf or -inf; 0 counts what is not zero) of all elements
    or over `dim`. RuntimeError for integers.
    """
@overload
def vector_norm(input: _Tensor, ord: Any=2, *, axis: _int | Sequence[_int], keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
