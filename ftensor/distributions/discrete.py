"""Discrete distributions. Formulas: Johnson, Kemp, Kotz, Univariate Discrete Distributions
(2005), in torch's parameters."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor
from ..errors import creation as messages
from ..rows.catalogue import op_of
from .base import Distribution, broadcast_batch_shape


def _either(name: str, probs: Any, logits: Any) -> bool:
    if (probs is None) == (logits is None):
        raise messages.one_of_two(name, "probs", "logits")
    return probs is not None


class _Chances(Distribution):
    """Base of the distributions with one probability, given as `probs` or as its `logits`."""

    probs: Tensor
    logits: Tensor

    def _set_up(self, probs: Any, logits: Any, validate_args: bool | None, **options: Any) -> None:
        if _either(type(self).__name__, probs, logits):
            super().__init__(validate_args, probs=probs, **options)
            self.logits = self.probs.logit(2.0**-52 if self.probs.itemsize == 8 else 2.0**-23)
            if validate_args is not False:
                self._check("probs", (self.probs >= 0) & (self.probs <= 1), "from 0 to 1")
        else:
            super().__init__(validate_args, logits=logits, **options)
            self.probs = self.logits.sigmoid()

    def _surprise(self, value: Tensor) -> Tensor:
        logits, target = op_of("broadcast_tensors")(self.logits, value.to(self.logits.dtype))
        return op_of("nn.functional.binary_cross_entropy_with_logits")(logits, target, reduction="none")


class Bernoulli(_Chances):
    """1 with probability `probs`, else 0."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._set_up(probs, logits, validate_args)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return op_of("bernoulli")(self.probs.expand(self._extended(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        return -self._surprise(value)

    def entropy(self) -> Tensor:
        return self._surprise(self.probs)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))


class Geometric(_Chances):
    """The number of failures before the first success of probability `probs`."""

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._set_up(probs, logits, validate_args)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        u = 1 - self._drawn("uniform_", sample_shape)
        return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        return op_of("xlogy")(value, 1 - self.probs) + self.probs.log()

    def entropy(self) -> Tensor:
        return self._surprise(self.probs) / self.probs

    mean = property(lambda self: 1 / self.probs - 1)
    variance = property(lambda self: (1 / self.probs - 1) / self.probs)


class Binomial(_Chances):
    """The number of successes in `total_count` trials, each with probability `probs`."""

    total_count: Tensor

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None):
        self._set_up(probs, logits, validate_args, total_count=total_count)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended(sample_shape)
        count, probs = self.total_count.expand(shape), self.probs.expand(shape)
        return op_of("binomial")(count.to(probs.dtype).contiguous(), probs.contiguous())

    def log_prob(self, value: Tensor) -> Tensor:
        n, logits = self.total_count, self.logits
        log_coefficient = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return log_coefficient + value * logits - n * op_of("nn.functional.softplus")(logits)

    mean = property(lambda self: self.total_count * self.probs)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))


class Poisson(Distribution):
    """The number of events in a unit of time with an expected number of `rate`."""

    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None):
        super().__init__(validate_args, rate=rate)
        if validate_args is not False:
            self._check("rate", self.rate >= 0, "not negative")

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return op_of("poisson")(self._spread(sample_shape)[0].contiguous())

    def log_prob(self, value: Tensor) -> Tensor:
        return op_of("xlogy")(value, self.rate) - self.rate - (value + 1).lgamma()

    mean = property(lambda self: self.rate)
    variance = property(lambda self: self.rate)


class Categorical(Distribution):
    """The index of a class; the last dim of `probs` or `logits` has one probability for each
    class.
    """

    probs: Tensor
    logits: Tensor

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None):
        if _either(type(self).__name__, probs, logits):
            super().__init__(validate_args, 1, probs=probs)
            self.probs = self.probs / self.probs.sum(-1, keepdim=True)
            tiny = 2.0**-52 if self.probs.itemsize == 8 else 2.0**-23
            self.logits = self.probs.clamp(tiny, 1 - tiny).log()
        else:
            super().__init__(validate_args, 1, logits=logits)
            self.logits = self.logits - self.logits.logsumexp(-1, keepdim=True)
            self.probs = self.logits.softmax(-1)
        self._event = self._event[1:]
        if validate_args is not False:
            self._check("probs", self.probs >= 0, "not negative")

    def sample(self, sample_shape: Any = ()) -> Tensor:
        classes = self.probs.shape[-1]
        count = max(int(op_of("empty")(tuple(sample_shape)).numel()), 1) if sample_shape else 1
        rows = self.probs.reshape(-1, classes)
        samples: Tensor = op_of("multinomial")(rows, count, True).t()
        return samples.reshape((*sample_shape, *self._batch))

    def log_prob(self, value: Tensor) -> Tensor:
        shape = broadcast_batch_shape(value.shape, self._batch)
        index = value.long().expand(shape)[..., None]
        logits = self.logits.expand((*shape, self.logits.shape[-1]))
        return logits.gather(-1, index)[..., 0]

    def entropy(self) -> Tensor:
        lowest = -1.7976931348623157e308 if self.logits.itemsize == 8 else -3.4028234663852886e38
        return -(self.logits.clamp_min(lowest) * self.probs).sum(-1)

    mean = property(lambda self: self.probs[..., 0] * float("nan"))
    variance = property(lambda self: self.mean)


class OneHotCategorical(Categorical):
    """A `Categorical` whose samples are 1 at the drawn class and 0 elsewhere."""

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None):
        super().__init__(probs, logits, validate_args)
        self._event = (self.probs.shape[-1],)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        samples: Tensor = op_of("nn.functional.one_hot")(super().sample(sample_shape), self.probs.shape[-1])
        return samples.to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        return super().log_prob(value.argmax(-1))

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
