"""Continuous distributions, and those derived from the gamma distribution. Formulas: Johnson, Kotz,
Balakrishnan, Continuous Univariate Distributions (1994, 1995), in torch's parameters.
"""

from __future__ import annotations

from math import inf, log, nan, pi
from typing import Any

from numpy import euler_gamma

from .._tensor import Tensor
from ..errors import creation as messages
from ..rows.catalogue import op_of
from .base import Distribution

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

    mean = property(lambda self: self.loc)
    variance = property(lambda self: self.scale.square())


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

    mean = property(lambda self: (self.loc + self.scale.square() / 2).exp())

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

    mean = property(lambda self: self.scale * (2 / pi) ** 0.5)
    variance = property(lambda self: self.scale.square() * (1 - 2 / pi))


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
        return op_of("where")(is_inside, -(self.high - self.low).log(), -inf)

    def cdf(self, value: Tensor) -> Tensor:
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return self.low + (self.high - self.low) * value

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()

    mean = property(lambda self: (self.low + self.high) / 2)
    variance = property(lambda self: (self.high - self.low).square() / 12)


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

    mean = property(lambda self: self.rate.reciprocal())
    variance = property(lambda self: self.rate.pow(-2))


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

    mean = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.square())


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

    mean = property(lambda self: self.loc * nan)
    variance = property(lambda self: self.loc * 0 + inf)


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

    mean = property(lambda self: self.loc + self.scale * euler_gamma)
    variance = property(lambda self: self.scale.square() * (pi**2 / 6))


def standard_gamma(alpha: Tensor) -> Tensor:
    """Returns numbers of the gamma distribution of shape parameter `alpha` and rate 1.

    Uses rejection: Marsaglia and Tsang, A simple method for generating gamma variables (2000).
    """
    small = alpha < 1
    d = op_of("where")(small, alpha + 1, alpha) - 1 / 3
    c = 1 / (9 * d).sqrt()
    sample, left = op_of("zeros_like")(alpha), op_of("ones_like")(alpha).bool()
    while bool(left.any().item()):
        x = op_of("randn_like")(alpha)
        v = (1 + c * x).pow(3)
        u = op_of("rand_like")(alpha)
        fits = (v > 0) & (u.log() < x.square() / 2 + d - d * v + d * v.clamp_min(1e-30).log())
        sample = op_of("where")(left & fits, d * v, sample)
        left = left & ~fits
    # For a shape parameter below 1: from a sample of the parameter plus 1.
    small_alpha = sample * (1 - op_of("rand_like")(alpha)).pow(1 / alpha)
    return op_of("where")(small, small_alpha, sample)


class Gamma(Distribution):
    """The gamma distribution of shape parameter `concentration` and rate `rate`."""

    has_rsample = True
    _positive = ("concentration", "rate")
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None):
        super().__init__(validate_args, concentration=concentration, rate=rate)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        alpha, rate = self._spread(sample_shape)
        return standard_gamma(alpha) / rate

    def log_prob(self, value: Tensor) -> Tensor:
        a, b = self.concentration, self.rate
        return op_of("xlogy")(a, b) + op_of("xlogy")(a - 1, value) - b * value - a.lgamma()

    def cdf(self, value: Tensor) -> Tensor:
        return op_of("special.gammainc")(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1 - a) * a.digamma()

    mean = property(lambda self: self.concentration / self.rate)
    variance = property(lambda self: self.concentration / self.rate.square())


class Chi2(Gamma):
    """The distribution of the sum of the squares of `df` normal numbers."""

    def __init__(self, df: Any, validate_args: bool | None = None):
        super().__init__(df / 2, 0.5, validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2


class StudentT(Distribution):
    """Student's distribution of `df` degrees of freedom, with location `loc` and scale `scale`."""

    has_rsample = True
    _positive = ("df", "scale")
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None):
        super().__init__(validate_args, df=df, loc=loc, scale=scale)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        df, loc, scale = self._spread(sample_shape)
        chi = standard_gamma(df / 2) * 2
        return loc + scale * op_of("randn_like")(df) * (df / chi).sqrt()

    def log_prob(self, value: Tensor) -> Tensor:
        z = (value - self.loc) / self.scale
        return -(self.df + 1) / 2 * (z.square() / self.df).log1p() - self._norm()

    def _norm(self) -> Tensor:
        half = self.df / 2
        norm = self.scale.log() + self.df.log() / 2 + log(pi) / 2
        return norm + half.lgamma() - (half + 0.5).lgamma()

    def entropy(self) -> Tensor:
        half = self.df / 2
        return self._norm() + (half + 0.5) * ((half + 0.5).digamma() - half.digamma())

    mean = property(lambda self: self.loc.masked_fill(self.df <= 1, nan))

    @property
    def variance(self) -> Tensor:
        finite = self.scale.square() * self.df / (self.df - 2)
        return finite.masked_fill(self.df <= 2, inf).masked_fill(self.df <= 1, nan)


class Dirichlet(Distribution):
    """Vectors of positive shares that sum to 1, in the last dim; `concentration` is positive."""

    has_rsample = True
    _positive = ("concentration",)
    concentration: Tensor

    def __init__(self, concentration: Tensor, validate_args: bool | None = None):
        if concentration.ndim < 1:
            raise messages.parameter("Dirichlet", "concentration", "of one dim or more")
        super().__init__(validate_args, 1, concentration=concentration)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        gammas = standard_gamma(self._spread(sample_shape)[0])
        return gammas / gammas.sum(-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        a = self.concentration
        return op_of("xlogy")(a - 1, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a = self.concentration
        total, count = a.sum(-1), a.shape[-1]
        terms = a.lgamma().sum(-1) - total.lgamma() - (count - total) * total.digamma()
        return terms - ((a - 1) * a.digamma()).sum(-1)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, keepdim=True))

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.square() * (total + 1))


class Beta(Distribution):
    """Numbers from 0 to 1: the first of two shares of a `Dirichlet`."""

    has_rsample = True
    _positive = ("concentration1", "concentration0")
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None):
        super().__init__(validate_args, concentration1=concentration1, concentration0=concentration0)

    def _pair(self) -> Dirichlet:
        return Dirichlet(op_of("stack")([self.concentration1, self.concentration0], -1), False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self._pair().sample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        return self._pair().log_prob(op_of("stack")([value, 1 - value], -1))

    def entropy(self) -> Tensor:
        return self._pair().entropy()

    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))
