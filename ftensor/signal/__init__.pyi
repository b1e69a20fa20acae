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
    """Takes each `q`-th element after a low-pass filter: for `ftype` \"iir\" a Chebyshev filter of
    order `n` (8), for \"fir\" n + 1 taps (20 q) with a Hamming window. `zero_phase` removes the
    delay. Raises ValueError for another `ftype`, and for signals shorter than the filter's edges.
    """
def fftconvolve(in1: _Tensor, in2: _Tensor, mode: str='full', axes: Any=None) -> _Tensor:
    """Convolves along `axes` (all) by Fourier transforms. `mode` \"full\" returns all, \"same\" the
    middle part of in1's size, \"valid\" the part that needs no zeros at the edges. Raises ValueError
    for inputs that don't fit.
    """
def lfilter(b: Any, a: Any, x: _Tensor, axis: _int=-1, zi: _Tensor | None=None) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Filters along `axis` with numerator `b` and denominator `a`: a[0] y[n] is the sum of b[k] x[n
    - k] minus that of a[k] y[n - k], k >= 1. With `zi`, the initial state ((..., order), its last
    dim in the place of `axis`), returns (y, the final state).

    Sums are computed in float64 if the device has it. Raises ValueError if a[0] is 0.
    """
def oaconvolve(in1: _Tensor, in2: _Tensor, mode: str='full', axes: Any=None) -> _Tensor:
    """Like `fftconvolve`; along a single dim it works by overlap-add, for one input that is much
    longer than the other.
    """
def periodogram(x: _Tensor, fs: _float=1.0, window: Any='boxcar', nfft: _int | None=None, detrend: Any='constant', return_onesided: _bool=True, scaling: str='density', axis: _int=-1) -> tuple[_Tensor, _Tensor]:
    """Returns (frequencies, power): the squared transform of the signal, per Hz (\"density\") or in
    total (\"spectrum\"). Raises ValueError for arguments that don't fit.
    """
def resample_poly(x: _Tensor, up: _int, down: _int, axis: _int=0, window: Any=('kaiser', 5.0), padtype: str='constant', cval: _float | None=None) -> _Tensor:
    """Resamples a signal to up / down times its rate: inserts `up` - 1 zeros between its elements,
    applies a low-pass filter (a window, or given values), and takes every `down`-th result. Beyond
    its ends the signal is `cval` (0), or its own \"mean\", \"minimum\" or \"maximum\". Raises ValueError
    for factors below 1.
    """
def welch(x: _Tensor, fs: _float=1.0, window: Any='hann', nperseg: _int | None=None, noverlap: _int | None=None, nfft: _int | None=None, detrend: Any='constant', return_onesided: _bool=True, scaling: str='density', axis: _int=-1, average: str='mean') -> tuple[_Tensor, _Tensor]:
    """Returns (frequencies, power) by P. Welch's method: the mean of the periodograms of segments
    of `nperseg` (256) elements that overlap by `noverlap` (half), or their \"median\" without its
    bias. Raises ValueError for arguments that don't fit.
    """
