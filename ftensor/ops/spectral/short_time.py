"""Spectra over time of `ftensor.signal`, with SciPy's names."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...errors import spectral as errors_spectral
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ..create.data import tensor
from ..rearrange.cat import cat
from ..rearrange.pad import pad
from . import windows
from .fft import ifft, irfft
from .filters import floating
from .power import plan_segments
from .stft import overlap_add

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
    """Moves the frequencies of (..., times, frequencies) to `axis`; the times are last."""
    return spectra.movedim(-1, axis).contiguous()


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
    if mode not in MODES:
        raise errors_spectral.filter_argument("spectrogram", f"mode={mode!r} is none of {', '.join(MODES)}")
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
    if scaling not in ("spectrum", "psd"):
        raise errors_spectral.filter_argument("stft", f"scaling={scaling!r} is neither spectrum nor psd")
    if boundary not in BOUNDARIES:
        raise errors_spectral.filter_argument("stft", f"boundary={boundary!r} is none of zeros, constant, even, odd")
    axis = normalize_dim(axis, x.ndim)
    kind = "density" if scaling == "psd" else scaling
    plan = plan_segments("stft", x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, kind, axis)
    length, rows, edge = plan.length, x.movedim(axis, -1), 0.0
    if boundary is not None:
        edge = length / 2
        if boundary in ("even", "odd") and length // 2 >= rows._shape[-1]:
            raise errors_spectral.filter_argument(
                "stft", f"boundary={boundary!r} needs more than {length // 2} elements, not {rows._shape[-1]}"
            )
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
    if not isinstance(Zxx, Tensor):
        raise errors.not_a_tensor("istft", "Zxx", Zxx)

    def need(holds: bool, text: str) -> None:
        if not holds:
            raise errors_spectral.filter_argument("istft", text)

    need(Zxx.ndim > 1, f"Zxx needs 2 dims, not shape {tuple(Zxx._shape)}")
    freq_axis, time_axis = normalize_dim(freq_axis, Zxx.ndim), normalize_dim(time_axis, Zxx.ndim)
    need(freq_axis != time_axis, f"freq_axis and time_axis are both {time_axis}")
    need(scaling in ("spectrum", "psd"), f"scaling={scaling!r} is neither spectrum nor psd")
    spectra = Zxx if Zxx._dtype.is_complex else Zxx.to(floating("istft", Zxx)[0]._dtype.to_complex())
    spectra = spectra.movedim((time_axis, freq_axis), (-2, -1))
    bins, count = spectra._shape[-1], spectra._shape[-2]
    default = 2 * (bins - 1) if input_onesided else bins
    length = default if nperseg is None else nperseg
    need(length >= 1, f"nperseg={length}: a segment has at least 1 element")
    odd = input_onesided and length == default + 1
    points = (length if odd else default) if nfft is None else nfft
    need(points >= length, f"nfft={points} is less than nperseg={length}")
    overlap = length // 2 if noverlap is None else noverlap
    need(0 <= overlap < length, f"noverlap={overlap} is not in [0, nperseg={length})")
    shape = windows.window("istft", window, length, True)
    need(len(shape) == length, f"the window has {len(shape)} elements, a segment {length}")
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
