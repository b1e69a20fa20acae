"""Random tensors, fresh or filled in place."""

from __future__ import annotations

import math
from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...dtypes.limits import finfo, iinfo
from ...errors import creation as errors_creation
from ...execute.capture import random_scalars
from ...execute.dispatch import recorder
from ...execute.output import new, resize_out
from ...execute.pointwise import pointwise
from ...formats import preserve_format
from ...iterator.shape import broadcast_shapes
from ...random import generator_for
from ...rows.catalogue import enter, op
from ...rows.copies import COPY
from ...rows.op import Op, Promote
from ..arguments import check_kind
from ..create.factory import Options, factory
from ..create.sizes import number_argument, sizes
from ..view.dims import view_as_real
from ..view.layout import as_int, int_list, layout

# The first params of each row: the seed and the call, in parts that float32 holds.
STREAM = ("seed0", "seed1", "seed2", "call0", "call1")
_STREAM = ", ".join(STREAM)
_WORD = f"ftr_word(FT_POSITION, {_STREAM})"
_FLOATING: tuple[str, ...] = ("float16", "bfloat16", "float32", "float64")


def _row(name: str, body: str, params: tuple[str, ...] = (), inputs: str = "", **more: Any) -> Op:
    fields: dict[str, Any] = {"promote": Promote.FLOATING, "only": _FLOATING} | more
    return Op(f"random_{name}", inputs, body, params=STREAM + params, **fields)


UNIFORM = _row("uniform", f"ft_min(low + span * ftr_uniform({_WORD}), last)", ("low", "span", "last"))
NORMAL = _row("normal", f"ftr_normal({_WORD}) * std + mean", ("mean", "std"))
LOG_NORMAL = _row("log_normal", f"ftr_exp(ftr_normal({_WORD}) * std + mean)", ("mean", "std"))
EXPONENTIAL = _row("exponential", f"ft_max(ftr_exponential({_WORD}) * scale, least)", ("scale", "least"))
CAUCHY = _row("cauchy", f"ftr_cauchy({_WORD}) * sigma + median", ("median", "sigma"))
GEOMETRIC = _row(
    "geometric",
    f"ft_max(ceil(ftr_exponential({_WORD}) * scale), K(1))",
    ("scale",),
    only=("uint8", "int8", "int16", "int32", "int64", *_FLOATING),
)
INTEGERS = _row(
    "integers",
    f"low + ftr_below(range, FT_POSITION, {_STREAM})",
    ("low", "range"),
    promote=Promote.COUNT,
    any_out=True,
    only=("b", "u", "i", "f"),
)
# Rows with an input: integers below each element, ones of these probabilities, dropout.
BELOW = _row("below", f"ftr_below(a, FT_POSITION, {_STREAM})", (), "a", promote=Promote.COUNT, only=("int64",))
CHANCE = _row("chance", f"ftr_happens({_WORD}, p) ? K(1) : K(0)", ("p",), only=("b", "u", "i", "f"))
CHANCES = _row("chances", f"ftr_happens({_WORD}, a) ? K(1) : K(0)", (), "a", any_out=True)
DROPOUT = _row("dropout", f"a * (ftr_happens({_WORD}, keep) ? gain : K(0))", ("keep", "gain"), "a")
ALPHA_DROPOUT = _row(
    "alpha_dropout",
    "a * (size <= keep ? gain : K(0)) + (size <= keep ? up : down)",
    ("keep", "gain", "up", "down"),
    "a",
    lets=(("size", f"ftr_open({_WORD})"),),
)
POISSON = _row("poisson", f"ftr_count_poisson(a, FT_POSITION, {_STREAM})", (), "a")
BINOMIAL = _row("binomial", f"ftr_count_binomial(a, b, FT_POSITION, {_STREAM})", (), "a, b")
RRELU = _row("rrelu", f"a <= K(0) ? a * (low + span * ftr_uniform({_WORD})) : a", ("low", "span"), "a")
enter(
    __name__, UNIFORM, NORMAL, LOG_NORMAL, EXPONENTIAL, CAUCHY, GEOMETRIC, INTEGERS, BELOW, CHANCE,
    CHANCES, DROPOUT, ALPHA_DROPOUT, POISSON, BINOMIAL, RRELU,
)  # fmt: skip


def words(seed: int, call: int) -> tuple[int, ...]:
    return seed & 0x3FFFFF, seed >> 22 & 0x1FFFFF, seed >> 43, call & 0xFFFFFF, call >> 24


def fill_random(
    function: str, row: Op, values: tuple[Any, ...], out: Tensor, generator: Any, inputs: tuple[Tensor, ...] = ()
) -> Tensor:
    """Fills `out` with random numbers by a row: the element at row-major position p gets the p-th
    numbers of the call, whatever the layout of `out`. `inputs` have its shape.

    Raises TypeError for an invalid generator, RuntimeError for a generator of another device.
    """
    device = out._storage.device
    source = generator_for(function, generator, device)
    trace = recorder(out._storage.backend)
    stream = random_scalars(out._storage.backend, source, words) if trace is None else trace.record_draw(source, words)
    is_direct = out.is_contiguous() and not out.storage_offset()
    target = out if is_direct else new(out._shape, out._dtype, device)
    pointwise(row, tuple([x.contiguous() for x in inputs]), stream + values, target, True)
    return out if is_direct else pointwise(COPY, (target,), (), out, True)


def _bounds(
    function: str, args: tuple[Any, ...], keywords: dict[str, Any], defaults: tuple[Any, Any]
) -> tuple[Any, Any]:
    """Returns `from` and `to`, given by position or by name (`from` can't be a Python
    parameter)."""
    bounds = dict(zip(("from", "to"), args))
    if len(args) > 2:
        raise errors_creation.surplus_arguments(function, 2, len(args))
    for name, value in keywords.items():
        if name not in ("from", "to"):
            raise errors_creation.unknown_argument(function, name)
        if name in bounds:
            raise errors_creation.given_twice(function, name)
        bounds[name] = value
    return bounds.get("from", defaults[0]), bounds.get("to", defaults[1])


def _real(function: str, name: str, value: Any) -> float:
    return float(number_argument(function, name, value))


def _continuous(input: Tensor, function: str) -> Tensor:
    """Returns a floating-point tensor itself, a complex one as a view of its parts."""
    layout(input, function)
    if input._dtype.is_complex and function in ("uniform_", "normal_"):
        return view_as_real(input)
    check_kind(function, input._dtype, "f")
    return input


def _positive(function: str, name: str, value: float) -> None:
    if not value > 0:
        raise errors_creation.bad_parameter(function, name, "above 0", value)


@op(function=False, forms=("uniform_(from=0.0, to=1.0, *, generator=None) -> Tensor",))
def uniform_(input: Tensor, *args: Any, generator: Any = None, **named: Any) -> Tensor:
    """Fills the tensor with uniform numbers in [from, to): equally spaced numbers in [0, 1) that
    the result's dtype holds exactly, times (to - from), plus `from`.

    Raises RuntimeError if `to` is below `from`, or the dtype can't hold a bound or their distance.
    """
    low, high = (
        _real("uniform_", name, v) for name, v in zip(("from", "to"), _bounds("uniform_", args, named, (0.0, 1.0)))
    )
    components = _continuous(input, "uniform_")
    element = components._dtype
    limits = finfo(element)
    for name, value in (("from", low), ("to", high)):
        if not limits.min <= value <= limits.max:
            raise errors_creation.beyond_dtype("uniform_", name, value, element)
    if low > high:
        raise errors_creation.empty_range("uniform_", low, high)
    if high - low > limits.max:
        raise errors_creation.too_wide(low, high, element)
    fill_random("uniform_", UNIFORM, (low, high - low, _largest_below(low, high, element)), components, generator)
    return input


def _largest_below(low: float, high: float, element: dtype) -> float:
    """Returns the largest normal number of the dtype below `high`, but at least `low`."""
    limits = finfo(element)
    fraction, exponent = math.frexp(high)
    exponent += round(math.log2(limits.eps)) - 1 - (fraction == 0.5)
    step = max(math.ldexp(1.0, exponent), limits.tiny) if high else limits.tiny
    candidate = math.floor(high / step) * step
    return max(low, candidate if candidate < high else high - step)


@op(function=False)
def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fills the tensor with numbers of the normal distribution. Both parts of a complex number have
    half the variance. Raises RuntimeError for a negative `std`."""
    centre, deviation = number_argument("normal_", "mean", mean), _real("normal_", "std", std)
    if not deviation >= 0:
        raise errors_creation.bad_parameter("normal_", "std", "0 or more", deviation)
    components = _continuous(input, "normal_")
    if components is input:
        return fill_random("normal_", NORMAL, (float(centre), deviation), input, generator)
    fill_random("normal_", NORMAL, (0.0, deviation * math.sqrt(0.5)), components, generator)
    return input.add_(centre) if centre else input


@op(function=False)
def log_normal_(input: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    """Fills the tensor with exp(x) for x of the normal distribution of `mean` and `std`. Raises
    RuntimeError unless `std` is above 0."""
    centre, deviation = _real("log_normal_", "mean", mean), _real("log_normal_", "std", std)
    _positive("log_normal_", "std", deviation)
    _continuous(input, "log_normal_")
    return fill_random("log_normal_", LOG_NORMAL, (centre, deviation), input, generator)


@op(function=False)
def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fills the tensor with numbers above 0 of the exponential distribution of rate `lambd` (its
    mean is 1 / lambd). Raises RuntimeError unless `lambd` is above 0, and for integers."""
    rate = _real("exponential_", "lambd", lambd)
    _floats(input, "exponential_")
    _positive("exponential_", "lambd", rate)
    smallest = finfo(input._dtype).tiny if rate < math.inf else 0.0
    return fill_random("exponential_", EXPONENTIAL, (1 / rate, smallest), input, generator)


@op(function=False)
def cauchy_(input: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fills the tensor with numbers of Cauchy's distribution: half of them are within `sigma` of
    `median`. Raises RuntimeError unless `sigma` is above 0, and for integers."""
    centre, width = _real("cauchy_", "median", median), _real("cauchy_", "sigma", sigma)
    _floats(input, "cauchy_")
    _positive("cauchy_", "sigma", width)
    return fill_random("cauchy_", CAUCHY, (centre, width), input, generator)


def _floats(input: Tensor, function: str) -> None:
    layout(input, function)
    if input._dtype.kind != "f":
        raise errors_creation.not_continuous(function, input._dtype)


@op(function=False)
def geometric_(input: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Fills the tensor with the number of tries, 1 or more, up to the first success of probability
    `p`. Raises RuntimeError unless `p` is between 0 and 1."""
    chance = _real("geometric_", "p", p)
    if not 0 < chance < 1:
        raise errors_creation.bad_parameter("geometric_", "p", "between 0 and 1", chance)
    layout(input, "geometric_")
    check_kind("geometric_", input._dtype, "uif")
    return fill_random("geometric_", GEOMETRIC, (-1 / math.log1p(-chance),), input, generator)


@op(
    function=False,
    forms=(
        "random_(*, generator=None) -> Tensor",
        "random_(to, *, generator=None) -> Tensor",
        "random_(from, to, *, generator=None) -> Tensor",
    ),
)
def random_(input: Tensor, *args: Any, generator: Any = None, **named: Any) -> Tensor:
    """Fills the tensor with uniform integers in [from, to). `from` defaults to 0, `to` to one above
    the largest integer of the dtype; for a floating-point dtype that is the largest integer up to
    which it holds all integers. Raises RuntimeError for an empty range or one beyond the dtype."""
    if len(args) == 1 and "to" not in named and "from" not in named:
        args = (0, *args)
    low, high = _bounds("random_", args, named, (0, None))
    layout(input, "random_")
    if input._dtype.is_complex or (high is None and input._dtype.bare):
        raise errors.not_implemented_for("random_", input._dtype)
    first = as_int(low, "random_", "from")
    last = None if high is None else as_int(high, "random_", "to")
    return fill_integers("random_", input, first, last, generator)


def fill_integers(function: str, out: Tensor, low: int, high: int | None, generator: Any) -> Tensor:
    """Fills `out` with uniform integers in [low, high); with `high` None up to the dtype's
    largest.
    """
    element = out._dtype
    if element.is_complex:
        raise errors_creation.complex_integers(function, element)
    if element.kind == "b":
        lowest, highest = 0, 1
    elif element.kind == "f":
        highest = round(2 / finfo(element).eps)  # beyond it the dtype lacks some integers
        lowest = -int(finfo(element).max)
    else:
        lowest, highest = iinfo(element).min, iinfo(element).max
    top = highest if high is None else high - 1
    if top < low:
        raise errors_creation.empty_range(function, low, top + 1)
    limit = int(finfo(element).max) if element.kind == "f" else highest
    for name, value in (("from", low), ("to - 1", top)):
        if not lowest <= value <= limit:
            raise errors_creation.beyond_dtype(function, name, value, element)
    return fill_random(function, INTEGERS, (low, (top - low + 1) % (1 << 64)), out, generator)


@op(function=False, forms=("bernoulli_(p=0.5, *, generator=None) -> Tensor",))
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Fills the tensor with ones of probability `p`, a number or a tensor with one for each
    element, else zeros.

    Raises RuntimeError for a number that is no probability. Elements of a tensor are not checked:
    below 0 always gives 0, above 1 always 1.
    """
    layout(input, "bernoulli_")
    if isinstance(p, Tensor):
        if p._dtype.kind != "f" or input._dtype.is_complex:
            raise errors.not_implemented_for("bernoulli_", p._dtype)
        shape = input._shape
        return fill_random("bernoulli_", CHANCES, (), input, generator, (p.expand(shape),))
    return chance(input, probability("bernoulli_", p), generator)


def probability(function: str, p: Any) -> float:
    value = _real(function, "p", p)
    if not 0 <= value <= 1:
        raise errors_creation.bad_parameter(function, "p", "from 0 to 1", value)
    return value


def chance(out: Tensor, p: float, generator: Any = None) -> Tensor:
    check_kind("bernoulli_", out._dtype, "buif")
    return fill_random("bernoulli_", CHANCE, (p,), out, generator)


@factory(method=False, ways=("*size",))
def rand(options: Options, *args: Any, size: Any = None, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Returns uniform random numbers in [0, 1)."""
    target = options.destination(sizes("rand", args, size), out)
    return uniform_(target, generator=generator)


@factory(method=False, ways=("*size",))
def randn(options: Options, *args: Any, size: Any = None, generator: Any = None, out: Tensor | None = None) -> Tensor:
    """Returns numbers of the normal distribution of mean 0 and variance 1."""
    target = options.destination(sizes("randn", args, size), out)
    return normal_(target, generator=generator)


def _low_and_high(function: str, args: tuple[Any, ...], low: Any, high: Any) -> tuple[int, int]:
    """Returns (low, high) of integers; a single positional bound is the upper one."""
    keywords = {k: v for k, v in (("low", low), ("high", high)) if v is not None}
    names = ("low", "high") if len(args) + len(keywords) > 1 else ("high",)
    if len(args) > len(names):
        raise errors_creation.surplus_arguments(function, 3, len(args) + 1)
    free = [name for name in names if name not in keywords]
    if len(args) != len(free):
        raise errors.missing_argument(function, "high")
    bounds = dict(zip(free, args)) | keywords
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
    """Returns uniform integers in [low, high); `low` defaults to 0, the dtype to int64. Raises
    RuntimeError for an empty range or one beyond the dtype."""
    if size is None:
        if not args:
            raise errors.missing_argument("randint", "size")
        *bounds, size = args
        args = tuple(bounds)
    first, last = _low_and_high("randint", args, low, high)
    shape = sizes("randint", (int_list(size, "randint", "size"),))
    target = options.destination(shape, out, dtypes.int64)
    return fill_integers("randint", target, first, last, generator)


@factory(method=False)
def rand_like(
    options: Options, input: Tensor, *, generator: Any = None, memory_format: Any = preserve_format
) -> Tensor:
    """Like `rand`, in `input`'s shape, dtype, device and memory order."""
    return uniform_(options.like(input, memory_format), generator=generator)


@factory(method=False)
def randn_like(
    options: Options, input: Tensor, *, generator: Any = None, memory_format: Any = preserve_format
) -> Tensor:
    """Like `randn`, in `input`'s shape, dtype, device and memory order."""
    return normal_(options.like(input, memory_format), generator=generator)


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
    """Like `randint`, in `input`'s shape, dtype, device and memory order."""
    first, last = _low_and_high("randint_like", args, low, high)
    target = options.like(input, memory_format)
    return fill_integers("randint_like", target, first, last, generator)


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
    """Returns numbers of the normal distribution. Mean and standard deviation are two numbers (then
    `size` is the shape), or a number or tensor each; tensors broadcast together, and the result has
    the dtype of `mean`, or of `std` if `mean` is a number.

    Raises RuntimeError for a negative `std`.
    """
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if size is None:
            raise errors.missing_argument("normal", "size")
        target = Options("normal", **options).destination(sizes("normal", (int_list(size, "normal", "size"),)), out)
        return normal_(target, mean, std, generator=generator)
    return _normal_of(mean, std, out, generator)


def _normal_of(mean: Any, std: Any, out: Tensor | None, generator: Any) -> Tensor:
    """Returns normal numbers whose mean, deviation or both differ from element to element."""
    like = mean if isinstance(mean, Tensor) else std
    shape = like._shape
    if isinstance(std, Tensor):
        if std._dtype.is_complex:
            raise errors_creation.complex_std()
        if isinstance(mean, Tensor):
            shape = broadcast_shapes(mean._shape, shape if mean is std else std._shape)
        if std.numel() and bool((std < 0).any()):
            raise errors_creation.negative_std()
    target = new(shape, like._dtype, like._storage.device) if out is None else resize_out(out, shape)
    if not isinstance(std, Tensor):
        return normal_(target, 0.0, std, generator=generator).add_(mean)
    return normal_(target, generator=generator).mul_(std).add_(mean)
