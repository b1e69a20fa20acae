"""Result tensors: fresh ones, and torch's rules for `out=` and in-place ops."""

from __future__ import annotations

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
from ..iterator.shape import (
    Ints,
    channels_closest,
    channels_last_strides,
    contiguous_strides,
    extent,
    full_overlap,
    has_internal_overlap,
    like_strides,
    numel,
    partial_overlap,
)

if TYPE_CHECKING:
    from .._device import device


def new(shape: Ints, of: dtypes.dtype, where: device, strides: Ints | None = None) -> Tensor:
    """Memory for a tensor on a (resolved) device; its values are whatever lies there."""
    backend = backend_of(where)
    nbytes, strides, key, double = _layout(shape, of, strides)
    if double and not backend.properties.has_float64:
        raise errors.no_float64(of, backend.properties.name)
    storage = backend.allocate(nbytes)
    storage.device = where
    tensor = object.__new__(Tensor)
    tensor._storage, tensor._dtype, tensor._offset = storage, of, 0
    tensor._shape, tensor._strides, tensor._key = shape, strides, key
    return tensor


@lru_cache(1 << 14)
def _layout(shape: Ints, of: dtypes.dtype, strides: Ints | None) -> tuple[int, Ints, int, bool]:
    """(bytes, strides, number of the geometry, whether it is of doubles) of fresh memory."""
    strides = contiguous_strides(shape) if strides is None else strides
    count = extent(shape, strides)[1] + 1 if numel(shape) else 0
    double = of.name in ("float64", "complex128")
    return count * of.itemsize, strides, geometry_key(shape, strides, of), double


def check_capacity(like: Tensor, elements: int, of: dtypes.dtype) -> None:
    """OutOfMemoryError where so many elements are more than `like`'s device can have: before work
    is done that leads to them."""
    like._storage.backend.pool.ask(elements * of.itemsize)


def new_like(t: Tensor, shape: Ints, of: dtypes.dtype | None = None) -> Tensor:
    """A contiguous tensor on `t`'s device, of `t`'s dtype unless another is given."""
    return new(shape, of or t._dtype, t._storage.device)


def layout_strides(t: Tensor, wanted: memory_format | None) -> Ints:
    """The strides of a fresh tensor like `t` in a memory format; None is `preserve_format`."""
    if wanted is preserve_format or wanted is None:
        return like_strides(t._shape, t._strides)
    return format_strides(t._shape, wanted)


def format_strides(shape: Ints, wanted: memory_format) -> Ints:
    """The strides of a shape in a memory format other than `preserve_format`."""
    if wanted in (channels_last, channels_last_3d):
        need = 4 if wanted is channels_last else 5
        if len(shape) != need:
            raise errors.memory_format_ndim(wanted, need, len(shape))
        return channels_last_strides(shape)
    if not isinstance(wanted, _MemoryFormat):
        raise errors_creation.not_a_memory_format("memory_format", wanted)
    return contiguous_strides(shape)


def suggested_format(t: Tensor) -> memory_format:
    """The memory format that a tensor counts as having: contiguous unless its channels lie closest,
    with gaps or without."""
    if channels_closest(t._shape, t._strides):
        return channels_last if t.ndim == 4 else channels_last_3d
    return contiguous_format


def resize(t: Tensor, shape: Ints, strides: Ints | None = None) -> Tensor:
    """Give a tensor that is about to be written another shape, without gaps from where it begins:
    row-major, unless `strides` name another order.

    Memory that is too small is replaced; the values are whatever lies there.
    """
    strides, count = contiguous_strides(shape) if strides is None else strides, numel(shape)
    storage, size = t._storage, t._dtype.itemsize
    t._start_is_read()
    if count and (t._offset + count) * size > storage.nbytes:
        storage = new((t._offset + count,), t._dtype, storage.device)._storage
    return t._become(Tensor._make(storage, t._dtype, shape, strides, t._offset))


def as_bits(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The same memory as integers where all tensors are of one dtype of few ops: so any device
    that copies integers moves these, and a NaN keeps its bits."""
    of = tensors[0]._dtype
    if not of.bare or any(t._dtype is not of for t in tensors):
        return list(tensors)
    return [Tensor._make(t._storage, of.bits, t._shape, t._strides, t._offset) for t in tensors]


def region(x: Tensor) -> tuple[int, Ints, Ints, int]:
    """The memory that a tensor reaches, as `iterator.stride` knows it."""
    return x._offset * x._dtype.itemsize, x._shape, x._strides, x._dtype.itemsize


def check_dtype(op: str, out: Tensor, of: dtype, cast: bool = False) -> None:
    """RuntimeError for an output of another dtype; with `cast`, for one that can't hold `of`.

    TypeError for what is no tensor.
    """
    if type(out) is not Tensor:
        raise errors.not_a_tensor(op, "out", out)
    if cast and not can_cast(of, out._dtype):
        raise errors.cannot_cast_result(op, of, out._dtype)
    if not cast and out._dtype is not of:
        raise errors.out_dtype(op, of, out._dtype)


def check_place(op: str, out: Tensor, where: device) -> None:
    """RuntimeError for memory of another device, or that must not be written."""
    if out._storage.device is not where:
        raise errors.different_devices(op, (where, out._storage.device))
    if out._storage.readonly:
        raise errors.read_only(op)


def check_overlap(op: str, out: Tensor, read: Iterable[Any], aligned: bool = False) -> None:
    """RuntimeError for an output that overlaps itself, or what is read.

    `aligned`: an element is written where, or after, it is read, so that an input may be the output
    itself or lie exactly on it.
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
    """RuntimeError for an output that must not be written, overlaps itself, or what is read."""
    check_place(op, out, out._storage.device)
    check_overlap(op, out, read)


def resize_out(out: Tensor, shape: Ints, fixed: bool = False, strides: Ints | None = None) -> Tensor:
    """`out` in the result's shape, with torch's warning where it had elements to lose.

    Another shape comes with `strides`, or row-major.
    RuntimeError where it is `fixed`: an op in place, or an output that is read.
    """
    if out._shape != shape:
        if fixed:
            raise errors.output_shape(out._shape, shape)
        if out.numel():
            errors.warn_resized(out._shape, shape)
        resize(out, shape, strides)
    return out


def out_or_new(
    op: str,
    out: Tensor | None,
    shape: Ints,
    of: dtype,
    like: Tensor,
    read: Iterable[Any] = (),
    strides: Ints | None = None,
) -> Tensor:
    """The tensor a result is written to: `out`, resized to fit, or a fresh one on `like`'s device.

    `out` must have the result's dtype, lie on the same device and not overlap what is read.
    """
    if out is None:
        return new(shape, of, like._storage.device, strides)
    check_dtype(op, out, of)
    check_place(op, out, like._storage.device)
    check_overlap(op, out, read)
    return resize_out(out, shape)
