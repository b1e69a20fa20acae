"""Padding: constant, reflected, replicated, circular."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import errors
from ..._tensor import Tensor
from ...dtypes import int64
from ...errors import nn as errors_spatial
from ...errors import view as errors_shape
from ...execute import output
from ...execute.layers import REFLECT, layer
from ...execute.output import check_capacity, suggested_format
from ...execute.packed_weights import MAX_CACHED_BYTES, constant_of
from ...execute.scalars import as_float
from ...rows.catalogue import op
from ..types import conversion
from ..view.layout import int_list
from .cat import cat, suggested_strides

IntArray = np.ndarray[Any, np.dtype[np.int64]]


@op(method=False)
def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """Returns a copy with `value` before and after: pairs of counts, for the last dim first.
    Negative counts remove elements."""
    name = "constant_pad_nd"
    counts = int_list(pad, name, "pad")
    if len(counts) % 2:
        raise errors_shape.odd_pad(counts)
    if len(counts) > 2 * input.ndim:
        raise errors_shape.long_pad(counts, input.ndim)
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, complex) and not input._dtype.is_complex:
        raise errors.complex_to_real_value(value, input._dtype)
    if not any(counts):
        return conversion.clone(input)
    padding_before = (0,) * (input.ndim - len(counts) // 2) + counts[-2::-2]
    padding_after = (0,) * (input.ndim - len(counts) // 2) + counts[::-1][::2]
    kept_sizes = tuple([n + min(b, 0) + min(a, 0) for n, b, a in zip(input._shape, padding_before, padding_after)])
    shape = tuple([n + b + a for n, b, a in zip(input._shape, padding_before, padding_after)])
    if any(n < 0 for n in kept_sizes) or any(n < 0 for n in shape):
        raise errors_shape.pad_too_negative(counts, input._shape)
    source_offset = sum(max(-b, 0) * s for b, s in zip(padding_before, input._strides))
    source = input._view(kept_sizes, input._strides, input._offset + source_offset)
    if max(counts) <= 0:  # nothing is added, so the memory order is kept
        return conversion.clone(source)
    strides = suggested_strides(shape, (input,))
    result = output.new(shape, input._dtype, input._storage.device, strides)
    conversion.fill_(result, value)
    target_offset = sum(max(b, 0) * s for b, s in zip(padding_before, result._strides))
    conversion.copy_(result._view(kept_sizes, result._strides, target_offset), source)
    return result


def _reflect(positions: IntArray, size: int) -> IntArray:
    positions = np.abs(positions)
    return np.minimum(positions, 2 * (size - 1) - positions)


MODES: dict[str, Callable[[IntArray, int], IntArray]] = {
    "reflect": _reflect,
    "replicate": lambda positions, size: np.clip(positions, 0, size - 1),
    "circular": lambda positions, size: positions % size,
}


def gather_positions(x: Tensor, dim: int, positions: Sequence[int] | IntArray) -> Tensor:
    """Returns the elements at `positions` of a dim; `x` itself if these are all, in order."""
    indices = np.asarray(positions, np.int64)
    if len(indices) == x._shape[dim] and (indices == np.arange(len(indices))).all():
        return x
    return x.index_select(dim, constant_of(indices, x))


@op(namespace="nn.functional")
def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """Returns a copy with elements added before and after: pairs of counts, for the last dim first;
    negative counts remove elements. Added elements are `value` (0) or, for the last one to three
    dims, mirrored at the edge ('reflect'), copies of the edge ('replicate'), or from the other end
    ('circular')."""
    value = as_float("pad", "value", value)
    if mode == "constant":
        return constant_pad_nd(input, pad, 0 if value is None else value)
    counts = int_list(pad, "pad", "pad")
    if len(counts) % 2:
        raise errors_shape.odd_pad(counts)
    if len(counts) > 2 * input.ndim:
        raise errors_shape.long_pad(counts, input.ndim)
    if value:
        raise errors_spatial.pad_value(mode, value)
    n = len(counts) // 2
    if mode not in MODES or n not in (1, 2, 3) or input.ndim not in (n + 1, n + 2):
        raise errors_spatial.pad_dims(mode, counts, input._shape)
    if input._dtype.kind == "b" and mode != "circular":
        raise errors.not_implemented_for(mode, input._dtype)
    if mode == "reflect" and n == 1 and counts[0] == counts[1]:
        return layer(REFLECT, (input,), {"count": counts[0]}, lambda: _padded(input, counts, mode))
    return _padded(input, counts, mode)


def _padded(input: Tensor, counts: Sequence[int], mode: str) -> Tensor:
    """Returns a copy with elements of the tensor added before and after, as by `pad`."""
    n = len(counts) // 2
    result = input
    for d in range(n):
        dim = input.ndim - 1 - d
        padding_before, padding_after = counts[2 * d : 2 * d + 2]
        size = input._shape[dim]
        limit = size - 1 if mode == "reflect" else size if mode == "circular" else 2**62
        total = size + padding_before + padding_after
        if max(padding_before, padding_after) > limit or total < 0 or not size:
            raise errors_spatial.pad_wraps(mode, counts, input._shape)
        first = 0
        if mode == "circular":  # wraps around the remaining elements
            first, size = max(-padding_before, 0), size + min(padding_before, 0) + min(padding_after, 0)
            padding_before = max(padding_before, 0)
        if size <= 0 and (total or padding_before):  # nothing remains to wrap around
            raise errors_spatial.pad_wraps(mode, counts, input._shape)
        check_capacity(result, total, int64)
        positions = first + MODES[mode](np.arange(-padding_before, total - padding_before), size)
        if positions.nbytes > MAX_CACHED_BYTES and min(counts[2 * d : 2 * d + 2]) >= 0:  # all elements are kept
            edges = positions[:padding_before], positions[padding_before + size :]
            first_edge, last_edge = [gather_positions(result, dim, edge) for edge in edges]
            result = cat((first_edge, result, last_edge), dim)
        else:
            result = gather_positions(result, dim, positions)
    if result is input:
        return input.clone()
    return result if mode == "circular" else result.contiguous(memory_format=suggested_format(input))
