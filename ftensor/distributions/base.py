"""Shared by all distributions: parameters of one shape, samples, and results derived from a
density."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor
from ..dtypes import get_default_dtype
from ..errors import creation as messages
from ..formats import Size
from ..iterator.shape import broadcast_shapes
from ..rows.catalogue import op_of


def tensors(**parameters: Any) -> dict[str, Tensor]:
    """Returns parameters as tensors of one shape. Numbers take the dtype and the device of a tensor
    among them."""
    first = next((v for v in parameters.values() if isinstance(v, Tensor)), None)
    dtype = get_default_dtype() if first is None or not first.is_floating_point() else first.dtype
    device = None if first is None else first.device
    converted = {
        name: v if isinstance(v, Tensor) else op_of("full")((), float(v), dtype=dtype, device=device)
        for name, v in parameters.items()
    }
    return dict(zip(converted, op_of("broadcast_tensors")(*converted.values())))


class Distribution:
    """A distribution of random numbers: `batch_shape` is the shape of independent distributions,
    `event_shape` the shape of one sample of each.

    `log_prob(value)`, `mean`, `variance`, `entropy()` and `cdf(value)` are torch's formulas;
    `sample(shape)` draws from ftensor's generator (ftensor docs random). Raises ValueError for
    parameters out of range, unless `validate_args` is False, and NotImplementedError for results
    without a closed form.
    """

    has_rsample = False
    _positive: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        for name in {"mean", "variance"} & vars(cls).keys():
            vars(cls)[name].__doc__ = getattr(Distribution, name).__doc__

    def __init__(self, validate_args: bool | None = None, event_dims: int = 0, **parameters: Any):
        self._parameters = tensors(**parameters)
        shape = next(iter(self._parameters.values())).shape
        self._batch, self._event = (shape[: len(shape) - event_dims], shape[len(shape) - event_dims :])
        for name, value in self._parameters.items():
            setattr(self, name, value)
            if validate_args is not False and name in self._positive:
                self._check(name, value.gt(0), "positive")

    def _check(self, name: str, is_valid: Tensor, requirement: str) -> None:
        if not bool(is_valid.all().item()):
            raise messages.parameter(type(self).__name__, name, requirement)

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
        return [p.expand((*shape, *p.shape)) for p in self._parameters.values()]

    def _drawn(self, name: str, shape: Any, *args: float) -> Tensor:
        empty = op_of("empty")(self._extended(shape), dtype=self._first.dtype, device=self._first.device)
        return getattr(empty, name)(*args)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Returns random numbers of shape `sample_shape + batch_shape + event_shape`."""
        raise self._without("sample")

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Like `sample`, for distributions that torch can differentiate through."""
        if not self.has_rsample:
            raise self._without("rsample")
        return self.sample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """Returns the logarithm of the density, or of the probability, at `value`."""
        raise self._without("log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """Returns the probability of a sample not greater than `value`."""
        raise self._without("cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """Returns the number that samples do not exceed with probability `value`."""
        raise self._without("icdf")

    def entropy(self) -> Tensor:
        """Returns the entropy in nats, of shape `batch_shape`."""
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
        """Returns e to the power of the entropy."""
        return self.entropy().exp()

    def _without(self, name: str) -> NotImplementedError:
        return messages.no_form(type(self).__name__, name)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{n}: {tuple(p.shape)}" for n, p in self._parameters.items())
        return f"{type(self).__name__}({shapes})"


def broadcast_batch_shape(*shapes: Any) -> tuple[int, ...]:
    return tuple(broadcast_shapes(*[tuple(s) for s in shapes]))
