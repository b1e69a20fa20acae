"""Conversions between dtypes and devices, copies, fills."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes, errors
from ..._device import device as Device
from ..._device import resolve
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...execute.output import format_strides, layout_strides, new
from ...execute.pointwise import clone as copied
from ...execute.pointwise import convert as convert_tensor
from ...execute.pointwise import copy, without_expanded_dims
from ...execute.pointwise import fill as fill_with
from ...execute.scalars import number, storable
from ...formats import contiguous_format, memory_format, preserve_format
from ...iterator.shape import numel
from ...rows.catalogue import op
from ...rows.spelling import named
from ..view.layout import ints, layout

if TYPE_CHECKING:
    from ..._device import DeviceLike


@op(
    function=False,
    forms=(
        "to(dtype, non_blocking=False, copy=False, *, memory_format=None) -> Tensor",
        "to(device, dtype=None, non_blocking=False, copy=False, *, memory_format=None) -> Tensor",
        "to(other, non_blocking=False, copy=False, *, memory_format=None) -> Tensor",
    ),
)
def to(
    input: Tensor,
    *args: Any,
    device: DeviceLike | None = None,
    dtype: dtypes.dtype | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """Converts the tensor to another dtype or device.

    Returns the tensor itself if nothing changes, unless `copy`. Strides are kept unless
    `memory_format` is given. `non_blocking` is accepted; copies to the host wait.
    """
    positional = list(args)
    if positional:
        first = positional.pop(0)
        if isinstance(first, Tensor):
            target: tuple[Any, Any] = (first._dtype, first._storage.device)
        elif isinstance(first, (dtypes.dtype, type, np.dtype)):
            target = (first, None)
        elif first is None or _names_device(first):
            target = (_dtype_in(positional), first)
        else:
            raise errors.bad_to_argument(first)
        dtype, device = _one_of("dtype", target[0], dtype), _one_of("device", target[1], device)
    for flag in positional:
        if not isinstance(flag, bool):
            raise errors.bad_to_argument(flag)
    if len(positional) > 2:
        raise errors_creation.surplus_arguments("to", 4, len(args))
    return convert_tensor(
        input,
        dtypes.as_dtype("to", dtype) or input._dtype,
        input._storage.device if device is None else resolve(device),
        positional[1] if len(positional) > 1 else copy,
        memory_format or preserve_format,
    )


def _names_device(value: Any) -> bool:
    return isinstance(value, (str, Device)) or type(value) is int


def _dtype_in(positional: list[Any]) -> Any:
    if positional and (positional[0] is None or isinstance(positional[0], (dtypes.dtype, type))):
        return positional.pop(0)
    return None


def _one_of(name: str, positional: Any, keyword: Any) -> Any:
    if positional is not None and keyword is not None:
        raise errors_creation.given_twice("to", name)
    return keyword if positional is None else positional


def _conversion(name: str, target_dtype: dtypes.dtype) -> None:
    @op(function=False)
    @named(name, f"Converts the tensor: `to({target_dtype})`.")
    def convert(input: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
        return convert_tensor(input, target_dtype, input._storage.device, False, memory_format)


for _name, _of in {
    "bool": dtypes.bool,
    "byte": dtypes.uint8,
    "char": dtypes.int8,
    "short": dtypes.int16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
    "float": dtypes.float32,
    "double": dtypes.float64,
    "chalf": dtypes.complex32,
    "cfloat": dtypes.complex64,
    "cdouble": dtypes.complex128,
}.items():
    _conversion(_name, _of)


@op(function=False)
def copy_(input: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Writes `other`, broadcast to this tensor's shape and converted to its dtype, into this
    tensor."""
    if not isinstance(other, Tensor):
        scalar = number(other)
        if scalar is None:
            raise errors.not_a_tensor_or_number("copy_", other)
        return fill_(input, scalar)
    if other is input:
        return input
    if other._dtype.is_complex and not input._dtype.is_complex:
        warnings.warn(errors_creation.drops_imaginary_parts(), stacklevel=3)
    return copy(other, input)


@op()
def clone(input: Tensor, *, memory_format: memory_format = preserve_format) -> Tensor:
    """Returns a copy with its own memory."""
    layout(input, "clone")  # raises TypeError for anything but a tensor
    return copied(input, memory_format)


@op(function=False)
def contiguous(input: Tensor, memory_format: memory_format = contiguous_format) -> Tensor:
    """Returns the tensor itself if it is contiguous, else a copy."""
    if input.is_contiguous(memory_format):
        return input
    return clone(input, memory_format=memory_format)


@op()
def fill_(input: Tensor, value: Any) -> Tensor:
    """Writes a number (or a 0-d tensor's value) into every element.

    Raises RuntimeError for a number that the dtype can't hold; a tensor's value is converted.
    """
    if isinstance(value, Tensor):
        if value._shape:
            raise errors.fill_value_dims(value._shape)
        copy(value, without_expanded_dims(input))
        return input
    return fill_with(input, _stored("fill_", value, input._dtype, input.numel() == 1))


def _stored(op: str, value: Any, target_dtype: dtype, is_single: bool = False) -> Any:
    scalar = number(value)
    if scalar is None:
        raise errors.not_a_tensor_or_number(op, value)
    return storable(op, scalar, target_dtype, is_single)


def number_like(op: str, input: Tensor, value: Any) -> Tensor:
    result = new((), input._dtype, input._storage.device)
    return fill_with(result, _stored(op, value, input._dtype))


@op()
def fill(input: Tensor, value: Any) -> Tensor:
    """Returns a tensor like `input` with every element equal to `value`."""
    result = new(input._shape, input._dtype, input._storage.device, layout_strides(input, preserve_format))
    return fill_(result, value)


@op()
def zero_(input: Tensor) -> Tensor:
    """Writes zeros into every element."""
    return fill_with(input, 0)


@op(function=False)
def resize_(input: Tensor, *size: Any, memory_format: memory_format = contiguous_format) -> Tensor:
    """Changes the shape in place; elements keep their position in memory.

    A storage that is too small is replaced by a larger one that begins with the same elements.
    """
    shape = ints(size[0], size[1:], "resize_", "size") if size else None
    if shape is None:
        raise errors.missing_argument("resize_", "size")
    if any(n < 0 for n in shape):
        raise errors_creation.negative_dimension(shape)
    if memory_format is preserve_format:
        raise errors_creation.memory_format_unsupported("resize_", memory_format)
    if shape == input._shape and memory_format is contiguous_format:
        return input
    strides = format_strides(shape, memory_format)
    count = numel(shape)
    input._start_is_read()
    need = (input._offset + count) * input._dtype.itemsize if count else 0
    storage = input._storage
    if need > storage.nbytes:
        new_memory = new((need // input._dtype.itemsize,), input._dtype, storage.device)
        old_count = storage.nbytes // input._dtype.itemsize
        if old_count:
            copy(Tensor._make(storage, input._dtype, (old_count,), (1,)), new_memory._view((old_count,), (1,), 0))
        storage = new_memory._storage
    return input._become(Tensor._make(storage, input._dtype, shape, strides, input._offset))
