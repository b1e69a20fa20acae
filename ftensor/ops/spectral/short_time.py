"""`ftensor.signal.ShortTimeFFT`: SciPy's class, whose transforms run on the device."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...errors import spectral as errors_spectral
from ...execute import output
from ...iterator.shape import normalize_dim, numel
from ...rows.catalogue import public_class
from ..arguments import check_tensors
from ..create.data import tensor
from ..rearrange.cat import cat
from ..rearrange.pad import pad
from ..view.dims import imag, real
from .fft import fft, fftshift, ifft, ifftshift, irfft, rfft
from .filters import floating
from .power import detrended
from .stft import overlap_add
from .windows import on_host, require

Detrend = str | Callable[[Tensor], Tensor] | None

PADDINGS = ("zeros", "edge", "even", "odd")
# SciPy's attributes that may be assigned to.
_ASSIGNED = ("T", "fs", "fft_mode", "mfft", "phase_shift")


def _require(holds: Any, text: str) -> None:
    require(holds, "ShortTimeFFT", text)


@public_class("signal")
class ShortTimeFFT:
    """The short-time Fourier transform as `scipy.signal.ShortTimeFFT`, with the same arguments.

    `stft`, `spectrogram` and `istft` take and return tensors and run on the device, in the signal's
    dtype. All other methods and attributes are SciPy's own: `f`, `t(n)`, `delta_t`, `delta_f`,
    `extent(n)`, `invertible`, `win`, `dual_win`, `p_min`, `p_max(n)`, `lower_border_end`,
    `scale_to(...)`, ... They compute on the host and return numbers and NumPy arrays. The windows
    may be tensors. Raises ModuleNotFoundError without SciPy, and SciPy's ValueError.

    >>> import ftensor as ft
    >>> sft = ft.signal.ShortTimeFFT.from_window("hann", fs=1000.0, nperseg=64, noverlap=48)
    >>> x = ft.signal.chirp(ft.arange(512) / 1000.0, 50.0, 0.5, 300.0)
    >>> sft.stft(x).shape, len(sft.f), len(sft.t(512))
    (ftensor.Size([33, 35]), 33, 35)
    >>> bool((sft.istft(sft.stft(x), k1=512) - x).abs().max() < 1e-5)
    True
    """

    _host: Any  # SciPy's object, which has the geometry and the windows

    def __init__(
        self,
        win: Any,
        hop: int,
        fs: float,
        *,
        fft_mode: str = "onesided",
        mfft: int | None = None,
        dual_win: Any = None,
        scale_to: str | None = None,
        phase_shift: int | None = 0,
    ) -> None:
        win, dual_win = _window(win), None if dual_win is None else _window(dual_win)
        options = {"mfft": mfft, "dual_win": dual_win, "scale_to": scale_to, "phase_shift": phase_shift}
        self._hold(_scipy()(win, hop, fs, fft_mode=fft_mode, **options))

    def _hold(self, host: Any) -> ShortTimeFFT:
        object.__setattr__(self, "_host", host)
        return self

    @classmethod
    def from_window(cls, win_param: Any, fs: float, nperseg: int, noverlap: int, **options: Any) -> ShortTimeFFT:
        """Returns the transform with a window by name, as `scipy.signal.get_window` takes it; `options`
        are `symmetric_win`, `fft_mode`, `mfft`, `scale_to` and `phase_shift`."""
        return cls.__new__(cls)._hold(_scipy().from_window(win_param, fs, nperseg, noverlap, **options))

    @classmethod
    def from_dual(cls, dual_win: Any, hop: int, fs: float, **options: Any) -> ShortTimeFFT:
        """Returns the transform whose inverse uses the window `dual_win`."""
        return cls.__new__(cls)._hold(_scipy().from_dual(_window(dual_win), hop, fs, **options))

    @classmethod
    def from_win_equals_dual(cls, desired_win: Any, hop: int, fs: float, **options: Any) -> ShortTimeFFT:
        """Returns the transform with equal window and dual window, nearest to `desired_win`."""
        return cls.__new__(cls)._hold(_scipy().from_win_equals_dual(_window(desired_win), hop, fs, **options))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._host, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _ASSIGNED:
            raise AttributeError(f"ShortTimeFFT: {name!r} cannot be set, unlike {', '.join(_ASSIGNED)}")
        setattr(self._host, name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *[name for name in dir(self._host) if name[0] != "_"]})

    def __repr__(self) -> str:
        host = self._host
        return f"ShortTimeFFT(m_num={host.m_num}, hop={host.hop}, fs={host.fs}, fft_mode={host.fft_mode!r})"

    def stft(
        self,
        x: Tensor,
        p0: int | None = None,
        p1: int | None = None,
        *,
        k_offset: int = 0,
        padding: str = "zeros",
        axis: int = -1,
    ) -> Tensor:
        """Returns the transforms of the slices `p0` to `p1` - 1 (default: all that overlap the
        signal): the frequencies replace `axis`, the slices are the last dim.

        `k_offset` shifts the slices by elements. `padding` continues the signal: "zeros", "edge",
        or the "even" or "odd" reflection. Raises ValueError for arguments that don't fit.
        """
        return self.stft_detrend(x, None, p0, p1, k_offset=k_offset, padding=padding, axis=axis)

    def stft_detrend(
        self,
        x: Tensor,
        detr: Detrend,
        p0: int | None = None,
        p1: int | None = None,
        *,
        k_offset: int = 0,
        padding: str = "zeros",
        axis: int = -1,
    ) -> Tensor:
        """Returns the `stft` of slices without their mean ("constant"), or without their "linear"
        trend; a function gets and returns all slices (..., slices, elements) at once."""
        (x,) = floating("ShortTimeFFT.stft", x)
        host, dim = self._host, normalize_dim(axis, x.ndim)
        _require(
            not host.onesided_fft or not x._dtype.is_complex,
            f"fft_mode={host.fft_mode!r} takes real signals; 'twosided' and 'centered' take {x._dtype}",
        )
        _require(padding in PADDINGS, f"padding={padding!r} is none of {', '.join(PADDINGS)}")
        _require(
            detr is None or detr in ("constant", "linear") or callable(detr),
            f"detr={detr!r} is none of constant, linear, None, and no function",
        )
        n, half = x._shape[dim], host.m_num - host.m_num_mid
        _require(n >= half, f"a signal of {n} elements is shorter than half the window, {half}")
        first, last = host.p_range(n, p0, p1)
        output.check_capacity(x, numel(x._shape) // n * (last - first) * host.mfft, x._dtype.to_complex())
        begin = first * host.hop - host.m_num_mid + k_offset
        rows = _continued(x.movedim(dim, -1), begin, begin + (last - first - 1) * host.hop + host.m_num, padding)
        slices = rows.unfold(-1, host.m_num, host.hop)
        if callable(detr):
            slices = detr(slices)
        elif detr is not None:
            slices = detrended(slices, detr)
        spectra = self._transformed(slices * _like(host.win.conj(), slices))
        return spectra.movedim(-1, dim)

    def spectrogram(
        self,
        x: Tensor,
        y: Tensor | None = None,
        detr: Detrend = None,
        *,
        p0: int | None = None,
        p1: int | None = None,
        k_offset: int = 0,
        padding: str = "zeros",
        axis: int = -1,
    ) -> Tensor:
        """Returns the squared magnitudes of `stft_detrend`; with a second signal the cross
        spectrogram X * conj(Y)."""
        options: dict[str, Any] = {"k_offset": k_offset, "padding": padding, "axis": axis}
        spectra = self.stft_detrend(x, detr, p0, p1, **options)
        if y is None or y is x:
            return real(spectra).square() + imag(spectra).square()
        return spectra * self.stft_detrend(y, detr, p0, p1, **options).conj()

    def istft(self, S: Tensor, k0: int = 0, k1: int | None = None, *, f_axis: int = -2, t_axis: int = -1) -> Tensor:
        """Returns elements `k0` to `k1` - 1 of the signal whose `stft` is `S`, by overlap-add of its
        slices times the dual window. Raises ValueError if the transform is not invertible, and for
        arguments that don't fit."""
        check_tensors("ShortTimeFFT.istft", S=S)
        host = self._host
        _require(S.ndim >= 2, f"S needs 2 dims, not shape {tuple(S._shape)}")
        f_dim, t_dim = normalize_dim(f_axis, S.ndim), normalize_dim(t_axis, S.ndim)
        _require(f_dim != t_dim, f"f_axis and t_axis are both {f_axis}")
        _require(S._shape[f_dim] == host.f_pts, f"S has {S._shape[f_dim]} frequencies, the transform {host.f_pts}")
        half = host.m_num - host.m_num_mid
        _require(
            S._shape[t_dim] >= host.p_num(half), f"S has {S._shape[t_dim]} slices; {host.p_num(half)} are the least"
        )
        if not S._dtype.is_complex:
            S = S.to(floating("ShortTimeFFT.istft", S)[0]._dtype.to_complex())
        spectra = S.movedim((t_dim, f_dim), (-2, -1))
        end = spectra._shape[-2] + host.p_min  # the first slice that S lacks
        k_max = (end - 1) * host.hop + half
        stop = k_max if k1 is None else k1
        _require(
            host.k_min <= k0 < stop <= k_max, f"k_min={host.k_min} <= k0={k0} < k1={stop} <= {k_max} does not hold"
        )
        _require(stop - k0 >= half, f"k1 - k0 = {stop - k0} is less than half the window, {half}")
        first = max(k0 // host.hop + (host.p_min if k0 >= 0 else 0), host.p_min)
        last = min(host.p_max(stop), end)
        used = spectra.narrow(-2, first - host.p_min, last - first)
        dual = host.dual_win
        frames = self._inverse(used)
        frames = frames * _like(dual, frames)
        rows = overlap_add(frames.reshape(-1, last - first, host.m_num), host.hop)
        begin = first * host.hop - host.m_num_mid
        signal = _continued(rows, k0 - begin, stop - begin, "zeros").reshape(*spectra._shape[:-2], stop - k0)
        if signal.ndim > 1:
            signal = signal.movedim(-1, f_dim if f_dim < signal.ndim else t_dim)
        return signal

    @property
    def _shift(self) -> int:
        host = self._host
        return (host.phase_shift + host.m_num_mid) % host.m_num

    @property
    def _doubled(self) -> tuple[int, int, float]:
        """Returns (first, number, factor) of the frequencies that "onesided2X" scales."""
        count = (self._host.mfft - 1) // 2
        return 1, count, math.sqrt(2) if self._host.scaling == "psd" else 2.0

    def _transformed(self, slices: Tensor) -> Tensor:
        host = self._host
        points, mode = host.mfft, host.fft_mode
        if host.phase_shift is not None:
            if host.m_num < points:
                slices = pad(slices, (0, points - host.m_num))
            slices = slices.roll(-self._shift, -1)
        if not host.onesided_fft:
            spectra: Tensor = fft(slices, points)
            return fftshift(spectra, -1) if mode == "centered" else spectra
        spectra = rfft(slices, points)
        if mode == "onesided2X":
            first, count, factor = self._doubled
            spectra.narrow(-1, first, count).mul_(factor)
        return spectra

    def _inverse(self, spectra: Tensor) -> Tensor:
        host = self._host
        points, mode = host.mfft, host.fft_mode
        if mode == "onesided2X":
            first, count, factor = self._doubled
            spectra = spectra.clone()
            spectra.narrow(-1, first, count).div_(factor)
        if host.onesided_fft:
            slices: Tensor = irfft(spectra, points)
        else:
            slices = ifft(ifftshift(spectra, -1) if mode == "centered" else spectra, points)
        if host.phase_shift is not None:
            slices = slices.roll(self._shift, -1)
        return slices.narrow(-1, 0, host.m_num)


def _scipy() -> Any:
    try:
        return import_module("scipy.signal").ShortTimeFFT
    except (ImportError, AttributeError):
        raise errors_spectral.no_scipy("ShortTimeFFT") from None


def _window(values: Any) -> np.ndarray[Any, Any]:
    """Returns a copy of a window's values, since SciPy makes them read-only."""
    return np.array(on_host(values))


def _like(values: np.ndarray[Any, Any], x: Tensor) -> Tensor:
    dtype = x._dtype.to_complex() if np.iscomplexobj(values) else x._dtype.to_real()
    return tensor(values).to(device=x.device, dtype=dtype)


def _continued(x: Tensor, begin: int, end: int, padding: str) -> Tensor:
    """Returns elements `begin` to `end` - 1 along the last dim, of a signal that goes on beyond its
    ends."""
    n = x._shape[-1]
    first, last = min(max(begin, 0), n), min(max(end, 0), n)
    before, after = max(min(-begin, end - begin), 0), max(min(end - n, end - begin), 0)
    if padding == "zeros" or not (before or after):
        return pad(x.narrow(-1, first, max(last - first, 0)), (before, after))
    left = _ends(x.flip(-1), max(-begin, 0), padding).flip(-1)
    whole = cat([left, x, _ends(x, max(end - n, 0), padding)], -1)
    return whole.narrow(-1, begin + max(-begin, 0), end - begin)


def _ends(x: Tensor, count: int, padding: str) -> Tensor:
    """Returns the `count` elements that follow a signal. A reflection goes on at each of its ends."""
    n = x._shape[-1]
    if padding == "edge" or n == 1:
        return x.narrow(-1, n - 1, 1).expand((*x._shape[:-1], count))
    parts: list[Tensor] = []
    period, part = x, n - 1
    while count > 0:
        last, mirrored = period.narrow(-1, n - 1, 1), period.narrow(-1, 0, part).flip(-1)
        mirrored = 2 * last - mirrored if padding == "odd" else mirrored
        parts.append(mirrored.narrow(-1, 0, min(part, count)))
        period = cat([last, mirrored], -1)
        count -= part
    return cat(parts, -1) if parts else x.narrow(-1, 0, 0)
