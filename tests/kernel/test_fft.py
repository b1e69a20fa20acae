"""Fourier transforms on the device: every radix, Bluestein's algorithm, batches, both directions,
and accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute import fft_plan
from ftensor.execute.fft_plan import unit_roots
from ftensor.kernels.skeletons.fft import MAX_RADIX, RADICES, radices

from ..targets import pairs, some
from .processors import family, processors

# Every radix alone, as first and later pass. Primes as radices and by Bluestein. Lengths of several
# passes with and without whole vectors.
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 25, 30, 61, 64, 67, 77, 100, 134, 360, 1000, 1024, 3 * 31 * 7)
PI = np.arccos(np.longdouble(-1))
EPS = {"complex64": 2.0**-24, "complex128": 2.0**-53}


def signal(rows: int, n: int, of: str) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(n)
    x = rng.standard_normal((rows, n)) + 1j * rng.standard_normal((rows, n))
    return x.astype(of)


def ours(x: np.ndarray[Any, Any]) -> Any:
    return ft.tensor(x)


def exact(x: np.ndarray[Any, Any], inverse: bool) -> np.ndarray[Any, Any]:
    """Returns the transforms in extended precision, from their definition."""
    n = x.shape[1]
    k = np.arange(n)
    angle, powers = k * (2 * PI / n), k[:, None] * k % n
    c, s = np.cos(angle)[powers], np.sin(angle)[powers] * (1 if inverse else -1)
    re, im = x.real.astype(np.longdouble), x.imag.astype(np.longdouble)
    return np.asarray((re @ c - im @ s) + 1j * (re @ s + im @ c))


def relative_rms_error(result: Any, right: np.ndarray[Any, Any]) -> float:
    """Returns the root mean square error relative to that of the values."""
    got = result.cpu().numpy().astype(np.clongdouble)
    assert got.shape == right.shape
    return float(np.sqrt((abs(got - right) ** 2).mean() / (abs(right) ** 2).mean()))


@pytest.mark.parametrize(("n", "of"), pairs(LENGTHS, ["complex64", "complex128"]))
def test_transforms_of_each_length_are_accurate(n: int, of: str) -> None:
    x = signal(3, n, of)
    on = ours(x)
    bound = EPS[of] * (2 + np.log2(n)) * (6 if radices(n) is None else 1)
    back = exact(x, True)
    assert relative_rms_error(ft.fft.fft(on), exact(x, False)) < bound
    assert relative_rms_error(ft.fft.ifft(on, norm="forward"), back) < bound
    assert relative_rms_error(ft.fft.ifft(on), back / n) < bound


@contextmanager
def members_of(numbers: int) -> Iterator[None]:
    """Context manager: a device of three units with small caches. Each unit gets work from
    `numbers` numbers on."""
    with (
        family(3, unit_elements=numbers),
        mock.patch.object(fft_plan, "COSTS", replace(fft_plan.COSTS, near=16 * numbers, far=16 * numbers)),
    ):
        yield


@pytest.mark.core
def test_few_numbers_are_split_between_units() -> None:
    """The launches of the following two tests, in sizes small enough for an interpreter."""
    with members_of(64):
        for shape in ((1, 960), (9, 60)):
            x = signal(*shape, "complex64")
            right = np.fft.fft(x.astype(np.complex128))
            assert relative_rms_error(ft.fft.fft(ours(x)), right) < 1e-6
            assert relative_rms_error(ft.fft.ifft(ours(right.astype(np.complex64))), x) < 1e-6
        launches = default_backend().launches.values()
        counts = {len(launch.steps) for launch in launches if getattr(launch, "constants", ())}
        assert default_backend().images is not None or counts == {1, 2}


def test_one_launch_per_pass() -> None:
    """All units share a row, with one launch for each pass."""
    x = signal(1, 3 * 65536, "complex64")
    right = np.fft.fft(x.astype(np.complex128))
    assert relative_rms_error(ft.fft.fft(ours(x)), right) < 1e-6
    assert (
        relative_rms_error(ft.fft.ifft(ours(x), norm="ortho"), np.fft.ifft(x.astype(np.complex128), norm="ortho"))
        < 1e-6
    )


def test_rows_of_several_units() -> None:
    x = signal(300, 240, "complex64")
    assert relative_rms_error(ft.fft.fft(ours(x)), np.fft.fft(x.astype(np.complex128))) < 1e-6


@pytest.mark.parametrize("n", [5, 8, 9, 64, 67, 96, 100])
def test_real_signals(n: int) -> None:
    x = signal(4, n, "complex64").real.copy()
    half = np.fft.rfft(x.astype(np.float64))
    assert relative_rms_error(ft.fft.rfft(ours(x)), half) < 1e-6
    assert relative_rms_error(ft.fft.irfft(ours(half.astype(np.complex64)), n=n), x) < 1e-6
    assert relative_rms_error(ft.fft.ihfft(ours(x), norm="forward"), half.conj()) < 1e-6


def test_inputs_with_an_offset() -> None:
    x = signal(6, 48, "complex64")
    for view, same in ((ours(x)[1:, 5:40], x[1:, 5:40]), (ours(x).T, x.T), (ours(x)[::2, ::3], x[::2, ::3])):
        assert relative_rms_error(ft.fft.fft(view), np.fft.fft(same.astype(np.complex128))) < 1e-6


@pytest.mark.parametrize(("n", "of"), pairs([256, 1000, 1009, 1536, 4096, 10007, 16384], ["complex64", "complex128"]))
def test_errors_are_near_torchs(n: int, of: str) -> None:
    """The mean and the largest error are at most twice torch's, for one row and for many."""
    for rows in (1, 20):
        x = signal(rows, n, of)
        right = np.fft.fft(x.astype(np.clongdouble))
        theirs = torch.fft.fft(torch.from_numpy(x)).numpy()
        mine = ft.fft.fft(ours(x)).cpu().numpy()
        for norm in (lambda e: np.sqrt((abs(e) ** 2).mean()), lambda e: abs(e).max()):
            assert norm(mine - right) <= 2 * norm(theirs - right) + EPS[of] * norm(right) / 4


@pytest.mark.parametrize("n", some([6, 64, 77, 120, 512, 600], 2))
def test_along_columns(n: int) -> None:
    """Adjacent columns share whole vectors, or parts of them, in both directions."""
    for processor in processors():
        with processor:
            columns_forth_and_back(n)


def columns_forth_and_back(n: int) -> None:
    for columns in (3, 21):
        x = signal(n, columns, "complex64")
        right = np.fft.fft(x.astype(np.complex128), axis=0)
        assert relative_rms_error(ft.fft.fft(ours(x), dim=0), right) < 1e-6
        real = x.real.copy()
        half = np.fft.rfft(real.astype(np.float64), axis=0)
        assert relative_rms_error(ft.fft.rfft(ours(real), dim=0), half) < 1e-6
        back = ft.fft.irfft(ours(half.astype(np.complex64)), n=n, dim=0)
        assert relative_rms_error(back, real) < 1e-6
        again = ft.fft.hfft(ours(half.conj().astype(np.complex64)), n=n, dim=0)
        assert relative_rms_error(again, n * real) < 1e-6


@pytest.mark.parametrize(("n", "rows"), pairs([512, 1024, 3000], [1, 40]))
def test_real_rows_of_two_stages(n: int, rows: int) -> None:
    x = signal(rows, n, "complex64").real.copy()
    half = np.fft.rfft(x.astype(np.float64))
    assert relative_rms_error(ft.fft.rfft(ours(x)), half) < 1e-6
    assert relative_rms_error(ft.fft.irfft(ours(half.astype(np.complex64))), x) < 1e-6
    assert relative_rms_error(ft.fft.ihfft(ours(x)), half.conj() / n) < 1e-6


def test_padded_and_truncated_signals() -> None:
    x = signal(5, 40, "complex64")
    for n in (12, 64, 300, 1024):
        assert relative_rms_error(ft.fft.fft(ours(x), n), np.fft.fft(x.astype(np.complex128), n)) < 1e-6
        right = np.fft.rfft(x.real.astype(np.float64), n)
        assert relative_rms_error(ft.fft.rfft(ours(x.real.copy()), n), right) < 1e-6


def test_roots_of_unity() -> None:
    for n in (3, 8, 1000, 999983):
        k = np.arange(0, n, max(1, n // 500))
        angle = k * (2 * PI / n)
        right = np.cos(angle) - 1j * np.sin(angle)
        assert abs(unit_roots(k, n) - right).max() < 2.0**-53 * 2


def test_product_of_radices_is_the_length() -> None:
    assert all(r in RADICES or (r % 2 and r <= MAX_RADIX) for n in range(2, 500) for r in radices(n) or ())
    assert all(np.prod(radices(n) or (n,)) == n for n in range(2, 500))
    assert radices(67) is None and radices(2 * 61) == (2, 61)
