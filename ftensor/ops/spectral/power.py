"""Power spectra of `ftensor.signal`, and spectra over time, with SciPy's names."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import dtype, float32, float64
from ...execute import output
from ...execute.packed_weights import constant_of
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..arguments import check_tensors
from ..create.data import tensor
from ..rearrange.cat import cat
from ..rearrange.pad import pad
from ..view.dims import imag, real
from . import windows
from .fft import fft, fftfreq, ifft, irfft, rfft, rfftfreq
from .filters import floating
from .stft import overlap_add
from .windows import require


@dataclass(frozen=True)
class Segments:
    """The segments of a signal's last dim of which spectra are computed: `length` elements each,
    `hop` apart, multiplied by `window` and transformed with `points` points. `half` omits the
    frequencies that repeat in a real signal's spectrum; `factor` scales power."""

    name: str
    fs: float
    window: Any
    hop: int
    points: int
    detrend: Any
    half: bool
    factor: float

    @property
    def length(self) -> int:
        return len(self.window)

    def spectra(self, rows: Tensor) -> Tensor:
        """Returns the spectra of (..., n) as (..., segments, frequencies), not yet scaled."""
        rows = rows.unfold(-1, self.length, self.hop)
        if self.detrend:
            rows = detrended(rows, self.detrend)
        kind = rows._dtype.to_complex() if np.iscomplexobj(self.window) else rows._dtype
        weights = _values(self.window, kind, rows)
        return (rfft if self.half else fft)(rows * weights, self.points)

    def power(self, spectrum: Tensor, other: Tensor | None = None) -> Tensor:
        """Returns the power of spectra, or the cross power conj(spectrum) * other."""
        # The frequencies that `half` omits have equal power.
        if other is None:
            power: Tensor = (real(spectrum).square() + imag(spectrum).square()) * self.factor
            # One product for all frequencies, since a write to some of them cuts a graph.
            return power * _values(self._counts, power._dtype, power) if self.half else power
        power = spectrum.conj() * other * self.factor
        if self.half:
            power.narrow(-1, 1, (self.points - 1) // 2).mul_(2)
        return power

    @property
    def _counts(self) -> np.ndarray:
        """Returns the number of frequencies of the whole spectrum for each one of a half."""
        counts = np.full(self.points // 2 + 1, 2.0)
        counts[0] = 1.0
        if self.points % 2 == 0:
            counts[-1] = 1.0
        return counts

    def frequencies(self, like: Tensor) -> Tensor:
        options: dict[str, Any] = {"dtype": like._dtype.to_real(), "device": like.device}
        return (rfftfreq if self.half else fftfreq)(self.points, 1 / self.fs, **options)

    def times(self, n: int, like: Tensor, start: float) -> Tensor:
        """Returns the middle of each segment of `n` elements in seconds, less `start` elements."""
        middles = (np.arange(1 + (n - self.length) // self.hop) * self.hop + self.length / 2 - start) / self.fs
        return tensor(middles).to(device=like.device, dtype=like._dtype.to_real())


def _values(array: np.ndarray, kind: dtype, like: Tensor) -> Tensor:
    """Returns numbers of the host in a dtype, on the device of `like`. The host rounds them, so that
    a graph has no conversions."""
    if kind in (float32, float64):
        return constant_of(array.astype(kind.name), like)
    return tensor(array).to(device=like.device, dtype=kind)


def detrended(rows: Tensor, kind: str) -> Tensor:
    """Returns rows without their mean, or without their "linear" trend."""
    rows = rows - rows.mean(-1, True)
    if kind == "linear":
        n = rows._shape[-1]
        time = np.arange(n) - (n - 1) / 2
        time_tensor = _values(time, rows._dtype, rows)
        rows = rows - (rows * time_tensor).sum(-1, True) * time_tensor / float(time @ time)
    return rows


def segment_window(name: str, window: Any, nperseg: int | None, n: int) -> Any:
    """Returns the window's values: `nperseg` (256) of a window given by name, at most `n`."""
    if isinstance(window, (str, tuple)):
        return windows.window(name, window, min(256 if nperseg is None else nperseg, n), True)
    return windows.values(window)


def plan_segments(
    name: str, x: Tensor, fs: float, window: Any, nperseg: int | None, noverlap: int | None, nfft: int | None,
    detrend: Any, onesided: bool, scaling: str, axis: int, overlap_part: int = 2,
) -> Segments:  # fmt: skip
    """Checks the arguments that all spectra share. Raises ValueError for those that don't fit."""
    require(fs > 0, name, f"fs={fs}: the rate must be positive")
    require(scaling in ("density", "spectrum"), name, f"scaling={scaling!r} is neither density nor spectrum")
    require(detrend in ("constant", "linear", False), name, f"detrend={detrend!r} is none of constant, linear, False")
    n = x._shape[axis]
    require(nperseg is None or nperseg >= 1, name, f"nperseg={nperseg}: a segment has at least 1 element")
    # memory of the segments, and of the window on the host
    output.check_capacity(x, x.numel(), x._dtype)
    if nperseg is not None:
        output.check_capacity(x, min(nperseg, n), float64)
    shape = segment_window(name, window, nperseg, n)
    length = len(shape)
    fits = nperseg is None or length == min(nperseg, n) or length == nperseg
    require(fits, name, f"the window has {length} elements, a segment {nperseg}")
    require(length <= n, name, f"the window has {length} elements, more than the signal's {n}")
    overlap = length // overlap_part if noverlap is None else noverlap
    points = length if nfft is None else nfft
    fits = points >= length and 0 <= overlap < length
    require(fits, name, f"nperseg={length} fits neither nfft={points} nor noverlap={overlap}")
    half = onesided and not x._dtype.is_complex and not np.iscomplexobj(shape)
    total = fs * (abs(shape) ** 2).sum() if scaling == "density" else abs(shape.sum()) ** 2
    factor = 1 / float(total) if total else math.nan  # SciPy's result for a window of zeros
    return Segments(name, fs, shape, length - overlap, points, detrend, half, factor)


def _averaged(name: str, power: Tensor, average: str, axis: int) -> Tensor:
    """Returns the mean or the median over segments of (..., segments, frequencies)."""
    require(average in ("mean", "median"), name, f"average={average!r} is neither mean nor median")
    if average == "mean":
        power = power.mean(-2)
    elif power._dtype.is_complex:
        power = _median(real(power)) + 1j * _median(imag(power))
    else:
        power = _median(power)
    return power.movedim(-1, axis).contiguous()


def _median(power: Tensor) -> Tensor:
    """Returns the median over segments, divided by its bias: the median of a chi-square
    distribution of two degrees with mean 1 (B. Allen et al., arXiv:gr-qc/0509116, appendix B)."""
    n = power._shape[-2]
    order = power.sort(-2)[0]
    middle = (order.select(-2, (n - 1) // 2) + order.select(-2, n // 2)) * 0.5
    k = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    return middle * (1 / float(1 + (1 / (k + 1) - 1 / k).sum()))


@op(namespace="signal", method=False)
def periodogram(
    x: Tensor,
    fs: float = 1.0,
    window: Any = "boxcar",
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
) -> tuple[Tensor, Tensor]:
    """Returns (frequencies, power): the squared transform of the signal, per Hz ("density") or in
    total ("spectrum"). Raises ValueError for arguments that don't fit."""
    (x,) = floating("periodogram", x)
    axis = normalize_dim(axis, x.ndim)
    n = x._shape[axis]
    if nfft is not None and nfft < n:
        x, n = x.narrow(axis, 0, nfft), nfft
    plan = plan_segments(
        "periodogram", x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis
    )  # fmt: skip
    require(plan.length == n, "periodogram", f"the window has {plan.length} elements, a segment {n}")
    power = plan.power(plan.spectra(x.movedim(axis, -1)))
    return plan.frequencies(x), _averaged("periodogram", power, "mean", axis)


@op(namespace="signal", method=False)
def welch(
    x: Tensor,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Tensor, Tensor]:
    """Returns (frequencies, power) by Welch's method: the mean of the periodograms of segments
    of `nperseg` (256) elements that overlap by `noverlap` (half), or their "median" without its
    bias. Raises ValueError for arguments that don't fit."""
    (x,) = floating("welch", x)
    axis = normalize_dim(axis, x.ndim)
    plan = plan_segments("welch", x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis)
    power = plan.power(plan.spectra(x.movedim(axis, -1)))
    return plan.frequencies(x), _averaged("welch", power, average, axis)


def _same_length(name: str, x: Any, y: Any, axis: int) -> tuple[Tensor, Tensor]:
    """Returns both signals with `axis` last; zeros follow the shorter."""
    x, y = floating(name, x, y)
    x, y = (part.movedim(normalize_dim(axis, part.ndim), -1) for part in (x, y))
    n = max(x._shape[-1], y._shape[-1])
    x, y = (part if part._shape[-1] == n else pad(part, (0, n - part._shape[-1])) for part in (x, y))
    return x, y


@op(namespace="signal", method=False)
def csd(
    x: Tensor,
    y: Tensor,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Tensor, Tensor]:
    """Returns (frequencies, cross power) of two signals: the mean over segments of conj(X) Y, as
    `welch` cuts and scales them. Zeros follow the shorter signal. Raises ValueError for arguments
    that don't fit."""
    x, y = _same_length("csd", x, y, axis)
    plan = plan_segments("csd", x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, -1)
    power = plan.power(plan.spectra(x), plan.spectra(y))
    return plan.frequencies(x), _averaged("csd", power, average, axis)


@op(namespace="signal", method=False)
def coherence(
    x: Tensor,
    y: Tensor,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    axis: int = -1,
) -> tuple[Tensor, Tensor]:
    """Returns (frequencies, coherence): the squared magnitude of the cross power of two signals,
    divided by the power of each, in [0, 1]. Arguments are those of `csd`."""
    options = (fs, window, nperseg, noverlap, nfft, detrend)
    x, y = floating("coherence", x, y)
    frequencies, cross = csd(x, y, *options, axis=axis)
    power = welch(x, *options, axis=axis)[1] * welch(y, *options, axis=axis)[1]
    return frequencies, (real(cross).square() + imag(cross).square()) / power


MODES = ("psd", "complex", "magnitude", "angle", "phase")
BOUNDARIES = ("zeros", "constant", "even", "odd", None)


def _unwrapped(phase: Tensor) -> Tensor:
    """Returns phases along the last dim without their jumps of more than pi, as `np.unwrap`."""
    if phase._shape[-1] < 2:
        return phase
    change = phase.diff()
    folded = (change + math.pi).remainder(2 * math.pi) - math.pi
    # A jump of exactly pi keeps its sign.
    folded = folded.masked_fill((folded == -math.pi) & (change > 0), math.pi)
    correction = (folded - change).masked_fill(change.abs() < math.pi, 0.0)
    return cat([phase.narrow(-1, 0, 1), phase.narrow(-1, 1, change._shape[-1]) + correction.cumsum(-1)], -1)


def _placed(spectra: Tensor, axis: int) -> Tensor:
    """Moves the frequencies of (..., times, frequencies) to `axis`; the times are last. As in SciPy,
    the result is a view."""
    return spectra.movedim(-1, axis)


@op(namespace="signal", method=False)
def spectrogram(
    x: Tensor,
    fs: float = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    mode: str = "psd",
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (frequencies, times, spectra): the spectra of segments of `nperseg` (256) elements
    that overlap by `noverlap` (an eighth).

    The frequencies replace `axis`, the times in seconds are the last dim. `mode` "psd" returns
    power, "complex" the transforms, "magnitude" and "angle" their parts, "phase" the angle without
    jumps from one frequency to the next. Raises ValueError for arguments that don't fit.
    """
    (x,) = floating("spectrogram", x)
    require(mode in MODES, "spectrogram", f"mode={mode!r} is none of {', '.join(MODES)}")
    axis = normalize_dim(axis, x.ndim)
    plan = plan_segments(
        "spectrogram", x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, 8
    )  # fmt: skip
    spectra = plan.spectra(x.movedim(axis, -1))
    result = plan.power(spectra) if mode == "psd" else spectra * math.sqrt(plan.factor)
    if mode == "magnitude":
        result = result.abs()
    elif mode in ("angle", "phase"):
        result = result.angle()
    if mode == "phase":
        result = _unwrapped(result)
    return plan.frequencies(x), plan.times(x._shape[axis], x, 0.0), _placed(result, axis)


def extended(x: Tensor, edge: int, padtype: str | None) -> Tensor:
    """Returns a signal that is longer by `edge` elements at both ends of its last dim. `padtype`
    names the new elements: "zeros", "constant" (the first and the last element), or the "even" or
    "odd" reflection; None adds none."""
    n = x._shape[-1]
    if not edge or padtype is None:
        return x
    if padtype == "zeros":
        return pad(x, (edge, edge))
    first, last = x.narrow(-1, 0, 1), x.narrow(-1, n - 1, 1)
    if padtype == "constant":
        shape = (*x._shape[:-1], edge)
        return cat([first.expand(shape), x, last.expand(shape)], -1)
    left, right = x.narrow(-1, 1, edge).flip(-1), x.narrow(-1, n - 1 - edge, edge).flip(-1)
    if padtype == "odd":
        left, right = 2 * first - left, 2 * last - right
    return cat([left, x, right], -1)


@op(namespace="signal", method=False)
def stft(
    x: Tensor,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
    scaling: str = "spectrum",
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (frequencies, times, transforms) of segments of `nperseg` elements that overlap by
    `noverlap` (half), as SciPy's `stft`; `ftensor.stft` is torch's.

    The frequencies replace `axis`, the times in seconds are the last dim. `boundary` extends the
    signal by half a segment at both ends: "zeros", "constant", "even", "odd", or None. `padded`
    adds zeros up to a whole segment. `scaling` is "spectrum" or "psd". Raises ValueError for
    arguments that don't fit.
    """
    (x,) = floating("stft", x)
    require(scaling in ("spectrum", "psd"), "stft", f"scaling={scaling!r} is neither spectrum nor psd")
    require(boundary in BOUNDARIES, "stft", f"boundary={boundary!r} is none of zeros, constant, even, odd")
    axis = normalize_dim(axis, x.ndim)
    kind = "density" if scaling == "psd" else scaling
    plan = plan_segments("stft", x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, kind, axis)
    length, rows, edge = plan.length, x.movedim(axis, -1), 0.0
    if boundary is not None:
        edge = length / 2
        fits = boundary not in ("even", "odd") or length // 2 < rows._shape[-1]
        require(fits, "stft", f"boundary={boundary!r} needs more than {length // 2} elements, not {rows._shape[-1]}")
        rows = extended(rows, length // 2, boundary)
    if padded:
        rows = pad(rows, (0, -(rows._shape[-1] - length) % plan.hop % length))
    spectra = plan.spectra(rows) * math.sqrt(plan.factor)
    return plan.frequencies(x), plan.times(rows._shape[-1], x, edge), _placed(spectra, axis)


@op(namespace="signal", method=False)
def istft(
    Zxx: Tensor,
    fs: float = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
    scaling: str = "spectrum",
) -> tuple[Tensor, Tensor]:
    """Returns (times, signal): the signal whose `signal.stft` is `Zxx`, by overlap-add of its
    segments times the window, divided by the sum of the squared windows.

    `boundary` removes half a segment at both ends. Raises ValueError for arguments that don't fit;
    warns if the windows leave elements uncovered.
    """
    check_tensors("istft", Zxx=Zxx)
    require(Zxx.ndim > 1, "istft", f"Zxx needs 2 dims, not shape {tuple(Zxx._shape)}")
    freq_axis, time_axis = normalize_dim(freq_axis, Zxx.ndim), normalize_dim(time_axis, Zxx.ndim)
    require(freq_axis != time_axis, "istft", f"freq_axis and time_axis are both {time_axis}")
    require(scaling in ("spectrum", "psd"), "istft", f"scaling={scaling!r} is neither spectrum nor psd")
    spectra = Zxx if Zxx._dtype.is_complex else Zxx.to(floating("istft", Zxx)[0]._dtype.to_complex())
    spectra = spectra.movedim((time_axis, freq_axis), (-2, -1))
    bins, count = spectra._shape[-1], spectra._shape[-2]
    default = 2 * (bins - 1) if input_onesided else bins
    length = default if nperseg is None else nperseg
    require(length >= 1, "istft", f"nperseg={length}: a segment has at least 1 element")
    odd = input_onesided and length == default + 1
    points = (length if odd else default) if nfft is None else nfft
    require(points >= length, "istft", f"nfft={points} is less than nperseg={length}")
    overlap = length // 2 if noverlap is None else noverlap
    require(0 <= overlap < length, "istft", f"noverlap={overlap} is not in [0, nperseg={length})")
    shape = windows.window("istft", window, length, True)
    require(len(shape) == length, "istft", f"the window has {len(shape)} elements, a segment {length}")
    hop = length - overlap
    frames = irfft(spectra, points) if input_onesided else ifft(spectra, points)
    gain = shape.sum() if scaling == "spectrum" else math.sqrt(fs * (shape**2).sum())
    weights = tensor(shape * float(gain)).to(device=Zxx.device, dtype=frames._dtype)
    frames = frames.narrow(-1, 0, length) * weights
    signal = overlap_add(frames.reshape(-1, count, length), hop)
    total = length + (count - 1) * hop
    norm = np.zeros((count + -(-length // hop), hop))
    squares = np.pad(shape**2, (0, -length % hop)).reshape(-1, hop)
    for k, part in enumerate(squares):
        norm[k : k + count] += part
    norm = norm.reshape(-1)[:total]
    first, last = (length // 2, total - length // 2) if boundary else (0, total)
    norm = norm[first:last]
    if not (norm > 1e-10).all():
        warnings.warn("istft(): the windows leave elements uncovered; the signal there is not known", stacklevel=2)
    divisor = tensor(np.where(norm > 1e-10, norm, 1.0)).to(device=Zxx.device, dtype=frames._dtype)
    signal = signal.narrow(1, first, last - first) / divisor
    batch = spectra._shape[:-2]
    result = signal.reshape(*batch, last - first)
    if result.ndim > 1:
        result = result.movedim(-1, time_axis - (freq_axis < time_axis))
    times = np.arange(last - first) / fs
    return tensor(times).to(device=Zxx.device, dtype=frames._dtype.to_real()), result.contiguous()
