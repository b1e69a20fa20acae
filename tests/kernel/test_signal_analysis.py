"""Spectra over time, correlation, sweeps and peaks of `ftensor.signal`, against SciPy."""

from __future__ import annotations

import builtins
import re
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft
from ftensor._device import default_backend

from ..targets import some

# SciPy warns of two-sided spectra of complex signals.
pytestmark = pytest.mark.filterwarnings("ignore:Input data is complex:UserWarning")
scipy = pytest.importorskip("scipy.signal", reason="SciPy is what spectra are compared with")

RNG = np.random.default_rng(12)
DOUBLE = default_backend().properties.has_float64
REAL: Any = np.float64 if DOUBLE else np.float32
X = RNG.standard_normal((3, 600)).astype(REAL)
Z = (X + 1j * X[::-1]).astype(np.complex128 if DOUBLE else np.complex64)
EXACT = 1e-11 if DOUBLE else 3e-5


def close(mine: Any, theirs: Any, most: float = EXACT) -> None:
    """Asserts equality within a fraction of the largest value."""
    got, right = mine.cpu().numpy(), np.asarray(theirs)
    assert got.shape == right.shape
    if right.size:
        assert abs(got - right).max() <= most * max(1.0, abs(right).max())


CUTS: list[dict[str, Any]] = [
    {"nperseg": 64},
    {"nperseg": 65, "noverlap": 30, "nfft": 100, "window": "hamming"},
    {"nperseg": 64, "axis": 0, "window": ("kaiser", 4.0)},
    {},
]


@pytest.mark.parametrize("cut", some([0, 1, 2, 3], 2))
@pytest.mark.parametrize("complex_", [False, True])
def test_spectrogram(cut: int, complex_: bool) -> None:
    how = CUTS[cut]
    x = Z if complex_ else X
    x = x.T.copy() if how.get("axis") == 0 else x
    for mode in ("psd", "complex", "magnitude"):
        for scaling, detrend in (("density", "constant"), ("spectrum", "linear")):
            options = {**how, "fs": 10.0, "mode": mode, "scaling": scaling, "detrend": detrend}
            for mine, right in zip(ft.signal.spectrogram(ft.tensor(x), **options), scipy.spectrogram(x, **options)):
                close(mine, right)


@pytest.mark.skipif(not DOUBLE, reason="the angle of a rounded number near the negative axis may have either sign")
def test_angles_and_phases_are_scipys() -> None:
    for mode in ("angle", "phase"):
        options: dict[str, Any] = {"nperseg": 64, "mode": mode, "detrend": False}
        for mine, right in zip(ft.signal.spectrogram(ft.tensor(X), **options), scipy.spectrogram(X, **options)):
            close(mine, right, 1e-9)


@pytest.mark.parametrize("boundary", some(["zeros", "even", "odd", "constant", None], 2))
@pytest.mark.parametrize("scaling", ["spectrum", "psd"])
def test_stft_round_trip(boundary: Any, scaling: str) -> None:
    for x in (X, Z):
        options: dict[str, Any] = {"fs": 10.0, "nperseg": 65, "noverlap": 40, "nfft": 80, "scaling": scaling}
        mine = ft.signal.stft(ft.tensor(x), boundary=boundary, **options)
        right = scipy.stft(x, boundary=boundary, **options)
        for one, other in zip(mine, right):
            close(one, other)
        back: dict[str, Any] = {"input_onesided": x is X, "boundary": boundary is not None, **options}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            times, signal = ft.signal.istft(mine[2], **back)
            close(signal, scipy.istft(right[2], **back)[1])
        close(times, np.arange(signal.shape[-1]) / 10)
    if boundary is not None:
        close(ft.signal.istft(mine[2], **back)[1][:, :600], Z)


def test_stft_along_the_first_dim() -> None:
    for padded in (True, False):
        mine = ft.signal.stft(ft.tensor(X.T.copy()), nperseg=64, padded=padded, axis=0)
        right = scipy.stft(X.T, nperseg=64, padded=padded, axis=0)
        for one, other in zip(mine, right):
            close(one, other)
    back = ft.signal.istft(mine[2], time_axis=-1, freq_axis=0)[1]
    close(back, scipy.istft(right[2], time_axis=-1, freq_axis=0)[1])
    with pytest.warns(UserWarning, match="uncovered"):
        ft.signal.istft(mine[2], noverlap=0, freq_axis=0)


def test_csd_and_coherence() -> None:
    x, y = X[0], X[1, :500]
    for one, average in ((x, "mean"), (x, "median"), (Z[0], "mean")):
        mine = ft.signal.csd(ft.tensor(one), ft.tensor(y), nperseg=64, average=average)
        for got, right in zip(mine, scipy.csd(one, y, nperseg=64, average=average)):
            close(got, right)
    mine = ft.signal.coherence(ft.tensor(x), ft.tensor(y), nperseg=64, detrend=False)
    for got, right in zip(mine, scipy.coherence(x, y, nperseg=64, detrend=False)):
        close(got, right, 1e-9 if DOUBLE else 1e-4)


SHAPES = [((20,), (7,)), ((7,), (20,)), ((9, 8), (3, 4)), ((3, 3), (8, 9)), ((5, 6, 7), (2, 3, 4))]


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("dtype", some(["int32", "int8", "float32", "complex64"], 2))
def test_convolve_and_correlate(name: str, dtype: str) -> None:
    """Integers are exact, and as wide as the inputs."""
    for first, second in SHAPES:
        a, b = ((RNG.standard_normal(shape) * 50).astype(dtype) for shape in (first, second))
        if dtype == "complex64":
            a, b = a * np.complex64(1 + 2j), b * np.complex64(1 - 1j)
        for mode in ("full", "same", "valid"):
            for method in ("auto", "direct"):
                mine = getattr(ft.signal, name)(ft.tensor(a), ft.tensor(b), mode, method)
                right = getattr(scipy, name)(a, b, mode, method)
                assert mine.cpu().numpy().dtype == right.dtype
                close(mine, right, 2e-5 if dtype in ("float32", "complex64") else 0)


def test_correlation_lags() -> None:
    for n, m in ((5, 7), (7, 5), (6, 6), (1, 4)):
        for mode in ("full", "same", "valid"):
            np.testing.assert_array_equal(ft.signal.correlation_lags(n, m, mode), scipy.correlation_lags(n, m, mode))


@pytest.mark.parametrize("n", some([None, 1, 2, 37, 64, 700], 2))
def test_hilbert(n: Any) -> None:
    close(ft.signal.hilbert(ft.tensor(X), n), scipy.hilbert(X, n))
    close(ft.signal.hilbert(ft.tensor(X), n, 0), scipy.hilbert(X, n, 0))


@pytest.mark.parametrize("method", some(["linear", "quadratic", "logarithmic", "hyperbolic"], 2))
def test_chirp(method: str) -> None:
    t = np.linspace(0, 3, 500).astype(REAL)
    for vertex_zero in (True, False):
        for complex_ in (True, False):
            for ends in ((6.0, 2.0, 1.0), (3.0, 2.0, 3.0)):
                mine = ft.signal.chirp(ft.tensor(t), *ends, method, 30, vertex_zero, complex=complex_)
                right = scipy.chirp(t.astype(np.float64), *ends, method, 30, vertex_zero, complex=complex_)
                close(mine, right, 1e-9 if DOUBLE else 1e-4)


LIMITS: list[dict[str, Any]] = [
    {}, {"height": 0.5}, {"height": (None, 3)}, {"threshold": 0.2}, {"threshold": (0.1, 2)}, {"distance": 5},
    {"distance": 2.5, "height": 0}, {"plateau_size": (1, 2)}, {"plateau_size": 2, "height": 1, "distance": 3},
]  # fmt: skip


@given(st.lists(st.integers(0, 6), max_size=60), st.sampled_from(LIMITS))
def test_peaks(values: list[int], limits: dict[str, Any]) -> None:
    """Small integers have many flat maxima and ties."""
    # `distance` removes one of two equal peaks, depending on the order of the sort.
    slope = np.arange(len(values)) * 1e-3 if "distance" in limits else 0
    x = (np.array(values, float) + slope).astype(np.float32)
    peaks, found = ft.signal.find_peaks(ft.tensor(x), **limits)
    right, theirs = scipy.find_peaks(x, **limits)
    assert peaks.tolist() == right.tolist()
    assert found.keys() == theirs.keys()
    for key, value in found.items():
        np.testing.assert_allclose(value.cpu().numpy(), theirs[key])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("spectrogram(x, mode='all')", r"mode='all' is none of psd, complex, magnitude, angle, phase"),
        ("spectrogram(x, window='none')", r"window='none' is none of boxcar, hann"),
        ("spectrogram(x, window=('kaiser',))", r"window=\('kaiser',\) has wrong parameters"),
        ("spectrogram(x, nperseg=0)", r"nperseg=0: a segment has at least 1 element"),
        ("spectrogram(x, window=np.ones(700))", r"the window has 700 elements, more than the signal's 600"),
        ("stft(x, noverlap=256)", r"nperseg=256 fits neither nfft=256 nor noverlap=256"),
        ("stft(x, scaling='density')", r"scaling='density' is neither spectrum nor psd"),
        ("stft(x, boundary='ends')", r"boundary='ends' is none of zeros, constant, even, odd"),
        ("istft(x[0])", r"Zxx needs 2 dims, not shape \(600,\)"),
        ("istft(x, freq_axis=1)", r"freq_axis and time_axis are both 1"),
        ("hilbert(x + 1j)", r"the signal must be real, not ftensor.complex"),
        ("hilbert(x, 0)", r"N=0: a transform has at least 1 point"),
        ("convolve(x.int(), x.int(), method='fft')", r"method='fft' rounds ftensor.int32"),
        ("convolve(x, x, method='other')", r"method='other' is none of auto, direct, fft"),
        ("correlate(x, x[0])", r"2 dims and 1 don't fit"),
        ("correlate(x, ['a'])", r"in2.* not list"),
        ("correlation_lags(0, 1)", r"lengths 0 and 1 are at least 1"),
        ("chirp(x, 1.0, 1.0, 2.0, 'cubic')", r"method='cubic' is none of linear, quadratic, logarithmic, hyperbolic"),
        ("chirp(x, 0.0, 1.0, 2.0, 'log')", r"f0=0.0, f1=2.0: both are positive"),
        ("chirp(x, 1.0, 0.0, 2.0)", r"t1=0.0 is the time of f1"),
        ("find_peaks(x)", r"a real signal of 1 dim is needed, not ftensor.float\d+ of shape \(3, 600\)"),
        ("find_peaks(x[0], distance=0)", r"distance=0: it is at least 1"),
        ("find_peaks(x[0], height='a')", r"height='a' is no number and no pair"),
    ],
)  # fmt: skip
def test_analysis_errors_name_the_argument(call: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        eval(f"ft.signal.{call}", {"ft": ft, "np": np, "x": ft.tensor(X), **vars(builtins)})
    assert re.search(message, str(raised.value)), str(raised.value)
