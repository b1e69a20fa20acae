"""Distributions that fill a tensor in place."""

from __future__ import annotations

import math
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...dtypes.limits import finfo, iinfo
from ...errors import creation as errors_creation
from ...errors import random as errors_random
from ...rows.catalogue import op
from ..create.arguments import number_argument
from ..view.arguments import as_int, layout
from ..view.complex import view_as_real
from .draw import CAUCHY, CHANCE, CHANCES, EXPONENTIAL, GEOMETRIC, INTEGERS, LOG_NORMAL, NORMAL, UNIFORM, drawn


def _bounds(function: str, args: tuple[Any, ...], named: dict[str, Any], defaults: tuple[Any, Any]) -> tuple[Any, Any]:
    """`from` and `to`, by place or by name (`from` is no name that a Python function can have)."""
    bounds = dict(zip(("from", "to"), args))
    if len(args) > 2:
        raise errors_creation.surplus_arguments(function, 2, len(args))
    for name, value in named.items():
        if name not in ("from", "to"):
            raise errors_random.unknown_argument(function, name)
        if name in bounds:
            raise errors_creation.given_twice(function, name)
        bounds[name] = value
    return bounds.get("from", defaults[0]), bounds.get("to", defaults[1])


def _real(function: str, name: str, value: Any) -> float:
    return float(number_argument(function, name, value))


def _continuous(input: Tensor, function: str) -> Tensor:
    """A tensor of floating-point numbers; of a complex one its parts."""
    layout(input, function)
    if input._dtype.is_complex and function in ("uniform_", "normal_"):
        return view_as_real(input)
    if input._dtype.kind != "f":
        raise errors.not_implemented_for(function, input._dtype)
    return input


def _positive(function: str, name: str, value: float) -> None:
    if not value > 0:
        raise errors_random.bad_parameter(function, name, "above 0", value)


@op(function=False, forms=("uniform_(from=0.0, to=1.0, *, generator=None) -> Tensor",))
def uniform_(input: Tensor, *args: Any, generator: Any = None, **named: Any) -> Tensor:
    """Fill with numbers of equal probability from `from` up to, but without, `to`: those that the
    result's dtype holds exactly between 0 and 1 in equal steps, times the distance, plus `from`.

    RuntimeError where `to` is below `from`, or the dtype cannot hold a bound or their distance.
    """
    low, high = (
        _real("uniform_", name, v) for name, v in zip(("from", "to"), _bounds("uniform_", args, named, (0.0, 1.0)))
    )
    parts = _continuous(input, "uniform_")
    of = parts._dtype
    limits = finfo(of)
    for name, value in (("from", low), ("to", high)):
        if not limits.min <= value <= limits.max:
            raise errors_random.beyond_dtype("uniform_", name, value, of)
    if low > high:
        raise errors_random.empty_range("uniform_", low, high)
    if high - low > limits.max:
        raise errors_random.too_wide(low, high, of)
    drawn("uniform_", UNIFORM, (low, high - low, _last(low, high, of)), parts, generator)
    return input


def _last(low: float, high: float, of: dtype) -> float:
    """The largest (normal) number of the dtype below `high`, but none below `low`."""
    limits = finfo(of)
    fraction, exponent = math.frexp(high)
    exponent += round(math.log2(limits.eps)) - 1 - (fraction == 0.5)
    step = max(math.ldexp(1.0, exponent), limits.tiny) if high else limits.tiny
    below = math.floor(high / step) * step
    return max(low, below if below < high else high - step)


@op(function=False)
def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers of the normal distribution. Both parts of a complex number have half the
    variance. RuntimeError for a negative `std`.
    """
    centre, spread = number_argument("normal_", "mean", mean), _real("normal_", "std", std)
    if not spread >= 0:
        raise errors_random.bad_parameter("normal_", "std", "0 or more", spread)
    parts = _continuous(input, "normal_")
    if parts is input:
        return drawn("normal_", NORMAL, (float(centre), spread), input, generator)
    drawn("normal_", NORMAL, (0.0, spread * math.sqrt(0.5)), parts, generator)
    return input.add_(centre) if centre else input


@op(function=False)
def log_normal_(input: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    """Fill with exp(x) for x of the normal distribution of `mean` and `std`. RuntimeError unless
    `std` is above 0.
    """
    centre, spread = _real("log_normal_", "mean", mean), _real("log_normal_", "std", std)
    _positive("log_normal_", "std", spread)
    _continuous(input, "log_normal_")
    return drawn("log_normal_", LOG_NORMAL, (centre, spread), input, generator)


@op(function=False)
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers above 0 of the exponential distribution of rate `lambd` (its mean is
    1 / lambd). RuntimeError unless `lambd` is above 0, and for integers.
    """
    rate = _real("exponential_", "lambd", lambd)
    _floats(input, "exponential_")
    _positive("exponential_", "lambd", rate)
    least = finfo(input._dtype).tiny if rate < math.inf else 0.0
    return drawn("exponential_", EXPONENTIAL, (1 / rate, least), input, generator)


@op(function=False)
def cauchy_(input: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with numbers of Cauchy's distribution: half of them lie within `sigma` of `median`.
    RuntimeError unless `sigma` is above 0, and for integers.
    """
    centre, spread = _real("cauchy_", "median", median), _real("cauchy_", "sigma", sigma)
    _floats(input, "cauchy_")
    _positive("cauchy_", "sigma", spread)
    return drawn("cauchy_", CAUCHY, (centre, spread), input, generator)


def _floats(input: Tensor, function: str) -> None:
    layout(input, function)
    if input._dtype.kind != "f":
        raise errors_random.not_continuous(function, input._dtype)


@op(function=False)
def geometric_(input: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fill with how many tries it takes, 1 or more, until something of probability `p` happens.
    RuntimeError unless `p` is between 0 and 1.
    """
    chance = _real("geometric_", "p", p)
    if not 0 < chance < 1:
        raise errors_random.bad_parameter("geometric_", "p", "between 0 and 1", chance)
    layout(input, "geometric_")
    if input._dtype.kind not in "uif":
        raise errors.not_implemented_for("geometric_", input._dtype)
    return drawn("geometric_", GEOMETRIC, (-1 / math.log1p(-chance),), input, generator)


@op(
    function=False,
    forms=(
        "random_(*, generator=None) -> Tensor",
        "random_(to, *, generator=None) -> Tensor",
        "random_(from, to, *, generator=None) -> Tensor",
    ),
)
def random_(input: Tensor, *args: Any, generator: Any = None, **named: Any) -> Tensor:
    """Fill with integers of equal probability from `from` up to, but without, `to`. Without `from`
    they begin at 0, without `to` they go up to the largest of the dtype; of a floating-point dtype
    that is the largest up to which it holds each integer. RuntimeError for a range without
    numbers, or beyond the dtype.
    """
    if len(args) == 1 and "to" not in named and "from" not in named:
        args = (0, *args)
    low, high = _bounds("random_", args, named, (0, None))
    layout(input, "random_")
    if input._dtype.is_complex or (high is None and input._dtype.bare):
        raise errors.not_implemented_for("random_", input._dtype)
    first = as_int(low, "random_", "from")
    last = None if high is None else as_int(high, "random_", "to")
    return integers("random_", input, first, last, generator)


def integers(function: str, out: Tensor, low: int, high: int | None, generator: Any) -> Tensor:
    """Fill with integers from `low` up to, but without, `high`, or to the dtype's largest."""
    of = out._dtype
    if of.is_complex:
        raise errors_random.complex_integers(function, of)
    if of.kind == "b":
        least, most = 0, 1
    elif of.kind == "f":
        most = round(2 / finfo(of).eps)  # beyond it, not every integer is there
        least = -int(finfo(of).max)
    else:
        least, most = iinfo(of).min, iinfo(of).max
    top = most if high is None else high - 1
    if top < low:
        raise errors_random.empty_range(function, low, top + 1)
    limit = int(finfo(of).max) if of.kind == "f" else most
    for name, value in (("from", low), ("to - 1", top)):
        if not least <= value <= limit:
            raise errors_random.beyond_dtype(function, name, value, of)
    return drawn(function, INTEGERS, (low, (top - low + 1) % (1 << 64)), out, generator)


@op(function=False, forms=("bernoulli_(p=0.5, *, generator=None) -> Tensor",))
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fill with ones of probability `p`, a number or a tensor of one for each element, else zeros.

    RuntimeError for a number that is no probability. A tensor's are taken as they are: below 0
    always 0, above 1 always 1.
    """
    layout(input, "bernoulli_")
    if isinstance(p, Tensor):
        if p._dtype.kind != "f" or input._dtype.is_complex:
            raise errors.not_implemented_for("bernoulli_", p._dtype)
        shape = input._shape
        return drawn("bernoulli_", CHANCES, (), input, generator, (p.expand(shape),))
    return chance(input, probability("bernoulli_", p), generator)


def probability(function: str, p: Any) -> float:
    """A number from 0 to 1; RuntimeError for another one."""
    chosen = _real(function, "p", p)
    if not 0 <= chosen <= 1:
        raise errors_random.bad_parameter(function, "p", "from 0 to 1", chosen)
    return chosen


def chance(out: Tensor, p: float, generator: Any = None) -> Tensor:
    """Fill with ones of probability `p`, else zeros."""
    if out._dtype.is_complex:
        raise errors.not_implemented_for("bernoulli_", out._dtype)
    return drawn("bernoulli_", CHANCE, (p,), out, generator)
