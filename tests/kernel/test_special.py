"""Special functions that torch computes less precisely than possible, against SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ftensor as ft

from ..oracle import torch
from ..targets import pairs

scipy = pytest.importorskip("scipy.special", reason="SciPy has the values")
mpmath = pytest.importorskip("mpmath", reason="as torch's own dependency it is there")


def airy(x: Any) -> Any:
    """Replaces SciPy's function, which rounds the angle and the exponent."""
    return np.vectorize(lambda at: float(mpmath.airyai(at)))(x)


# Arguments from tiny ones to those beyond the series. In float32 the function gets the rounded
# ones.
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
    "airy_ai": (ft.special.airy_ai, airy),
    "airy_ai_left": (lambda x: ft.special.airy_ai(-x), lambda x: airy(-x)),
    "zeta": (lambda q: ft.special.zeta(2.5, q), lambda q: scipy.zeta(2.5, q)),
    "polygamma": (lambda x: ft.polygamma(1, x), lambda x: scipy.polygamma(1, x)),
}
# Errors allowed, in ulps of a number of at least this magnitude. J and Y oscillate. If exp(x) is a
# factor, the rounding of x is multiplied by x.
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
    least = WAVES if any(word in name for word in ("_j", "_y", "_left")) else tiny
    error = np.abs(got - expected) / np.maximum(np.abs(expected), least)
    kept = np.isfinite(expected.astype(dtype)) & (np.abs(expected) > tiny)
    assert error[kept].max() < np.finfo(dtype).eps * (100 if name in GROWING else 40)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_incomplete_gamma(dtype: str) -> None:
    """Errors are in ulps of the result, plus the effect of an ulp of both arguments."""
    a = np.concatenate([np.geomspace(1e-8, 12.5, 24), np.geomspace(13, 3e3, 12)]).astype(dtype)
    ratio = np.concatenate([np.geomspace(1e-3, 50, 25), [0.3, 0.95, 1, 1.05, 1.24, 1.26, 2.36]])
    x = (a[:, None] * ratio).astype(dtype)
    x = np.concatenate([x, np.tile(np.geomspace(1e-6, 30, 24), (len(a), 1))], 1).astype(dtype)
    orders, at = (t.astype(float) for t in np.broadcast_arrays(a[:, None], x))
    density = np.exp(orders * np.log(at) - at - scipy.gammaln(orders))  # x times the derivative
    info, step = np.finfo(dtype), 1e-6
    pairs_ = (ft.igamma, scipy.gammainc), (ft.igammac, scipy.gammaincc)
    for mine, exact in pairs_:
        got = mine(ft.from_numpy(a[:, None]), ft.from_numpy(x)).numpy().astype(float)
        expected = exact(orders, at)
        slope = np.abs(exact(orders * (1 + step), at) - exact(orders * (1 - step), at)) / step
        unit = info.eps * (expected + density + slope)
        error = np.abs(got - expected) / np.maximum(unit, info.tiny / info.eps)
        assert error[expected > info.tiny / info.eps].max() < (6 if dtype == "float32" else 30)


def test_incomplete_gamma_at_the_ends() -> None:
    """Zeros, infinities and NaN give torch's results."""
    of = [0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    a, x = (t.ravel() for t in np.meshgrid(of, of))
    for name, other in (("igamma", "gammainc"), ("igammac", "gammaincc")):
        expected = getattr(torch, name)(torch.from_numpy(a), torch.from_numpy(x)).tolist()
        for call in (getattr(ft, name), getattr(ft.special, other)):
            got = call(ft.from_numpy(a), ft.from_numpy(x)).tolist()
            assert got == pytest.approx(expected, nan_ok=True)


def _third(n: Any, x: Any) -> Any:
    return np.cos((n + 0.5) * np.arccos(x)) / np.cos(0.5 * np.arccos(x))


def _fourth(n: Any, x: Any) -> Any:
    return np.sin((n + 0.5) * np.arccos(x)) / np.sin(0.5 * np.arccos(x))


DEGREES = {
    "chebyshev_polynomial_t": scipy.eval_chebyt,
    "chebyshev_polynomial_u": scipy.eval_chebyu,
    "chebyshev_polynomial_v": _third,
    "chebyshev_polynomial_w": _fourth,
    "shifted_chebyshev_polynomial_v": lambda n, x: _third(n, 2 * x - 1),
    "shifted_chebyshev_polynomial_w": lambda n, x: _fourth(n, 2 * x - 1),
    "shifted_chebyshev_polynomial_t": scipy.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": scipy.eval_sh_chebyu,
    "hermite_polynomial_h": scipy.eval_hermite,
    "hermite_polynomial_he": scipy.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.eval_laguerre,
    "legendre_polynomial_p": scipy.eval_legendre,
}


@pytest.mark.parametrize("name", DEGREES)
def test_polynomials_of_high_degree(name: str) -> None:
    """Each lane has its own degree."""
    x, n = np.linspace(0.01 if "shifted" in name else -0.98, 0.99, 16), np.arange(3, 51, 3)
    got = getattr(ft.special, name)(ft.from_numpy(x), ft.from_numpy(n)).numpy()
    expected = DEGREES[name](n, x)
    scale = np.maximum(np.abs(expected), 1)
    assert (np.abs(got - expected) / scale).max() < 1e-12


COVERED = {"igamma", "igammac", *FUNCTIONS, *DEGREES}


def test_polygamma_is_precise_left_of_zero_too() -> None:
    """Near a pole, and where the powers of both neighbours nearly cancel."""
    x = np.array([-0.001, -3.001, -1.3, -4.4917517, -9.499976], np.float32)
    exact = scipy.polygamma(4, x.astype(float))
    got = ft.polygamma(4, ft.from_numpy(x)).numpy()
    assert (np.abs(got - exact) < 2e-6 * np.abs(exact)).all()


@pytest.mark.parametrize("ends", [(-26.5, -1), (-1, 1), (1, 5), (5, 7), (7, 60)], ids=str)
def test_erfcx_is_precise_wherever_it_is_finite(ends: tuple[float, float]) -> None:
    x = np.random.default_rng(3).uniform(*ends, 300)
    got = ft.special.erfcx(ft.from_numpy(x)).numpy()
    with mpmath.workdps(40):
        exact = [mpmath.exp(mpmath.mpf(at) ** 2) * mpmath.erfc(mpmath.mpf(at)) for at in x.tolist()]
        errors = [abs(a - b) / np.spacing(a) for a, b in zip(got.tolist(), exact)]
    assert max(errors) <= 4


def test_bessel_functions_of_the_smallest_subnormal() -> None:
    """Half of it is 0, which has no logarithm."""
    for dtype, k0 in ((ft.float32, 103.39486), (ft.float64, 744.5560034370396)):
        x = ft.tensor([ft.finfo(dtype).smallest_normal * ft.finfo(dtype).eps], dtype=dtype)
        for name in ("modified_bessel_k0", "scaled_modified_bessel_k0"):
            assert getattr(ft.special, name)(x).item() == pytest.approx(k0, rel=1e-6)
        assert ft.special.bessel_y0(x).item() == pytest.approx(-k0 * 2 / np.pi, rel=1e-6)


def test_polygamma_at_poles_and_infinities() -> None:
    x = torch.tensor([np.inf, -np.inf, 0.0, -1.0, np.nan])
    for n in (2, 3):
        got = ft.polygamma(n, ft.from_torch(x)).tolist()
        assert got == pytest.approx(torch.polygamma(n, x).tolist(), nan_ok=True)


def test_frexp() -> None:
    numbers = [0.0, -0.0, 1.0, -3.5, 0.75, 1e30, -1e-30, float("inf"), float("-inf")]
    mantissa, exponent = ft.frexp(ft.tensor(numbers))
    expected = np.frexp(np.array(numbers, np.float32))
    assert exponent.dtype is ft.int32
    finite = np.isfinite(numbers)
    assert mantissa.numpy().tolist() == expected[0].tolist()
    assert exponent.numpy()[finite].tolist() == expected[1][finite].tolist()
    assert exponent.numpy()[~finite].tolist() == [0, 0]
