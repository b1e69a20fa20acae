"""Distributions of random integers, counts of events and choices.

Counts of values are compared with SciPy's probabilities by chi-square tests with fixed seeds. With
20000 numbers, a test of level 1e-4 finds probabilities that are off by 5 percent in half of the
cells with a probability of more than 0.95 (20 cells of equal probability).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import ftensor as ft

from .test_random import LEVEL, N, drawn, source


def chi_square(counts: Any, expected: Any) -> float:
    """Returns the p-value of counts, with rare cells merged."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    rare = expected < 10
    f, e = counts[~rare], expected[~rare]
    if expected[rare].sum():
        f, e = np.append(f, counts[rare].sum()), np.append(e, expected[rare].sum())
    return float(stats.chisquare(f, e * f.sum() / e.sum()).pvalue)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32"])
@pytest.mark.parametrize(("low", "high"), [(0, 2), (3, 103), (0, 128)])
def test_integers(dtype: str, low: int, high: int) -> None:
    x = ft.randint(low, high, (N,), dtype=getattr(ft, dtype), generator=source()).long().numpy()
    assert x.min() == low and x.max() == high - 1
    counts = np.bincount(x - low, minlength=high - low)
    assert chi_square(counts, np.full(high - low, N / (high - low))) > LEVEL


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "float64"])
def test_geometric(dtype: str) -> None:
    x = drawn("geometric_", 0.25, dtype=dtype).astype(int)
    counts = np.bincount(x, minlength=60)[1:]
    assert chi_square(counts, N * stats.geom(0.25).pmf(np.arange(1, len(counts) + 1))) > LEVEL


RATES = (0.0, 0.02, 0.5, 9.99, 10.0, 13.0, 300.0, 1e5)


def cells(x: Any, of: Any, wide: int) -> float:
    """Returns the p-value of integers, counted in cells of `wide` values."""
    low = int(of.mean() - 6 * of.std()) - wide
    edges = np.arange(low, of.mean() + 6 * of.std() + 2 * wide, wide)
    counts = np.histogram(x, edges)[0]
    assert counts.sum() == len(x)
    # A cell includes its first value, but not the next cell's.
    return chi_square(counts, N * np.diff(of.cdf(edges - 1)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_poisson(dtype: str) -> None:
    """Rates are on both sides of the limit between two methods."""
    rates = ft.tensor(RATES, dtype=getattr(ft, dtype))
    x = ft.poisson(rates.expand(N, len(RATES)), source(2)).numpy()
    assert (x[:, 0] == 0).all() and (x >= 0).all() and (x == np.floor(x)).all()
    for k, rate in enumerate(RATES[1:], 1):
        of = stats.poisson(rate)
        assert cells(x[:, k], of, max(1, int(of.std() / 4))) > LEVEL, rate


CHANCES = (
    (20, 0.3),
    (20, 0.5),
    (21, 0.48),
    (3, 0.9),
    (1000, 0.002),
    (1000, 0.985),
    (100, 0.1),
    (1 << 20, 0.25),
    (1 << 20, 2.0**-19),
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_binomial(dtype: str) -> None:
    """There are few and many successes, and rare failures."""
    n, p = (ft.tensor(v, dtype=getattr(ft, dtype)) for v in zip(*CHANCES))
    x = ft.binomial(n.expand(N, len(CHANCES)), p, source(2))
    assert x.dtype is n.dtype and x.shape == (N, len(CHANCES))
    for k, (tries, chance) in enumerate(zip(n.tolist(), p.tolist())):
        of = stats.binom(int(tries), chance)
        seen = x[:, k].numpy()
        assert seen.min() >= 0 and seen.max() <= tries
        assert cells(seen, of, max(1, int(of.std() / 4))) > LEVEL, (tries, chance)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_counts_of_narrow_dtypes(dtype: str) -> None:
    """They are float32's counts, rounded once."""
    rates = ft.tensor([0.5, 4.0, 100.0]).expand(50, 3)
    narrow = getattr(ft, dtype)
    assert ft.poisson(rates.to(narrow), source()).equal(ft.poisson(rates, source()).to(narrow))
    n, p = ft.tensor([3.0, 128.0, 128.0]).expand(50, 3), ft.tensor([0.5, 0.0625, 0.25])
    counts = ft.binomial(n.to(narrow), p.to(narrow), source())
    assert counts.equal(ft.binomial(n, p, source()).to(narrow))


def test_counts_at_extreme_probabilities() -> None:
    n = ft.tensor([20.0, 0.0, -3.0, 5.9, 7.0, 7.0, float("nan"), 7.0])
    p = ft.tensor([1.0, 0.5, 0.5, 2.0, 0.0, -1.0, 0.5, float("nan")])
    counts = ft.binomial(n, p, source())
    assert counts[:6].tolist() == [20, 0, 0, 5, 0, 0] and bool(counts[6:].isnan().all())
    huge = ft.tensor([1e15, 9e18])
    assert bool(((ft.poisson(huge, source()) - huge).abs() <= huge * 2.0**-23).all())
    assert ft.poisson(ft.empty(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("replacement", [False, True])
def test_multinomial(replacement: bool) -> None:
    """Tests the first draw, and the second, whose probabilities depend on the first."""
    weights = np.array([1.0, 0.0, 4.0, 5.0])
    p = weights / 10
    table = ft.tensor(weights).expand(N, 4)
    one = ft.multinomial(table, 1, generator=source(4))[:, 0].numpy()
    assert chi_square(np.bincount(one, minlength=4), N * p) > LEVEL
    first, second = ft.multinomial(table, 2, replacement, generator=source(5)).numpy().T
    assert chi_square(np.bincount(first, minlength=4), N * p) > LEVEL
    pairs = np.bincount(4 * first + second, minlength=16).reshape(4, 4)
    expected = np.outer(p, p)
    if not replacement:
        np.fill_diagonal(expected, 0)
        expected = expected / (1 - p[:, None])
    assert (pairs[expected == 0] == 0).all()
    assert chi_square(pairs[expected > 0], N * expected[expected > 0]) > LEVEL


def test_permutations() -> None:
    """All 24 permutations of four numbers have equal frequencies."""
    seen = [tuple(ft.randperm(4, generator=source(k)).tolist()) for k in range(2400)]
    _, counts = np.unique(np.array(seen), axis=0, return_counts=True)
    assert len(counts) == 24 and chi_square(counts, np.full(24, 100)) > LEVEL
    assert sorted(ft.randperm(1000, dtype=ft.int16).tolist()) == list(range(1000))
