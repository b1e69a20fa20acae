"""`ftensor.signal.ShortTimeFFT` against SciPy's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend

from ..targets import some

scipy = pytest.importorskip("scipy.signal", reason="SciPy is what spectra are compared with")

RNG = np.random.default_rng(12)
DOUBLE = default_backend().properties.has_float64
REAL: Any = np.float64 if DOUBLE else np.float32
X = RNG.standard_normal((2, 100)).astype(REAL)
WINDOW = scipy.get_window("hann", 16) + 0.1
MODES: dict[str, dict[str, Any]] = {
    "one side": {},
    "zeros behind": {"mfft": 24, "scale_to": "psd"},
    "doubled": {"fft_mode": "onesided2X", "scale_to": "magnitude", "phase_shift": 3},
    "doubled power": {"fft_mode": "onesided2X", "scale_to": "psd", "mfft": 17},
    "two sides": {"fft_mode": "twosided", "phase_shift": None},
    "centred": {"fft_mode": "centered", "mfft": 21},
}


def close(mine: Any, theirs: Any) -> None:
    got, right = mine.cpu().numpy(), np.asarray(theirs)
    assert got.shape == right.shape
    assert abs(got - right).max() <= (1e-11 if DOUBLE else 3e-5) * max(1.0, abs(right).max())


def both(**options: Any) -> tuple[Any, Any]:
    hop = options.pop("hop", 5)
    return ft.signal.ShortTimeFFT(WINDOW, hop, 50.0, **options), scipy.ShortTimeFFT(WINDOW.copy(), hop, 50.0, **options)


@pytest.mark.parametrize("mode", some(list(MODES), 3))
def test_stft_round_trip(mode: str) -> None:
    mine, theirs = both(**MODES[mode])
    x = ft.tensor(X)
    close(mine.stft(x), theirs.stft(X))
    close(mine.spectrogram(x, detr="linear"), theirs.spectrogram(X, detr="linear"))
    close(mine.spectrogram(x, x.flip(-1)), theirs.spectrogram(X, X[..., ::-1]))
    spectra = theirs.stft(X)
    kind = ft.complex128 if DOUBLE else ft.complex64
    for k0, k1 in ((0, 100), (-3, None), (7, 40)):
        close(mine.istft(ft.tensor(spectra).to(kind), k0, k1), theirs.istft(spectra, k0, k1))


@pytest.mark.parametrize("padding", ["zeros", "edge", "even", "odd"])
def test_padding_of_signals(padding: str) -> None:
    """Signals shorter than the window are reflected several times."""
    mine, theirs = both(hop=3)
    for n in (100, 9):
        x = X[0, :n]
        options: dict[str, Any] = {"padding": padding, "k_offset": 2}
        close(mine.stft(ft.tensor(x), **options), theirs.stft(x, **options))
    options = {"p0": 1, "p1": 4, "padding": padding, "axis": 0}
    close(mine.stft(ft.tensor(X.T), **options), theirs.stft(X.T, **options))


def test_complex_signals_and_axes() -> None:
    mine, theirs = both(fft_mode="centered")
    z = (X + 1j * X[::-1]).T
    spectra = theirs.stft(z, axis=0)
    found = mine.stft(ft.tensor(z), axis=0)
    close(found, spectra)
    close(mine.istft(found, k1=100, f_axis=0, t_axis=2), theirs.istft(spectra, k1=100, f_axis=0, t_axis=2))
    detrend = mine.stft_detrend(ft.tensor(z), lambda parts: parts * 2, axis=0)
    close(detrend, 2 * spectra)


def test_the_geometry_is_scipys() -> None:
    mine = ft.signal.ShortTimeFFT.from_window("hann", 50.0, 16, 12, scale_to="magnitude")
    theirs = scipy.ShortTimeFFT.from_window("hann", 50.0, 16, 12, scale_to="magnitude")
    assert mine.invertible and mine.delta_t == theirs.delta_t and mine.extent(100) == theirs.extent(100)
    assert np.array_equal(mine.f, theirs.f) and np.array_equal(mine.t(100), theirs.t(100))
    mine.fs = theirs.fs = 25.0
    assert mine.T == theirs.T and "delta_f" in dir(mine)
    for other in (copy.copy(mine), pickle.loads(pickle.dumps(mine))):
        assert other.fs == 25.0 and np.array_equal(other.win, mine.win)
    dual = ft.signal.ShortTimeFFT.from_dual(ft.tensor(theirs.dual_win), 4, 25.0)
    assert np.allclose(dual.win, scipy.ShortTimeFFT.from_dual(theirs.dual_win, 4, 25.0).win)


def test_wrong_arguments_are_refused() -> None:
    mine, _ = both()
    x = ft.tensor(X)
    spectra = mine.stft(x)
    for call, words in (
        (lambda: mine.stft(x + 0j), "onesided.*real signals"),
        (lambda: mine.stft(x, padding="wrap"), "'wrap' is none of zeros"),
        (lambda: mine.stft(x[:, :7]), "7 elements is shorter than half the window, 8"),
        (lambda: mine.stft(x, p0=5, p1=2), "p0=5"),
        (lambda: mine.stft_detrend(x, "cubic"), "'cubic'"),
        (lambda: mine.istft(spectra[:, 1:]), "8 frequencies, the transform 9"),
        (lambda: mine.istft(spectra, 0, 10**6), "k1=1000000"),
        (lambda: mine.istft(spectra, f_axis=1, t_axis=1), "both 1"),
        (lambda: ft.signal.ShortTimeFFT(WINDOW, 0, 1.0), "hop"),
        (lambda: both(hop=17)[0].istft(spectra), "dual window|invertible"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="S"):
        mine.istft(spectra.numpy())
    with pytest.raises(AttributeError, match="'hop' cannot be set, unlike T, fs"):
        mine.hop = 3
