"""Average pools of quantized tensors: the mean of a window, with the input's scale and zero
point; concatenation of quantized tensors with scales of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import dtype, int8, int32, int64, uint8
from ...dtypes.limits import iinfo
from ...errors import nn as errors
from ...execute.layers import layer
from ...execute.output import new
from ...execute.packed_weights import constant
from ...iterator.shape import Ints, normalize_dim, numel
from ...rows.catalogue import op
from ..nn.spatial.adaptive import adaptive_sizes, adaptive_windows, intervals
from ..nn.spatial.pool import PoolingCall, pool_of, window_lengths, window_sums
from ..nn.spatial.windows import in_input_format
from ..rearrange.cat import cat as joined
from ..view.layout import as_int
from .convert import CLAMPED, SPACE, a_tensor, check_scale, check_zero_point, computed, row
from .layers import centered

AVERAGE = row(
    "quantized_average", "sums, factor", CLAMPED.format("rint(a * b + zero)"), "zero low high",
    ("int32", "int64", "float32"),
)  # fmt: skip
# Most elements of a window whose sum of differences of bytes fits in int32.
MAX_TERMS = ((1 << 31) - 1) // 255


def _bytes(name: str, input: Any) -> Tensor:
    """Returns the input. Raises RuntimeError unless it is a tensor of uint8 or int8."""
    input = a_tensor(name, "input", input)
    if input._dtype not in (uint8, int8):
        raise errors.not_bytes(name, input._dtype)
    return input


def _averaged(sums: Tensor, factors: np.ndarray, zero: int, result_dtype: dtype, key: Any) -> Tensor:
    """Returns rint(sums * factors + zero) in `result_dtype`. `factors` are float32 for each window
    of an image, `key` is a hashable value that determines them."""
    divisor_reciprocals: Any = float(factors.flat[0])
    if (factors != factors.flat[0]).any():
        divisor_reciprocals = constant(("averages", *key), sums, lambda: factors)
    limits = iinfo(result_dtype)
    parameters = (zero, limits.min, limits.max)
    return computed(AVERAGE, (sums, divisor_reciprocals), parameters, sums._shape, result_dtype)


@op(namespace=SPACE, method=False, rows=(AVERAGE,))
def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: Any = None, *, zero_point: int = 0,
) -> Tensor:  # fmt: skip
    """Returns the means of windows of a quantized input (N, C, H, W) or (C, H, W) of uint8 or int8;
    input and result have one scale and `zero_point`, which is also the padding. The other arguments
    are those of `nn.functional.avg_pool2d`. Sums are integers, multiplied by the float32 reciprocal
    and rounded to even, with the bits of `torch.ao.nn.quantized.functional.avg_pool2d` for a
    contiguous input. Raises RuntimeError for other dtypes, for sizes that make no window and for a
    divisor of 0, TypeError for a divisor that is no int, ValueError for a zero point that the dtype
    can't hold."""
    name = "avg_pool2d"
    input = _bytes(name, input)
    zero = check_zero_point(name, "zero_point", zero_point, input._dtype)
    pool = pool_of(name, 2, input, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override is not None and not (divisor_override := as_int(divisor_override, name, "divisor_override")):
        raise errors.divisor(name)
    factors = _factors(pool, bool(count_include_pad), divisor_override)
    key = (pool.sizes, pool.kernel, pool.stride, pool.padding, pool.counts, bool(count_include_pad))
    settings: dict[str, Any] = {word: getattr(pool, word) for word in ("kernel", "stride", "padding", "counts")}
    settings |= {"zero_point": zero, "factors": tuple(sorted(set(factors.ravel().tolist())))}
    return layer(name, (input,), settings, lambda: _means(input, pool, zero, factors, key))


def _means(input: Tensor, pool: PoolingCall, zero: int, factors: np.ndarray, key: Any) -> Tensor:
    if not numel(input._shape):
        return new(pool.shape, input._dtype, input._storage.device)
    x = centered(input, zero) if numel(pool.kernel) <= MAX_TERMS else centered(input, zero).to(int64)
    sums = window_sums(pool.windows(x, 0), 2)
    return in_input_format(_averaged(sums, factors, zero, input._dtype, key), input)


def _factors(pool: PoolingCall, padded_too: bool, divisor: Any) -> np.ndarray:
    """Returns the reciprocals (H, W) of the divisors of windows, in float32."""
    if divisor is not None:
        return np.full(pool.counts, np.float32(1.0 / divisor))
    rows, columns = window_lengths(pool, padded_too)
    return (1.0 / (rows[:, None] * columns).astype(np.float64)).astype(np.float32)


@op(namespace=SPACE, method=False)
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Returns means of a quantized input (N, C, H, W) or (C, H, W) of uint8 or int8, `output_size`
    of them (a number or a pair; None: as the input) for each plane, with the input's scale and zero
    point. Sums are multiplied by the float32 reciprocal and rounded to even, with the bits of
    `torch.ao.nn.quantized.functional.adaptive_avg_pool2d` for a contiguous input of two or more
    channels. Raises RuntimeError for other dtypes and shapes."""
    name = "adaptive_avg_pool2d"
    input = _bytes(name, input)
    sizes = adaptive_sizes(name, 2, input, output_size, "ui")
    spans = [intervals(m, k) for m, k in zip(input._shape[-2:], sizes)]
    lengths = [(ends - begins).astype(np.float32) for begins, ends in spans]
    factors = (np.float32(1) / lengths[0])[:, None] / lengths[1]
    kernel = [m // k if k and m % k == 0 else 0 for m, k in zip(input._shape[-2:], sizes)]
    settings: dict[str, Any] = {"kernel": tuple(kernel), "stride": tuple(kernel), "padding": (0, 0), "counts": sizes}
    settings |= {"zero_point": 0, "factors": tuple(sorted(set(factors.ravel().tolist())))}
    return layer(name, (input,), settings, lambda: _adaptive_means(input, sizes, factors))


def _adaptive_means(input: Tensor, sizes: Ints, factors: np.ndarray) -> Tensor:
    shape = (*input._shape[:-2], *sizes)
    if not numel(shape):
        return new(shape, input._dtype, input._storage.device)
    windows, _ = adaptive_windows(input.to(int32), sizes, 0)
    if numel(windows._shape[-2:]) > MAX_TERMS:
        windows = windows.to(int64)
    key = ("adaptive", input._shape[-2:], sizes)
    return in_input_format(_averaged(window_sums(windows, 2), factors, 0, input._dtype, key), input)


REQUANTIZE_BYTES = row(
    "requantize_bytes", "input", CLAMPED.format("rint((a - first) * first_scale * inverse) + zero"),
    "first first_scale inverse zero low high", ("uint8", "int8"),
)  # fmt: skip


def _one_per_tensor(name: str, values: Any, count: int) -> tuple[Any, ...]:
    """Returns a value for each of `count` tensors, from one value or a list of `count`."""
    several = tuple(values) if isinstance(values, (tuple, list)) else (values,) * count
    if len(several) != count:
        raise errors.for_each("cat", name, count, len(several))
    return several


@op(namespace=SPACE, method=False, rows=(REQUANTIZE_BYTES,))
def cat(
    tensors: Sequence[Tensor],
    dim: int = 0,
    scale: float | None = None,
    zero_point: int | None = None,
    *,
    input_scales: Any,
    input_zero_points: Any = 0,
) -> Tensor:
    """Joins quantized tensors of uint8 or int8 along a dim, with `scale` and `zero_point` (None:
    the first tensor's). `input_scales` and `input_zero_points` are numbers, one for all tensors or
    one for each. Tensors with the result's scale and zero point are copied; others are dequantized
    and quantized, with the bits of torch's `quantized_decomposed`. `torch.ops.quantized.cat` adds
    the zero point before it rounds: where that is odd, results halfway between two integers differ
    by one. Raises RuntimeError for other dtypes and shapes, ValueError for another number of
    scales."""
    name = "cat"
    tensors = tuple([a_tensor(name, f"tensors[{k}]", tensor) for k, tensor in enumerate(tensors)])
    if not tensors:
        raise errors.no_tensors(name)
    element = tensors[0]._dtype
    for tensor in tensors:
        if tensor._dtype is not element or element not in (uint8, int8):
            raise errors.joined_dtypes(name, element, tensor._dtype)
    scales = [check_scale(name, "input_scales", x) for x in _one_per_tensor("input_scales", input_scales, len(tensors))]
    zero_points = _one_per_tensor("input_zero_points", input_zero_points, len(tensors))
    zeros = [check_zero_point(name, "input_zero_points", x, element) for x in zero_points]
    result_scale = scales[0] if scale is None else check_scale(name, "scale", scale)
    zero = zeros[0] if zero_point is None else check_zero_point(name, "zero_point", zero_point, element)
    dim = normalize_dim(dim, tensors[0].ndim)
    parameters = [(z, s, 1 / result_scale, zero, iinfo(element).min, iinfo(element).max) for z, s in zip(zeros, scales)]
    settings = {"dim": dim, "scales": tuple(scales), "zeros": tuple(zeros), "inverse": 1 / result_scale, "zero": zero}
    return layer(name, tensors, settings, lambda: joined(_rescaled(tensors, parameters, result_scale), dim))


def _rescaled(tensors: Sequence[Tensor], parameters: Sequence[tuple[Any, ...]], result_scale: float) -> list[Tensor]:
    """Returns quantized tensors converted to the scale and the zero point of the result.
    `parameters` are the scale and the zero point of each tensor."""
    results = []
    for x, row_parameters in zip(tensors, parameters):
        zero, scale, _, wanted, *_ = row_parameters
        same = (zero, scale) == (wanted, result_scale)
        results.append(x if same else computed(REQUANTIZE_BYTES, (x,), row_parameters, x._shape, x._dtype))
    return results
