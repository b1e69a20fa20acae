"""Adaptive and fractional pooling: windows whose starts depend on the output's size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....dtypes import int64
from ....errors import nn as errors_spatial
from ....execute.layers import FLOAT_AVG_POOL2D, is_traced, layer
from ....execute.output import new
from ....execute.packed_weights import constant_of
from ....iterator.shape import Ints, numel
from ....rows.catalogue import Entry, op, register
from ...arguments import check_kind
from ...create.ranges import arange
from ...create.sizes import full
from ...random.fill import rand
from ...rearrange.cat import cat
from ...rearrange.pad import IntArray
from ..layers.activation import SPACE
from ..layers.stepwise import is_half, rounded_sum
from .pool import elements_of, lowest, maxima, maxima_in_window, pooling, pooling_of_maxima, window_sums
from .windows import at_positions, in_input_format, ints_per_dim, padded, windows

Spans = tuple[IntArray, IntArray]  # the begins and the ends of windows along a dim

# 3-d windows with at most this number of 16-bit elements are summed as in torch, rounded at each
# step; the sums of larger windows would stop growing. A single window is a mean in torch.
STEPS = 64


def adaptive_sizes(name: str, n: int, input: Tensor, output_size: Any, kinds: str = "f") -> Ints:
    """Returns the output's sizes; None means the input's. `kinds` are the kinds of dtypes that the
    op takes. Raises ValueError for an input with fewer dims."""
    if output_size is None:
        output_size = (None,) * n
    if isinstance(output_size, (tuple, list)):
        if input.ndim <= len(output_size):
            raise errors_spatial.adaptive_dims(name, len(output_size) + 1, input._shape)
        if len(output_size) != n:
            raise errors_spatial.count(name, "output_size", n, output_size)
        pairs = zip(output_size, input._shape[-n:])
        output_size = [m if size is None else size for size, m in pairs]
    sizes = ints_per_dim(name, "output_size", output_size, n)
    if min(sizes) < 0:
        raise errors_spatial.negative_sizes(name, "output_size", sizes)
    if input.ndim not in (n + 1, n + 2) or 0 in input._shape[input.ndim - n - (n > 1) :]:
        raise errors_spatial.input_dims(name, n, input._shape)
    check_kind(name, input._dtype, kinds)
    shape = (*input._shape[:-n], *sizes)
    # The host stores both ends of each window.
    size_limit = sum(sizes) * 128
    input._storage.backend.pool.check_capacity(numel(shape) * input._dtype.itemsize + size_limit)
    return sizes


def intervals(size: int, count: int) -> Spans:
    """Returns (begins, ends) of `count` windows over `size` elements."""
    each, rest = divmod(size, max(count, 1))
    j = np.arange(count + 1)
    # floor(j * size / count) and ceil((j + 1) * size / count), in parts that do not overflow
    floors, ceilings = j * each + j * rest // max(count, 1), j * each + -(-j * rest // max(count, 1))
    return floors[:-1], ceilings[1:]


def adaptive_windows(input: Tensor, sizes: Ints, value: Any) -> tuple[Tensor, list[Spans]]:
    """Returns (the windows (*lead, *counts, *kernel), their intervals); shorter windows are padded
    with `value`."""
    n = len(sizes)
    spans = [intervals(m, k) for m, k in zip(input._shape[-n:], sizes)]
    kernel = tuple([int((ends - begins).max(initial=1)) for begins, ends in spans])
    if all((ends - begins == k).all() for (begins, ends), k in zip(spans, kernel)):
        steps = [int(begins[1] - begins[0]) if len(begins) > 1 else 1 for begins, _ in spans]
        if all((begins == s * np.arange(len(begins))).all() for (begins, _), s in zip(spans, steps)):
            return windows(input, sizes, kernel, steps, (1,) * n), spans
    # One more element fills the unused positions of shorter windows.
    x = padded(input, (0,) * n, (1,) * n, value)
    positions = []
    for (begins, ends), k, m in zip(spans, kernel, input._shape[-n:]):
        inside = begins[:, None] + np.arange(k)
        positions.append(np.where(inside < ends[:, None], inside, m).reshape(-1))
    gathered = at_positions(x, positions)
    return windows(gathered, sizes, kernel, kernel, (1,) * n), spans


def _rounded_means(window_view: Tensor, spans: list[Spans]) -> Tensor:
    """Returns the means of windows, rounded to their dtype after each addition and division, as
    torch does."""
    n = len(spans)
    positions = itertools.product(*[range(k) for k in window_view._shape[-n:]])
    result = rounded_sum([window_view[(..., *position)] for position in positions])
    for d, (begins, ends) in enumerate(spans):
        counts = constant_of(ends - begins, result).to(result._dtype)
        result = result / counts.reshape(-1, *(1,) * (n - 1 - d))
    return result


def _adaptive_avg_pool(name: str, n: int, input: Tensor, output_size: Any) -> Tensor:
    sizes = adaptive_sizes(name, n, input, output_size)
    shape = (*input._shape[:-n], *sizes)
    if not numel(shape) or not numel(input._shape):
        return new(shape, input._dtype, input._storage.device)
    if n == 2 and is_traced(input):
        kernel = tuple([m // k if m % k == 0 else 0 for m, k in zip(input._shape[-2:], sizes)])
        settings: dict[str, Any] = {"kernel": kernel, "stride": kernel, "padding": (0, 0), "counts": sizes}
        settings["divisor"] = numel(kernel)
        return layer(FLOAT_AVG_POOL2D, (input,), settings, lambda: _adaptive_means(n, input, sizes))
    return _adaptive_means(n, input, sizes)


def _adaptive_means(n: int, input: Tensor, sizes: Ints) -> Tensor:
    window_view, spans = adaptive_windows(input, sizes, 0)
    is_small = numel(window_view._shape[-n:]) <= STEPS and numel(sizes) > 1
    if n == 3 and is_small and is_half(input._dtype):
        return _rounded_means(window_view, spans).contiguous()
    result = window_sums(window_view, n)
    counts = elements_of([ends - begins for begins, ends in spans], result, result._dtype)
    result = (result / counts).to(input._dtype)
    if n == 3 and numel(sizes) > 1:  # a single window is a mean, which keeps the layout
        return result.contiguous()
    return in_input_format(result, input, n)


def _positions(offsets: Tensor, begins: Sequence[Any], kernel: Ints, sizes: Ints) -> Tensor:
    """Converts offsets inside windows to flat positions in the spatial dims. `begins` holds the
    start of the windows in each dim and broadcasts."""
    flat: Any = None
    for d, begin in enumerate(begins):
        step = numel(kernel[d + 1 :])
        window_index = offsets.floor_divide(step) if step > 1 else offsets
        index = begin + (window_index.remainder(kernel[d]) if d else window_index)
        flat = index if flat is None else flat * sizes[d] + index
    return flat


def _adaptive_max_pool(name: str, n: int, input: Tensor, output_size: Any, indices: bool) -> Any:
    sizes = adaptive_sizes(name, n, input, output_size)
    window_view, spans = adaptive_windows(input, sizes, lowest(input._dtype))
    if not indices:
        result = maxima(window_view, n)
        return result.contiguous() if n == 3 else in_input_format(result, input, n)
    values, offsets = maxima_in_window(window_view, n)
    begins = [
        constant_of(begins, offsets).to(offsets._dtype).reshape(-1, *(1,) * (n - 1 - d))
        for d, (begins, _) in enumerate(spans)
    ]
    positions = _positions(offsets, begins, window_view._shape[-n:], input._shape[-n:])
    if n == 3:
        return values.contiguous(), positions.contiguous()
    return in_input_format(values, input, n), in_input_format(positions, input, n)


def _starts(samples: Tensor, size: int, kernel: int, count: int) -> Tensor:
    """Returns where the windows of each channel start: (N, C, count) int64 from samples (N, C) in
    [0, 1).

    The starts are steps of (size - kernel) / (count - 1) rounded down, with the sample as their
    common fraction; the last window ends at the input's end (Graham, Fractional Max-Pooling,
    section 2).
    """
    x = samples.to(samples._dtype.compute).unsqueeze(-1)
    last = full((*samples._shape, 1), size - kernel, dtype=int64, device=x.device)
    if count == 1:
        return last
    alpha = (size - kernel) / (count - 1)
    steps = arange(count - 1, device=x.device).to(x._dtype)
    floors = ((x + steps) * alpha).trunc() - (x * alpha).trunc()
    return cat([floors.to(int64), last], -1)


def _fractional(
    name: str, n: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any, indices: bool, samples: Any
) -> Tensor | tuple[Tensor, Tensor]:
    if output_size is None and output_ratio is None:
        raise errors_spatial.one_of_two(name, "output_size", "output_ratio")
    kernel = ints_per_dim(name, "kernel_size", kernel_size, n)
    if min(kernel) < 1:
        raise errors_spatial.not_positive_sizes(name, "kernel_size", kernel)
    if input.ndim not in (n + 1, n + 2) or 0 in input._shape[input.ndim - n - 1 :]:
        raise errors_spatial.input_dims(name, n, input._shape)
    size = input._shape[-n:]
    if output_size is None:
        if len(output_ratio) > n:
            raise errors_spatial.scale_sizes(name, "output_ratio", n, output_ratio)
        ratios = tuple(output_ratio) if len(output_ratio) == n else tuple(output_ratio) * n
        output_size = tuple([int(m * r) for m, r in zip(size, ratios, strict=True)])
    counts = ints_per_dim(name, "output_size", output_size, n)
    if min(counts) < 0:
        raise errors_spatial.negative_sizes(name, "output_size", counts)
    if any(c + k - 1 + (n == 3) > m for c, k, m in zip(counts, kernel, size)):  # torch's rule
        raise errors_spatial.fractional_size(name, size, kernel)
    check_kind(name, input._dtype, "f")
    if not input.numel() or 0 in counts:
        device = input._storage.device
        shape = (*input._shape[:-n], *counts)
        values = new(shape, input._dtype, device)
        return (values, new(shape, int64, device)) if indices else values
    x = input if input.ndim == n + 2 else input.unsqueeze(0)
    if samples is None:
        samples = rand(*x._shape[:2], n, dtype=input._dtype, device=input.device)
    if samples.ndim != 3 or samples._shape[0] < x._shape[0] or samples._shape[1:] != (x._shape[1], n):
        raise errors_spatial.grid(name, f"_random_samples of shape {tuple(samples._shape)}")
    # torch's samples are in the order last dim first.
    begins = []
    gathered = x
    for d in range(n):
        start = _starts(samples[: x._shape[0], :, n - 1 - d], size[d], kernel[d], counts[d])
        begins.append(start.reshape(*start._shape[:2], *(1,) * d, -1, *(1,) * (n - 1 - d)))
        index = (start.unsqueeze(-1) + arange(kernel[d], device=x.device)).flatten(2)
        index = index.reshape(*index._shape[:2], *(1,) * d, -1, *(1,) * (n - 1 - d))
        gathered = gathered.gather(2 + d, index.expand(*gathered._shape[: 2 + d], -1, *gathered._shape[3 + d :]))
    window_view = windows(gathered, counts, kernel, kernel, (1,) * n)
    values, offsets = maxima_in_window(window_view, n)
    positions = _positions(offsets, begins, kernel, size)
    if x is not input:
        values, positions = values.squeeze(0), positions.squeeze(0)
    return (values, positions) if indices else values


_FRACTIONAL = (
    "kernel_size: Any, output_size: Any = None, output_ratio: Any = None, "
    "return_indices: bool = False, _random_samples: Tensor | None = None"
)
# The adaptive means by number of dims.
ADAPTIVE_AVG_POOL: dict[int, Callable[..., Tensor]] = {}

for _n in (1, 2, 3):
    _windows = f"""\
`output_size` windows, which cover the last {_n} dims (an int, or a list of {_n};
None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
ValueError for too few dims, RuntimeError for invalid sizes.
"""
    _name = f"adaptive_avg_pool{_n}d"
    ADAPTIVE_AVG_POOL[_n] = pooling(
        _adaptive_avg_pool,
        _n,
        _name,
        "output_size: Any",
        f"Returns the means of {_windows}",
        enter=op(namespace=SPACE, aten=("_" + _name,)),
    )
    if _n == 1:
        register(Entry(_name, ADAPTIVE_AVG_POOL[1], method=False))
    _name, _parameters = f"adaptive_max_pool{_n}d", "output_size: Any, return_indices: bool = False"
    pooling_of_maxima(_adaptive_max_pool, _n, _name, _parameters, _windows)


@op(method=False)
def adaptive_max_pool1d(input: Tensor, output_size: Any) -> tuple[Tensor, Tensor]:
    """Returns the maxima and their positions in windows that divide the last dim into `output_size`
    parts. Raises RuntimeError for impossible sizes."""
    values, positions = _adaptive_max_pool("adaptive_max_pool1d", 1, input, output_size, True)
    return values, positions


for _n in (2, 3):
    _windows = f"""windows of `kernel_size` at random steps, which cover the last {_n} dims
(Graham, Fractional Max-Pooling). The result has `output_size`, or `output_ratio` times the input's
size. `_random_samples` (N, C, {_n}) in [0, 1) replace the random numbers. ValueError without size and
ratio, RuntimeError for sizes that don't fit.
"""
    _name = f"fractional_max_pool{_n}d"
    pooling_of_maxima(_fractional, _n, _name, _FRACTIONAL, _windows)
