"""The functions of ftensor.masked, torch's.

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
from .modules import Module as _Module
from . import return_types as _return_types

_Number = _complex | np.generic

def amax(input: _Tensor, dim: _int | Sequence[_int] | None=None, *, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the largest element over `dim` where `mask` is True. If all are masked, it is the least number of the dtype."""
def amin(input: _Tensor, dim: _int | Sequence[_int] | None=None, *, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the smallest element over `dim` where `mask` is True. If all are masked, it is the largest number of the dtype."""
def argmax(input: _Tensor, dim: _int | None=None, *, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the index along `dim` of the largest element where `mask` is True, in the input's dtype or in `dtype`."""
def argmin(input: _Tensor, dim: _int | None=None, *, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the index along `dim` of the smallest element where `mask` is True, in the input's dtype or in `dtype`."""
def cumprod(input: _Tensor, dim: _int, *, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the cumulative products along `dim`; masked elements count as 1."""
def cumsum(input: _Tensor, dim: _int, *, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the cumulative sums along `dim`; masked elements count as 0."""
def log_softmax(input: _Tensor, dim: _int, *, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns log_softmax along `dim` of the elements where `mask` is True; -inf for the others."""
def logaddexp(input: _Tensor, other: _Tensor, *, dtype: _dtype | None=None, input_mask: _Tensor | None=None, other_mask: _Tensor | None=None) -> _Tensor:
    """Returns log(exp(input) + exp(other)), elementwise; a masked element contributes nothing."""
def logsumexp(input: _Tensor, dim: _int | Sequence[_int] | None=None, *, keepdim: _bool=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns log of the sum over `dim` of exp of the elements where `mask` is True."""
def mean(input: _Tensor, dim: _int | Sequence[_int] | None=None, *, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the mean over `dim` of the elements where `mask` is True; NaN if there are none.
    Raises ValueError for an integer dtype.
    """
def median(input: _Tensor, dim: _int=-1, *, keepdim: _bool=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the lower median along `dim` of the elements where `mask` is True and that are not
    NaN. Without such elements it is NaN, or raises ValueError for integers.
    """
def norm(input: _Tensor, ord: _float | None=2.0, dim: _int | Sequence[_int] | None=None, *, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the vector norm of order `ord` over `dim` of the elements where `mask` is True."""
def normalize(input: _Tensor, ord: _float, dim: _int | Sequence[_int] | None, *, eps: _float=1e-12, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the elements where `mask` is True, others as 0, divided by their norm of order `ord`
    over `dim`, or by `eps` if that is larger.
    """
def prod(input: _Tensor, dim: _int | Sequence[_int] | None=None, *, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the product over `dim` (None or () for all) of the elements where `mask` is True;
    integers are multiplied as int64.
    """
def softmax(input: _Tensor, dim: _int, *, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns softmax along `dim` of the elements where `mask` is True; 0 for the others."""
def softmin(input: _Tensor, dim: _int, *, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns softmin along `dim` of the elements where `mask` is True; 0 for the others."""
def std(input: _Tensor, dim: _int | Sequence[_int] | None=None, unbiased: _bool | None=None, *, correction: _float | None=None, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the square root of `masked.var`."""
def sum(input: _Tensor, dim: _int | Sequence[_int] | None=None, *, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the sum over `dim` (None or () for all) of the elements where `mask` is True; integers
    are summed as int64.
    """
def var(input: _Tensor, dim: _int | Sequence[_int] | None=None, unbiased: _bool | None=None, *, correction: _float | None=None, keepdim: _bool | None=False, dtype: _dtype | None=None, mask: _Tensor | None=None) -> _Tensor:
    """Returns the variance over `dim` of the elements where `mask` is True; the sum of squares is
    divided by their count minus `correction` (1; 0 if `unbiased` is False).
    """
