"""Coefficients of windows and filters, computed on the host: few numbers, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import float64
from ...errors import spectral as errors_spectral
from ...execute import memory

Array = np.ndarray[Any, Any]
_NAMED: dict[str, Callable[..., Array]] = {
    "boxcar": np.ones,
    "hann": np.hanning,
    "hamming": np.hamming,
    "blackman": np.blackman,
    "bartlett": np.bartlett,
    "kaiser": np.kaiser,
}


def window(op: str, name_or_values: Any, n: int, periodic: bool) -> Array:
    """A window by name, ("kaiser", beta), or its values. ValueError for an unknown name."""
    if not isinstance(name_or_values, (str, tuple)):
        return values(name_or_values)
    name, *more = (name_or_values,) if isinstance(name_or_values, str) else name_or_values
    if name not in _NAMED:
        raise errors_spectral.filter_argument(
            op, f"window={name!r} is none of {', '.join(_NAMED)}; its values can be given, too"
        )
    if n == 1:
        return np.ones(1)
    return _NAMED[name](n + periodic, *more)[:n]


def values(coefficients: Any) -> Array:
    """Coefficients given as numbers, an array or a tensor."""
    if isinstance(coefficients, Tensor):
        memory.ask(coefficients, coefficients.numel(), float64)
    array = coefficients.numpy() if isinstance(coefficients, Tensor) else np.asarray(coefficients)
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64).reshape(-1)


def lowpass(op: str, taps: int, cutoff: float, shape: Any) -> Array:
    """A low-pass filter of so many taps by a window; the cutoff is relative to half the rate."""
    m = np.arange(taps) - (taps - 1) / 2
    h = cutoff * np.sinc(cutoff * m) * window(op, shape, taps, False)
    return np.asarray(h / h.sum())


def state_space(b: Array, a: Array) -> tuple[Array, Array, Array, Any]:
    """(A, B, C, D) of a filter in transposed direct form II: the state z of p numbers becomes
    A z + B x, the result is C z + D x."""
    order = max(len(a), len(b)) - 1
    b, a = (np.pad(c / a[0], (0, order + 1 - len(c))) for c in (b, a))
    step = np.zeros((order, order), np.result_type(a, b))
    step[:, :1] = -a[1:, None]
    step += np.eye(order, k=1)
    first = np.zeros(order)
    first[:1] = 1
    return step, b[1:] - a[1:] * b[0], first, b[0]


def cascade(sections: Sequence[tuple[Array, Array]]) -> tuple[Array, Array, Array, Any]:
    """(A, B, C, D) of sections (b, a), each of which filters what the one before it gives."""
    step, into, out, direct = np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.float64(1)
    for b, a in sections:
        a2, b2, c2, d2 = state_space(b, a)
        above = np.hstack([step, np.zeros((len(step), len(a2)))])
        step = np.vstack([above, np.hstack([np.outer(b2, out), a2])])
        into, out = np.concatenate([into, b2 * direct]), np.concatenate([d2 * out, c2])
        direct = d2 * direct
    return step, into, out, direct


def chebyshev(order: int, ripple: float, cutoff: float) -> list[tuple[Array, Array]]:
    """Second-order sections (b, a) of a digital low-pass filter of type I with a ripple in dB, by
    the bilinear transformation; the cutoff is relative to half the rate."""
    epsilon = np.sqrt(10 ** (0.1 * ripple) - 1)
    theta = np.pi * np.arange(-order + 1, order, 2) / (2 * order)
    poles = -np.sinh(np.arcsinh(1 / epsilon) / order + 1j * theta)
    gain = np.prod(-poles).real / (np.sqrt(1 + epsilon**2) if order % 2 == 0 else 1)
    warped = 4 * np.tan(np.pi * cutoff / 2)
    poles, gain = poles * warped, gain * warped**order
    gain *= np.prod(1 / (4 - poles)).real
    poles = (4 + poles) / (4 - poles)
    sections = []
    for p in sorted(poles[poles.imag > 1e-12], key=abs):
        sections.append((np.array([1.0, 2, 1]), np.array([1, -2 * p.real, abs(p) ** 2])))
    for p in poles[abs(poles.imag) <= 1e-12]:
        sections.append((np.array([1.0, 1]), np.array([1, -p.real])))
    return [(b * gain if i == 0 else b, a) for i, (b, a) in enumerate(sections)]
