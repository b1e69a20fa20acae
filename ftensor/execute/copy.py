"""Copies between tensors, with conversion, and fills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from .._device import backend_of
from .._tensor import Tensor
from ..errors import creation as errors_creation
from ..formats import memory_format, preserve_format
from ..iterator.shape import has_internal_overlap
from ..rows.copies import COPY, FILL
from .output import check_device, check_dtype, layout_strides, new, resize_out, suggested_format
from .pointwise import pointwise

if TYPE_CHECKING:
    from .._device import device


def copy(src: Tensor, out: Tensor) -> Tensor:
    """Writes `src`, broadcast and converted, to `out`, which may be on another device."""
    if src._storage.device is not out._storage.device:
        src = move(src, out._storage.device)
    return pointwise(COPY, (src,), (), out, True)


def fill(t: Tensor, value: Any) -> Tensor:
    """Writes a Python number that the dtype can hold to every element."""
    pointwise(FILL, (), (value,), without_expanded_dims(t), True)
    return t


def without_expanded_dims(t: Tensor) -> Tensor:
    """Returns an expanded tensor with its expanded dims at size 1, so that a write visits each
    element once."""
    if 0 not in t._strides or not has_internal_overlap(t._shape, t._strides):
        return t
    shape = tuple([1 if s == 0 and n else n for n, s in zip(t._shape, t._strides)])
    return t._view(shape, t._strides, t._offset)


def move(t: Tensor, device: device) -> Tensor:
    """Returns a copy on another device, in the same layout. The copy passes through the host unless
    both devices share a backend."""
    backend = backend_of(device)
    strides = layout_strides(t, preserve_format)
    copied = new(t._shape, t._dtype, device, strides)
    if backend is t._storage.backend:
        source = Tensor._make(t._storage, t._dtype, t._shape, t._strides, t._offset)
        copied._storage.device = t._storage.device
        pointwise(COPY, (source,), (), copied, True)
        copied._storage.device = device
    else:
        order = sorted(range(t.ndim), key=lambda d: -strides[d])  # in memory order
        backend.upload(copied._storage, 0, np.ascontiguousarray(t._host().transpose(order)))
    return copied


def convert(
    t: Tensor, dtype: dtypes.dtype, device: device, copy: bool = False, memory_format: memory_format = preserve_format
) -> Tensor:
    """Returns `t` in a dtype on a device; `t` itself if nothing changes and `copy` is False."""
    same_layout = memory_format is preserve_format or memory_format is suggested_format(t)
    if t._dtype.is_complex and not dtype.is_complex and dtype is not dtypes.bool:
        errors_creation.warn_complex_to_real()
    if t._dtype is dtype and t._storage.device is device and not copy and same_layout:
        return t
    if t._storage.device is not device:
        t = move(t, device)
        if t._dtype is dtype and memory_format is preserve_format:
            return t
    copied = new(t._shape, dtype, device, layout_strides(t, memory_format))
    return pointwise(COPY, (t,), (), copied, True)


def clone(t: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
    """Returns a copy in its own memory."""
    copied = new(t._shape, t._dtype, t._storage.device, layout_strides(t, memory_format))
    return pointwise(COPY, (t,), (), copied, True)


def write_result(op: str, out: Tensor | None, result: Tensor, cast: bool = False, fixed: bool = False) -> Tensor:
    """Returns `result`, or `out` with the result written to it. `cast`: `out` may have any dtype
    that can hold the result. `fixed`: `out` must have the result's shape."""
    if out is None:
        return result
    check_dtype(op, out, result._dtype, cast)
    check_device(op, out, result._storage.device)
    return pointwise(COPY, (result,), (), resize_out(out, result._shape, fixed), True)
