"""Windows over the last dims of a tensor: their sizes, views and gathers of their elements; windows as
columns and back, unpooling, pixel shuffles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from .... import errors
from ...._tensor import Tensor
from ....dtypes import int64
from ....errors import nn as errors_nn
from ....execute import output
from ....execute.output import new, suggested_format
from ....formats import contiguous_format
from ....iterator.shape import Ints, numel
from ....rows.catalogue import add_to_namespace, op
from ....rows.spelling import named
from ...arguments import check_kind
from ...create.sizes import zeros
from ...rearrange.pad import IntArray, gather_positions
from ...types import conversion
from ..layers.activation import SPACE


def ints_per_dim(op: str, word: str, value: Any, n: int) -> Ints:
    """Returns one int for each of n dims. Raises RuntimeError for another number of them, TypeError
    for other types."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * n
    try:
        numbers = tuple([x.__index__() for x in value])
    except (TypeError, AttributeError):
        raise errors_nn.not_a_size(op, word, value) from None
    if len(numbers) not in (1, n):
        raise errors_nn.count(op, word, n, value)
    return numbers * n if len(numbers) < n else numbers


def dilated_extent(kernel: Sequence[int], dilation: Sequence[int]) -> Ints:
    """Returns the extent of a window in each dim, dilation included."""
    return tuple([d * (k - 1) + 1 for k, d in zip(kernel, dilation)])


def padded(x: Tensor, before: Sequence[int], after: Sequence[int], value: Any = 0, steps: Sequence[int] = ()) -> Tensor:
    """Pads the last dims with `value` before and after, and inserts steps - 1 elements between
    neighbours; negative counts remove elements. Returns the tensor itself if nothing changes."""
    n = len(before)
    steps = tuple(steps) or (1,) * n
    if not any(before) and not any(after) and max(steps, default=1) == 1:
        return x
    sizes = [max(0, (m - 1) * s + 1) for m, s in zip(x._shape[-n:], steps)]
    shape = (*x._shape[:-n], *[m + b + a for m, b, a in zip(sizes, before, after)])
    result = output.new(shape, x._dtype, x._storage.device)
    conversion.fill_(result, value)
    # Elements removed before the first kept one: whole steps, and its position after them.
    skip = [-(min(b, 0) // s) for b, s in zip(before, steps)]
    first = [b + k * s for b, k, s in zip(before, skip, steps)]
    padded_sizes = shape[-n:]
    kept_counts = [
        max(0, min(m - k, -((start - r) // s)))
        for m, k, start, r, s in zip(x._shape[-n:], skip, first, padded_sizes, steps)
    ]
    if not all(kept_counts) or not numel(shape):
        return result
    block = (*x._shape[:-n], *kept_counts)
    source = x._view(block, x._strides, x._offset + sum(k * s for k, s in zip(skip, x._strides[-n:])))
    strides = result._strides[-n:]
    target = result._view(
        block,
        (*result._strides[:-n], *[s * t for s, t in zip(strides, steps)]),
        sum(start * s for start, s in zip(first, strides)),
    )
    conversion.copy_(target, source)
    return result


def windows(
    x: Tensor, counts: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Tensor:
    """Returns a view (*lead, *counts, *kernel) of the windows over the last dims."""
    n = len(counts)
    strides = x._strides[-n:]
    return x._view(
        (*x._shape[:-n], *counts, *kernel),
        (*x._strides[:-n], *[a * b for a, b in zip(strides, stride)], *[a * b for a, b in zip(strides, dilation)]),
        x._offset,
    )


def at_positions(x: Tensor, position_lists: Sequence[IntArray]) -> Tensor:
    for k, dim_positions in enumerate(position_lists):
        x = gather_positions(x, x.ndim - len(position_lists) + k, dim_positions)
    return x


def in_input_format(values: Tensor, like: Tensor, n: int = 2) -> Tensor:
    """Returns a result in the memory format of the input. With one spatial dim (`n` = 1) the
    formats are those of images with one row, as in torch."""
    if n == 1 and values.ndim == like.ndim == 3:
        return in_input_format(values.unsqueeze(2), like.unsqueeze(2)).squeeze(2)
    result_format = output.suggested_format(like)
    return in_format(values, result_format if values.ndim == like.ndim else contiguous_format)


def in_format(values: Tensor, result_format: output.memory_format) -> Tensor:
    result = conversion.contiguous(values, result_format)
    strides = output.layout_strides(result, result_format)  # including those of dims of size 1
    return result if strides == result._strides else result._view(result._shape, strides, result._offset)


def _sizes(name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Ints, Ints, Ints, Ints]:
    """Returns (kernel, dilation, padding, stride). Raises RuntimeError for impossible sizes."""
    kernel = ints_per_dim(name, "kernel_size", kernel_size, 2)
    spacings = [ints_per_dim(name, w, g, 2) for w, g in (("dilation", dilation), ("stride", stride))]
    for word, numbers in zip(("kernel_size", "dilation", "stride"), (kernel, *spacings)):
        if min(numbers) < 1:
            raise errors_nn.not_positive_sizes(name, word, numbers)
    pad = ints_per_dim(name, "padding", padding, 2)
    if min(pad) < 0:
        raise errors_nn.negative_sizes(name, "padding", pad)
    return kernel, spacings[0], pad, spacings[1]


def _counts(size: Ints, kernel: Ints, dilation: Ints, padding: Ints, stride: Ints) -> Ints:
    extents = dilated_extent(kernel, dilation)
    return tuple([(m + 2 * p - c) // s + 1 for m, p, c, s in zip(size, padding, extents, stride)])


@op(namespace=SPACE, aten=("im2col",), bare="")
def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Returns the windows of an image (N, C, H, W) or (C, H, W) as columns (N, C * kernel elements,
    windows). Raises RuntimeError for other shapes and sizes that make no windows."""
    name = "unfold"
    sizes = _sizes(name, kernel_size, dilation, padding, stride)
    kernel, dilations, pad, steps = sizes
    if input.ndim not in (3, 4) or 0 in input._shape[input.ndim - 3 :]:
        raise errors_nn.input_dims(name, 2, input._shape)
    if input._dtype.kind in "ui":
        raise errors.not_implemented_for(name, input._dtype)
    counts = _counts(input._shape[-2:], kernel, dilations, pad, steps)
    if min(counts) < 1:
        raise errors_nn.empty_result(name, input._shape[-2:], counts)
    window_view = windows(padded(input, pad, pad), counts, kernel, steps, dilations)
    leading = tuple(range(window_view.ndim - 4))
    columns = window_view.permute(*leading, -2, -1, -4, -3)
    shape = (*input._shape[:-3], input._shape[-3] * numel(kernel), numel(counts))
    return columns.contiguous().reshape(shape)


@op(namespace=SPACE, aten=("col2im",))
def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Sums columns (N, C * kernel elements, windows), as returned by `unfold`, into an image of
    `output_size`. Raises RuntimeError for other shapes and sizes that don't fit."""
    name = "fold"
    kernel, dilations, pad, steps = _sizes(name, kernel_size, dilation, padding, stride)
    size = ints_per_dim(name, "output_size", output_size, 2)
    if min(size) < 1:
        raise errors_nn.not_positive_sizes(name, "output_size", size)
    if input.ndim not in (2, 3) or 0 in input._shape[input.ndim - 2 :]:
        raise errors_nn.columns(name, f"input must be (N, columns, windows), not of shape {tuple(input._shape)}")
    if input._shape[-2] % numel(kernel):
        raise errors_nn.columns(name, f"{input._shape[-2]} rows are no multiple of the kernel's {numel(kernel)}")
    counts = _counts(size, kernel, dilations, pad, steps)
    if min(counts) < 1 or numel(counts) != input._shape[-1]:
        raise errors_nn.columns(name, f"an image of {size} has {counts} windows, but input has {input._shape[-1]}")
    if input._dtype.kind in "ui":
        raise errors.not_implemented_for(name, input._dtype)
    leading = (*input._shape[:-2], input._shape[-2] // numel(kernel))
    columns = input.reshape(*leading, *kernel, *counts)
    padded_sizes = [m + 2 * p for m, p in zip(size, pad)]
    image = new((*leading, *padded_sizes), input._dtype, input._storage.device)
    conversion.fill_(image, 0)
    image_strides = image._strides
    each_step = tuple([s * t for s, t in zip(image_strides[-2:], steps)])
    for y, x in itertools.product(*(range(k) for k in kernel)):
        offset = y * dilations[0] * image_strides[-2] + x * dilations[1] * image_strides[-1]
        target_view = image._view((*leading, *counts), (*image_strides[:-2], *each_step), offset)
        target_view.add(columns[..., y, x, :, :], out=target_view)
    cropped = image[..., pad[0] : pad[0] + size[0], pad[1] : pad[1] + size[1]]
    return cropped.contiguous()


def _unpooled(
    name: str, n: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    kernel = ints_per_dim(name, "kernel_size", kernel_size, n)
    steps = ints_per_dim(name, "stride", kernel if stride is None else stride, n)
    pad = ints_per_dim(name, "padding", padding, n)
    size = tuple([(m - 1) * s + k - 2 * p for m, s, k, p in zip(input._shape[-n:], steps, kernel, pad)])
    if output_size is not None:
        target_sizes = tuple(output_size)
        if len(target_sizes) == n + 2:
            target_sizes = target_sizes[2:]
        if len(target_sizes) != n:
            raise errors_nn.unpool_size(name, target_sizes, f"must have {n} or {n + 2} numbers")
        if not all(m - s < g < m + s for m, s, g in zip(size, steps, target_sizes)):
            raise errors_nn.unpool_size(name, target_sizes, f"must be {size}, or less than stride {steps} away")
        size = target_sizes
    if min(size) < 0:
        raise errors_nn.unpool_size(name, size, "must not be negative")
    if indices._dtype is not int64:
        raise errors_nn.grid(name, f"indices must be int64, not {indices._dtype}")
    if input.ndim not in (n + 1, n + 2) or 0 in input._shape[input.ndim - n - 1 :]:
        raise errors_nn.input_dims(name, n, input._shape)
    if n == 3 and min(steps) < 1:
        raise errors_nn.not_positive_sizes(name, "stride", steps)
    if input._shape != indices._shape:
        raise errors_nn.unpool_shapes(name, input._shape, indices._shape)
    check_kind(name, input._dtype, "f")
    leading = input._shape[:-n]
    planes = zeros((*leading, numel(size)), dtype=input._dtype, device=input.device)
    if input.numel():
        low, high = (int(x.item()) for x in indices.aminmax())
        if low < 0 or high >= numel(size):
            raise errors_nn.unpool_bounds(name, low, high, numel(size))
        flat = (*leading, numel(input._shape[-n:]))
        planes = planes.scatter(-1, indices.reshape(flat), input.reshape(flat))
    result: Tensor = planes.reshape(*leading, *size)
    return in_input_format(result, input) if n == 2 else result


_UNPOOL_DOC = """Returns zeros with each element of `input` at its position in
`indices`, the positions that `max_pool{n}d` returns. The result has `output_size`, by default the
smallest that such a pool reduces to the input's size. ValueError for an `output_size` that no such
pool reduces to it, RuntimeError for positions out of range and for shapes that don't fit.
"""


def _make(n: int) -> None:
    """Registers max_unpool for n dims."""
    name = f"max_unpool{n}d"

    @op(namespace=SPACE)
    @named(name, _UNPOOL_DOC.format(n=n))
    def call(
        input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Tensor:
        return _unpooled(name, n, input, indices, kernel_size, stride, padding, output_size)


for _n in (1, 2, 3):
    _make(_n)


def _copy_if_shared(result: Tensor, input: Tensor) -> Tensor:
    shares_memory = result._storage is input._storage
    return result.clone(memory_format=suggested_format(input)) if shares_memory else result


@op(method=False, bare="")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearranges (*, C * r * r, H, W) to (*, C, H * r, W * r). Raises RuntimeError if r * r doesn't
    divide the channels."""
    name, r = "pixel_shuffle", upscale_factor
    if input.ndim < 3:
        raise errors_nn.few_dims(name, 3, input._shape)
    if r <= 0:
        raise errors_nn.not_positive(name, "upscale_factor", r)
    *batch, channels, height, width = input._shape
    if channels % (r * r):
        raise errors_nn.not_divisible(name, "channels", channels, r * r)
    split = input.reshape(*batch, channels // (r * r), r, r, height, width)
    n = len(batch)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    shape = (*batch, channels // (r * r), height * r, width * r)
    return _copy_if_shared(split.permute(order).reshape(shape), input)


@op(method=False, bare="")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Rearranges (*, C, H * r, W * r) to (*, C * r * r, H, W). Raises RuntimeError if r doesn't
    divide the sizes."""
    name, r = "pixel_unshuffle", downscale_factor
    if input.ndim < 3:
        raise errors_nn.few_dims(name, 3, input._shape)
    if r <= 0:
        raise errors_nn.not_positive(name, "downscale_factor", r)
    *batch, channels, height, width = input._shape
    for word, size in (("height", height), ("width", width)):
        if size % r:
            raise errors_nn.not_divisible(name, word, size, r)
    split = input.reshape(*batch, channels, height // r, r, width // r, r)
    n = len(batch)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    shape = (*batch, channels * r * r, height // r, width // r)
    return _copy_if_shared(split.permute(order).reshape(shape), input)


@op(method=False)
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Interleaves the channels (dim 1) of `groups` groups. Raises RuntimeError for fewer than 3
    dims and if `groups` doesn't divide the channels."""
    name = "channel_shuffle"
    if input.ndim < 3:
        raise errors_nn.few_dims(name, 3, input._shape)
    if groups <= 0:
        raise errors_nn.not_positive(name, "groups", groups)
    n, channels, *spatial = input._shape
    if channels % groups:
        raise errors_nn.not_divisible(name, "channels", channels, groups)
    split = input.reshape(n, groups, channels // groups, *spatial)
    return in_input_format(_copy_if_shared(split.transpose(1, 2).reshape(input._shape), input), input)


add_to_namespace(SPACE, "pixel_shuffle", "pixel_unshuffle", "channel_shuffle")
