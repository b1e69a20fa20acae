"""Pooling: maxima, means and p-norms of the windows of one, two or three last dims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from .... import errors
from ...._tensor import Tensor
from ....dtypes import dtype, int64
from ....dtypes.limits import iinfo
from ....errors import spatial as errors_spatial
from ....execute.board_pool import pooled
from ....execute.choices import built_ahead
from ....execute.index_check import know_bounds
from ....execute.max_pool import max_pool as max_of_windows
from ....execute.memory import new
from ....execute.pointwise import pointwise
from ....execute.reduce import fold
from ....graph.fused import fused
from ....iterator.shape import numel
from ....iterator.stride import is_contiguous
from ....rows.catalogue import Entry, enter, op, register
from ....rows.op import Op
from ....rows.spelling import written
from ...compose import composed
from ...create.data import tensor
from ...create.ranges import arange
from ...pointwise.ternary import where
from ...reduce.arg import MAX
from ...reduce.fold import AMAX, SUM
from ..layers.activation import SPACE, relu
from .pool_windows import SMALL, Pool, pool_of
from .windows import each, laid_out


def _largest(size: int) -> Op:
    """The largest of so many inputs."""
    names = "abcd"[:size]
    body = names[0]
    for name in names[1:]:
        body = f"ft_max({body}, {name})"
    inputs = ", ".join(f"x{k}" for k in range(size))
    return Op(f"max_of_{size}", f"max_of_{size}({inputs}, *, out=None) -> Tensor", body, float_only=True, bool_="")


@fused
def _placed(views: Sequence[Tensor], firsts: Tensor, places: Sequence[int]) -> tuple[Tensor, Tensor]:
    """(the largest of inputs, where it lies: the place of the first one, and what the chosen one
    lies beyond it); of several NaNs the last one, as in torch."""
    best: Tensor = views[0]
    at: Any = places[0]
    for view, place in zip(views[1:], places[1:]):
        wins = (view > best).logical_or_(view != view)
        best, at = where(wins, view, best), where(wins, place, at)
    return best.contiguous(), firsts + at


LARGEST = {size: _largest(size) for size in SMALL}
enter(__name__, *LARGEST.values())


def lowest(of: dtype) -> float | int:
    """What no maximum takes from a window that has elements."""
    return iinfo(of).min if of.kind in "ui" else float("-inf")


def maxima(seen: Tensor, n: int) -> Tensor:
    """The largest of each window, whose elements are the last n dims."""
    if not numel(seen._shape):
        return new(seen._shape[:-n], seen._dtype, seen._storage.device)
    of, dims = seen._dtype, tuple(range(seen.ndim - n, seen.ndim))
    return fold(AMAX, (seen,), dims, False, of.compute, (of,))[0]


def located(seen: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """(the largest of each window, its place in the window's elements in row-major order)."""
    if not numel(seen._shape):
        shape, where = seen._shape[:-n], seen._storage.device
        return new(shape, seen._dtype, where), new(shape, int64, where)
    of, dims = seen._dtype, tuple(range(seen.ndim - n, seen.ndim))
    values, places = fold(MAX, (seen,), dims, False, of.compute, (of, int64))
    return values, places


def _places(pool: Pool, offsets: Tensor) -> Tensor:
    """Places in windows as positions in the input's spatial dims, flattened."""
    n, flat = pool.n, None
    for d in range(n):
        step = numel(pool.kernel[d + 1 :])
        inside = offsets.floor_divide(step) if step > 1 else offsets
        if d:
            inside = inside.remainder(pool.kernel[d])
        starts = arange(pool.counts[d], device=offsets.device) * pool.stride[d] - pool.padding[d]
        at = inside * pool.dilation[d] + starts.reshape(-1, *(1,) * (n - 1 - d))
        if pool.padding[d]:  # a window of nothing above -inf: the first element that is there
            at = where(at < 0, at.remainder(pool.dilation[d]), at)
        flat = at if flat is None else flat * pool.sizes[d] + at
    assert flat is not None
    return flat


def _max_pool(
    name: str,
    n: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Tensor | tuple[Tensor, Tensor]:
    pool = pool_of(name, n, input, kernel_size, stride, padding, dilation, ceil_mode)
    if input._dtype.kind in "bc" or (n == 1 and input._dtype.kind != "f"):
        raise errors.not_implemented_for(name, input._dtype)
    if pool.small(input):
        if pool.beside is not None and is_contiguous(input._shape, input._strides):
            values, indices = max_of_windows(input, pool.beside, pool.shape)
            know_bounds(indices, 0, numel(pool.sizes) - 1)
            return (values, indices) if return_indices else values
        views, places = pool.elements(input)
        if not return_indices:
            values = new(views[0]._shape, input._dtype, input._storage.device)
            return laid_out(pointwise(LARGEST[len(views)], views, (), values), input)
        values, indices = _placed(views, pool.firsts(input), places)
        know_bounds(indices, 0, numel(pool.sizes) - 1)
        return laid_out(values, input, n), laid_out(indices, input, n)
    if pool.banded is not None:
        results = pooled(input, pool.banded, pool.shape, return_indices)
        if results is not None:
            if return_indices:
                know_bounds(results[1], 0, numel(pool.sizes) - 1)
            return (results[0], results[1]) if return_indices else results[0]
    if pool.few(input) and not return_indices:  # an image may have a kernel for it
        views, _ = pool.elements(input)
        if built_ahead(LARGEST[len(views)], input, len(views)):
            values = new(views[0]._shape, input._dtype, input._storage.device)
            return laid_out(pointwise(LARGEST[len(views)], views, (), values), input)
    seen = pool.windows(input, lowest(input._dtype))
    if not return_indices:
        return laid_out(maxima(seen, n), input)
    values, indices = located(seen, n)
    return laid_out(values, input, n), laid_out(_places(pool, indices), input, n)


def _counted(pool: Pool, padded_too: bool, device: Any, of: dtype) -> Any:
    """How many elements each window has: a number where all have as many, else a tensor."""
    lists = []
    for m, k, s, p, count in zip(pool.sizes, pool.kernel, pool.stride, pool.padding, pool.counts):
        begins = [j * s - p for j in range(count)]
        ends = [min(b + k, m + p) for b in begins]
        if not padded_too:
            begins, ends = [max(b, 0) for b in begins], [min(e, m) for e in ends]
        lists.append([e - b for b, e in zip(begins, ends)])
    if all(len(set(one)) == 1 for one in lists):
        return numel(tuple(one[0] for one in lists))
    counts = None
    for one in lists:
        each_ = tensor(one, dtype=of, device=device)
        counts = each_ if counts is None else counts.unsqueeze(-1) * each_
    return counts


def _avg_pool(
    name: str,
    n: int,
    input: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any = None,
) -> Tensor:
    pool = pool_of(name, n, input, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override == 0:
        raise errors_spatial.divisor(name)
    of = input._dtype
    if of.kind != "f" and of is not int64:
        raise errors.not_implemented_for(name, of)
    if not numel(input._shape):
        return new((*input._shape[:-n], *pool.counts), of, input._storage.device)
    if pool.banded is not None and of.kind == "f" and type(divisor_override) in (int, type(None)):
        options = divisor_override or 0, bool(count_include_pad)
        one = pooled(input, pool.banded, pool.shape, False, True, *options)
        if one is not None:
            return one[0]
    total = summed(pool.windows(input, 0), n)
    if divisor_override is None:
        divisor_override = _counted(pool, count_include_pad, input.device, total._dtype)
    mean = total.div(divisor_override, rounding_mode=None if of.kind == "f" else "trunc")
    return mean.to(of).contiguous() if n == 3 else laid_out(mean.to(of), input, n)


def summed(seen: Tensor, n: int) -> Tensor:
    """The sum of each window, in the dtype that is computed in."""
    compute, dims = seen._dtype.compute, tuple(range(seen.ndim - n, seen.ndim))
    return fold(SUM, (seen,), dims, False, compute, (compute,))[0]


def _lp_pool(
    name: str, n: int, input: Tensor, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Tensor:
    kernel = each(name, "kernel_size", kernel_size, n)
    if norm_type in (inf, -inf):
        sign = 1 if norm_type > 0 else -1
        largest = _max_pool(f"max_pool{n}d", n, input.abs() * sign, kernel, stride, 0, 1, ceil_mode, False)
        assert isinstance(largest, Tensor)
        return largest * sign
    powers = input.pow(norm_type)
    means = _avg_pool(name, n, powers, kernel, stride, 0, ceil_mode, True, None)
    return (means.sign() * relu(means.abs())).mul(numel(kernel)).pow(1.0 / norm_type)


EITHER, PAIR = "Tensor | tuple[Tensor, Tensor]", "tuple[Tensor, Tensor]"
Enter = Callable[[Callable[..., Any]], Callable[..., Any]]
_ENTER = op(namespace=SPACE)


def pooling(
    run: Callable[..., Any],
    n: int,
    name: str,
    parameters: str,
    doc: str,
    returns: str = "Tensor",
    enter: Enter = _ENTER,
) -> Callable[..., Any]:
    """Enter `run(name, n, input, *parameters)`, which pools n dims, under the name.

    A function that returns a pair asks for it by `return_indices`, whatever is given as that.
    """
    words = [word.partition(":")[0] for word in parameters.split(", ")]
    arguments = ["True" if returns == PAIR and word == "return_indices" else word for word in words]
    body = f"return run(BASE, N, input, {', '.join(arguments)})"
    scope: dict[str, Any] = {"BASE": name.removesuffix("_with_indices"), "N": n, "run": run}
    parameters = f"input: Tensor, {parameters}"
    return enter(written(name, parameters, body, doc, returns, __name__=__name__, **scope))


_SIZES = "kernel_size: Any, stride: Any = None"
_MAX = f"{_SIZES}, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False"
_MEAN = f"{_SIZES}, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True"

for _n, _dims in enumerate(("L", "H, W", "D, H, W"), 1):
    _input = f"(N, C, {_dims}) or (C, {_dims})"
    _about = f"""The largest element of each window of an input {_input}; a NaN is the largest.
Windows lie `stride` apart (`kernel_size` where it is not given), their elements `dilation`; at most
half of one is `padding`, which no maximum takes. `ceil_mode` also takes a last window that ends
beyond the input. """
    _end = f"in the last {_n} dims, flattened. RuntimeError for sizes that make no windows.\n"
    _function = pooling(
        _max_pool, _n, f"max_pool{_n}d", _MAX, f"{_about}With `return_indices` also their positions\n{_end}", EITHER
    )
    register(Entry(f"max_pool{_n}d", _function, method=False))
    _function = pooling(
        _max_pool, _n, f"max_pool{_n}d_with_indices", _MAX, f"{_about}A pair: they, and their\npositions {_end}", PAIR
    )
    if _n == 1:
        register(Entry("max_pool1d_with_indices", _function, method=False))
    pooling(
        _lp_pool,
        _n,
        f"lp_pool{_n}d",
        f"norm_type: float, {_SIZES}, ceil_mode: bool = False",
        f"""The p-norm, p being `norm_type`, of each window of an input
{_input}. Windows lie `stride` apart (`kernel_size` where it is not given). RuntimeError for sizes
that make no windows.
""",
    )

_function = pooling(
    _avg_pool,
    1,
    "avg_pool1d",
    _MEAN,
    """
The mean of each window of an input (N, C, L) or (C, L). Windows lie `stride` apart
(`kernel_size` where it is not given); the zeros of `padding` count unless
`count_include_pad=False`. RuntimeError for sizes that make no windows.
""",
    enter=op(method=False),
)
register(Entry("avg_pool1d", _function, method=False, namespace=SPACE))

for _n, _dims in ((2, "H, W"), (3, "D, H, W")):  # to which torch gives an `out`
    pooling(
        _avg_pool,
        _n,
        f"avg_pool{_n}d",
        f"{_MEAN}, divisor_override: Any = None",
        f"""The mean of each window of an input (N, C, {_dims}) or
(C, {_dims}). Windows lie `stride` apart (`kernel_size` where it is not given); the zeros of
`padding` count unless `count_include_pad=False`; `divisor_override` divides the sums in place of
the number of elements. RuntimeError for sizes that make no windows.
""",
        enter=composed(namespace=SPACE, exact=True),
    )
