"""The functions of ftensor.signal, torch's.

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

from . import windows as windows
def decimate(x: _Tensor, q: _int, n: _int | None=None, ftype: str='iir', axis: _int=-1, zero_phase: _bool=True) -> _Tensor:
    """Each `q`-th element after a low-pass filter: for `ftype` \"iir\" a Chebyshev one of order `n`
    (8), for \"fir\" one of n + 1 taps (20 q) by a Hamming window. With `zero_phase` without delay.
    ValueError for another `ftype`, and for signals shorter than the filter's edges.
    """
def fftconvolve(in1: _Tensor, in2: _Tensor, mode: str='full', axes: Any=None) -> _Tensor:
    """The convolution along `axes` (all), by Fourier transforms: of `mode` \"full\", the part \"same\"
    around the middle that has in1's size, or the one, \"valid\", that needs no zeros at the edges.
    ValueError for inputs that don't fit.
    """
def lfilter(b: Any, a: Any, x: _Tensor, axis: _int=-1, zi: _Tensor | None=None) -> _Tensor | tuple[_Tensor, _Tensor]:
    """The filter with numerator `b` and denominator `a` along `axis`: a[0] y[n] is the sum of
    b[k] x[n - k] less that of a[k] y[n - k], k >= 1. With `zi`, the state that it begins with
    ((..., order), its last dim in the place of `axis`), (y, the state at the end).

    Sums are taken in float64 where the device has it. ValueError where a[0] is 0.
    """
def oaconvolve(in1: _Tensor, in2: _Tensor, mode: str='full', axes: Any=None) -> _Tensor:
    """As `fftconvolve`; along a single dim by blocks that overlap and are added, for one input that
    is much longer than the other.
    """
def periodogram(x: _Tensor, fs: _float=1.0, window: Any='boxcar', nfft: _int | None=None, detrend: Any='constant', return_onesided: _bool=True, scaling: str='density', axis: _int=-1) -> tuple[_Tensor, _Tensor]:
    """(frequencies, power): the square of the signal's transform, per Hz (\"density\") or in all
    (\"spectrum\"). ValueError for arguments that don't fit.
    """
def resample_poly(x: _Tensor, up: _int, down: _int, axis: _int=0, window: Any=('kaiser', 5.0), padtype: str='constant', cval: _float | None=None) -> _Tensor:
    """The signal at up / down times its rate: `up` - 1 zeros between its elements, a low-pass
    filter (by a window, or given by its values), and each `down`-th of that. Beyond its ends it is
    `cval` (0), or its own \"mean\", \"minimum\" or \"maximum\". ValueError for factors below 1.
    """
def welch(x: _Tensor, fs: _float=1.0, window: Any='hann', nperseg: _int | None=None, noverlap: _int | None=None, nfft: _int | None=None, detrend: Any='constant', return_onesided: _bool=True, scaling: str='density', axis: _int=-1, average: str='mean') -> tuple[_Tensor, _Tensor]:
    """(frequencies, power) by P. Welch's method: the mean of the periodograms of segments of
    `nperseg` (256) elements, of which `noverlap` (half) are those of the one before; or their
    \"median\", without its bias. ValueError for arguments that don't fit.
    """
