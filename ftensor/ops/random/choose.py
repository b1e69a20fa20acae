"""Random choices: permutations, draws from given probabilities, counts of events."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes.limits import finfo, iinfo
from ...errors import creation as errors_creation
from ...execute.output import check_capacity, new, resize_out
from ...execute.pointwise import write_result
from ...execute.sort import shuffled
from ...iterator.shape import broadcast_shapes, numel
from ...rows.catalogue import op
from ..arguments import check_kind
from ..bind import composed
from ..create.factory import Options, factory
from ..create.sizes import empty_like
from ..order.sort import searchsorted
from ..view.layout import as_int, layout
from .fill import BELOW, BINOMIAL, CHANCES, INTEGERS, POISSON, chance, exponential_, fill_random, probability


@factory(method=False)
def randperm(options: Options, n: int, *, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Returns the integers below `n` in a random order, all orders with equal probability; int64
    unless another dtype is given. Raises RuntimeError for a dtype that can't represent all of them.

    Sorts random 64-bit keys.
    """
    count = as_int(n, "randperm", "n")
    if count < 0:
        raise errors_creation.negative_dimension((count,))
    result = options.destination((count,), out, dtypes.int64)
    element = result._dtype
    if element.kind not in "uif" or element.bare:
        raise errors.not_implemented_for("randperm", element)
    limit = round(2 / finfo(element).eps) + 1 if element.kind == "f" else iinfo(element).max + 1
    if count > limit:
        raise errors_creation.permutation_dtype(count, element)
    keys = new((count,), dtypes.int64, result._storage.device)
    fill_random("randperm", INTEGERS, (0, 0), keys, generator)
    order = shuffled(keys)
    if order is None:
        order = keys.argsort(stable=True)
    return order if out is None and element is dtypes.int64 else result.copy_(order)


@op(
    forms=(
        "bernoulli(input, *, generator=None, out=None) -> Tensor",
        "bernoulli(input, p, *, generator=None) -> Tensor",
    )
)
def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Returns ones and zeros in `input`'s shape and dtype: ones with the probability in each
    element of `input`, or with probability `p` everywhere.

    Raises RuntimeError for a `p` that is no probability. An element below 0 counts as 0, one above
    1 as 1.
    """
    layout(input, "bernoulli")
    if out is not None and not isinstance(out, Tensor):
        raise errors.not_a_tensor("bernoulli", "out", out)
    if p is not None:
        return chance(empty_like(input), probability("bernoulli", p), generator)
    check_kind("bernoulli", input._dtype, "f")
    target = empty_like(input) if out is None else resize_out(out, input._shape)
    return fill_random("bernoulli", CHANCES, (), target, generator, (input,))


@composed(exact=True)
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Returns int64 indices of categories, `num_samples` for each row, drawn with the probabilities
    in a row of `input`, which need not sum to 1.

    Without `replacement` it takes the categories with the largest probabilities divided by
    exponential numbers. With it, cumulative sums of the probabilities as integers (to 2**-37 of the
    largest, and exactly for few categories) are searched for random numbers below the total.

    Raises RuntimeError for rows that are no probabilities, for an input of more than 2 dims or of
    integers, and for more draws without `replacement` than there are categories.
    """
    layout(input, "multinomial")
    if input.ndim not in (1, 2):
        raise errors_creation.weights_dims(input.ndim)
    if input._dtype.kind != "f":
        raise errors_creation.weights_dtype(input._dtype)
    count = as_int(num_samples, "multinomial", "num_samples")
    if count <= 0 or (not replacement and count > input._shape[-1]):
        raise errors_creation.sample_count(count, input._shape[-1])
    check_capacity(input, max(input.numel(), numel(input._shape[:-1]) * count), dtypes.int64)
    weights = input.float() if input._dtype.itemsize == 2 else input
    largest = weights.amax(-1, keepdim=True)
    if bool((weights < 0).any() | ~((largest > 0) & (largest < float("inf"))).all()):
        raise errors_creation.bad_weights()
    relative = weights / largest
    if not replacement or count == 1:
        waits = exponential_(empty_like(relative), generator=generator)
        race = relative / waits
        if count == 1:
            return race.argmax(-1, keepdim=True)
        return race.topk(count)[1]
    # All sums are below 2**62, and so is the scaled probability of each category.
    free_bits = 61 - max(input._shape[-1] - 1, 0).bit_length()
    sums = (relative * 2.0**free_bits).long().cumsum(-1)
    totals = sums[..., -1:].expand(*input._shape[:-1], count)
    keys = fill_random("multinomial", BELOW, (), empty_like(totals), generator, (totals,))
    return searchsorted(sums, keys, right=True)


@op()
def poisson(input: Tensor, generator: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Returns numbers of Poisson's distribution whose means are the elements of `input`, in the
    input's dtype.

    Raises RuntimeError for a negative mean.
    """
    layout(input, "poisson")
    if input._dtype.kind != "f" or input._dtype.bare:
        raise errors.not_implemented_for("poisson", input._dtype)
    if not bool(((input >= 0) & (input < 9.2e18)).all()):
        raise errors_creation.poisson_rate()
    return write_result("poisson", out, fill_random("poisson", POISSON, (), empty_like(input), generator, (input,)))


@op(method=False)
def binomial(count: Tensor, prob: Tensor, generator: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Returns the number of successes in `count` tries, each with probability `prob`, in the dtype
    of both; the two tensors broadcast together.

    Raises ValueError for tensors that are not floating-point. A count is rounded down, and one
    below 0 counts as 0; a probability below 0 counts as 0, one above 1 as 1. NaN gives NaN.
    """
    for name, tensor in (("count", count), ("prob", prob)):
        layout(tensor, "binomial", name)
        if tensor._dtype.kind != "f" or tensor._dtype.bare:
            raise errors_creation.binomial_dtype(name, tensor._dtype)
    if prob._dtype is not count._dtype:
        raise errors_creation.binomial_dtypes(count._dtype, prob._dtype)
    shape = broadcast_shapes(count._shape, prob._shape)
    target = empty_like(count) if shape == count._shape else new(shape, count._dtype, count._storage.device)
    operands = (count.expand(shape), prob.expand(shape))
    return write_result("binomial", out, fill_random("binomial", BINOMIAL, (), target, generator, operands))
