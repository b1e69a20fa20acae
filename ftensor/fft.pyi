"""The functions of ftensor.fft, torch's.

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

@overload
def fft(input: _Tensor, n: _int | None=None, dim: _int=-1, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the discrete Fourier transform of `n` points along `dim`. The input is cut or padded with
    zeros to `n`.

    Element k is the sum of x[m] exp(-2 pi i k m / n), times 1/n for norm \"forward\" and 1/sqrt(n)
    for \"ortho\". The result is complex. RuntimeError for 16-bit dtypes, n < 1 and an unknown norm.
    """
@overload
def fft(input: _Tensor, n: _int | None=None, *, axis: _int | Sequence[_int]=-1, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def fft2(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=(-2, -1), norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """`fftn` along the last two dims."""
@overload
def fft2(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int]=(-2, -1), norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
def fftfreq(n: _int, d: _float=1.0, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns the frequencies of `n` points that are `d` apart, in the order of `fft`: 0, 1, ...
    and then the negative ones, divided by n * d. Raises RuntimeError for a dtype that is not
    floating-point.
    """
@overload
def fftn(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=None, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `fft` along the dims `dim`; by default the last len(s) dims, or all without `s`. A size
    of -1 in `s` keeps the input's. RuntimeError for repeated dims and for more sizes than dims.
    """
@overload
def fftn(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int] | None=None, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def fftshift(input: _Tensor, dim: _int | Sequence[_int] | None=None) -> _Tensor:
    """Moves the zero frequency from the front to the middle, along `dim` or all dims."""
@overload
def fftshift(input: _Tensor, *, axis: _int | Sequence[_int] | None=None) -> _Tensor: ...
@overload
def hfft(input: _Tensor, n: _int | None=None, dim: _int=-1, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the transform of a Hermitian signal, given its first half: `n` real numbers."""
@overload
def hfft(input: _Tensor, n: _int | None=None, *, axis: _int | Sequence[_int]=-1, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def hfft2(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=(-2, -1), norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """`hfftn` along the last two dims."""
@overload
def hfft2(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int]=(-2, -1), norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def hfftn(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=None, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `fftn` of a signal that is Hermitian along the last of the dims, given its first half
    there: real numbers.
    """
@overload
def hfftn(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int] | None=None, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def ifft(input: _Tensor, n: _int | None=None, dim: _int=-1, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of `fft`: its exponents are positive, and norm \"backward\", the default,
    multiplies by 1/n.
    """
@overload
def ifft(input: _Tensor, n: _int | None=None, *, axis: _int | Sequence[_int]=-1, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def ifft2(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=(-2, -1), norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """`ifftn` along the last two dims."""
@overload
def ifft2(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int]=(-2, -1), norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def ifftn(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=None, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of `fftn`."""
@overload
def ifftn(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int] | None=None, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def ifftshift(input: _Tensor, dim: _int | Sequence[_int] | None=None) -> _Tensor:
    """Inverts `fftshift`."""
@overload
def ifftshift(input: _Tensor, *, axis: _int | Sequence[_int] | None=None) -> _Tensor: ...
@overload
def ihfft(input: _Tensor, n: _int | None=None, dim: _int=-1, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of `hfft`: the first half of a Hermitian signal, from real numbers.
    RuntimeError for complex inputs.
    """
@overload
def ihfft(input: _Tensor, n: _int | None=None, *, axis: _int | Sequence[_int]=-1, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def ihfft2(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=(-2, -1), norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """`ihfftn` along the last two dims."""
@overload
def ihfft2(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int]=(-2, -1), norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def ihfftn(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=None, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of `hfftn`, from real numbers."""
@overload
def ihfftn(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int] | None=None, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def irfft(input: _Tensor, n: _int | None=None, dim: _int=-1, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of `rfft`: `n` real numbers. `n` defaults to 2 * (size - 1)."""
@overload
def irfft(input: _Tensor, n: _int | None=None, *, axis: _int | Sequence[_int]=-1, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def irfft2(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=(-2, -1), norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """`irfftn` along the last two dims."""
@overload
def irfft2(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int]=(-2, -1), norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def irfftn(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=None, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of `rfftn`: real numbers. The last dim has the last size in `s`, by default
    2 * (size - 1).
    """
@overload
def irfftn(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int] | None=None, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def rfft(input: _Tensor, n: _int | None=None, dim: _int=-1, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the first n // 2 + 1 elements of `fft` of real numbers; the others are their conjugates
    in reverse order. RuntimeError for complex inputs.
    """
@overload
def rfft(input: _Tensor, n: _int | None=None, *, axis: _int | Sequence[_int]=-1, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def rfft2(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=(-2, -1), norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """`rfftn` along the last two dims."""
@overload
def rfft2(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int]=(-2, -1), norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
def rfftfreq(n: _int, d: _float=1.0, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns the frequencies of `rfft`: 0 to n // 2, divided by n * d."""
@overload
def rfftn(input: _Tensor, s: _int | Sequence[_int] | None=None, dim: _int | Sequence[_int] | None=None, norm: str | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `fftn` of real numbers, of which only the first half along the last of the dims."""
@overload
def rfftn(input: _Tensor, s: _int | Sequence[_int] | None=None, *, axis: _int | Sequence[_int] | None=None, norm: str | None=None, out: _Tensor | None=None) -> _Tensor: ...
