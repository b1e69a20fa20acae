"""Pooling: maxima, means and p-norms of windows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from .... import errors
from ...._tensor import Tensor
from ....dtypes import dtype, int64
from ....dtypes.limits import iinfo
from ....errors import nn as errors_spatial
from ....execute.device_traits import has_built_kernel, specializes
from ....execute.indexed import record_bounds
from ....execute.layers import FLOAT_AVG_POOL2D, is_traced, layer, pool_on_board
from ....execute.layers import max_pool as max_of_windows
from ....execute.output import new
from ....execute.packed_weights import constant, constant_of
from ....execute.pointwise import pointwise
from ....execute.reduce import fold
from ....graph.fused import fused
from ....iterator.shape import COUNTED, Ints, is_contiguous, numel
from ....kernels.skeletons import pool as board
from ....kernels.skeletons.cpu.max_pool import PlaneWindows
from ....rows.catalogue import Entry, enter, op, register
from ....rows.op import Op
from ....rows.spelling import written
from ...bind import composed
from ...create.ranges import arange
from ...pointwise.ternary import where
from ...reduce.fold import AMAX, MAX, SUM
from ...view.layout import as_int
from ..layers.activation import SPACE, relu
from .windows import dilated_extent, in_input_format, ints_per_dim, padded, windows

# Kernels of these numbers of elements run in one launch: operand k is element k of all windows.
SMALL = (2, 3, 4)
# A window's elements: shape, strides, offset of each view, offset in the flattened spatial dims.
Elements = tuple[Ints, Ints, Ints, Ints]


def pool_of(
    name: str, n: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> PoolingCall:
    """Returns the cached `PoolingCall` of these arguments."""
    shape, arguments = input._shape, (kernel_size, stride, padding, dilation)
    sizes = [tuple(x) if type(x) is list else x for x in arguments]
    flat = [k for x in sizes for k in (x if type(x) is tuple else (x,))]
    if all(type(k) is int or k is None for k in flat):
        return _pool(name, n, shape, *sizes, ceil_mode)
    return PoolingCall(name, n, shape, *arguments, ceil_mode)


class PoolingCall:
    """The checked geometry of a pooling call: sizes of each dim, and the number of windows."""

    def __init__(
        self,
        name: str,
        n: int,
        shape: Ints,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: bool,
    ) -> None:
        """Raises RuntimeError for sizes that make no window, and for windows of padding alone."""
        self.n = n
        self._elements_by_layout: dict[Any, Elements] = {}
        self.kernel = ints_per_dim(name, "kernel_size", kernel_size, n)
        steps = self.kernel if stride is None or stride in ((), []) else stride
        self.stride = ints_per_dim(name, "stride", steps, n)
        self.padding = ints_per_dim(name, "padding", padding, n)
        self.dilation = ints_per_dim(name, "dilation", dilation, n)
        for word in ("kernel", "stride", "dilation"):
            if min(getattr(self, word)) < 1:
                raise errors_spatial.not_positive_sizes(name, word, getattr(self, word))
        if min(self.padding) < 0:
            raise errors_spatial.negative_sizes(name, "padding", self.padding)
        extents = dilated_extent(self.kernel, self.dilation)
        if any(2 * p > k for p, k in zip(self.padding, self.kernel)):
            raise errors_spatial.pool_padding(name, self.padding, self.kernel)
        if len(shape) not in (n + 1, n + 2) or 0 in shape[len(shape) - n - 1 :]:
            raise errors_spatial.input_dims(name, n, shape)
        self.sizes = shape[-n:]
        counts = []
        for m, c, s, p in zip(self.sizes, extents, self.stride, self.padding):
            count = (m + 2 * p - c + (s - 1 if ceil_mode else 0)) // s + 1
            # No window starts in the padding at the end.
            counts.append(count - 1 if ceil_mode and (count - 1) * s >= m + p else count)
        self.counts: Ints = tuple(counts)
        if min(counts) < 1:
            raise errors_spatial.empty_result(name, self.sizes, counts)
        self.shape = (*shape[:-n], *counts)
        self.after = tuple(
            [
                max(0, (k - 1) * s + c - m - p)
                for k, s, c, m, p in zip(counts, self.stride, extents, self.sizes, self.padding)
            ]
        )
        # True if each element is in exactly one window.
        covers_input = tuple([c * k for c, k in zip(counts, self.kernel)]) == self.sizes
        self.tiles = covers_input and self.stride == self.kernel and max(self.dilation) == 1
        # True if windows have a few elements each and no padding.
        is_small = numel(self.kernel) in SMALL and not any(self.padding) and not any(self.after)
        self._reads_windows_at_once = is_small and 0 < numel(shape) <= COUNTED
        # The windows, if they are side by side along rows.
        self.plane_windows: PlaneWindows | None = None
        if self.stride[-1] == self.kernel[-1] and self.dilation[-1] == 1 and not any(self.padding):
            walk = self.sizes, self.counts, self.kernel, self.stride, self.dilation
            self.plane_windows = PlaneWindows(numel(shape[:-n]), *walk)
        # The same for boards, which accept any layout: planes of one or two dims.
        self.banded: board.PoolWindows | None = None
        if n <= 2 and numel(shape):
            missing_dims = (1,) * (2 - n)  # along columns, if there is only one dim
            self.banded = board.PoolWindows(
                numel(shape[:-n]),
                missing_dims + self.sizes,
                missing_dims + self.counts,
                missing_dims + self.kernel,
                missing_dims + self.stride,
                (0,) * (2 - n) + self.padding,
                missing_dims + self.dilation,
            )

    @property
    def dims(self) -> Ints:
        """Returns the dims of the elements of a window."""
        return tuple(range(-self.n, 0))

    def windows(self, input: Tensor, value: Any) -> Tensor:
        """Returns the windows (*lead, *counts, *kernel); padding has the value `value`."""
        x = padded(input, self.padding, self.after, value)
        return windows(x, self.counts, self.kernel, self.stride, self.dilation)

    def reads_windows_at_once(self, input: Tensor) -> bool:
        """True if one launch can read all windows at once: few floating-point elements in each,
        without padding."""
        return self._reads_windows_at_once and input._dtype.kind == "f"

    def small(self, input: Tensor) -> bool:
        """True if windows have a few elements without padding and the device has kernels for them."""
        return self.reads_windows_at_once(input) and specializes(input)

    def elements(self, input: Tensor) -> tuple[tuple[Tensor, ...], Ints]:
        """Returns views (*lead, *counts) of the input, one for each element of a window, and each
        element's offset from the first one in the flattened spatial dims."""
        key = input._shape, input._strides
        cached = self._elements_by_layout.get(key)
        if cached is None:
            cached = self._elements_by_layout[key] = self._elements(*key)
        shape, strides, adjacent, positions = cached
        view, offset = input._view, input._offset
        return tuple([view(shape, strides, offset + b) for b in adjacent]), positions

    def _elements(self, sizes: Ints, input_strides: Ints) -> Elements:
        leading = len(sizes) - self.n
        steps = input_strides[leading:]
        shape = (*sizes[:leading], *self.counts)
        strides = (*input_strides[:leading], *(a * s for a, s in zip(steps, self.stride)))
        rows = [numel(self.sizes[d + 1 :]) for d in range(self.n)]
        adjacent, positions = [], []
        for window_index in itertools.product(*[range(k) for k in self.kernel]):
            element_index = [k * d for k, d in zip(window_index, self.dilation)]
            adjacent.append(sum(m * a for m, a in zip(element_index, steps)))
            positions.append(sum(m * r for m, r in zip(element_index, rows)))
        return shape, strides, tuple(adjacent), tuple(positions)

    def firsts(self, input: Tensor) -> Tensor:
        """Returns the start (*counts) of each window in the flattened spatial dims. Don't write to
        the result."""

        def make() -> np.ndarray:
            flat_positions = np.arange(numel(self.sizes)).reshape(self.sizes)
            return flat_positions[tuple([slice(0, c * s, s) for c, s in zip(self.counts, self.stride)])]

        return constant(("windows", self.sizes, self.stride, self.counts), input, make)


_pool = lru_cache(256)(PoolingCall)


def _largest(size: int) -> Op:
    """Returns the row of the maximum of `size` inputs."""
    names = "abcd"[:size]
    body = names[0]
    for name in names[1:]:
        body = f"ft_max({body}, {name})"
    inputs = ", ".join(f"x{k}" for k in range(size))
    return Op(f"max_of_{size}", f"{inputs}", body, float_only=True, bool_="")


@fused
def _maxima_with_positions(views: Sequence[Tensor], firsts: Tensor, positions: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Returns (the maxima of the views, their flat positions). Among several NaNs the last one is
    reported, as in torch."""
    best: Tensor = views[0]
    best_position: Any = positions[0]
    for view, position in zip(views[1:], positions[1:]):
        wins = (view > best).logical_or_(view != view)
        best, best_position = where(wins, view, best), where(wins, position, best_position)
    return best.contiguous(), firsts + best_position


LARGEST = {size: _largest(size) for size in SMALL}
enter(__name__, *LARGEST.values())


def lowest(element: dtype) -> float | int:
    return iinfo(element).min if element.kind in "ui" else float("-inf")


def maxima(window_view: Tensor, n: int) -> Tensor:
    """Returns the maximum of each window, whose elements are the last n dims."""
    if not numel(window_view._shape):
        return new(window_view._shape[:-n], window_view._dtype, window_view._storage.device)
    element, dims = window_view._dtype, tuple(range(window_view.ndim - n, window_view.ndim))
    return fold(AMAX, (window_view,), dims, False, element.compute, (element,))[0]


def maxima_in_window(window_view: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Returns (the maximum of each window, its row-major position in the window)."""
    if not numel(window_view._shape):
        shape, device = window_view._shape[:-n], window_view._storage.device
        return new(shape, window_view._dtype, device), new(shape, int64, device)
    element, dims = window_view._dtype, tuple(range(window_view.ndim - n, window_view.ndim))
    values, positions = fold(MAX, (window_view,), dims, False, element.compute, (element, int64))
    return values, positions


def _flat_positions(pool: PoolingCall, offsets: Tensor) -> Tensor:
    """Converts positions in windows to flat positions in the input's spatial dims."""
    n, flat = pool.n, None
    for d in range(n):
        step = numel(pool.kernel[d + 1 :])
        window_index = offsets.floor_divide(step) if step > 1 else offsets
        if d:
            window_index = window_index.remainder(pool.kernel[d])
        starts = arange(pool.counts[d], device=offsets.device) * pool.stride[d] - pool.padding[d]
        index = window_index * pool.dilation[d] + starts.reshape(-1, *(1,) * (n - 1 - d))
        if pool.padding[d]:  # a window of -inf alone reports its first real element
            index = where(index < 0, index.remainder(pool.dilation[d]), index)
        flat = index if flat is None else flat * pool.sizes[d] + index
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
    if n == 2 and not return_indices and input._storage.backend.executor is not None:
        settings = {word: getattr(pool, word) for word in ("kernel", "stride", "padding", "dilation", "counts")}
        return layer("max_pool2d", (input,), settings, lambda: _max_pool_of(n, input, pool, False))  # type: ignore[arg-type, return-value]
    return _max_pool_of(n, input, pool, return_indices)


def _largest_of(views: tuple[Tensor, ...], input: Tensor) -> Tensor:
    values = new(views[0]._shape, input._dtype, input._storage.device)
    return in_input_format(pointwise(LARGEST[len(views)], views, (), values), input)


def _max_pool_of(n: int, input: Tensor, pool: PoolingCall, return_indices: bool) -> Tensor | tuple[Tensor, Tensor]:
    if pool.small(input):
        if pool.plane_windows is not None and is_contiguous(input._shape, input._strides):
            values, indices = max_of_windows(input, pool.plane_windows, pool.shape)
            record_bounds(indices, 0, numel(pool.sizes) - 1)
            return (values, indices) if return_indices else values
        views, positions = pool.elements(input)
        if not return_indices:
            return _largest_of(views, input)
        values, indices = _maxima_with_positions(views, pool.firsts(input), positions)
        record_bounds(indices, 0, numel(pool.sizes) - 1)
        return in_input_format(values, input, n), in_input_format(indices, input, n)
    if pool.banded is not None:
        results = pool_on_board(input, pool.banded, pool.shape, return_indices)
        if results is not None:
            if return_indices:
                record_bounds(results[1], 0, numel(pool.sizes) - 1)
            return (results[0], results[1]) if return_indices else results[0]
    if pool.reads_windows_at_once(input) and not return_indices:  # an image may have a kernel for it
        views, _ = pool.elements(input)
        if has_built_kernel(LARGEST[len(views)], input, len(views)):
            return _largest_of(views, input)
    window_view = pool.windows(input, lowest(input._dtype))
    if not return_indices:
        return in_input_format(maxima(window_view, n), input)
    values, indices = maxima_in_window(window_view, n)
    return in_input_format(values, input, n), in_input_format(_flat_positions(pool, indices), input, n)


def window_lengths(pool: PoolingCall, count_include_pad: bool) -> list[np.ndarray]:
    """Returns the sizes of the windows along each dim."""
    lengths = []
    for m, k, s, p, count in zip(pool.sizes, pool.kernel, pool.stride, pool.padding, pool.counts):
        begins = np.arange(count) * s - p
        window_ends = np.minimum(begins + k, m + p)
        if not count_include_pad:
            begins, window_ends = np.maximum(begins, 0), np.minimum(window_ends, m)
        lengths.append(window_ends - begins)
    return lengths


def _window_sizes(pool: PoolingCall, count_include_pad: bool, input: Tensor, element: dtype) -> Any:
    return elements_of(window_lengths(pool, count_include_pad), input, element)


def elements_of(lengths: Sequence[np.ndarray], like: Tensor, element: dtype) -> Any:
    """Returns the number of elements of each window from its sizes along each dim: a number if it is
    the same for all, else a tensor."""
    if all((dim_lengths == dim_lengths[0]).all() for dim_lengths in lengths):
        return numel(tuple([int(dim_lengths[0]) for dim_lengths in lengths]))
    counts = None
    for dim_lengths in lengths:
        length_tensor = constant_of(dim_lengths, like).to(element)
        counts = length_tensor if counts is None else counts.unsqueeze(-1) * length_tensor
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
    if divisor_override is not None and not (divisor_override := as_int(divisor_override, name, "divisor_override")):
        raise errors_spatial.divisor(name)
    input_dtype = input._dtype
    if input_dtype.kind != "f" and input_dtype is not int64:
        raise errors.not_implemented_for(name, input_dtype)
    if not numel(input._shape):
        return new((*input._shape[:-n], *pool.counts), input_dtype, input._storage.device)
    arguments = (n, input, pool, bool(count_include_pad), divisor_override)
    if n == 2 and is_traced(input):
        settings: dict[str, Any] = {word: getattr(pool, word) for word in ("kernel", "stride", "padding", "counts")}
        settings["divisor"] = divisor_override or _window_sizes(pool, bool(count_include_pad), input, input_dtype)
        return layer(FLOAT_AVG_POOL2D, (input,), settings, lambda: _avg_pool_of(*arguments))
    return _avg_pool_of(*arguments)


def _avg_pool_of(
    n: int, input: Tensor, pool: PoolingCall, count_include_pad: bool, divisor_override: int | None
) -> Tensor:
    input_dtype = input._dtype
    if pool.banded is not None and input_dtype.kind == "f" and type(divisor_override) in (int, type(None)):
        options = divisor_override or 0, count_include_pad
        pooled_result = pool_on_board(input, pool.banded, pool.shape, False, True, *options)
        if pooled_result is not None:
            return pooled_result[0]
    total = window_sums(pool.windows(input, 0), n)
    divisor: Any = divisor_override
    if divisor is None:
        divisor = _window_sizes(pool, count_include_pad, input, total._dtype)
    mean = total.div(divisor, rounding_mode=None if input_dtype.kind == "f" else "trunc")
    return mean.to(input_dtype).contiguous() if n == 3 else in_input_format(mean.to(input_dtype), input, n)


def window_sums(window_view: Tensor, n: int) -> Tensor:
    compute, dims = window_view._dtype.compute, tuple(range(window_view.ndim - n, window_view.ndim))
    return fold(SUM, (window_view,), dims, False, compute, (compute,))[0]


def _lp_pool(
    name: str, n: int, input: Tensor, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Tensor:
    kernel = ints_per_dim(name, "kernel_size", kernel_size, n)
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
    """Registers `run(name, n, input, *parameters)`, a pooling over n dims, under the name.

    A function that returns a pair passes `return_indices=True` to `run`, whatever the caller gives.
    """
    words = [word.partition(":")[0] for word in parameters.split(", ")]
    arguments = ["True" if returns == PAIR and word == "return_indices" else word for word in words]
    body = f"return run(BASE, N, input, {', '.join(arguments)})"
    scope: dict[str, Any] = {"BASE": name.removesuffix("_with_indices"), "N": n, "run": run}
    parameters = f"input: Tensor, {parameters}"
    return enter(written(name, parameters, body, doc, returns, __name__=__name__, **scope))


def pooling_of_maxima(run: Callable[..., Any], n: int, name: str, parameters: str, windows: str) -> None:
    """Registers a pooling of maxima, and its form that always returns their positions."""
    doc = f"Returns the maxima, with `return_indices` also their positions, of {windows}"
    pooling(run, n, name, parameters, doc, EITHER)
    pooling(run, n, f"{name}_with_indices", parameters, f"Returns (maxima, their positions) of {windows}", PAIR)


_SIZES = "kernel_size: Any, stride: Any = None"
_MAX = f"{_SIZES}, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False"
_MEAN = f"{_SIZES}, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True"

for _n, _dims in enumerate(("L", "H, W", "D, H, W"), 1):
    _input = f"(N, C, {_dims}) or (C, {_dims})"
    _about = f"""Returns the largest element of each window of an input {_input};
NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
window that ends beyond the input. """
    _end = f"in the last {_n} dims, flattened. RuntimeError if no window fits.\n"
    _function = pooling(
        _max_pool,
        _n,
        f"max_pool{_n}d",
        _MAX,
        f"{_about}With `return_indices` also returns their positions\n{_end}",
        EITHER,
    )
    register(Entry(f"max_pool{_n}d", _function, method=False))
    _function = pooling(
        _max_pool, _n, f"max_pool{_n}d_with_indices", _MAX, f"{_about}Returns (maxima, their\npositions) {_end}", PAIR
    )
    if _n == 1:
        register(Entry("max_pool1d_with_indices", _function, method=False))
    pooling(
        _lp_pool,
        _n,
        f"lp_pool{_n}d",
        f"norm_type: float, {_SIZES}, ceil_mode: bool = False",
        f"""Returns the norm of order `norm_type` of each window of an input
{_input}. `stride` defaults to `kernel_size`. RuntimeError if no window fits.
""",
    )

_function = pooling(
    _avg_pool,
    1,
    "avg_pool1d",
    _MEAN,
    """
Returns the mean of each window of an input (N, C, L) or (C, L). `stride` defaults to
`kernel_size`. The zeros of `padding` count unless `count_include_pad=False`. RuntimeError if no
window fits.
""",
    enter=op(method=False),
)
register(Entry("avg_pool1d", _function, method=False, namespace=SPACE))

for _n, _dims in ((2, "H, W"), (3, "D, H, W")):  # torch gives these an `out`
    pooling(
        _avg_pool,
        _n,
        f"avg_pool{_n}d",
        f"{_MEAN}, divisor_override: Any = None",
        f"""Returns the mean of each window of an input (N, C, {_dims}) or
(C, {_dims}). `stride` defaults to `kernel_size`. The zeros of `padding` count unless
`count_include_pad=False`. `divisor_override` replaces the number of elements as divisor.
RuntimeError if no window fits.
""",
        enter=composed(namespace=SPACE, exact=True),
    )
