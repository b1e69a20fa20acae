"""Special functions that torch computes less precisely than they can be: against SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ftensor as ft

from ..targets import pairs

scipy = pytest.importorskip("scipy.special", reason="SciPy has the values")

# Points from tiny ones to those beyond the series; in float32 the function sees the rounded ones.
WIDE = np.concatenate([np.geomspace(1e-9, 1, 40), np.linspace(1, 90, 400)])
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "bessel_j0": (ft.special.bessel_j0, scipy.j0),
    "bessel_j1": (ft.special.bessel_j1, scipy.j1),
    "bessel_y0": (ft.special.bessel_y0, scipy.y0),
    "bessel_y1": (ft.special.bessel_y1, scipy.y1),
    "modified_bessel_i0": (ft.special.modified_bessel_i0, scipy.i0),
    "modified_bessel_i1": (ft.special.modified_bessel_i1, scipy.i1),
    "modified_bessel_k0": (ft.special.modified_bessel_k0, scipy.k0),
    "modified_bessel_k1": (ft.special.modified_bessel_k1, scipy.k1),
    "scaled_modified_bessel_k0": (ft.special.scaled_modified_bessel_k0, scipy.k0e),
    "scaled_modified_bessel_k1": (ft.special.scaled_modified_bessel_k1, scipy.k1e),
    "spherical_bessel_j0": (ft.special.spherical_bessel_j0, lambda x: np.sin(x) / x),
    "zeta": (lambda q: ft.special.zeta(2.5, q), lambda q: scipy.zeta(2.5, q)),
    "polygamma": (lambda x: ft.polygamma(1, x), lambda x: scipy.polygamma(1, x)),
}
# Errors allowed, in units of the last place of what is at least this large: J and Y oscillate, and
# where exp(x) is a factor, its argument's rounding is multiplied by x.
WAVES, GROWING = 0.1, {"modified_bessel_i0", "modified_bessel_i1"}
GROWING |= {"modified_bessel_k0", "modified_bessel_k1"}


@pytest.mark.parametrize(("name", "dtype"), pairs(list(FUNCTIONS), ["float32", "float64"]))
def test_precision(name: str, dtype: str) -> None:
    mine, exact = FUNCTIONS[name]
    x = WIDE.astype(dtype)
    x = x[x < 60] if name in GROWING else x
    got = mine(ft.from_numpy(x)).numpy().astype(float)
    expected = exact(x.astype(float))
    tiny = np.finfo(dtype).tiny / np.finfo(dtype).eps
    least = WAVES if "_j" in name or "_y" in name else tiny
    error = np.abs(got - expected) / np.maximum(np.abs(expected), least)
    kept = np.isfinite(expected.astype(dtype)) & (np.abs(expected) > tiny)
    assert error[kept].max() < np.finfo(dtype).eps * (100 if name in GROWING else 40)


def test_numbers_are_taken_apart() -> None:
    numbers = [0.0, -0.0, 1.0, -3.5, 0.75, 1e30, -1e-30, float("inf"), float("-inf")]
    mantissa, exponent = ft.frexp(ft.tensor(numbers))
    expected = np.frexp(np.array(numbers, np.float32))
    assert exponent.dtype is ft.int32
    finite = np.isfinite(numbers)
    assert mantissa.numpy().tolist() == expected[0].tolist()
    assert exponent.numpy()[finite].tolist() == expected[1][finite].tolist()
    assert exponent.numpy()[~finite].tolist() == [0, 0]
