"""Windows over the last dims of a tensor: their sizes, and views and gathers of their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._tensor import Tensor
from ....errors import nn as errors
from ....execute import output
from ....formats import contiguous_format
from ....iterator.shape import Ints, numel
from ...rearrange.pad import IntArray, gather_positions
from ...types import conversion


def ints_per_dim(op: str, word: str, value: Any, n: int) -> Ints:
    """Returns one int for each of n dims. Raises RuntimeError for another number of them, TypeError
    for other types."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * n
    try:
        numbers = tuple([x.__index__() for x in value])
    except (TypeError, AttributeError):
        raise errors.not_a_size(op, word, value) from None
    if len(numbers) not in (1, n):
        raise errors.count(op, word, n, value)
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
        result: Tensor = in_input_format(values.unsqueeze(2), like.unsqueeze(2)).squeeze(2)
        return result
    result_format = output.suggested_format(like)
    return in_format(values, result_format if values.ndim == like.ndim else contiguous_format)


def in_format(values: Tensor, result_format: output.memory_format) -> Tensor:
    result = conversion.contiguous(values, result_format)
    strides = output.layout_strides(result, result_format)  # including those of dims of size 1
    return result if strides == result._strides else result._view(result._shape, strides, result._offset)
