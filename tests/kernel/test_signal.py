"""`ftensor.signal` against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ftensor as ft

from ..targets import some

scipy = pytest.importorskip("scipy.signal", reason="SciPy is what filters are compared with")

RNG = np.random.default_rng(5)
X = RNG.standard_normal((3, 300)).astype(np.float32)
H = RNG.standard_normal((3, 12)).astype(np.float32)


def close(mine: Any, theirs: Any, most: float = 2e-6) -> None:
    """Asserts equality within a fraction of the largest value."""
    got, right = mine.cpu().numpy(), np.asarray(theirs)
    assert got.shape == right.shape
    assert abs(got - right).max() <= most * max(1.0, abs(right).max())


@pytest.mark.parametrize("name", ["fftconvolve", "oaconvolve"])
def test_convolutions(name: str) -> None:
    mine, theirs = getattr(ft.signal, name), getattr(scipy, name)
    for mode in ("full", "same", "valid"):
        close(mine(ft.tensor(X), ft.tensor(H), mode, 1), theirs(X, H, mode, axes=1))
        close(mine(ft.tensor(X[0]), ft.tensor(H[0]), mode), theirs(X[0], H[0], mode))
    close(mine(ft.tensor(H), ft.tensor(X), axes=1), theirs(H, X, axes=1))
    close(mine(ft.tensor(X), ft.tensor(H)), theirs(X, H))
    z = X[:, :50] + 1j * X[:, 50:100]
    close(mine(ft.tensor(z), ft.tensor(H), "same", -1), theirs(z, H, "same", axes=-1))
    for wrong in ({"mode": "none"}, {"axes": 0}):
        with pytest.raises(ValueError, match=name):
            mine(ft.tensor(X), ft.tensor(H[:2]), **wrong)


@pytest.mark.parametrize("n", some([1, 63, 64, 65, 300], 2))
def test_lfilter(n: int) -> None:
    b, a = scipy.butter(4, 0.3)
    x = X[:, :n].copy()
    close(ft.signal.lfilter(b, a, ft.tensor(x)), scipy.lfilter(b, a, x))
    zi = RNG.standard_normal((3, 4)).astype(np.float32)
    y, end = ft.signal.lfilter(b, a, ft.tensor(x), zi=ft.tensor(zi))
    right, last = scipy.lfilter(b, a, x, zi=zi)
    close(y, right)
    close(end, last)
    close(ft.signal.lfilter(b, [2.0], ft.tensor(x.T.copy()), 0), scipy.lfilter(b, [2.0], x.T, 0))
    close(ft.signal.lfilter([3.0], [2.0], ft.tensor(x)), 1.5 * x)


@pytest.mark.parametrize("taps", some([2, 40, 64, 129], 2))
def test_lfilter_without_feedback(taps: int) -> None:
    """By sums and by FFT, with initial and final states, also for signals shorter than the
    filter."""
    b, zi = RNG.standard_normal(taps), RNG.standard_normal((3, taps - 1))
    for x in (X, X[:, :30]):
        right, last = scipy.lfilter(b, [2.0], x, zi=zi)
        result, end = ft.signal.lfilter(b, [2.0], ft.tensor(x), zi=ft.tensor(zi))
        close(result, right)
        close(end, last)
    close(ft.signal.lfilter(b, [1.0], ft.tensor(X)), scipy.lfilter(b, [1.0], X))
    close(ft.signal.lfilter(b + 1j, [1.0], ft.tensor(X)), scipy.lfilter(b + 1j, [1.0], X))


@pytest.mark.parametrize("rates", some([(3, 2), (1, 4), (5, 1), (4, 6), (2, 2), (16, 15), (7, 10)], 2))
def test_resample_poly(rates: tuple[int, int]) -> None:
    close(ft.signal.resample_poly(ft.tensor(X), *rates, axis=1), scipy.resample_poly(X, *rates, axis=1), 1e-5)
    for padtype in ("mean", "minimum", "maximum"):
        mine = ft.signal.resample_poly(ft.tensor(X), *rates, axis=-1, padtype=padtype)
        close(mine, scipy.resample_poly(X, *rates, axis=-1, padtype=padtype), 1e-5)


@pytest.mark.parametrize("ftype", ["iir", "fir"])
@pytest.mark.parametrize("zero_phase", [True, False])
def test_decimate(ftype: str, zero_phase: bool) -> None:
    for q, n in ((2, None), (5, None), (3, 5)):
        mine = ft.signal.decimate(ft.tensor(X), q, n, ftype, zero_phase=zero_phase)
        close(mine, scipy.decimate(X.astype(np.float64), q, n, ftype, zero_phase=zero_phase), 1e-5)
    with pytest.raises(ValueError, match="q=0"):
        ft.signal.decimate(ft.tensor(X), 0, None, ftype, zero_phase=zero_phase)


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
@pytest.mark.parametrize("scaling", ["density", "spectrum"])
@pytest.mark.parametrize("window", [[0.0] * 8, [1.0, -1.0] * 4])
def test_window_of_zero_power(scaling: str, window: list[float]) -> None:
    _, mine = ft.signal.welch(ft.tensor(X), window=window, scaling=scaling)
    _, right = scipy.welch(X, window=window, scaling=scaling)
    np.testing.assert_allclose(mine.cpu().numpy(), right, 1e-5, 1e-5)
    with pytest.raises(ValueError, match="fs=0"):
        ft.signal.welch(ft.tensor(X), 0, window, scaling=scaling)


@pytest.mark.parametrize("detrend", ["constant", "linear", False])
def test_spectra(detrend: Any) -> None:
    line = X + np.arange(300, dtype=np.float32) / 100
    for scaling in ("density", "spectrum"):
        how: dict[str, Any] = {"fs": 10.0, "detrend": detrend, "scaling": scaling}
        for mine, right in (
            (ft.signal.periodogram(ft.tensor(line), **how), scipy.periodogram(line, **how)),
            *(
                (
                    ft.signal.welch(ft.tensor(line), nperseg=64, average=average, **how),
                    scipy.welch(line, nperseg=64, average=average, **how),
                )
                for average in ("mean", "median")
            ),
            (
                ft.signal.welch(ft.tensor(line), nperseg=51, noverlap=7, nfft=60, window="hamming", **how),
                scipy.welch(line, nperseg=51, noverlap=7, nfft=60, window="hamming", **how),
            ),
        ):
            close(mine[0], right[0])
            close(mine[1], right[1], 1e-5)
