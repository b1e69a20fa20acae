"""Fresh tensors of random numbers."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import creation as errors_creation
from ...errors import random as errors_random
from ...execute.memory import layout_strides, new
from ...execute.output import sized
from ...formats import preserve_format
from ...iterator.shape import broadcast_shapes
from ...rows.catalogue import op
from ..create.arguments import sizes
from ..create.factory import Options, factory
from ..view.arguments import as_int, int_list
from .fill import integers, normal_, uniform_


@factory(method=False, ways=("*size",))
def rand(options: Options, *args: Any, size: Any = None, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Numbers of equal probability from 0 up to, but without, 1."""
    target = options.destination(sizes("rand", args, size), out)
    return uniform_(target, generator=generator)


@factory(method=False, ways=("*size",))
def randn(options: Options, *args: Any, size: Any = None, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Numbers of the normal distribution of mean 0 and variance 1."""
    target = options.destination(sizes("randn", args, size), out)
    return normal_(target, generator=generator)


def _low_and_high(function: str, args: tuple[Any, ...], low: Any, high: Any) -> tuple[int, int]:
    """Bounds of integers, of which the upper one alone may be given."""
    named = {k: v for k, v in (("low", low), ("high", high)) if v is not None}
    names = ("low", "high") if len(args) + len(named) > 1 else ("high",)
    if len(args) > len(names):
        raise errors_creation.surplus_arguments(function, 3, len(args) + 1)
    free = [name for name in names if name not in named]
    if len(args) != len(free):
        raise errors.missing_argument(function, "high")
    bounds = dict(zip(free, args)) | named
    first, last = bounds.get("low", 0), bounds["high"]
    return tuple(_bound(function, n, v) for n, v in (("low", first), ("high", last)))  # type: ignore[return-value]


def _bound(function: str, name: str, value: Any) -> int:
    if isinstance(value, Tensor) and not value._shape:
        value = value.item()
    return as_int(value, function, name)


@factory(method=False, ways=("high, size", "low, high, size"))
def randint(
    options: Options,
    *args: Any,
    low: Any = None,
    high: Any = None,
    size: Any = None,
    generator: Any = None,
    out: Tensor | None = None,
) -> Tensor:
    """Integers of equal probability from `low`, or 0, up to, but without, `high`; int64 unless
    another dtype is given. RuntimeError for a range without numbers, or beyond the dtype.
    """
    if size is None:
        if not args:
            raise errors.missing_argument("randint", "size")
        *rest, size = args
        args = tuple(rest)
    first, last = _low_and_high("randint", args, low, high)
    shape = sizes("randint", (int_list(size, "randint", "size"),))
    target = options.destination(shape, out, dtypes.int64)
    return integers("randint", target, first, last, generator)


def _like(options: Options, input: Tensor, memory_format: Any) -> Tensor:
    return options.new(input._shape, layout_strides(input, memory_format))


@factory(method=False)
def rand_like(
    options: Options, input: Tensor, *, generator: Any = None, memory_format: Any = preserve_format
) -> Tensor:
    """`rand` in `input`'s shape, dtype, device and memory order."""
    return uniform_(_like(options, input, memory_format), generator=generator)


@factory(method=False)
def randn_like(
    options: Options, input: Tensor, *, generator: Any = None, memory_format: Any = preserve_format
) -> Tensor:
    """`randn` in `input`'s shape, dtype, device and memory order."""
    return normal_(_like(options, input, memory_format), generator=generator)


@factory(method=False, ways=("input, high", "input, low, high"))
def randint_like(
    options: Options,
    input: Tensor,
    *args: Any,
    low: Any = None,
    high: Any = None,
    generator: Any = None,
    memory_format: Any = preserve_format,
) -> Tensor:
    """`randint` in `input`'s shape, dtype, device and memory order."""
    first, last = _low_and_high("randint_like", args, low, high)
    target = _like(options, input, memory_format)
    return integers("randint_like", target, first, last, generator)


@op(
    method=False,
    forms=(
        "normal(mean, std=1.0, *, generator=None, out=None) -> Tensor",
        "normal(mean, std, size, *, generator=None, out=None, dtype=None, layout=None, "
        "device=None, pin_memory=False, requires_grad=False) -> Tensor",
    ),
)
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, out: Tensor | None = None, **options: Any
) -> Tensor:
    """Numbers of the normal distribution, whose mean and standard deviation are two numbers
    (then `size` is the shape), or a number or tensor for each element; these are broadcast
    together, and the result has the dtype of `mean`, or `std`'s where that is a number.

    RuntimeError for a negative `std`.
    """
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if size is None:
            raise errors.missing_argument("normal", "size")
        target = Options("normal", **options).destination(sizes("normal", (int_list(size, "normal", "size"),)), out)
        return normal_(target, mean, std, generator=generator)
    return _normal_of(mean, std, out, generator)


def _normal_of(mean: Any, std: Any, out: Tensor | None, generator: Any) -> Tensor:
    """Numbers with a mean, a deviation or both of each element's own."""
    like = mean if isinstance(mean, Tensor) else std
    shape = like._shape
    if isinstance(std, Tensor):
        if std._dtype.is_complex:
            raise errors_random.complex_std()
        if isinstance(mean, Tensor):
            shape = broadcast_shapes(mean._shape, shape if mean is std else std._shape)
        if std.numel() and bool((std < 0).any()):
            raise errors_random.negative_std()
    target = new(shape, like._dtype, like._storage.device) if out is None else sized(out, shape)
    if not isinstance(std, Tensor):
        return normal_(target, 0.0, std, generator=generator).add_(mean)
    return normal_(target, generator=generator).mul_(std).add_(mean)
