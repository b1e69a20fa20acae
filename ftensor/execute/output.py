"""Result tensors: fresh ones, and torch's rules for `out=` and in-place ops."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .. import dtypes, errors
from .._device import backend_of
from .._tensor import Tensor, geometry_key
from ..dtypes import can_cast, dtype
from ..errors import creation as errors_creation
from ..formats import channels_last, channels_last_3d, contiguous_format, memory_format, preserve_format
from ..formats import memory_format as _MemoryFormat
from ..iterator.plan import like_strides
from ..iterator.shape import (
    Ints,
    channels_closest,
    channels_last_strides,
    contiguous_strides,
    extent,
    full_overlap,
    has_internal_overlap,
    numel,
    partial_overlap,
)

if TYPE_CHECKING:
    from .._device import device


def new(shape: Ints, dtype: dtypes.dtype, device: device, strides: Ints | None = None) -> Tensor:
    """Returns an uninitialized tensor on a (resolved) device."""
    backend = backend_of(device)
    nbytes, strides, key, double = fresh_layout(shape, dtype, strides)
    if double and not backend.properties.has_float64:
        raise errors.no_float64(dtype, backend.properties.name)
    storage = backend.allocate(nbytes)
    storage.device = device
    tensor = object.__new__(Tensor)
    tensor._storage, tensor._dtype, tensor._offset = storage, dtype, 0
    tensor._shape, tensor._strides, tensor._key = shape, strides, key
    return tensor


@lru_cache(1 << 14)
def fresh_layout(shape: Ints, dtype: dtypes.dtype, strides: Ints | None) -> tuple[int, Ints, int, bool]:
    """Returns (bytes, strides, geometry key, True for float64 elements) of fresh memory."""
    strides = contiguous_strides(shape) if strides is None else strides
    count = extent(shape, strides)[1] + 1 if numel(shape) else 0
    double = dtype.name in ("float64", "complex128")
    return count * dtype.itemsize, strides, geometry_key(shape, strides, dtype), double


def check_capacity(like: Tensor, elements: int, dtype: dtypes.dtype) -> None:
    """Raises OutOfMemoryError if the device of `like` can't hold `elements` elements of `dtype`.
    Call it before work that needs the memory."""
    like._storage.backend.pool.check_capacity(elements * dtype.itemsize)


def new_like(t: Tensor, shape: Ints, dtype: dtypes.dtype | None = None) -> Tensor:
    """Returns an uninitialized contiguous tensor on the device of `t`, with its dtype unless
    `dtype` is passed."""
    return new(shape, dtype or t._dtype, t._storage.device)


def layout_strides(t: Tensor, memory_format: memory_format | None) -> Ints:
    """Returns the strides of a fresh tensor like `t` in a memory format; None is
    `preserve_format`."""
    if memory_format is preserve_format or memory_format is None:
        return like_strides(t._shape, t._strides)
    return format_strides(t._shape, memory_format)


def format_strides(shape: Ints, wanted: memory_format) -> Ints:
    """Returns the strides of a shape in a memory format other than `preserve_format`."""
    if wanted in (channels_last, channels_last_3d):
        need = 4 if wanted is channels_last else 5
        if len(shape) != need:
            raise errors.memory_format_ndim(wanted, need, len(shape))
        return channels_last_strides(shape)
    if not isinstance(wanted, _MemoryFormat):
        raise errors_creation.not_a_memory_format("memory_format", wanted)
    return contiguous_strides(shape)


def suggested_format(t: Tensor) -> memory_format:
    """Returns the memory format of `t`: channels_last if its channels have the smallest strides,
    with gaps or without; else contiguous."""
    if channels_closest(t._shape, t._strides):
        return channels_last if t.ndim == 4 else channels_last_3d
    return contiguous_format


def resize(t: Tensor, shape: Ints, strides: Ints | None = None) -> Tensor:
    """Changes the shape of a tensor that is about to be written. The layout is dense from the
    tensor's offset: row-major, unless `strides` names another order.

    Storage that is too small is replaced. Values are undefined.
    """
    strides, count = contiguous_strides(shape) if strides is None else strides, numel(shape)
    storage, size = t._storage, t._dtype.itemsize
    t._start_is_read()
    if count and (t._offset + count) * size > storage.nbytes:
        storage = new((t._offset + count,), t._dtype, storage.device)._storage
    return t._become(Tensor._make(storage, t._dtype, shape, strides, t._offset))


def as_bits(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Returns the tensors as integer views of the same memory if all have the same dtype and that
    dtype has few ops or is unsigned. Any device that copies integers can then copy them, and NaNs
    keep their bits."""
    dtype = tensors[0]._dtype
    if dtype.bits is dtype or any(t._dtype is not dtype for t in tensors):
        return list(tensors)
    return [Tensor._make(t._storage, dtype.bits, t._shape, t._strides, t._offset) for t in tensors]


def region(x: Tensor) -> tuple[int, Ints, Ints, int]:
    """Returns (offset in bytes, shape, strides, bytes of an element), as `iterator.shape` takes a
    region of memory."""
    return x._offset * x._dtype.itemsize, x._shape, x._strides, x._dtype.itemsize


def check_dtype(op: str, out: Tensor, dtype: dtype, cast: bool = False) -> None:
    """Raises RuntimeError for an output of another dtype than `dtype`; with `cast`, only for one
    that can't hold `dtype`.

    Raises TypeError if `out` is no tensor.
    """
    if type(out) is not Tensor:
        raise errors.not_a_tensor(op, "out", out)
    if cast and not can_cast(dtype, out._dtype):
        raise errors.cannot_cast_result(op, dtype, out._dtype)
    if not cast and out._dtype is not dtype:
        raise errors.out_dtype(op, dtype, out._dtype)


def check_device(op: str, out: Tensor, device: device) -> None:
    """Raises RuntimeError for an output on another device or with read-only memory."""
    if out._storage.device is not device:
        raise errors.different_devices(op, (device, out._storage.device))
    if out._storage.readonly:
        raise errors.read_only(op)


def check_overlap(op: str, out: Tensor, read: Iterable[Any], aligned: bool = False) -> None:
    """Raises RuntimeError for an output that overlaps itself or a tensor in `read`.

    `aligned`: the op writes each element after it reads the same element, so an input may equal the
    output or overlap it exactly.
    """
    if has_internal_overlap(out._shape, out._strides):
        raise errors.output_overlaps_itself(op, out._shape, out._strides)
    for x in read:
        if type(x) is not Tensor or x._storage is not out._storage:
            continue
        if x is out:
            bad = not aligned
        else:
            a, b = region(x), region(out)
            bad = partial_overlap(a, b) or (not aligned and full_overlap(a, b))
        if bad:
            raise errors.output_overlaps_input(op)


def check_written(op: str, out: Tensor, read: Iterable[Any]) -> None:
    """Raises RuntimeError for an output that is read-only, overlaps itself or overlaps a tensor in
    `read`."""
    check_device(op, out, out._storage.device)
    check_overlap(op, out, read)


def resize_out(out: Tensor, shape: Ints, fixed: bool = False, strides: Ints | None = None) -> Tensor:
    """Returns `out` in the result's shape, row-major or with `strides`. Warns as torch does if
    `out` had elements and another shape.

    With `fixed` (an in-place op, or an output that is also read), raises RuntimeError for another
    shape instead.
    """
    if out._shape != shape:
        if fixed:
            raise errors.output_shape(out._shape, shape)
        if out.numel():
            warnings.warn(errors.resized(out._shape, shape), stacklevel=4)
        resize(out, shape, strides)
    return out


def out_or_new(
    op: str,
    out: Tensor | None,
    shape: Ints,
    dtype: dtype,
    like: Tensor,
    read: Iterable[Any] = (),
    strides: Ints | None = None,
) -> Tensor:
    """Returns the tensor for a result: `out`, resized to fit, or a fresh tensor on the device of
    `like`.

    `out` must have the result's dtype, be on the same device and not overlap a tensor in `read`.
    """
    if out is None:
        return new(shape, dtype, like._storage.device, strides)
    check_dtype(op, out, dtype)
    check_device(op, out, like._storage.device)
    check_overlap(op, out, read)
    return resize_out(out, shape)
