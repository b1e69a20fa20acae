"""Padding with a constant."""

from __future__ import annotations

from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import shape as errors_shape
from ...execute import memory
from ...ops.types import copy
from ...rows.catalogue import op
from ..index.gather import check_tensors
from ..view.arguments import int_list
from .cat import suggested_strides


@op(method=False)
def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """A copy with `value` before and after: pairs of counts, for the last dim first. Negative ones
    cut off.
    """
    name = "constant_pad_nd"
    check_tensors(name, input=input)
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
        return copy.clone(input)
    before = (0,) * (input.ndim - len(counts) // 2) + counts[-2::-2]
    after = (0,) * (input.ndim - len(counts) // 2) + counts[::-1][::2]
    kept = tuple([n + min(b, 0) + min(a, 0) for n, b, a in zip(input._shape, before, after)])
    shape = tuple([n + b + a for n, b, a in zip(input._shape, before, after)])
    if any(n < 0 for n in kept) or any(n < 0 for n in shape):
        raise errors_shape.pad_too_negative(counts, input._shape)
    here = sum(max(-b, 0) * s for b, s in zip(before, input._strides))
    source = input._view(kept, input._strides, input._offset + here)
    if max(counts) <= 0:  # nothing is added, so the order in memory stays
        return copy.clone(source)
    strides = suggested_strides(shape, (input,))
    result = memory.new(shape, input._dtype, input._storage.device, strides)
    copy.fill_(result, value)
    there = sum(max(b, 0) * s for b, s in zip(before, result._strides))
    copy.copy_(result._view(kept, result._strides, there), source)
    return result
