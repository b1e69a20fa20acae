"""Which elements an interpolated one is made of along a dim, and their weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Taps = tuple[Any, Any]  # positions (results, taps) and their weights, as arrays


def _cubic(a: float) -> Callable[[float], float]:
    """The cubic convolution kernel of parameter a (Keys, 1981)."""

    def weight(x: float) -> float:
        x = abs(x)
        if x < 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0

    return weight


def _triangle(x: float) -> float:
    return max(0.0, 1 - abs(x))


def _lanczos(x: float) -> float:
    """sinc(x) sinc(x / 3) within 3 (Duchon, 1979)."""
    if not -3 < x < 3:
        return 0.0
    return float(np.sinc(x) * np.sinc(x / 3))


def _scale(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Any:
    """How far apart the results lie, in elements, in the precision `real` as torch has it."""
    if corners:
        return real(size - 1) / real(count - 1) if count > 1 else real(0)
    return real(1.0 / factor) if factor else real(size) / real(count)


# For antialiasing: the support at scale 1, and the kernel.
FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "bilinear": (1, _triangle),
    "bicubic": (2, _cubic(-0.5)),
    "lanczos": (3, _lanczos),
}


def nearest_taps(size: int, count: int, factor: float | None, exact: bool, real: Any) -> list[int]:
    """The element that each result is; `exact`: the one under its middle, else under its beginning."""
    at = np.arange(count).astype(real) + (real(0.5) if exact else real(0))
    indices = np.floor(at * _scale(size, count, False, factor, real)).astype(np.int64)
    return np.minimum(indices, size - 1).tolist()


def _source(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Any:
    """Where the results lie among the elements; product and difference are rounded together, as
    torch's compilers have it."""
    at = np.arange(count).astype(real)
    scale = _scale(size, count, corners, factor, real)
    if corners:
        return at * scale
    return ((at + real(0.5)).astype(np.float64) * np.float64(scale) - 0.5).astype(real)


def linear_taps(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Taps:
    """The two elements around each result, the nearer the heavier."""
    source = _source(size, count, corners, factor, real)
    if size == count:
        source = np.arange(count).astype(real)
    source = np.maximum(source, real(0))
    first = np.minimum(source.astype(np.int64), size - 1)
    second = first + (first < size - 1)
    part = np.clip(source - first.astype(real), real(0), real(1))
    return np.stack([first, second], 1), np.stack([real(1) - part, part], 1)


def cubic_taps(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Taps:
    """The four elements around each result, by cubic convolution with a = -0.75."""
    source = _source(size, count, corners, factor, real)
    first = np.floor(source)
    part = source - first
    a = real(-0.75)

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        # The second product and its summand are rounded together, by torch's compilers too.
        middle = ((a * x - 5 * a) * np.float64(x) + 8 * a).astype(real)
        return middle * x - 4 * a

    weights = np.stack([far(part + 1), near(part), near(1 - part), far(2 - part)], 1)
    where = first.astype(np.int64)[:, None] + np.arange(-1, 3)
    return np.clip(where, 0, size - 1), weights


def smoothed_taps(size: int, count: int, corners: bool, factor: float | None, real: Any, mode: str) -> Taps:
    """As many neighbours as the kernel covers when it is as wide as the results are apart."""
    scale = _scale(size, count, corners, factor, real)
    support, weight = FILTERS[mode]
    wide = max(scale, real(1))
    rows, all_weights = [], []
    for j in range(count):
        center = scale * real(j + 0.5)
        low = max(int(center - real(support) * wide + real(0.5)), 0)
        high = min(int(center + real(support) * wide + real(0.5)), size)
        apart = np.arange(high - low).astype(real) + (real(low) - center)
        near = (apart + real(0.5)) * (real(1) / wide)
        weights = [weight(float(x)) for x in near]
        total = sum(weights) or 1.0
        rows.append(list(range(low, high)))
        all_weights.append([w / total for w in weights])
    most = max(len(row) for row in rows)
    padded = [row + row[-1:] * (most - len(row)) for row in rows]
    return (np.array(padded, np.int64), np.array([w + [0.0] * (most - len(w)) for w in all_weights], real))
