"""Distributions of vectors (multivariate normal, batch dims taken as one event), and the
Kullback-Leibler divergence."""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi
from typing import Any

from .._tensor import Tensor
from ..errors import creation as messages
from ..rows.catalogue import op_of
from .base import Distribution, broadcast_batch_shape
from .continuous import Exponential, Gamma, Laplace, Normal, Uniform
from .discrete import Bernoulli, Categorical, Poisson


class MultivariateNormal(Distribution):
    """The normal distribution of mean `loc` (..., n) and a positive definite covariance (..., n,
    n), given as itself, as its inverse or as its lower Cholesky factor."""

    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        matrices = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if len(matrices) != 1:
            raise messages.one_matrix()
        if scale_tril is None:
            matrix = matrices[0] if precision_matrix is None else precision_matrix.inverse()
            scale_tril = op_of("linalg.cholesky")(matrix)
        shape = broadcast_batch_shape(loc.shape[:-1], scale_tril.shape[:-2])
        super().__init__(validate_args, 1, loc=loc.expand((*shape, loc.shape[-1])))
        self.loc = self._first
        self.scale_tril = scale_tril.expand((*shape, *scale_tril.shape[-2:]))

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        return self.scale_tril @ self.scale_tril.mT

    def sample(self, sample_shape: Any = ()) -> Tensor:
        noise = self._drawn("normal_", sample_shape)
        return self.loc + (self.scale_tril @ noise[..., None])[..., 0]

    def _log_det(self) -> Tensor:
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        n = self.loc.shape[-1]
        deviation = (value - self.loc)[..., None]
        factor = self.scale_tril.expand((*deviation.shape[:-2], n, n))
        white = op_of("linalg.solve_triangular")(factor, deviation, upper=False)[..., 0]
        return -(white.square().sum(-1) + n * log(2 * pi)) / 2 - self._log_det()

    def entropy(self) -> Tensor:
        return self.loc.shape[-1] / 2 * (1 + log(2 * pi)) + self._log_det()

    mean = property(lambda self: self.loc)
    variance = property(lambda self: self.scale_tril.square().sum(-1))


class Independent(Distribution):
    """A distribution whose last batch dims count as one event."""

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ):
        base, count = base_distribution, reinterpreted_batch_ndims
        if not 0 <= count <= len(base.batch_shape):
            raise messages.too_many_dims(count, base.batch_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base, count
        self._parameters = base._parameters
        self.has_rsample = base.has_rsample
        batch_ndim = len(base.batch_shape) - count
        self._batch = base.batch_shape[:batch_ndim]
        self._event = (*base.batch_shape[batch_ndim:], *base.event_shape)

    def _summed(self, x: Tensor) -> Tensor:
        dims = tuple(range(-self.reinterpreted_batch_ndims, 0))
        return x.sum(dims) if dims else x

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return self._summed(self.base_dist.log_prob(value))

    def entropy(self) -> Tensor:
        return self._summed(self.base_dist.entropy())

    mean = property(lambda self: self.base_dist.mean)
    variance = property(lambda self: self.base_dist.variance)


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
    soft = op_of("nn.functional.softplus")
    ones = p.probs * (soft(-q.logits) - soft(-p.logits))
    return ones + (1 - p.probs) * (soft(q.logits) - soft(p.logits))


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
