"""What all distributions share: parameters of one shape, samples, what follows from a density."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor
from ..dtypes import get_default_dtype
from ..errors import random as messages
from ..formats import Size
from ..iterator.shape import broadcast_shapes
from ..rows.catalogue import ENTRIES


def op(name: str) -> Any:
    """The function of an op of the catalogue."""
    return ENTRIES[name].call


def tensors(**parameters: Any) -> dict[str, Tensor]:
    """Parameters as tensors of one shape; numbers in the dtype and on the device of a tensor
    among them."""
    first = next((v for v in parameters.values() if isinstance(v, Tensor)), None)
    of = get_default_dtype() if first is None or not first.is_floating_point() else first.dtype
    where = None if first is None else first.device
    converted = {
        name: v if isinstance(v, Tensor) else op("full")((), float(v), dtype=of, device=where)
        for name, v in parameters.items()
    }
    return dict(zip(converted, op("broadcast_tensors")(*converted.values())))


class Distribution:
    """Numbers drawn at random, of which `batch_shape` are independent and each has the shape
    `event_shape`.

    `log_prob(value)`, `mean`, `variance`, `entropy()`, `cdf(value)` are torch's formulas;
    `sample(shape)` draws from ftensor's generator (ftensor docs random). ValueError for parameters
    out of range, unless `validate_args` is False; NotImplementedError for what has no closed form.
    """

    has_rsample = False
    _positive: tuple[str, ...] = ()

    def __init__(self, validate_args: bool | None = None, event_dims: int = 0, **parameters: Any):
        self._parameters = tensors(**parameters)
        shape = next(iter(self._parameters.values())).shape
        self._batch, self._event = (shape[: len(shape) - event_dims], shape[len(shape) - event_dims :])
        for name, value in self._parameters.items():
            setattr(self, name, value)
            if validate_args is not False and name in self._positive:
                self._check(name, value.gt(0), "positive")

    def _check(self, name: str, holds: Tensor, what: str) -> None:
        if not bool(holds.all().item()):
            raise messages.parameter(type(self).__name__, name, what)

    @property
    def batch_shape(self) -> Size:
        """The shape of the independent distributions."""
        return Size(self._batch)

    @property
    def event_shape(self) -> Size:
        """The shape of one sample."""
        return Size(self._event)

    @property
    def _first(self) -> Tensor:
        return next(iter(self._parameters.values()))

    def _extended(self, shape: Any) -> tuple[int, ...]:
        return (*shape, *self._batch, *self._event)

    def _spread(self, shape: Any) -> list[Tensor]:
        """The parameters, repeated for samples of a shape."""
        return [p.expand((*shape, *p.shape)) for p in self._parameters.values()]

    def _drawn(self, name: str, shape: Any, *args: float) -> Tensor:
        """New numbers from one of the generator's own distributions."""
        empty = op("empty")(self._extended(shape), dtype=self._first.dtype, device=self._first.device)
        drawn: Tensor = getattr(empty, name)(*args)
        return drawn

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Numbers drawn at random, of shape `sample_shape + batch_shape + event_shape`."""
        raise self._without("sample")

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """As `sample`, of distributions that torch differentiates through."""
        if not self.has_rsample:
            raise self._without("rsample")
        return self.sample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at `value`."""
        raise self._without("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of what is not greater than `value`."""
        raise self._without("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The number below which samples are with probability `value`."""
        raise self._without("icdf")

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape `batch_shape`."""
        raise self._without("entropy")

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise self._without("mean")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise self._without("variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def perplexity(self) -> Tensor:
        """e to the entropy."""
        return self.entropy().exp()

    def _without(self, name: str) -> NotImplementedError:
        return messages.no_form(type(self).__name__, name)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{n}: {tuple(p.shape)}" for n, p in self._parameters.items())
        return f"{type(self).__name__}({shapes})"


def joint_shape(*shapes: Any) -> tuple[int, ...]:
    """The shape that shapes have together."""
    return tuple(broadcast_shapes(*[tuple(s) for s in shapes]))
