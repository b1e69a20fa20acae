"""ft.distributions against torch's: densities, moments, entropies, and samples compared with
these."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ftensor as ft

from ..oracle import same

A, B = [0.3, 1.5, 4.0], [0.7, 1.1, 2.5]
P = [0.1, 0.5, 0.8]
SHARES = [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]
REALS, ABOVE, INSIDE = [-0.7, 0.4, 2.0], [0.2, 1.0, 3.5], [0.2, 0.5, 0.9]
# Parameters of each distribution, and values at which densities are computed.
CASES = {
    "Bernoulli": ([P], [0.0, 1.0, 1.0]),
    "Beta": ([A, B], INSIDE),
    "Binomial": ([5, P], [0.0, 2.0, 5.0]),
    "Categorical": ([SHARES], [2.0, 0.0]),
    "Cauchy": ([REALS, B], REALS),
    "Chi2": ([ABOVE], ABOVE),
    "Dirichlet": ([SHARES], SHARES),
    "Exponential": ([A], ABOVE),
    "Gamma": ([A, B], ABOVE),
    "Geometric": ([P], [0.0, 2.0, 5.0]),
    "Gumbel": ([REALS, B], REALS),
    "HalfNormal": ([A], ABOVE),
    "Laplace": ([REALS, B], [0.1, 0.2, 0.3]),
    "LogNormal": ([REALS, B], ABOVE),
    "Normal": ([REALS, B], REALS[::-1]),
    "OneHotCategorical": ([SHARES], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "Poisson": ([A], [0.0, 2.0, 5.0]),
    "StudentT": ([ABOVE, REALS, B], REALS[::-1]),
    "Uniform": ([[-1.0, 0.0, 1.0], [0.5, 2.0, 3.0]], [0.0, 1.0, 3.5]),
}
DIVERGENCES = ["Bernoulli", "Categorical", "Exponential", "Gamma", "Laplace", "Normal", "Poisson"]


def distribution(name: str, library: Any, args: Any = None, **options: Any) -> Any:
    """Returns a distribution with its parameters in double precision."""
    parameters = CASES[name][0] if args is None else args
    words = [a if isinstance(a, int) else library.tensor(a, dtype=library.float64) for a in parameters]
    return getattr(library.distributions, name)(*words, **options)


@pytest.mark.parametrize("name", CASES)
def test_densities_and_moments_are_torchs(name: str) -> None:
    ours, theirs = distribution(name, ft), distribution(name, torch, validate_args=False)
    assert (ours.batch_shape, ours.event_shape) == (theirs.batch_shape, theirs.event_shape)
    at = CASES[name][1]
    x, y = ft.tensor(at, dtype=ft.float64), torch.tensor(at, dtype=torch.float64)
    same(ours.log_prob(x), theirs.log_prob(y), rtol=1e-9, atol=1e-12)
    for word in ("mean", "variance", "stddev"):
        same(getattr(ours, word), getattr(theirs, word), rtol=1e-9, atol=1e-12)
    for word, args in (("entropy", ((), ())), ("cdf", ((x,), (y,)))):
        try:
            wanted = getattr(theirs, word)(*args[1])
        except NotImplementedError:
            continue
        if (name, word) == ("Binomial", "entropy"):
            continue  # torch enumerates all counts
        same(getattr(ours, word)(*args[0]), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["Cauchy", "Exponential", "Laplace", "LogNormal", "Normal", "Uniform"])
def test_icdf_inverts_cdf(name: str) -> None:
    ours = distribution(name, ft)
    at = ft.tensor(INSIDE, dtype=ft.float64)
    same(ours.cdf(ours.icdf(at)), torch.tensor(INSIDE, dtype=torch.float64), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", [n for n in CASES if n != "Cauchy"])
def test_samples_have_the_mean_and_the_variance(name: str) -> None:
    ft.manual_seed(11)
    tame = {"StudentT": [[9.0, 12.0, 20.0], REALS, B], "LogNormal": [REALS, [0.1, 0.2, 0.3]]}
    parameters = tame.get(name)
    ours = distribution(name, ft, parameters)
    drawn = ours.sample((20000,))
    assert drawn.shape == (20000, *ours.batch_shape, *ours.event_shape)
    if name == "Categorical":
        drawn, mean = drawn == 0, ours.probs[:, 0]
        variance = mean * (1 - mean)
    else:
        mean, variance = ours.mean, ours.variance
    drawn = drawn.double()
    off = (drawn.mean(0) - mean).abs() / (variance / 20000).sqrt()
    assert off.max().item() < 5
    assert (drawn.var(0) / variance - 1).abs().max().item() < 0.12


@pytest.mark.parametrize("name", DIVERGENCES)
def test_divergences_are_torchs(name: str) -> None:
    other = [p[::-1] if isinstance(p, list) else p for p in CASES[name][0]]
    divergence = ft.distributions.kl_divergence(distribution(name, ft), distribution(name, ft, other))
    wanted = torch.distributions.kl_divergence(distribution(name, torch), distribution(name, torch, other))
    same(divergence, wanted, rtol=1e-9, atol=1e-12)


def test_multivariate_distributions() -> None:
    matrix = [[2.0, 0.5], [0.5, 1.0]]
    results = []
    for library in (ft, torch):
        loc, cov = [library.tensor(v, dtype=library.float64) for v in ([1.0, -1.0], matrix)]
        d = library.distributions.MultivariateNormal(loc, cov)
        at = library.tensor([[0.0, 0.0], [2.0, 1.0]], dtype=library.float64)
        i = library.distributions.Independent(library.distributions.Normal(at, at.exp()), 1)
        results.append((d.log_prob(at), d.entropy(), d.variance, i.log_prob(at), i.entropy()))
    for ours, theirs in zip(*results):
        same(ours, theirs, rtol=1e-9, atol=1e-12)
    d = ft.distributions.MultivariateNormal(ft.zeros(2), ft.tensor(matrix))
    drawn = d.sample((20000,))
    assert (drawn.t().cov() - d.covariance_matrix).abs().max().item() < 0.1


def test_invalid_parameters_are_refused() -> None:
    for call in (
        lambda: ft.distributions.Normal(0.0, -1.0),
        lambda: ft.distributions.Bernoulli(1.5),
        lambda: ft.distributions.Bernoulli(),
        lambda: ft.distributions.Uniform(1.0, 0.0),
        lambda: ft.distributions.MultivariateNormal(ft.zeros(2)),
        lambda: ft.distributions.Independent(ft.distributions.Normal(0.0, 1.0), 1),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(NotImplementedError, match="Bernoulli has no rsample"):
        ft.distributions.Bernoulli(0.5).rsample()


def test_distributions_are_imported_at_first_use() -> None:
    assert "distributions" not in dir(ft)
    assert ft.distributions.Normal(0.0, 1.0).sample().shape == ()
