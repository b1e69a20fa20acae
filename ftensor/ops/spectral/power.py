"""Power spectra of `ftensor.signal`, with SciPy's names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import float64
from ...errors import spectral as errors_spectral
from ...execute import output
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..create.data import tensor
from ..rearrange.pad import pad
from ..view.dims import imag, real
from . import windows
from .fft import fft, fftfreq, rfft, rfftfreq
from .filters import floating


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
            rows = rows - rows.mean(-1, True)
        if self.detrend == "linear":
            time = np.arange(self.length) - (self.length - 1) / 2
            time_tensor = tensor(time).to(device=rows.device, dtype=rows._dtype)
            rows = rows - (rows * time_tensor).sum(-1, True) * time_tensor / float(time @ time)
        kind = rows._dtype.to_complex() if np.iscomplexobj(self.window) else rows._dtype
        weights = tensor(self.window).to(device=rows.device, dtype=kind)
        spectrum: Tensor = (rfft if self.half else fft)(rows * weights, self.points)
        return spectrum

    def power(self, spectrum: Tensor, other: Tensor | None = None) -> Tensor:
        """Returns the power of spectra, or the cross power conj(spectrum) * other."""
        if other is None:
            power = (real(spectrum).square() + imag(spectrum).square()) * self.factor
        else:
            power = spectrum.conj() * other * self.factor
        if self.half:  # the omitted frequencies have equal power
            power.narrow(-1, 1, (self.points - 1) // 2).mul_(2)
        return power

    def frequencies(self, like: Tensor) -> Tensor:
        options: dict[str, Any] = {"dtype": like._dtype.to_real(), "device": like.device}
        values: Tensor = (rfftfreq if self.half else fftfreq)(self.points, 1 / self.fs, **options)
        return values

    def times(self, n: int, like: Tensor, start: float) -> Tensor:
        """Returns the middle of each segment of `n` elements in seconds, less `start` elements."""
        middles = (np.arange(1 + (n - self.length) // self.hop) * self.hop + self.length / 2 - start) / self.fs
        return tensor(middles).to(device=like.device, dtype=like._dtype.to_real())


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
    refuse = errors_spectral.filter_argument
    if not fs > 0:
        raise refuse(name, f"fs={fs}: the rate must be positive")
    if scaling not in ("density", "spectrum"):
        raise refuse(name, f"scaling={scaling!r} is neither density nor spectrum")
    if detrend not in ("constant", "linear", False):
        raise refuse(name, f"detrend={detrend!r} is none of constant, linear, False")
    n = x._shape[axis]
    if nperseg is not None and nperseg < 1:
        raise refuse(name, f"nperseg={nperseg}: a segment has at least 1 element")
    # memory of the segments, and of the window on the host
    output.check_capacity(x, x.numel(), x._dtype)
    if nperseg is not None:
        output.check_capacity(x, min(nperseg, n), float64)
    shape = segment_window(name, window, nperseg, n)
    length = len(shape)
    if nperseg is not None and length != min(nperseg, n) and length != nperseg:
        raise refuse(name, f"the window has {length} elements, a segment {nperseg}")
    if length > n:
        raise refuse(name, f"the window has {length} elements, more than the signal's {n}")
    overlap = length // overlap_part if noverlap is None else noverlap
    points = length if nfft is None else nfft
    if points < length or not 0 <= overlap < length:
        raise refuse(name, f"nperseg={length} fits neither nfft={points} nor noverlap={overlap}")
    half = onesided and not x._dtype.is_complex and not np.iscomplexobj(shape)
    total = fs * (abs(shape) ** 2).sum() if scaling == "density" else abs(shape.sum()) ** 2
    factor = 1 / float(total) if total else math.nan  # SciPy's result for a window of zeros
    return Segments(name, fs, shape, length - overlap, points, detrend, half, factor)


def _averaged(name: str, power: Tensor, average: str, axis: int) -> Tensor:
    """Returns the mean or the median over segments of (..., segments, frequencies)."""
    if average not in ("mean", "median"):
        raise errors_spectral.filter_argument(name, f"average={average!r} is neither mean nor median")
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
    median: Tensor = middle * (1 / float(1 + (1 / (k + 1) - 1 / k).sum()))
    return median


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
    if plan.length != n:
        raise errors_spectral.filter_argument("periodogram", f"the window has {plan.length} elements, a segment {n}")
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
