"""Continuous distributions. Formulas: Johnson, Kotz, Balakrishnan, Continuous Univariate
Distributions (1994, 1995), in torch's parameters."""

from __future__ import annotations

from math import inf, log, nan, pi
from typing import Any

from numpy import euler_gamma

from .._tensor import Tensor
from .base import Distribution, op

_LOG_2PI = log(2 * pi)


class _LocationScale(Distribution):
    """A family with a location `loc` and a positive `scale`."""

    has_rsample = True
    _positive = ("scale",)
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None):
        super().__init__(validate_args, loc=loc, scale=scale)


class Normal(_LocationScale):
    """The normal distribution of mean `loc` and standard deviation `scale`."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.loc + self.scale * self._drawn("normal_", sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        z = (value - self.loc) / self.scale
        return -(z * z) / 2 - self.scale.log() - _LOG_2PI / 2

    def cdf(self, value: Tensor) -> Tensor:
        return (1 + ((value - self.loc) / (self.scale * 2**0.5)).erf()) / 2

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * 2**0.5

    def entropy(self) -> Tensor:
        return 0.5 + _LOG_2PI / 2 + self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.scale.square()


class LogNormal(Normal):
    """The distribution of e to the power of a normal number; `loc` and `scale` are those of the
    logarithm."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return super().sample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        return super().log_prob(value.log()) - value.log()

    def cdf(self, value: Tensor) -> Tensor:
        return super().cdf(value.log())

    def icdf(self, value: Tensor) -> Tensor:
        return super().icdf(value).exp()

    def entropy(self) -> Tensor:
        return super().entropy() + self.loc

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()


class HalfNormal(Distribution):
    """The distribution of the absolute value of a normal number of mean 0 and standard deviation
    `scale`."""

    has_rsample = True
    _positive = ("scale",)
    scale: Tensor

    def __init__(self, scale: Any, validate_args: bool | None = None):
        super().__init__(validate_args, scale=scale)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.scale * self._drawn("normal_", sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        density = log(2) + Normal(0.0, self.scale, False).log_prob(value)
        return density.masked_fill(value < 0, -inf)

    def cdf(self, value: Tensor) -> Tensor:
        return 2 * Normal(0.0, self.scale, False).cdf(value) - 1

    def entropy(self) -> Tensor:
        return Normal(0.0, self.scale, False).entropy() - log(2)

    @property
    def mean(self) -> Tensor:
        return self.scale * (2 / pi) ** 0.5

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / pi)


class Uniform(Distribution):
    """Uniform numbers in [low, high)."""

    has_rsample = True
    low: Tensor
    high: Tensor

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None):
        super().__init__(validate_args, low=low, high=high)
        if validate_args is not False:
            self._check("high", self.low < self.high, "greater than `low`")

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.low + (self.high - self.low) * self._drawn("uniform_", sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        is_inside = (value >= self.low) & (value < self.high)
        return op("where")(is_inside, -(self.high - self.low).log(), -inf)

    def cdf(self, value: Tensor) -> Tensor:
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return self.low + (self.high - self.low) * value

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()

    @property
    def mean(self) -> Tensor:
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).square() / 12


class Exponential(Distribution):
    """Waiting times of events that occur `rate` times in a unit of time."""

    has_rsample = True
    _positive = ("rate",)
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None):
        super().__init__(validate_args, rate=rate)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self._drawn("exponential_", sample_shape) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)


class Laplace(_LocationScale):
    """Two exponential distributions back to back around `loc`, each of mean `scale`."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(self._drawn("uniform_", sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        z = value - self.loc
        return 0.5 - 0.5 * z.sign() * (-z.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        z = value - 0.5
        return self.loc - self.scale * z.sign() * (-2 * z.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.square()


class Cauchy(_LocationScale):
    """The Cauchy distribution of median `loc` and half width `scale`; it has no moments."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.loc + self.scale * self._drawn("cauchy_", sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        z = (value - self.loc) / self.scale
        return -log(pi) - self.scale.log() - z.square().log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return ((value - self.loc) / self.scale).atan() / pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (pi * (value - 0.5)).tan()

    def entropy(self) -> Tensor:
        return log(4 * pi) + self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc * nan

    @property
    def variance(self) -> Tensor:
        return self.loc * 0 + inf


class Gumbel(_LocationScale):
    """The Gumbel distribution of maxima, of mode `loc` and width `scale`."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.loc - self.scale * self._drawn("exponential_", sample_shape).log()

    def log_prob(self, value: Tensor) -> Tensor:
        z = (value - self.loc) / self.scale
        return -z - (-z).exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return (-(-(value - self.loc) / self.scale).exp()).exp()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_gamma)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_gamma

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (pi**2 / 6)
