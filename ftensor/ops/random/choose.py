"""Random choices: permutations, draws from given probabilities, counts of events."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import finfo, iinfo
from ...errors import creation as errors_creation
from ...errors import random as errors_random
from ...execute.by_numpy import by_numpy
from ...execute.copy import into
from ...execute.memory import new, new_like
from ...random import generator_for
from ...rows.catalogue import op
from ..compose import composed, f
from ..create.factory import Told, factory
from ..view.arguments import as_int, layout
from .draw import CHANCES, INTEGERS, drawn
from .fill import chance, exponential_, probability


@factory(method=False)
def randperm(told: Told, n: int, *, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """The integers below `n` in a random order, each of equal probability; int64 unless another
    dtype is given. RuntimeError for a dtype that cannot tell them apart.

    Random keys of 64 bits are drawn on the device and put in order on the host.
    """
    count = as_int(n, "randperm", "n")
    if count < 0:
        raise errors_creation.negative_dimension((count,))
    made = told.destination((count,), out, dtypes.int64)
    of = made._dtype
    if of.kind not in "uif":
        raise errors.not_implemented_for("randperm", of)
    most = round(2 / finfo(of).eps) + 1 if of.kind == "f" else iinfo(of).max + 1
    if count > most:
        raise errors_random.permutation_dtype(count, of)
    keys = new((count,), dtypes.int64, made._storage.device)
    drawn("randperm", INTEGERS, (0, 0), keys, generator)
    (order,) = by_numpy("randperm", lambda k: np.argsort(k, kind="stable"), (keys,))
    return made.copy_(order)


@op(
    forms=(
        "bernoulli(input, *, generator=None, out=None) -> Tensor",
        "bernoulli(input, p, *, generator=None) -> Tensor",
    ),
)
def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Any = None, out: Tensor | None = None
) -> Tensor:
    """Ones and zeros in `input`'s shape and dtype: ones of the probability that the element of
    `input` says, or, in all places, of the probability `p`.

    RuntimeError for a `p` that is no probability. An element below 0 counts as 0, one above 1 as 1.
    """
    layout(input, "bernoulli")
    if p is not None:
        return chance(f.empty_like(input), probability("bernoulli", p), generator)
    if input._dtype.kind != "f":
        raise errors.not_implemented_for("bernoulli", input._dtype)
    made = f.empty_like(input) if out is None else f.resize_(out, *input._shape)
    return drawn("bernoulli", CHANCES, (), made, generator, (input,))


@composed(exact=True)
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Indices of categories, drawn with the probabilities that a row of `input` holds (they need
    not sum to 1): `num_samples` for each row, as int64.

    One draw is the largest of the probabilities divided by exponential numbers. Several are drawn
    on the host, from random numbers of the device.

    RuntimeError for rows that are no probabilities, for an input of more than 2 dims, or of
    integers, and for more draws without `replacement` than there are categories.
    """
    layout(input, "multinomial")
    if input.ndim not in (1, 2):
        raise errors_random.weights_dims(input.ndim)
    if input._dtype.kind != "f":
        raise errors_random.weights_dtype(input._dtype)
    count = as_int(num_samples, "multinomial", "num_samples")
    if count <= 0 or (not replacement and count > input._shape[-1]):
        raise errors_random.sample_count(count, input._shape[-1])
    weights = input.float() if input._dtype.itemsize == 2 else input
    sums = weights.sum(-1)
    wrong = (weights < 0).any() | ~((sums > 0) & (sums < float("inf"))).all()
    if bool(wrong):
        raise errors_random.bad_weights()
    if count == 1 or not replacement:
        waits = exponential_(new_like(weights, weights._shape), generator=generator)
        race = weights / waits
        if count == 1:
            return race.argmax(-1, keepdim=True)
        (found,) = by_numpy("multinomial", _largest, (race,), count)
        return found
    where = (*input._shape[:-1], count)
    keys = new(where, dtypes.int64, input._storage.device)
    drawn("multinomial", INTEGERS, (0, 1 << 53), keys, generator)
    (found,) = by_numpy("multinomial", _first_beyond, (weights, keys))
    return found


def _largest(values: Any, count: int) -> Any:
    """The places of the largest values of each row, the largest first."""
    return np.ascontiguousarray(np.argsort(-values, axis=-1, kind="stable")[..., :count])


def _first_beyond(weights: Any, keys: Any) -> Any:
    """For each key of 53 bits the first place where the share of the row's sum is above it."""
    sums = np.cumsum(weights.astype(np.float64), axis=-1)
    found = np.empty(keys.shape, np.int64)
    for row in np.ndindex(keys.shape[:-1]):
        wanted = keys[row] * 2.0**-53 * sums[row][-1]
        last = np.flatnonzero(weights[row])[-1]
        found[row] = np.minimum(np.searchsorted(sums[row], wanted, side="right"), last)
    return found


def _numpys(function: str, generator: Any, input: Tensor) -> np.random.Generator:
    """NumPy's generator for one call: its own Philox, by the call's seed and number."""
    seed, call = generator_for(function, generator, input._storage.device)._call()
    bits = np.random.Philox(counter=[0, 0, call, 0], key=[seed, 0])
    return np.random.Generator(bits)


@op()
def poisson(input: Tensor, generator: Any = None, *, out: Tensor | None = None) -> Tensor:
    """How many events happen where `input` has their mean number: Poisson's distribution, in the
    input's dtype. NumPy computes it on the host.

    RuntimeError for a negative mean.
    """
    layout(input, "poisson")
    if input._dtype.kind != "f":
        raise errors.not_implemented_for("poisson", input._dtype)
    source = _numpys("poisson", generator, input)

    def count(means: Any) -> Any:
        if not ((means >= 0) & (means < 9.2e18)).all():
            raise errors_random.poisson_rate()
        return source.poisson(means.astype(np.float64))

    (made,) = by_numpy("poisson", count, (input,))
    return into("poisson", out, made.to(input._dtype))


@op(method=False)
def binomial(
    count: Tensor, prob: Tensor, generator: Any = None, *, out: Tensor | None = None
) -> Tensor:
    """How many of `count` tries succeed, each with probability `prob`, in the dtype of `count`;
    the two are broadcast together. NumPy computes it on the host.

    ValueError for tensors that are not floating-point. A negative count counts as 0, a probability
    below 0 as 0, one above 1 as 1.
    """
    for name, given in (("count", count), ("prob", prob)):
        layout(given, "binomial", name)
        if given._dtype.kind != "f":
            raise errors_random.binomial_dtype(name, given._dtype)
    source = _numpys("binomial", generator, count)

    def successes(tries: Any, chances: Any) -> Any:
        whole = np.maximum(tries.astype(np.float64), 0).astype(np.int64)
        return np.asarray(source.binomial(whole, np.clip(chances.astype(np.float64), 0, 1)))

    (made,) = by_numpy("binomial", successes, (count, prob))
    return into("binomial", out, made.to(count._dtype))
