"""Conversions between dtypes and devices: `to` and the methods named after dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes, errors
from ..._device import device as Device
from ..._device import resolve
from ..._tensor import Tensor
from ...errors import creation as errors_creation
from ...execute.copy import converted
from ...formats import memory_format, preserve_format
from ...rows.catalogue import op

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
    """The tensor in another dtype or on another device.

    The tensor itself when nothing changes, unless `copy`. Strides are kept unless `memory_format`
    says otherwise. `non_blocking` is accepted; copies to the host wait.
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
    return converted(
        input,
        dtypes.as_dtype("to", dtype) or input._dtype,
        input._storage.device if device is None else resolve(device),
        positional[1] if len(positional) > 1 else copy,
        memory_format or preserve_format,
    )


def _names_device(value: Any) -> bool:
    return isinstance(value, (str, Device)) or type(value) is int


def _dtype_in(positional: list[Any]) -> Any:
    """Take the dtype off the arguments that follow a device, if there is one."""
    if positional and (positional[0] is None or isinstance(positional[0], (dtypes.dtype, type))):
        return positional.pop(0)
    return None


def _one_of(name: str, positional: Any, keyword: Any) -> Any:
    """An argument that may be given by position or by name, but not both ways."""
    if positional is not None and keyword is not None:
        raise errors_creation.given_twice("to", name)
    return keyword if positional is None else positional


def _conversion(name: str, of: dtypes.dtype) -> None:
    def convert(input: Tensor, memory_format: memory_format = preserve_format) -> Tensor:
        return converted(input, of, input._storage.device, False, memory_format)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The same as `to({of})`."
    op(function=False)(convert)


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
