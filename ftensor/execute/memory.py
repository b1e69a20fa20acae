"""Fresh tensors, copies and conversions: where memory is asked for and moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes, errors
from .._device import backend_of
from .._tensor import Tensor
from ..errors import creation as errors_creation
from ..formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from ..formats import memory_format as _MemoryFormat
from ..iterator.shape import numel
from ..iterator.stride import (
    channels_last_strides,
    contiguous_strides,
    extent,
    has_internal_overlap,
    is_channels_last,
    is_contiguous,
    like_strides,
)
from ..ops.scalars import number, storable
from ..ops.view.arguments import ints, layout
from ..rows.catalogue import op
from ..rows.op import Op
from .pointwise import pointwise

if TYPE_CHECKING:
    from .._device import device

Ints = tuple[int, ...]

CATEGORY = "copies"
# A copy computes in the source's dtype and converts as it stores.
COPY = Op("copy", "copy(src) -> Tensor", "a", bool_="a", complex_="a", any_out=True, located=True)
FILL = Op(
    "fill", "fill(value) -> Tensor", "value", bool_="value", complex_="value", params=("value",)
)


def new(shape: Ints, of: dtypes.dtype, where: device, strides: Ints | None = None) -> Tensor:
    """Memory for a tensor on a (resolved) device; its values are whatever lies there."""
    backend = backend_of(where)
    if of.name in ("float64", "complex128") and not backend.properties.has_float64:
        raise errors.no_float64(of, backend.properties.name)
    strides = contiguous_strides(shape) if strides is None else strides
    storage = backend.allocate((extent(shape, strides)[1] + 1 if numel(shape) else 0) * of.itemsize)
    storage.device = where
    return Tensor._make(storage, of, shape, strides)


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


@op(function=False, rows=(COPY,))
def copy_(input: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast to this tensor's shape and converted to its dtype, into this
    tensor.
    """
    if not isinstance(src, Tensor):
        found = number(src)
        if found is None:
            raise errors.not_a_tensor_or_number("copy_", src)
        return fill_(input, found)
    if src is input:
        return input
    if src._dtype.is_complex and not input._dtype.is_complex:
        errors_creation.warn_complex_to_real()
    if src._storage.device is not input._storage.device:
        src = _moved(src, input._storage.device)
    return pointwise(COPY, (src,), (), input, True)


def _moved(t: Tensor, where: device) -> Tensor:
    """The same values on another device, by way of the host (where it is not the same)."""
    backend = backend_of(where)
    made = new(t._shape, t._dtype, where)
    if backend is t._storage.backend:
        source = Tensor._make(t._storage, t._dtype, t._shape, t._strides, t._offset)
        made._storage.device = t._storage.device
        pointwise(COPY, (source,), (), made, True)
        made._storage.device = where
    else:
        backend.upload(made._storage, 0, np.ascontiguousarray(t._host()))
    return made


@op()
def clone(input: Tensor, *, memory_format: memory_format = preserve_format) -> Tensor:
    """A copy in memory of its own."""
    layout(input, "clone")  # refuses what is no tensor
    strides = layout_strides(input, memory_format)
    made = new(input._shape, input._dtype, input._storage.device, strides)
    return pointwise(COPY, (input,), (), made, True)


@op(function=False)
def contiguous(input: Tensor, memory_format: memory_format = contiguous_format) -> Tensor:
    """Itself if it is, else a copy."""
    if input.is_contiguous(memory_format):
        return input
    return clone(input, memory_format=memory_format)


def suggested_format(t: Tensor) -> memory_format:
    """The memory format that a tensor counts as having: contiguous unless it lies channels-last."""
    if is_channels_last(t._shape, t._strides) and not is_contiguous(t._shape, t._strides):
        return channels_last if t.ndim == 4 else channels_last_3d
    return contiguous_format


def converted(
    t: Tensor,
    of: dtypes.dtype,
    where: device,
    copy: bool = False,
    wanted: memory_format = preserve_format,
) -> Tensor:
    """`t` in a dtype on a device; `t` itself when that is what it is already."""
    same_layout = wanted is preserve_format or wanted is suggested_format(t)
    if t._dtype.is_complex and not of.is_complex and of is not dtypes.bool:
        errors_creation.warn_complex_to_real()
    if t._dtype is of and t._storage.device is where and not copy and same_layout:
        return t
    if t._storage.device is not where:
        t = _moved(t, where)
        if t._dtype is of and wanted is preserve_format:
            return t
    made = new(t._shape, of, where, layout_strides(t, wanted))
    return pointwise(COPY, (t,), (), made, True)


@op(function=False, rows=(FILL,))
def fill_(input: Tensor, value: Any) -> Tensor:
    """Write a number (or a 0-d tensor's value) into every element.

    RuntimeError for a number that the dtype can't hold; a tensor's value is converted.
    """
    if isinstance(value, Tensor):
        if value._shape:
            raise errors.fill_value_dims(value._shape)
        pointwise(COPY, (value.to(input._storage.device),), (), _each_once(input), True)
        return input
    found = number(value)
    if found is None:
        raise errors.not_a_tensor_or_number("fill_", value)
    pointwise(FILL, (), (storable("fill_", found, input._dtype),), _each_once(input), True)
    return input


def _each_once(t: Tensor) -> Tensor:
    """An expanded tensor without its repetitions, which all get the same value."""
    if 0 not in t._strides or not has_internal_overlap(t._shape, t._strides):
        return t
    shape = tuple([1 if s == 0 and n else n for n, s in zip(t._shape, t._strides)])
    return t._view(shape, t._strides, t._offset)


@op()
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor like `input` with every element `value`."""
    made = new(
        input._shape, input._dtype, input._storage.device, layout_strides(input, preserve_format)
    )
    return fill_(made, value)


@op()
def zero_(input: Tensor) -> Tensor:
    """Write zeros."""
    pointwise(FILL, (), (0,), _each_once(input), True)
    return input


@op(function=False)
def resize_(input: Tensor, *size: Any, memory_format: memory_format = contiguous_format) -> Tensor:
    """Change the shape in place; elements keep their place in memory.

    A storage that is too small is replaced by a larger one with the same beginning.
    """
    shape = ints(size[0], size[1:], "resize_", "size") if size else None
    if shape is None:
        raise errors_creation.missing_argument("resize_", "size")
    if any(n < 0 for n in shape):
        raise errors_creation.negative_dimension(shape)
    if memory_format is preserve_format:
        raise errors_creation.memory_format_unsupported("resize_", memory_format)
    if shape == input._shape and memory_format is contiguous_format:
        return input
    strides = format_strides(shape, memory_format)
    count = numel(shape)
    need = (input._offset + count) * input._dtype.itemsize if count else 0
    storage = input._storage
    if need > storage.nbytes:
        made = new((need // input._dtype.itemsize,), input._dtype, storage.device)
        old = storage.nbytes // input._dtype.itemsize
        if old:
            pointwise(
                COPY, (Tensor._make(storage, input._dtype, (old,), (1,)),), (),
                made._view((old,), (1,), 0), True,
            )  # fmt: skip
        storage = made._storage
    return input._become(Tensor._make(storage, input._dtype, shape, strides, input._offset))
