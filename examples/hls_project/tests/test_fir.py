"""The filter against NumPy, on the device of FTENSOR_DEVICE; FIR_IMAGE is the board's xclbin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftensor as ft

TAPS = 16
SOURCE = Path(__file__).parents[1] / "src" / "fir.cpp"


@pytest.fixture(scope="module")
def fir() -> Any:
    return ft.fpga.kernel(os.environ.get("FIR_IMAGE", SOURCE), "fir")


@pytest.mark.parametrize("n", [1, TAPS, 1000])
def test_against_numpy(fir: Any, n: int) -> None:
    random = np.random.default_rng(0)
    samples, taps = random.standard_normal((2, max(n, TAPS)), dtype=np.float32)
    samples, taps = samples[:n].copy(), taps[:TAPS].copy()
    out = ft.zeros(n)
    fir(ft.tensor(samples), ft.tensor(taps), out, n)
    np.testing.assert_allclose(out.numpy(), np.convolve(samples, taps)[:n], rtol=1e-5, atol=1e-5)


def test_between_ops(fir: Any) -> None:
    """A receiver's first steps: mix, filter, power. No data leaves the device between them."""
    n = 256
    signal = (ft.arange(n, dtype=ft.float32) * 0.3).cos()
    out = ft.empty(n)
    fir(signal * signal, ft.full((TAPS,), 1 / TAPS), out, n)
    assert abs(out[TAPS:].mean().item() - 0.5) < 0.05


def test_wrong_calls(fir: Any) -> None:
    x = ft.zeros(4)
    with pytest.raises(TypeError, match="fir takes 4 arguments, not 3"):
        fir(x, x, x)
    with pytest.raises(TypeError, match=r"argument 'taps' .* takes a tensor of float32"):
        fir(x, x.double(), x, 4)
