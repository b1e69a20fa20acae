"""Tensors that take after another one: `*_like`, `new_*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...execute.memory import layout_strides, new
from ...formats import preserve_format
from ...ops.types.copy import fill_, zero_
from ...rows.catalogue import op
from ..view.arguments import int_list, layout
from . import data as creation_data
from .arguments import given_number, options, sizes
from .sizes import legacy_constructor, strided_layout

if TYPE_CHECKING:
    from ..._device import DeviceLike


def _like(
    function: str,
    input: Tensor,
    dtype: dtype | None,
    given_layout: Any,
    device: DeviceLike | None,
    pin_memory: bool,
    requires_grad: bool,
    memory_format: Any,
) -> Tensor:
    layout(input, function)  # refuses what is no tensor
    own = input._storage.device
    of, where = options(function, dtype, device, given_layout, pin_memory, requires_grad, own)
    strides = layout_strides(input, memory_format)
    return new(input._shape, of or input._dtype, where, strides)


@op(method=False)
def empty_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Tensor:
    """A tensor of `input`'s shape, dtype, device and memory order with whatever lies in its
    memory.
    """
    return _like(
        "empty_like", input, dtype, layout, device, pin_memory, requires_grad, memory_format
    )


@op(method=False)
def zeros_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Tensor:
    """Zeros of `input`'s shape, dtype, device and memory order."""
    return zero_(
        _like("zeros_like", input, dtype, layout, device, pin_memory, requires_grad, memory_format)
    )


@op(method=False)
def ones_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Tensor:
    """Ones of `input`'s shape, dtype, device and memory order."""
    return fill_(
        _like("ones_like", input, dtype, layout, device, pin_memory, requires_grad, memory_format),
        1,
    )


@op(method=False)
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = preserve_format,
) -> Tensor:
    """One value in `input`'s shape, dtype, device and memory order. RuntimeError where the dtype
    can't hold it.
    """
    value = given_number("full_like", "fill_value", fill_value)
    return fill_(
        _like("full_like", input, dtype, layout, device, pin_memory, requires_grad, memory_format),
        value,
    )


def _new(
    function: str,
    input: Tensor,
    given: tuple[Any, ...],
    size: Any,
    dtype: dtype | None,
    layout: Any,
    device: DeviceLike | None,
    pin_memory: bool,
    requires_grad: bool,
) -> Tensor:
    own = input._storage.device
    of, where = options(function, dtype, device, layout, pin_memory, requires_grad, own)
    return new(sizes(function, given, size), of or input._dtype, where)


@op(function=False)
def new_empty(
    input: Tensor,
    *args: Any,
    size: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`empty` with this tensor's dtype and device, unless others are given."""
    return _new("new_empty", input, args, size, dtype, layout, device, pin_memory, requires_grad)


@op(function=False)
def new_zeros(
    input: Tensor,
    *args: Any,
    size: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`zeros` with this tensor's dtype and device, unless others are given."""
    return zero_(
        _new("new_zeros", input, args, size, dtype, layout, device, pin_memory, requires_grad)
    )


@op(function=False)
def new_ones(
    input: Tensor,
    *args: Any,
    size: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`ones` with this tensor's dtype and device, unless others are given."""
    return fill_(
        _new("new_ones", input, args, size, dtype, layout, device, pin_memory, requires_grad), 1
    )


@op(function=False)
def new_full(
    input: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`full` with this tensor's dtype (not the value's) and device, unless others are given."""
    shape = int_list(size, "new_full", "size")
    value = given_number("new_full", "fill_value", fill_value)
    made = _new("new_full", input, (shape,), None, dtype, layout, device, pin_memory, requires_grad)
    return fill_(made, value)


@op(function=False)
def new_empty_strided(
    input: Tensor,
    size: Any,
    stride: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """`empty_strided` with this tensor's dtype and device, unless others are given."""
    own = input._storage.device
    function = "new_empty_strided"
    of, where = options(function, dtype, device, layout, pin_memory, requires_grad, own)
    shape, strides = strided_layout(function, size, stride)
    return new(shape, of or input._dtype, where, strides)


@op(function=False)
def new_tensor(
    input: Tensor,
    data: Any,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    layout: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """`tensor(data)` with this tensor's dtype and device, unless others are given."""
    if isinstance(data, Tensor):
        errors_creation.warn_copied_tensor("new_tensor")
    if dtype is None:
        dtype = input._dtype
    return creation_data.new_like_data(
        input, data, dtype, device, pin_memory, requires_grad, "new_tensor"
    )


@op(function=False, name="new", forms=("new(*sizes) -> Tensor", "new(data) -> Tensor"))
def new_(input: Tensor, *args: Any, device: DeviceLike | None = None) -> Tensor:
    """Torch's old way to make a tensor of this one's dtype and device."""
    where = input._storage.device if device is None else device
    return legacy_constructor(*args, device=where, of=input._dtype)
