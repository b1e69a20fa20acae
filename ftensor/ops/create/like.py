"""Tensors that take after another one: `*_like`, `new_*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._tensor import Tensor
from ...errors import creation as errors_creation
from ...execute.memory import layout_strides
from ...formats import preserve_format
from ...rows.catalogue import op
from ..types.copy import fill_, zero_
from ..view.arguments import int_list
from .arguments import number_argument, sizes
from .data import tensor_of
from .factory import Options, factory
from .sizes import legacy_constructor, strided_layout

if TYPE_CHECKING:
    from ..._device import DeviceLike


def _like(options: Options, input: Tensor, memory_format: Any) -> Tensor:
    return options.new(input._shape, layout_strides(input, memory_format))


@factory(method=False)
def empty_like(options: Options, input: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """A tensor of `input`'s shape, dtype, device and memory order with whatever lies in its
    memory.
    """
    return _like(options, input, memory_format)


@factory(method=False)
def zeros_like(options: Options, input: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """Zeros of `input`'s shape, dtype, device and memory order."""
    return zero_(_like(options, input, memory_format))


@factory(method=False)
def ones_like(options: Options, input: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """Ones of `input`'s shape, dtype, device and memory order."""
    return fill_(_like(options, input, memory_format), 1)


@factory(method=False)
def full_like(options: Options, input: Tensor, fill_value: Any, *, memory_format: Any = preserve_format) -> Tensor:
    """One value in `input`'s shape, dtype, device and memory order. RuntimeError where the dtype
    can't hold it.
    """
    value = number_argument("full_like", "fill_value", fill_value)
    return fill_(_like(options, input, memory_format), value)


@factory(function=False, ways=("*size",))
def new_empty(options: Options, input: Tensor, *args: Any, size: Any = None) -> Tensor:
    """`empty` with this tensor's dtype and device, unless others are given."""
    return options.new(sizes("new_empty", args, size))


@factory(function=False, ways=("*size",))
def new_zeros(options: Options, input: Tensor, *args: Any, size: Any = None) -> Tensor:
    """`zeros` with this tensor's dtype and device, unless others are given."""
    return zero_(options.new(sizes("new_zeros", args, size)))


@factory(function=False, ways=("*size",))
def new_ones(options: Options, input: Tensor, *args: Any, size: Any = None) -> Tensor:
    """`ones` with this tensor's dtype and device, unless others are given."""
    return fill_(options.new(sizes("new_ones", args, size)), 1)


@factory(function=False)
def new_full(options: Options, input: Tensor, size: Any, fill_value: Any) -> Tensor:
    """`full` with this tensor's dtype (not the value's) and device, unless others are given."""
    shape = int_list(size, "new_full", "size")
    value = number_argument("new_full", "fill_value", fill_value)
    return fill_(options.new(sizes("new_full", (shape,))), value)


@factory(function=False)
def new_empty_strided(options: Options, input: Tensor, size: Any, stride: Any) -> Tensor:
    """`empty_strided` with this tensor's dtype and device, unless others are given."""
    return options.new(*strided_layout("new_empty_strided", size, stride))


@factory(function=False)
def new_tensor(options: Options, input: Tensor, data: Any) -> Tensor:
    """`tensor(data)` with this tensor's dtype and device, unless others are given."""
    if isinstance(data, Tensor):
        errors_creation.warn_copied_tensor("new_tensor")
    return tensor_of(data, options.dtype, options.device)


@op(function=False, name="new", forms=("new(*sizes) -> Tensor", "new(data) -> Tensor"))
def new_(input: Tensor, *args: Any, device: DeviceLike | None = None) -> Tensor:
    """Torch's old way to make a tensor of this one's dtype and device."""
    where = input._storage.device if device is None else device
    return legacy_constructor(*args, device=where, of=input._dtype)
