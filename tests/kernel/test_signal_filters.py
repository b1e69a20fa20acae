"""`ftensor.signal` against SciPy: second-order sections, zero-phase filters, and rate changes."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend

from ..targets import some

scipy = pytest.importorskip("scipy.signal", reason="SciPy is what filters are compared with")

RNG = np.random.default_rng(11)
DOUBLE = default_backend().properties.has_float64
X = RNG.standard_normal((3, 500)).astype(np.float64 if DOUBLE else np.float32)
Z = (X + 1j * X[::-1]).astype(np.complex128 if DOUBLE else np.complex64)
EXACT, COARSE = (1e-11, 1e-9) if DOUBLE else (2e-5, 1e-3)


def close(mine: Any, theirs: Any, most: float = EXACT) -> None:
    """Asserts equality within a fraction of the largest value."""
    got, right = mine.cpu().numpy(), np.asarray(theirs)
    assert got.shape == right.shape
    assert abs(got - right).max() <= most * max(1.0, abs(right).max())


SECTIONS = {
    "butter4": scipy.butter(4, 0.1, output="sos"),
    "bandpass": scipy.cheby1(5, 1, [0.2, 0.3], "bandpass", output="sos"),
    "ellip7": scipy.ellip(7, 1, 60, 0.1, output="sos"),
    "butter10": scipy.butter(10, 0.05, output="sos"),
    "one": scipy.butter(1, 0.3, output="sos"),
}


@pytest.mark.parametrize("which", some(list(SECTIONS), 2))
@pytest.mark.parametrize("complex_", [False, True])
def test_sosfilt(which: str, complex_: bool) -> None:
    sos, x = SECTIONS[which], Z if complex_ else X
    close(ft.signal.sosfilt(sos, ft.tensor(x)), scipy.sosfilt(sos, x), COARSE)
    close(ft.signal.sosfiltfilt(sos, ft.tensor(x)), scipy.sosfiltfilt(sos, x), COARSE)
    for axis, shape in ((1, (3, 2)), (0, (2, 500))):
        zi = RNG.standard_normal((len(sos), *shape)).astype(X.dtype)
        result, end = ft.signal.sosfilt(sos, ft.tensor(x), axis, ft.tensor(zi))
        right, last = scipy.sosfilt(sos, x, axis, zi)
        close(result, right, COARSE)
        close(end, last, COARSE)
    np.testing.assert_allclose(ft.signal.sosfilt_zi(sos), scipy.sosfilt_zi(sos), 1e-6, 1e-9)


def test_filter_state_continues_across_blocks() -> None:
    """The final state of a block is the initial state of the next."""
    sos, x = SECTIONS["bandpass"], ft.tensor(X)
    state: Any = np.zeros((len(sos), 3, 2), X.dtype)
    pieces = []
    for first, last in ((0, 1), (1, 70), (70, 500)):
        piece, state = ft.signal.sosfilt(sos, x[:, first:last], zi=state)
        pieces.append(piece)
    close(ft.cat(pieces, 1), scipy.sosfilt(sos, X), COARSE)


@pytest.mark.parametrize("padtype", some(["odd", "even", "constant", None], 2))
def test_filtfilt(padtype: Any) -> None:
    for b, a in (scipy.butter(4, 0.2), (scipy.firwin(21, 0.2), [1.0]), ([0.1, 0.2], [1.0, -0.9j])):
        for x in (X, Z):
            close(
                ft.signal.filtfilt(b, a, ft.tensor(x), padtype=padtype),
                scipy.filtfilt(b, a, x, padtype=padtype),
                COARSE,
            )
    b, a = scipy.butter(3, 0.3, "high")
    right = scipy.filtfilt(b, a, X.T, 0, padtype, 33)
    close(ft.signal.filtfilt(b, a, ft.tensor(X.T.copy()), 0, padtype, 33), right, COARSE)


def test_initial_conditions() -> None:
    b, a = scipy.butter(4, 0.2)
    np.testing.assert_allclose(ft.signal.lfilter_zi(b, a), scipy.lfilter_zi(b, a), 1e-6)
    x = ft.tensor(X)
    result, end = ft.signal.lfilter(b, a, x, zi=ft.signal.lfilter_zi(b, a) * X[:, :1])
    right, last = scipy.lfilter(b, a, X, zi=scipy.lfilter_zi(b, a) * X[:, :1])
    close(result, right, COARSE)
    close(end, last, COARSE)
    close(ft.signal.lfilter([0.1], [1, -0.9j], x), scipy.lfilter([0.1], [1, -0.9j], X), COARSE)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("pole", [1.5, -1.2])
def test_unstable_filter_grows_as_in_scipy(pole: float) -> None:
    """Zeros before the signal stay zeros. Numbers that are finite in SciPy are finite here."""
    x = np.concatenate([np.zeros(2000), X[0, :400]]).astype(X.dtype)
    mine = ft.signal.lfilter([1.0], [1.0, -pole], ft.tensor(x)).cpu().numpy()
    right = scipy.lfilter([1.0], [1.0, -pole], x)
    most = np.finfo(X.dtype).max
    few = abs(right) < most / 1e4
    assert not mine[:2000].any() and few.sum() > 2150
    assert (abs(mine - right)[few] <= COARSE * abs(right)[few]).all()


@pytest.mark.parametrize("rates", some([(1, 1), (3, 2), (1, 4), (5, 1), (7, 10)], 2))
def test_upfirdn(rates: tuple[int, int]) -> None:
    for taps in (RNG.standard_normal(1), RNG.standard_normal(21), RNG.standard_normal(20) + 1j):
        for x in (X, X[:, :1], Z):
            close(ft.signal.upfirdn(taps, ft.tensor(x), *rates), scipy.upfirdn(taps, x, *rates), 1e-5)
    close(ft.signal.upfirdn([1.0, 2.0], ft.tensor(X), *rates, 0), scipy.upfirdn([1.0, 2.0], X, *rates, 0), 1e-5)


@pytest.mark.parametrize("dtype", some(["int8", "uint8", "int16", "uint16", "int32", "int64", "float32"], 2))
@pytest.mark.parametrize("form", [(4, 3, 1), (5, 2, 2), (1, 1, 1)])
def test_cic(dtype: str, form: tuple[int, int, int]) -> None:
    """Integrators, a rate change, and combs, like a board's logic."""
    rate, order, delay = form
    x = RNG.integers(0, 100, (2, 101)).astype(dtype)
    right = x.astype(np.int64)
    for _ in range(order):
        right = right.cumsum(-1)
    right = right[:, ::rate]
    for _ in range(order):
        right = right - np.pad(right, ((0, 0), (delay, 0)))[:, :-delay]
    result = ft.signal.cic(ft.from_numpy(x), rate, order, delay)
    assert result.dtype is (ft.float32 if dtype == "float32" else ft.int64 if dtype == "int64" or (
        dtype == "int32" and rate * delay > 1) else ft.int32)  # fmt: skip
    np.testing.assert_allclose(result.cpu().numpy(), right, 1e-5 if dtype == "float32" else 0)


def test_designs_are_those_of_scipy() -> None:
    for name, arguments in (
        ("butter", (4, 0.2)), ("cheby1", (3, 1, 0.2)), ("cheby2", (3, 40, 0.2)), ("ellip", (3, 1, 40, 0.2)),
        ("bessel", (3, 0.2)),
    ):  # fmt: skip
        for output in ("ba", "sos"):
            mine = getattr(ft.signal, name)(*arguments, output=output)
            for one, other in zip(mine, getattr(scipy, name)(*arguments, output=output), strict=True):
                np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(ft.signal.firwin(9, 0.3, fs=4.0), scipy.firwin(9, 0.3, fs=4.0))
    x = ft.tensor(X[0])
    close(ft.signal.fftconvolve(x, ft.signal.firwin(9, 0.3)), scipy.fftconvolve(X[0], scipy.firwin(9, 0.3)), 1e-5)


@contextmanager
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "scipy.signal", None)
        yield


def test_filter_design_without_scipy_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with without_scipy(monkeypatch), pytest.raises(ModuleNotFoundError, match=r"butter\(\): .* pip install scipy"):
        ft.signal.butter(2, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("sosfilt(np.ones((2, 5)), x)", r"sosfilt\(\): sos of shape \(2, 5\) must have shape \(sections, 6\)"),
        ("sosfilt(np.full((1, 6), 2.0), x)", r"sos\[:, 3\] must be ones, but is \[2.0\]"),
        ("sosfilt(np.ones((1, 6)), x, zi=np.ones((2, 2)))", r"zi of shape \(2, 2\) must have \(1, 3, 2\)"),
        ("butter(501, 0.5)", r"butter\(\): the order 501 is above 500"),
        ("cic(x, 2, order=65)", r"cic\(\): order=65: it is at most 64"),
        ("sosfilt_zi([[1, 0, 0, 1, -1, 0]])", r"sosfilt_zi\(\): the filter has a pole at 1"),
        ("filtfilt([1.0], [1.0, -1.0], x)", r"filtfilt\(\): the filter has a pole at 1"),
        ("filtfilt([1.0], [0.0, 1.0], x)", r"filtfilt\(\): a\[0\] must not be 0"),
        ("filtfilt([1.0, 1.0], [1.0], x, padlen=500)", r"500 elements are too few for padlen=500"),
        ("filtfilt([1.0, 1.0], [1.0], x, padtype='line')", r"padtype='line' is none of odd, even, constant, None"),
        ("lfilter([], [1.0], x)", r"lfilter\(\): b has no elements"),
        ("lfilter([1.0], [1.0, 0.5], x, zi=np.ones((2, 1)))", r"zi of shape \(2, 1\) must have \(3, 1\)"),
        ("upfirdn([], x)", r"upfirdn\(\): h has no elements"),
        ("upfirdn([1.0], x, 0)", r"up=0, down=1: both are at least 1"),
        ("cic(x, 0)", r"cic\(\): rate=0, order=3, delay=1: all are at least 1"),
        ("cic(ft.ones(4, dtype=ft.int32), 4096, 5)", r"sums of 92 bits from ftensor.int32"),
        ("sosfilt(np.ones((1, 6)), [1.0])", r"not list"),
    ],
)  # fmt: skip
def test_filter_errors_name_the_argument(call: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        eval(f"ft.signal.{call}", {"ft": ft, "np": np, "x": ft.tensor(X), **vars(builtins)})
    assert re.search(message, str(raised.value)), str(raised.value)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_long_convolution_streams_in_blocks_on_boards(dtype: str) -> None:
    """A board transforms rows of up to 4096 numbers beat by beat, if the length is a power of two.
    It transforms longer rows number by number, which takes a hundred times as long."""
    from ftensor.execute.device_traits import is_board
    from ftensor.execute.fft import fast_length
    from ftensor.ops.spectral.filters import _streams_in_blocks

    x = RNG.standard_normal(4100).astype(dtype)
    taps = scipy.firwin(65, 0.2).astype("f4")
    signal = ft.tensor(x)
    board = is_board(signal)
    assert fast_length(signal, 16384 + 64) == (32768 if board else 20480)
    assert _streams_in_blocks(signal, ft.tensor(taps), 0) is board
    assert not _streams_in_blocks(signal[:4000], ft.tensor(taps), 0)
    for mode in ("full", "same", "valid"):
        close(ft.signal.fftconvolve(signal, ft.tensor(taps), mode), scipy.fftconvolve(x, taps, mode), 1e-5)


def test_filters_compute_in_the_signals_dtype_on_boards() -> None:
    from ftensor.execute.device_traits import spares_double
    from ftensor.ops.spectral.filters import sum_dtype

    x = ft.ones(3, dtype=ft.float32)
    assert sum_dtype(x) is (ft.float64 if spares_double(x) else ft.float32)
