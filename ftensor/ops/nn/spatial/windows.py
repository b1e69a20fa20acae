"""Windows over the last dims of a tensor: their sizes, and views and gathers that show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._tensor import Tensor
from ....errors import nn as errors
from ....execute import output
from ....formats import contiguous_format
from ....iterator.shape import Ints, numel
from ...rearrange.pad import positions
from ...types import conversion


def each(op: str, word: str, value: Any, n: int) -> Ints:
    """One int for each of n dims. RuntimeError for another number of them, TypeError for others."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * n
    try:
        numbers = tuple([x.__index__() for x in value])
    except (TypeError, AttributeError):
        raise errors.not_a_size(op, word, value) from None
    if len(numbers) not in (1, n):
        raise errors.count(op, word, n, value)
    return numbers * n if len(numbers) < n else numbers


def covered(kernel: Sequence[int], dilation: Sequence[int]) -> Ints:
    """How many positions of each dim lie between the ends of a window, both counted."""
    return tuple([d * (k - 1) + 1 for k, d in zip(kernel, dilation)])


def padded(x: Tensor, before: Sequence[int], after: Sequence[int], value: Any = 0, steps: Sequence[int] = ()) -> Tensor:
    """The last dims with `value` before and after them, and steps - 1 between elements; negative
    counts cut off. The tensor itself where there is nothing to do.
    """
    n = len(before)
    steps = tuple(steps) or (1,) * n
    if not any(before) and not any(after) and max(steps, default=1) == 1:
        return x
    sizes = [max(0, (m - 1) * s + 1) for m, s in zip(x._shape[-n:], steps)]
    shape = (*x._shape[:-n], *[m + b + a for m, b, a in zip(sizes, before, after)])
    result = output.new(shape, x._dtype, x._storage.device)
    conversion.fill_(result, value)
    # What is cut off before the first element kept: whole steps, and where that one then lies.
    skip = [-(min(b, 0) // s) for b, s in zip(before, steps)]
    first = [b + k * s for b, k, s in zip(before, skip, steps)]
    room = shape[-n:]
    kept = [max(0, min(m - k, -((at - r) // s))) for m, k, at, r, s in zip(x._shape[-n:], skip, first, room, steps)]
    if not all(kept) or not numel(shape):
        return result
    block = (*x._shape[:-n], *kept)
    source = x._view(block, x._strides, x._offset + sum(k * s for k, s in zip(skip, x._strides[-n:])))
    own = result._strides[-n:]
    target = result._view(
        block, (*result._strides[:-n], *[s * t for s, t in zip(own, steps)]), sum(at * s for at, s in zip(first, own))
    )
    conversion.copy_(target, source)
    return result


def windows(
    x: Tensor, counts: Sequence[int], kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Tensor:
    """A view (*lead, *counts, *kernel) of the last dims, which hold all those windows."""
    n = len(counts)
    own = x._strides[-n:]
    return x._view(
        (*x._shape[:-n], *counts, *kernel),
        (*x._strides[:-n], *[a * b for a, b in zip(own, stride)], *[a * b for a, b in zip(own, dilation)]),
        x._offset,
    )


def at_positions(x: Tensor, lists: Sequence[list[int]]) -> Tensor:
    """x at the listed positions of its last dims, each dim by itself."""
    for k, listed in enumerate(lists):
        x = positions(x, x.ndim - len(lists) + k, listed)
    return x


def laid_out(values: Tensor, like: Tensor, n: int = 2) -> Tensor:
    """A result in the memory format of the input: channels last, where that one is; so are those of
    `n` = 1 spatial dim, which torch computes as images of one row."""
    if n == 1 and values.ndim == like.ndim == 3:
        result: Tensor = laid_out(values.unsqueeze(2), like.unsqueeze(2)).squeeze(2)
        return result
    wanted = output.suggested_format(like)
    return formed(values, wanted if values.ndim == like.ndim else contiguous_format)


def formed(values: Tensor, wanted: output.memory_format) -> Tensor:
    """A result in a memory format."""
    laid = conversion.contiguous(values, wanted)
    strides = output.layout_strides(laid, wanted)  # those of dims of size 1, too
    return laid if strides == laid._strides else laid._view(laid._shape, strides, laid._offset)
