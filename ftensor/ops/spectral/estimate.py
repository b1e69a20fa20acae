"""Power spectra of `ftensor.signal`, with SciPy's names and arguments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import float64
from ...errors import spectral as errors_spectral
from ...execute import memory
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..create.data import tensor
from ..view.complex import imag, real
from . import design
from .fft import fft, rfft
from .filters import floating
from .frequencies import fftfreq, rfftfreq


def _power(
    name: str, x: Tensor, fs: float, window: Any, each: int, overlap: int, nfft: int | None,
    detrend: Any, onesided: bool, scaling: str, axis: int, average: str = "mean",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(frequencies, the mean or the median over segments of the squares of their transforms)."""
    refuse = errors_spectral.filter_argument
    if not fs > 0:
        raise refuse(name, f"fs={fs}: the rate must be positive")
    if scaling not in ("density", "spectrum"):
        raise refuse(name, f"scaling={scaling!r} is neither density nor spectrum")
    if detrend not in ("constant", "linear", False):
        raise refuse(name, f"detrend={detrend!r} is none of constant, linear, False")
    memory.ask(x, x.numel(), x._dtype)  # of the segments, and of the window on the host
    memory.ask(x, each, float64)
    shape = design.window(name, window, each, True)
    if len(shape) != each:
        raise refuse(name, f"the window has {len(shape)} elements, a segment {each}")
    points = each if nfft is None else nfft
    if points < each or not 0 <= overlap < each:
        raise refuse(name, f"nperseg={each} fits neither nfft={points} nor noverlap={overlap}")
    rows = x.movedim(axis, -1).unfold(-1, each, each - overlap)
    if detrend:
        rows = rows - rows.mean(-1, True)
    if detrend == "linear":
        line = np.arange(each) - (each - 1) / 2
        place = tensor(line).to(device=x.device, dtype=x._dtype)
        rows = rows - (rows * place).sum(-1, True) * place / float(line @ line)
    weights = tensor(shape).to(device=x.device, dtype=x._dtype)
    half = onesided and not x._dtype.is_complex
    spectrum = (rfft if half else fft)(rows * weights, points)
    total = fs * (shape**2).sum() if scaling == "density" else shape.sum() ** 2
    factor = 1 / float(total) if total else math.nan  # SciPy's, for a window without power
    power = (real(spectrum).square() + imag(spectrum).square()) * factor
    if half:  # the frequencies that were left out have as much power
        power.narrow(-1, 1, (points - 1) // 2).mul_(2)
    power = power.mean(-2) if average == "mean" else _median(power)
    of: dict[str, Any] = {"dtype": power._dtype, "device": x.device}
    frequencies = (rfftfreq if half else fftfreq)(points, 1 / fs, **of)
    return frequencies, power.movedim(-1, axis).contiguous()


def _median(power: Tensor) -> Tensor:
    """The median over segments, over what it is of numbers whose mean is 1: of a chi-square
    distribution of two degrees (B. Allen et al., arXiv:gr-qc/0509116, appendix B)."""
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
    """(frequencies, power): the square of the signal's transform, per Hz ("density") or in all
    ("spectrum"). ValueError for arguments that don't fit.
    """
    (x,) = floating("periodogram", x)
    axis = normalize_dim(axis, x.ndim)
    n = x._shape[axis]
    if nfft is not None and nfft < n:
        x, n = x.narrow(axis, 0, nfft), nfft
    return _power("periodogram", x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis)


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
    """(frequencies, power) by P. Welch's method: the mean of the periodograms of segments of
    `nperseg` (256) elements, of which `noverlap` (half) are those of the one before; or their
    "median", without its bias. ValueError for arguments that don't fit.
    """
    (x,) = floating("welch", x)
    if average not in ("mean", "median"):
        raise errors_spectral.filter_argument("welch", f"average={average!r} is neither mean nor median")
    axis = normalize_dim(axis, x.ndim)
    length = None if isinstance(window, (str, tuple)) else len(design.values(window))
    each = min(256 if nperseg is None else nperseg, x._shape[axis]) if length is None else length
    overlap = each // 2 if noverlap is None else noverlap
    return _power("welch", x, fs, window, each, overlap, nfft, detrend, return_onesided, scaling, axis, average)
