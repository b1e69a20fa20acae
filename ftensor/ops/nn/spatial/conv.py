"""Convolutions and transposed convolutions."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ...._tensor import Tensor
from ....dtypes import complex64, complex128, dtype, int32, int64
from ....errors import nn as errors
from ....errors import not_implemented_for
from ....execute import output
from ....execute.conv import cached_convolution, convolve, convolve_bytes, filtered, has_byte_kernel, has_kernel
from ....execute.conv_plan import ConvWindows
from ....execute.device_traits import spares_double
from ....execute.layers import FIR, FLOAT_CONV2D, layer
from ....execute.matmul import gemm
from ....execute.reduce import fold
from ....formats import contiguous_format
from ....iterator.shape import Ints, numel
from ....rows.catalogue import Entry, op, register
from ....rows.spelling import named
from ...linalg.product import DOT, check
from ..layers.activation import SPACE
from .windows import dilated_extent, in_input_format, ints_per_dim, padded, windows

# From these numbers of filters and products on, windows are copied into columns of a matrix, BLOCK
# elements at a time.
FILTERS, TERMS, BLOCK = 4, 1 << 18, 1 << 17


def _by_columns(window_view: Tensor, weight: Tensor, bias: Tensor | None, shape: Ints) -> Tensor:
    """Computes a convolution as matrix products. The elements under the kernel are copied into
    columns, for one block of windows at a time, which limits the memory for the columns."""
    groups, filters, channels, *kernel = weight._shape
    n = len(kernel)
    batch, rows = shape[0], shape[2]
    depth, row, plane = channels * numel(tuple(kernel)), numel(shape[3:]), numel(shape[2:])
    result = output.new(shape, window_view._dtype, window_view._storage.device)
    matrices = weight.reshape(1, groups, filters, depth)
    samples = max(1, BLOCK // (groups * depth * plane))
    block_rows = max(1, min(rows, BLOCK // (groups * depth * row)))
    steps = window_view._strides
    order = (0, 1, *range(n + 2, 2 * n + 2), *range(2, n + 2))
    for s, r in itertools.product(range(0, batch, samples), range(0, rows, block_rows)):
        sample_count, row_count = min(samples, batch - s), min(block_rows, rows - r)
        block = window_view._view(
            (sample_count, window_view._shape[1], row_count, *window_view._shape[3:]),
            steps,
            window_view._offset + s * steps[0] + r * steps[2],
        )
        columns = block.permute(order).contiguous().reshape(sample_count, groups, depth, row_count * row)
        size = (sample_count, groups, filters, row_count * row)
        out = result._view(
            size, (groups * filters * plane, filters * plane, plane, 1), s * groups * filters * plane + r * row
        )
        summand = None
        if bias is not None:
            bias_stride = bias._strides[0]
            summand = bias._view(size, (0, bias_stride * filters, bias_stride, 0), bias._offset)
        gemm(out, matrices, columns, summand)
    return result


def _sums(x: Tensor) -> dtype:
    if x._dtype is complex64 and spares_double(x):
        return complex128
    return x._dtype.compute


def convolve_windows(
    x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, stride: Ints, dilation: Ints
) -> Tensor:
    """Returns the convolution (N, groups * O, *counts) of a padded input (N, groups * C, *sizes)
    with a weight (groups, O, C, *kernel), in the input's dtype. Sums are rounded once."""
    groups, filters, channels, *kernel = weight._shape
    n = len(kernel)
    shape = (x._shape[0], groups * filters, *counts)
    if not numel(shape):
        return output.new(shape, x._dtype, x._storage.device)
    window_view = windows(x, counts, kernel, stride, dilation)
    if filters >= FILTERS and numel(shape) * channels * numel(tuple(kernel)) >= TERMS:
        return _by_columns(window_view, weight, bias, shape)
    batch, channel, *window_strides = window_view._strides
    # (N, groups, O, *counts, C, *kernel): each filter at all windows, each window for all filters.
    grouped_windows = window_view._view(
        (x._shape[0], groups, 1, *counts, channels, *kernel),
        (batch, channel * channels, 0, *window_strides[:n], channel, *window_strides[n:]),
        window_view._offset,
    )
    weight_strides = weight._strides
    grouped_weight = weight._view(
        (1, groups, filters, *(1,) * n, channels, *kernel),
        (0, weight_strides[0], weight_strides[1], *(0,) * n, *weight_strides[2:]),
        weight._offset,
    )
    compute, stored = _sums(x), x._dtype.compute
    dims = tuple(range(3 + n, 4 + 2 * n))
    (result,) = fold(DOT, (grouped_windows, grouped_weight), dims, False, compute, (stored,))
    result = result.reshape(shape)
    if bias is not None:
        result = result + bias.reshape(-1, *(1,) * n)
    return result.to(x._dtype)


def convolve_by_kernel(
    x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, conv_windows: ConvWindows, call: Any
) -> Tensor | None:
    """Returns the convolution (N, groups * O, *counts) with a weight (groups, O, C, *kernel),
    computed by a special kernel; None if there is no such kernel or nothing to compute. The result
    is channels-last if an operand is."""
    shape = (x._shape[0], weight._shape[0] * weight._shape[1], *counts)
    row = filtered(x, weight, bias, counts, conv_windows)
    if row is not None:
        return row
    if not numel(shape) or not numel(weight._shape) or not has_kernel(x, numel(weight._shape[3:])):
        return None
    formats = [output.suggested_format(t) for t in (x, _merge_groups(weight))]
    result_format = next((candidate for candidate in formats if candidate is not contiguous_format), contiguous_format)
    strides = output.format_strides(shape, result_format)
    result = output.new(shape, x._dtype, x._storage.device, strides)
    return convolve(result, x, weight, bias, conv_windows, call)


def _merge_groups(weight: Tensor) -> Tensor:
    groups, filters, *kernel = weight._shape
    return weight._view((groups * filters, *kernel), weight._strides[1:], weight._offset)


def _check_operands(
    name: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, groups: int,
    sizes: dict[str, Ints], transposed: bool,
) -> None:  # fmt: skip
    """Raises RuntimeError for dtypes, shapes or numbers that don't fit together."""
    tensors = {"input": input, "weight": weight}
    check(name, **tensors if bias is None else {**tensors, "bias": bias})
    if transposed and input._dtype.kind in "ui" and input._dtype is not int64:
        raise not_implemented_for(name, input._dtype)
    if groups < 1:
        raise errors.not_positive_sizes(name, "groups", (groups,))
    for word, numbers in sizes.items():
        if word in ("stride", "dilation") and min(numbers) < 1:
            raise errors.not_positive_sizes(name, word, numbers)
        if word in ("padding", "output_padding") and min(numbers) < 0:
            raise errors.negative_sizes(name, word, numbers)
    if weight.ndim != n + 2:
        raise errors.weight_dims(name, n, weight._shape)
    if input.ndim not in (n + 1, n + 2):
        raise errors.input_dims(name, n, input._shape)
    first, second = weight._shape[:2]
    if first < groups or first % groups:
        raise errors.filters(name, first, groups)
    if (second < 1 and transposed) or min(weight._shape[2:]) < 1:
        raise errors.empty_weight(name, weight._shape)
    channels = input._shape[-n - 1]
    expected_channels = first if transposed else second * groups
    if channels != expected_channels:
        raise errors.channels(name, expected_channels, channels, groups)
    filters = second * groups if transposed else first
    if bias is not None and bias._shape != (filters,):
        raise errors.bias_shape(name, filters, bias._shape)
    if not numel(input._shape[-n:]) and channels and (input.ndim == n + 1 or input._shape[0]):
        raise errors.empty_planes(name, input._shape)


def _call(
    name: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, *numbers: Any
) -> tuple[Any, ...] | None:
    """Returns the cache key of a call's launch; None if the call needs more than that launch."""
    if input.ndim != n + 2:
        return None
    key: list[Any] = [name, input._key, weight._key, None if bias is None else bias._key]
    for value in numbers:
        if type(value) is list or type(value) is tuple:
            key.append(tuple(value))
            if any(type(k) is not int for k in value):
                return None
        elif type(value) is int or type(value) is str:
            key.append(value)
        else:
            return None
    return tuple(key)


def conv_call(
    name: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
    padding: Any, dilation: Any, groups: int,
) -> tuple[Tensor, Tensor, Ints, ConvWindows, Ints, Ints]:  # fmt: skip
    """Checks a convolution's operands. Returns the input with a batch dim, the weight by groups,
    the counts of results, the windows, and the numbers of zeros before and after."""
    stride, dilation = ints_per_dim(name, "stride", stride, n), ints_per_dim(name, "dilation", dilation, n)
    sizes = {"stride": stride, "dilation": dilation}
    word = padding if isinstance(padding, str) else ""
    if not word:
        padding = sizes["padding"] = ints_per_dim(name, "padding", padding, n)
    elif word not in ("same", "valid"):
        raise errors.padding_word(name, word)
    _check_operands(name, n, input, weight, bias, groups, sizes, False)
    extents = dilated_extent(weight._shape[2:], dilation)
    padding_before = padding_after = padding if not word else (0,) * n
    if word == "same":
        if max(stride) > 1:
            raise errors.same_strided(name, stride)
        padding_before = tuple([(c - 1) // 2 for c in extents])
        padding_after = tuple([c - 1 - b for c, b in zip(extents, padding_before)])
    padded_sizes = tuple([m + b + a for m, b, a in zip(input._shape[-n:], padding_before, padding_after)])
    if any(c > m for c, m in zip(extents, padded_sizes)):
        raise errors.kernel_too_large(name, padded_sizes, extents)
    batched = input if input.ndim == n + 2 else input.unsqueeze(0)
    # torch's count without channels
    filters = weight._shape[0] // groups if weight._shape[1] else 0
    grouped = weight._view(
        (groups, filters, *weight._shape[1:]),
        (weight._strides[0] * (weight._shape[0] // groups), *weight._strides),
        weight._offset,
    )
    counts = tuple([(m - c) // s + 1 for m, c, s in zip(padded_sizes, extents, stride)])
    conv_windows = ConvWindows(groups, stride, padding_before, dilation).normalized(weight._shape[2:], counts)
    return batched, grouped, counts, conv_windows, padding_before, padding_after


def _convolution(
    name: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
    padding: Any, dilation: Any, groups: int,
) -> Tensor:  # fmt: skip
    call = _call(name, n, input, weight, bias, stride, padding, dilation, groups)
    result = cached_convolution(call, input, weight, bias)
    if result is not None:
        return result
    batched, grouped, counts, conv_windows, padding_before, padding_after = conv_call(
        name, n, input, weight, bias, stride, padding, dilation, groups
    )

    def compute() -> Tensor:
        result = convolve_by_kernel(batched, grouped, bias, counts, conv_windows, call)
        if result is not None:
            return result
        x = padded(batched, padding_before, padding_after)
        result = convolve_windows(x, grouped, bias, counts, conv_windows.stride, conv_windows.dilation)
        return in_input_format(result, batched)

    settings: dict[str, Any] = {"weight": grouped, "biased": bias is not None, "windows": conv_windows}
    if n == 1:
        result = layer(FIR, (batched,), settings, compute)
    elif n == 2:
        settings |= {"filters": weight, "bias": bias, "after": padding_after, "groups": groups}
        settings["stride"] = ints_per_dim(name, "stride", stride, n)
        result = layer(FLOAT_CONV2D, (batched,), settings, compute)
    else:
        result = compute()
    return result if batched is input else result.squeeze(0)


def _transposed(
    name: str, n: int, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any,
    padding: Any, output_padding: Any, groups: int, dilation: Any,
) -> Tensor:  # fmt: skip
    call = _call(name, n, input, weight, bias, stride, padding, dilation, groups, output_padding)
    result = cached_convolution(call, input, weight, bias)
    if result is not None:
        return result
    stride, dilation = ints_per_dim(name, "stride", stride, n), ints_per_dim(name, "dilation", dilation, n)
    padding = ints_per_dim(name, "padding", padding, n)
    output_padding_ = ints_per_dim(name, "output_padding", output_padding, n)
    sizes = {"stride": stride, "dilation": dilation, "padding": padding, "output_padding": output_padding_}
    _check_operands(name, n, input, weight, bias, groups, sizes, True)
    limits = tuple([max(s, d) for s, d in zip(stride, dilation)])
    if any(m >= limit for m, limit in zip(output_padding_, limits)):
        raise errors.output_padding(name, output_padding_, limits)
    extents = dilated_extent(weight._shape[2:], dilation)
    padding_before = tuple([c - 1 - p for c, p in zip(extents, padding)])
    padding_after = tuple([b + m for b, m in zip(padding_before, output_padding_)])
    results = tuple(
        [
            (m - 1) * s + b + a - c + 2
            for m, s, b, a, c in zip(input._shape[-n:], stride, padding_before, padding_after, extents)
        ]
    )
    if min(results) < 1:
        raise errors.empty_transposed(name, input._shape[-n:], results)
    batched = input if input.ndim == n + 2 else input.unsqueeze(0)
    conv_windows = ConvWindows(groups, stride, padding, dilation, transposed=True)
    conv_windows = conv_windows.normalized(weight._shape[2:], input._shape[-n:])
    result = convolve_by_kernel(batched, _swap_channels(weight, groups), bias, results, conv_windows, call)
    if result is None:
        x = padded(batched, padding_before, padding_after, steps=conv_windows.stride)
        flipped = weight.flip(tuple(range(2, n + 2)))
        result = convolve_windows(x, _swap_channels(flipped, groups), bias, results, (1,) * n, conv_windows.dilation)
        result = in_input_format(result, batched)
    return result if batched is input else result.squeeze(0)


def _swap_channels(weight: Tensor, groups: int) -> Tensor:
    """Returns a transposed convolution's weight (C, O, *kernel) as (groups, O, C / groups,
    *kernel)."""
    strides, channels = weight._strides, weight._shape[0] // groups
    return weight._view(
        (groups, weight._shape[1], channels, *weight._shape[2:]),
        (strides[0] * channels, strides[1], strides[0], *strides[2:]),
        weight._offset,
    )


def _add(call: Callable[..., Tensor], name: str, doc: str) -> None:
    op(method=False)(named(name, doc)(call))
    register(Entry(name, call, method=False, namespace=SPACE))


# The functions by number of dims.
CONV: dict[int, Callable[..., Tensor]] = {}
CONV_TRANSPOSE: dict[int, Callable[..., Tensor]] = {}


def _make(n: int) -> None:
    """Registers convolution and transposed convolution of n spatial dims."""

    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        return _convolution(name, n, input, weight, bias, stride, padding, dilation, groups)

    def conv_transpose(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
        padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
    ) -> Tensor:  # fmt: skip
        return _transposed(transposed_name, n, input, weight, bias, stride, padding, output_padding, groups, dilation)

    name, transposed_name = f"conv{n}d", f"conv_transpose{n}d"
    sizes = ", ".join(("depth", "height", "width")[-n:]) if n > 1 else "length"
    CONV[n], CONV_TRANSPOSE[n] = conv, conv_transpose
    _add(
        conv,
        name,
        f"""Returns the cross-correlation of an input (N, C, {sizes}) or (C, {sizes})
with filters (O, C / groups, *kernel), plus `bias` (O,). Each size becomes
(size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
summed in float32. RuntimeError for sizes or dtypes that don't fit.
""",
    )
    _add(
        conv_transpose,
        transposed_name,
        f"""Returns the transposed convolution, the gradient of a convolution by its
input: adds each element of an input (N, C, {sizes}) or (C, {sizes}), times the weight
(C, O / groups, *kernel), to a window of the result. Each size becomes
(size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
summed in float32. RuntimeError for sizes or dtypes that don't fit.
""",
    )


for _n in (1, 2, 3):
    _make(_n)


# Windows of one element, one after another.
PLAIN = ConvWindows(1, (1,), (0,), (1,))


def byte_sums(
    name: str, n: int, input: Tensor, weight: Tensor, stride: Any, padding: Any, dilation: Any, groups: int, zero: int
) -> Tensor | None:
    """Returns the convolution in int32 of bytes minus `zero` with int8 filters, by a board's byte
    kernels; the padding is `zero` too. Returns None if the device has no such kernel or nothing to
    compute. Raises the errors of all convolutions."""
    if not has_byte_kernel(input, weight, numel(weight._shape[2:])):
        return None
    input_bytes = input.view(weight._dtype)  # their bytes; the sign is handled separately
    batched, grouped, counts, conv_windows, _, _ = conv_call(
        name, n, input_bytes, weight, None, stride, padding, dilation, groups
    )
    shape = (batched._shape[0], weight._shape[0], *counts)
    x = input if input.ndim == n + 2 else input.unsqueeze(0)
    if not numel(shape) or not numel(weight._shape):
        return None
    sums = output.new(shape, int32, x._storage.device)
    convolve_bytes(sums, x, grouped, conv_windows, zero)
    return sums if x is input else sums.squeeze(0)


def byte_products(input: Tensor, weight: Tensor, zero: int) -> Tensor | None:
    """Returns `(input - zero) @ weight.T` in int32, of bytes (m, k) and int8 (n, k), as a
    convolution with k channels and m positions. Returns None if the device is no board with such
    kernels."""
    (m, k), n = input._shape, weight._shape[0]
    if not m * n * k or not has_byte_kernel(input, weight, 1):
        return None
    x = input._view((1, k, m), (0, *input._strides[::-1]), input._offset)
    weight_strides = weight._strides
    filters = weight._view((1, n, k, 1), (0, *weight_strides, 1), weight._offset)
    products = output.new((m, n), int32, x._storage.device)
    convolve_bytes(products._view((1, n, m), (0, 1, n), 0), x, filters, PLAIN, zero)
    return products
