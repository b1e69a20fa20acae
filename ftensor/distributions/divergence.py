"""Kullback-Leibler divergence of two distributions of one class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from ..errors import random as messages
from .base import Distribution, op
from .continuous import Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Categorical, Poisson
from .gamma import Gamma


def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).square()
    return (ratio + ((p.loc - q.loc) / q.scale).square() - 1 - ratio.log()) / 2


def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    divergence = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return divergence + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


def _laplace(p: Laplace, q: Laplace) -> Tensor:
    distance, ratio = (p.loc - q.loc).abs(), p.scale / q.scale
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


def _uniform(p: Uniform, q: Uniform) -> Tensor:
    divergence = ((q.high - q.low) / (p.high - p.low)).log()
    return divergence.masked_fill((q.low > p.low) | (q.high < p.high), float("inf"))


def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    soft = op("nn.functional.softplus")
    ones = p.probs * (soft(-q.logits) - soft(-p.logits))
    divergence: Tensor = ones + (1 - p.probs) * (soft(q.logits) - soft(p.logits))
    return divergence


_FORMULAS: dict[type[Distribution], Callable[[Any, Any], Tensor]] = {
    Bernoulli: _bernoulli,
    Categorical: lambda p, q: (p.probs * (p.logits - q.logits)).sum(-1),
    Exponential: lambda p, q: (p.rate / q.rate).log() + q.rate / p.rate - 1,
    Gamma: _gamma,
    Laplace: _laplace,
    Normal: _normal,
    Poisson: lambda p, q: p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate),
    Uniform: _uniform,
}


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Returns the expectation under `p` of `p.log_prob - q.log_prob`.

    Raises NotImplementedError for classes without a formula here, and for two different classes.
    """
    formula = _FORMULAS.get(type(p)) if type(p) is type(q) else None
    if formula is None:
        raise messages.no_divergence(type(p).__name__, type(q).__name__)
    return formula(p, q)
