"""The functions of ftensor.signal.windows, torch's.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from .._device import DeviceLike, device as _device
from .._tensor import Tensor as _Tensor
from ..dtypes import dtype as _dtype
from ..formats import Size as _Size, layout as _layout, memory_format as _memory_format
from ..modules import Module as _Module
from .. import return_types as _return_types

_Number = _complex | np.generic

def bartlett(M: _int, *, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns 1 - |2 i / N - 1|, with N as in `general_cosine`."""
def blackman(M: _int, *, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns 0.42 - 0.5 cos(2 pi i / N) + 0.08 cos(4 pi i / N), with N as in `general_cosine`."""
def cosine(M: _int, *, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns sin(pi (i + 0.5) / N), where N is M, or M + 1 without `sym`."""
def exponential(M: _int, *, center: _float | None=None, tau: _float=1.0, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns exp(-|i - center| / tau). Raises ValueError for a `tau` that is not positive, and for
    a `center` of a symmetric window, whose center is fixed.
    """
def gaussian(M: _int, *, std: _float=1.0, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns exp(-(i - c)^2 / (2 std^2)) around the middle c. Raises ValueError for an `std` that
    is not positive.
    """
def general_cosine(M: _int, *, a: Any, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns the sum of a[k] (-1)^k cos(2 pi k i / N), where N is M - 1, or M without `sym`.
    Raises ValueError for a negative M, an empty `a` and dtypes other than float32 and float64,
    TypeError for an `a` that is no list.
    """
def general_hamming(M: _int, *, alpha: _float=0.54, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns alpha - (1 - alpha) cos(2 pi i / N), with N as in `general_cosine`."""
def hamming(M: _int, *, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns 0.54 - 0.46 cos(2 pi i / N), with N as in `general_cosine`."""
def hann(M: _int, *, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns 0.5 - 0.5 cos(2 pi i / N), with N as in `general_cosine`."""
def kaiser(M: _int, *, beta: _float=12.0, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns i0(beta sqrt(1 - (2 i / N - 1)^2)) / i0(beta), with N as in `general_cosine`. Raises
    ValueError for a negative `beta`.
    """
def nuttall(M: _int, *, sym: _bool=True, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Four cosines with A. Nuttall's coefficients of minimum side lobes."""
