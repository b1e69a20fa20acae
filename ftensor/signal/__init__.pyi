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
from ..ops.spectral.short_time import ShortTimeFFT as ShortTimeFFT
def bessel(N: _int, Wn: Any, btype: str='low', analog: _bool=False, output: str='ba', norm: str='phase', fs: _float | None=None) -> Any:
    """Returns a Bessel filter, whose delay is nearly the same for all frequencies of the passband.
    Other arguments and the result are those of `butter`; `norm` is SciPy's.
    """
def butter(N: _int, Wn: Any, btype: str='low', analog: _bool=False, output: str='ba', fs: _float | None=None) -> Any:
    """Returns a Butterworth filter of order `N` by SciPy: (b, a), or the sections for `sosfilt` with
    `output` \"sos\", as NumPy arrays in float64. `Wn` is the edge relative to `fs` (2), or a pair for
    \"bandpass\" and \"bandstop\". Sections keep their precision where (b, a) of an order above 4 do not.
    Raises ModuleNotFoundError without SciPy, and SciPy's ValueError.
    """
def cheby1(N: _int, rp: _float, Wn: Any, btype: str='low', analog: _bool=False, output: str='ba', fs: _float | None=None) -> Any:
    """Returns a Chebyshev filter of type I, with ripples of `rp` dB in the passband.
    Other arguments and the result are those of `butter`.
    """
def cheby2(N: _int, rs: _float, Wn: Any, btype: str='low', analog: _bool=False, output: str='ba', fs: _float | None=None) -> Any:
    """Returns a Chebyshev filter of type II, which damps the stopband by `rs` dB.
    Other arguments and the result are those of `butter`.
    """
def chirp(t: _Tensor, f0: _float, t1: _float, f1: _float, method: str='linear', phi: _float=0, vertex_zero: _bool=True, *, complex: _bool=False) -> _Tensor:
    """Returns a cosine whose frequency goes from `f0` at t = 0 to `f1` at t = `t1`, at the times
    `t`, with `phi` degrees at t = 0.

    `method` is \"linear\", \"quadratic\" (its vertex at 0, or at `t1` without `vertex_zero`),
    \"logarithmic\" or \"hyperbolic\". With `complex` returns exp(i phase). Phases are computed in
    float64 if the device has it. Raises ValueError for another `method`, and for frequencies that
    it has no sweep for.
    """
def cic(x: _Tensor, rate: _int, order: _int=3, delay: _int=1, axis: _int=-1) -> _Tensor:
    """Decimates by a cascaded integrator-comb filter: `order` running sums, every `rate`-th
    element, and `order` differences over `delay` elements. n elements give ceil(n / rate).

    The gain (rate * delay)^order is kept. Integers give exact sums: int32 if that holds them, else
    int64. Sums of int64 wrap around. The device computes the equivalent filter of order * (rate *
    delay - 1) + 1 taps, whose sums don't grow with the signal's length. Raises ValueError for
    arguments below 1, orders above 64, and sums of more than 64 bits of shorter integers.
    """
def coherence(x: _Tensor, y: _Tensor, fs: _float=1.0, window: Any='hann', nperseg: _int | None=None, noverlap: _int | None=None, nfft: _int | None=None, detrend: Any='constant', axis: _int=-1) -> tuple[_Tensor, _Tensor]:
    """Returns (frequencies, coherence): the squared magnitude of the cross power of two signals,
    divided by the power of each, in [0, 1]. Arguments are those of `csd`.
    """
def convolve(in1: _Tensor, in2: _Tensor, mode: str='full', method: str='auto') -> _Tensor:
    """Convolves two inputs along all dims. `mode` is that of `fftconvolve`; `method` \"auto\" computes
    floating point by transforms and integers by exact sums (\"direct\", up to 3 dims). One input may
    be a NumPy array. Raises ValueError for inputs that don't fit.
    """
def correlate(in1: _Tensor, in2: _Tensor, mode: str='full', method: str='auto') -> _Tensor:
    """Correlates two inputs along all dims: element k is the sum of in1[l] conj(in2[l - k + n - 1]),
    where n is in2's size. `mode` and `method` are those of `convolve`. Raises ValueError for inputs
    that don't fit.
    """
def correlation_lags(in1_len: _int, in2_len: _int, mode: str='full') -> np.ndarray[Any, Any]:
    """Returns the displacement that each element of a 1-d `correlate` belongs to, as a NumPy array
    of int64. Raises ValueError for lengths below 1 and another `mode`.
    """
def csd(x: _Tensor, y: _Tensor, fs: _float=1.0, window: Any='hann', nperseg: _int | None=None, noverlap: _int | None=None, nfft: _int | None=None, detrend: Any='constant', return_onesided: _bool=True, scaling: str='density', axis: _int=-1, average: str='mean') -> tuple[_Tensor, _Tensor]:
    """Returns (frequencies, cross power) of two signals: the mean over segments of conj(X) Y, as
    `welch` cuts and scales them. Zeros follow the shorter signal. Raises ValueError for arguments
    that don't fit.
    """
def decimate(x: _Tensor, q: _int, n: _int | None=None, ftype: str='iir', axis: _int=-1, zero_phase: _bool=True) -> _Tensor:
    """Takes each `q`-th element after a low-pass filter: for `ftype` \"iir\" a Chebyshev filter of
    order `n` (8), for \"fir\" n + 1 taps (20 q) with a Hamming window. `zero_phase` removes the
    delay. Raises ValueError for another `ftype`, and for signals shorter than the filter's edges.
    """
def ellip(N: _int, rp: _float, rs: _float, Wn: Any, btype: str='low', analog: _bool=False, output: str='ba', fs: _float | None=None) -> Any:
    """Returns an elliptic filter, with ripples of `rp` dB in the passband and `rs` dB of damping in the
    stopband. Other arguments and the result are those of `butter`.
    """
def fft_q15(x: _Tensor) -> _Tensor:
    """Returns the Fourier transform of complex int16 samples (..., n, 2), divided by n, in fixed
    point (Q15); n is a power of two.

    Each of the log2(n) stages halves its results and rounds them to nearest with ties up, so that
    no sum overflows; a complex number of magnitude above 1 may saturate when it is turned. The
    factors have 15 fractional bits. Raises ValueError for other dtypes and shapes.
    """
def fftconvolve(in1: _Tensor, in2: _Tensor, mode: str='full', axes: Any=None) -> _Tensor:
    """Convolves along `axes` (all) by Fourier transforms. `mode` \"full\" returns all, \"same\" the
    middle part of in1's size, \"valid\" the part that needs no zeros at the edges. Raises ValueError
    for inputs that don't fit.
    """
def filtfilt(b: Any, a: Any, x: _Tensor, axis: _int=-1, padtype: str | None='odd', padlen: _int | None=None) -> _Tensor:
    """Filters along `axis` forwards, then backwards, which removes the filter's delay.

    The signal is first extended by `padlen` elements (three times the longer of `b` and `a`) at
    both ends: by \"odd\" or \"even\" reflection, its \"constant\" ends, or not at all (None). Raises
    ValueError if a[0] is 0, for a pole at 1, and for signals of `padlen` elements or fewer.
    """
def find_peaks(x: _Tensor, height: Any=None, threshold: Any=None, distance: _float | None=None, plateau_size: Any=None) -> tuple[_Tensor, dict[str, _Tensor]]:
    """Returns (the indices (int64) of a signal's local maxima, a dict of their properties). A flat
    maximum counts once, at its middle.

    Each condition is a minimum, or a pair (minimum, maximum) with None for no limit: `height` of
    the peak, `threshold` of its difference to both neighbours, `plateau_size` of its width in
    elements. Of peaks closer than `distance` the highest stays. The dict has SciPy's keys:
    \"peak_heights\", \"left_thresholds\", \"right_thresholds\", \"plateau_sizes\", \"left_edges\",
    \"right_edges\". The device finds the peaks; the host applies `distance`. Raises ValueError for
    signals that are not 1-d and real, and for a `distance` below 1.
    """
def fir_q15(x: _Tensor, taps: Any, decimate: _int=1, *, pairs: _bool=False) -> _Tensor:
    """Filters int16 samples (..., n) with int16 taps (k,) in fixed point (Q15).

    Result j is the sum of taps[k] * x[j * decimate - k], with zeros before the first sample. The sum
    is exact; it is shifted by 15 bits, rounded to nearest with ties up, and saturates. With `pairs`
    samples (..., n, 2) are complex numbers, and taps (k,) are real or (k, 2) complex. Raises
    ValueError for other dtypes and shapes.
    """
def firwin(numtaps: _int, cutoff: Any, *, width: _float | None=None, window: Any='hamming', pass_zero: Any=True, scale: _bool=True, fs: _float | None=None) -> np.ndarray[Any, Any]:
    """Returns the taps of a filter with linear phase, as a NumPy array (numtaps,), by the window
    method of SciPy's `firwin`: `cutoff` is a frequency or several, relative to `fs` (2). Raises
    ModuleNotFoundError without SciPy, and SciPy's ValueError.
    """
def from_q15(x: _Tensor, *, pairs: _bool=False) -> _Tensor:
    """Returns int16 as float32 in [-1, 1), exactly; with `pairs`, (..., 2) as complex64 (...)."""
def hilbert(x: _Tensor, N: _int | None=None, axis: _int=-1) -> _Tensor:
    """Returns the analytic signal of a real one: its Hilbert transform is the imaginary part. `N`
    is the number of points of the transforms (the signal's length): the signal is cut, or zeros
    follow it. Raises ValueError for complex signals and for `N` below 1.
    """
def ifft_q15(x: _Tensor) -> _Tensor:
    """Returns the inverse Fourier transform of complex int16 numbers (..., n, 2), with the factor 1
    / n of the definition, rounded as by `fft_q15`.
    """
def istft(Zxx: _Tensor, fs: _float=1.0, window: Any='hann', nperseg: _int | None=None, noverlap: _int | None=None, nfft: _int | None=None, input_onesided: _bool=True, boundary: _bool=True, time_axis: _int=-1, freq_axis: _int=-2, scaling: str='spectrum') -> tuple[_Tensor, _Tensor]:
    """Returns (times, signal): the signal whose `signal.stft` is `Zxx`, by overlap-add of its
    segments times the window, divided by the sum of the squared windows.

    `boundary` removes half a segment at both ends. Raises ValueError for arguments that don't fit;
    warns if the windows leave elements uncovered.
    """
def lfilter(b: Any, a: Any, x: _Tensor, axis: _int=-1, zi: Any=None) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Filters along `axis` with numerator `b` and denominator `a`: a[0] y[n] is the sum of b[k] x[n
    - k] minus that of a[k] y[n - k], k >= 1. With `zi`, the initial state ((..., order), its last
    dim in the place of `axis`), returns (y, the final state).

    Sums are computed in float64 on processors and GPUs. Raises ValueError if a[0] is 0, and for a
    state that doesn't fit.
    """
def lfilter_zi(b: Any, a: Any) -> np.ndarray[Any, Any]:
    """Returns the state of `lfilter` in the steady state of an input of ones, as a NumPy array
    (order,). Times the first element of a signal it is a `zi` without a transient. Raises
    ValueError if a[0] is 0, and for a pole at 1.
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
def sosfilt(sos: Any, x: _Tensor, axis: _int=-1, zi: Any=None) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Filters along `axis` by second-order sections in series: `sos` (sections, 6) has b and a of
    each in a row. With `zi`, the initial states (sections, ..., 2, ...), whose 2 is in the place of
    `axis`, returns (y, the final states).

    The result has the signal's dtype; sums are those of `lfilter`. Raises ValueError for `sos` that
    are no sections, and for states that don't fit.
    """
def sosfilt_zi(sos: Any) -> np.ndarray[Any, Any]:
    """Returns the state of `sosfilt` in the steady state of an input of ones, as a NumPy array
    (sections, 2). Raises ValueError for `sos` that are no sections, and for a pole at 1.
    """
def sosfiltfilt(sos: Any, x: _Tensor, axis: _int=-1, padtype: str | None='odd', padlen: _int | None=None) -> _Tensor:
    """Filters along `axis` by second-order sections forwards, then backwards, as `filtfilt`.
    `padlen` is 3 (2 sections + 1), less what sections of first order save. Raises ValueError for
    `sos` that are no sections, for a pole at 1, and for signals of `padlen` elements or fewer.
    """
def spectrogram(x: _Tensor, fs: _float=1.0, window: Any=('tukey', 0.25), nperseg: _int | None=None, noverlap: _int | None=None, nfft: _int | None=None, detrend: Any='constant', return_onesided: _bool=True, scaling: str='density', axis: _int=-1, mode: str='psd') -> tuple[_Tensor, _Tensor, _Tensor]:
    """Returns (frequencies, times, spectra): the spectra of segments of `nperseg` (256) elements
    that overlap by `noverlap` (an eighth).

    The frequencies replace `axis`, the times in seconds are the last dim. `mode` \"psd\" returns
    power, \"complex\" the transforms, \"magnitude\" and \"angle\" their parts, \"phase\" the angle without
    jumps from one frequency to the next. Raises ValueError for arguments that don't fit.
    """
def stft(x: _Tensor, fs: _float=1.0, window: Any='hann', nperseg: _int=256, noverlap: _int | None=None, nfft: _int | None=None, detrend: Any=False, return_onesided: _bool=True, boundary: str | None='zeros', padded: _bool=True, axis: _int=-1, scaling: str='spectrum') -> tuple[_Tensor, _Tensor, _Tensor]:
    """Returns (frequencies, times, transforms) of segments of `nperseg` elements that overlap by
    `noverlap` (half), as SciPy's `stft`; `ftensor.stft` is torch's.

    The frequencies replace `axis`, the times in seconds are the last dim. `boundary` extends the
    signal by half a segment at both ends: \"zeros\", \"constant\", \"even\", \"odd\", or None. `padded`
    adds zeros up to a whole segment. `scaling` is \"spectrum\" or \"psd\". Raises ValueError for
    arguments that don't fit.
    """
def to_q15(x: _Tensor) -> _Tensor:
    """Returns floating-point numbers in [-1, 1) as int16, multiples of 2**-15. Rounds to nearest,
    ties to even; larger numbers saturate. Complex numbers (...) give pairs (..., 2). Raises
    ValueError for other dtypes.
    """
def upfirdn(h: Any, x: _Tensor, up: _int=1, down: _int=1, axis: _int=-1, mode: str='constant', cval: _float=0) -> _Tensor:
    """Inserts `up` - 1 zeros after each element, filters by the taps `h`, and takes every `down`-th
    result: ceil(((n - 1) up + taps) / down) of n elements.

    Only the results that are taken are computed, from elements that are not zero. Raises ValueError
    for factors below 1, for no taps, and for a `mode` and `cval` other than \"constant\" and 0.
    """
def welch(x: _Tensor, fs: _float=1.0, window: Any='hann', nperseg: _int | None=None, noverlap: _int | None=None, nfft: _int | None=None, detrend: Any='constant', return_onesided: _bool=True, scaling: str='density', axis: _int=-1, average: str='mean') -> tuple[_Tensor, _Tensor]:
    """Returns (frequencies, power) by Welch's method: the mean of the periodograms of segments
    of `nperseg` (256) elements that overlap by `noverlap` (half), or their \"median\" without its
    bias. Raises ValueError for arguments that don't fit.
    """
