"""Short-time Fourier transforms and their inverse."""

from __future__ import annotations

import warnings
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import spectral as errors_spectral
from ...rows.catalogue import op
from ..create.sizes import ones, zeros
from ..rearrange.pad import pad
from ..view.dims import view_as_real
from .fft import fft, ifft, irfft, rfft


def _require(name: str, condition: bool, requirement: str) -> None:
    if not condition:
        raise errors_spectral.stft_argument(name, requirement)


def _window(name: str, window: Any, win_length: int, n_fft: int, like: Tensor) -> Tensor | None:
    """Returns the window padded with zeros on both sides to `n_fft`; None if it is all ones."""
    _require(name, 0 < win_length <= n_fft, f"win_length {win_length} is not in [1, n_fft={n_fft}]")
    if window is not None:
        _require(
            name,
            window.ndim == 1 and window._shape[0] == win_length,
            f"window of shape {tuple(window._shape)} must have win_length={win_length} elements",
        )
    elif win_length < n_fft:
        window = ones(win_length, dtype=like._dtype.to_real(), device=like.device)
    if win_length == n_fft or window is None:
        return window
    left = (n_fft - win_length) // 2
    padded = zeros(n_fft, dtype=window._dtype, device=window.device)
    padded.narrow(0, left, win_length).copy_(window)
    return padded


@op()
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Returns the transforms of frames of `n_fft` numbers, `hop_length` (n_fft // 4) apart, times a
    window.

    A signal (or a batch of them) gives (frequencies, frames): with `onesided`, the default for real
    signals, n_fft // 2 + 1 frequencies. With `center` frame t is centered on element t *
    hop_length, of a signal padded by `pad_mode`. `normalized` divides by sqrt(n_fft). Without
    `return_complex` real and imaginary parts are a last dim of 2. Raises RuntimeError for arguments
    that don't fit, and for real signals without `return_complex`.
    """
    if window is not None and not isinstance(window, Tensor):
        raise errors.not_a_tensor("stft", "window", window)
    name, x, signals = "stft", input, input.ndim
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    complex_ = x._dtype.is_complex or (window is not None and window._dtype.is_complex)
    if return_complex is None:
        _require(name, complex_, "give return_complex=True or False for real signals")
        return_complex = True
    _require(name, x._dtype.kind in "fc", f"the signal must be floating point, not {x._dtype}")
    _require(name, signals in (1, 2), f"a signal has 1 dim or 2, not shape {tuple(x._shape)}")
    _require(name, not (center and align_to_window), "align_to_window goes without center")
    if signals == 1:
        x = x.unsqueeze(0)
    if center:
        half_width = n_fft // 2
        x = pad(x.unsqueeze(0), (half_width, half_width), pad_mode).squeeze(0)
    n = x._shape[1]
    _require(name, 0 < n_fft <= n, f"n_fft {n_fft} is not in [1, {n}], the padded signal's length")
    _require(name, hop > 0, f"hop_length must be positive, but is {hop}")
    padded = _window(name, window, width, n_fft, x)
    if onesided is None:
        onesided = not complex_
    _require(name, not (onesided and complex_), "onesided goes with real signals and windows alone")
    if align_to_window:
        # The frame covers the window, which starts `half_width` elements later.
        half_width = (n_fft - width) // 2
        x = pad(x, (half_width, n_fft - width - half_width))
    frames = x.unfold(1, n_fft, hop)
    if padded is not None:
        frames = frames * padded
    norm = "ortho" if normalized else None
    spectrum = (rfft if onesided else fft)(frames, None, -1, norm).transpose(1, 2)
    spectrum = spectrum.squeeze(0) if signals == 1 else spectrum
    if return_complex:
        return spectrum
    return view_as_real(spectrum)


@op()
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Returns the signal whose `stft` is (frequencies, frames): overlap-adds frames times the
    window and divides by the sum of the squared windows. `length` cuts the signal or pads it with
    zeros. Raises RuntimeError for arguments that don't fit, and if windows leave an element
    uncovered."""
    name, x = "istft", input
    _require(name, x._dtype.is_complex, f"a complex input is needed, not {x._dtype}")
    _require(
        name,
        x.ndim in (2, 3) and bool(x.numel()),
        f"the input needs 2 or 3 dims and elements, not shape {tuple(x._shape)}",
    )
    single = x.ndim == 2
    x = x.unsqueeze(0) if single else x
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    bin_count, frames = x._shape[1:]
    if onesided is None:
        onesided = bin_count != n_fft
    expected = n_fft // 2 + 1 if onesided else n_fft
    _require(name, bin_count == expected, f"n_fft={n_fft} means {expected} frequencies, not {bin_count}")
    _require(name, 0 < hop <= width, f"hop_length {hop} is not in [1, win_length={width}]")
    padded = _window(name, window, width, n_fft, x)
    if return_complex:
        _require(name, not onesided, "onesided goes with real signals alone")
    else:
        real = window is None or not window._dtype.is_complex
        _require(name, real, "a complex window goes with return_complex=True")
    norm = "ortho" if normalized else None
    x = x.transpose(1, 2)
    if return_complex:
        x = ifft(x, None, -1, norm)
    else:
        x = irfft(x.narrow(2, 0, n_fft // 2 + 1), n_fft, -1, norm)
    if padded is None:
        padded = ones(n_fft, dtype=x._dtype.to_real(), device=x.device)
    signal = overlap_add(x * padded, hop)
    envelope = overlap_add((padded * padded).expand((1, frames, n_fft)), hop)
    total = n_fft + hop * (frames - 1)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - start
    signal = signal.narrow(1, start, min(end, total) - start)
    envelope = envelope.narrow(1, start, min(end, total) - start)
    smallest = envelope.abs().min().item() if envelope.numel() else 1
    _require(name, smallest > 1e-11, f"the windows leave elements uncovered: {smallest} is the least sum")
    signal = signal / envelope
    if end > total:
        warnings.warn(f"istft(): length={length} is more than the frames hold; zeros follow", stacklevel=2)
        signal = pad(signal, (0, end - total))
    return signal.squeeze(0) if single else signal


def overlap_add(x: Tensor, hop: int) -> Tensor:
    """Returns the overlap-add of frames (batch, frames, n), `hop` apart: (batch, n + hop * (frames
    - 1)). Part k of every frame is added at once, since those parts don't overlap."""
    batch, frames, n = x._shape
    hops_per_frame = -(-n // hop)
    shape = (batch, frames + hops_per_frame - 1, hop)
    sums = zeros(shape, dtype=x._dtype, device=x.device)
    for k in range(hops_per_frame):
        size = min(hop, n - k * hop)
        sums.narrow(1, k, frames).narrow(2, 0, size).add_(x.narrow(2, k * hop, size))
    return sums.reshape(batch, -1).narrow(1, 0, n + hop * (frames - 1))
