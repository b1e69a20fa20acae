"""Tensors made of sizes: zeros, ones, full, empty and their `_empty_like` and `new_` forms."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from ... import dtypes, errors
from ..._tensor import Tensor, method
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...execute.output import format_strides, new
from ...execute.scalars import number, storable
from ...formats import Size, contiguous_format, memory_format, preserve_format
from ...iterator.plan import strides_in_order
from ...iterator.shape import numel
from ...rows.catalogue import op
from ..types.conversion import fill_, resize_, zero_
from ..view.layout import int_list, ints
from . import data as creation_data
from .data import tensor_of
from .factory import Options, factory

if TYPE_CHECKING:
    from ..._device import DeviceLike


Ints = tuple[int, ...]


def sizes(function: str, args: tuple[Any, ...], size: Any = None) -> Ints:
    """Returns a shape that is given as separate ints, as one tuple or list, or by the keyword
    `size`."""
    if size is not None:
        args += (size,)
    if not args:
        raise errors.missing_argument(function, "size")
    if len(args) > 1 and isinstance(args[0], (tuple, list)):
        raise errors_creation.surplus_arguments(function, 1, len(args))
    return checked_shape(ints(args[0], args[1:], function, "size"))


def checked_shape(shape: Ints) -> Ints:
    if shape and min(shape) < 0:
        raise errors_creation.negative_dimension(shape)
    return shape


def checked_format(function: str, value: Any) -> memory_format:
    """Returns a checked memory format; None means the default format."""
    if value is None:
        return contiguous_format
    if not isinstance(value, memory_format):
        raise errors_creation.not_a_memory_format(function, value)
    if value is preserve_format:
        raise errors_creation.memory_format_unsupported(function, value)
    return value


def number_argument(function: str, argument: str, value: Any) -> Any:
    scalar = number(value)
    if scalar is None:
        raise errors_creation.needs_a_number(function, argument, value)
    return scalar


def number_dtype(value: Any) -> dtype:
    return dtypes.scalar_dtype(value)


def rounded_up(count: float) -> int:
    if not math.isfinite(count) or count >= 2.0**63:
        raise errors_creation.range_too_long(count)
    return max(0, math.ceil(count))


@factory(method=False, ways=("*size",))
def zeros(options: Options, *args: Any, size: Any = None, out: Tensor | None = None) -> Tensor:
    """Returns a tensor of zeros, of the default dtype unless `dtype` is given. Raises RuntimeError
    for negative sizes."""
    shape = sizes("zeros", args, size)
    return zero_(options.destination(shape, out))


@factory(method=False, ways=("*size",))
def ones(options: Options, *args: Any, size: Any = None, out: Tensor | None = None) -> Tensor:
    """Returns a tensor of ones, of the default dtype unless `dtype` is given. Raises RuntimeError
    for negative sizes."""
    shape = sizes("ones", args, size)
    return fill_(options.destination(shape, out), 1)


@factory(method=False)
def full(options: Options, size: Any, fill_value: Any, *, out: Tensor | None = None) -> Tensor:
    """Returns a tensor filled with one value, a number or a 0-d tensor. Without `dtype` its dtype
    is that of the value: bool, int64, the default dtype or its complex counterpart. Raises
    RuntimeError if the dtype can't hold the value."""
    shape = checked_shape(int_list(size, "full", "size"))
    value = number_argument("full", "fill_value", fill_value)
    kind = options.dtype or (out._dtype if out is not None else number_dtype(value))
    value = storable("full", value, kind, numel(shape) == 1)
    return fill_(options.destination(shape, out, kind), value)


@factory(method=False, ways=("*size",))
def empty(
    options: Options, *args: Any, size: Any = None, out: Tensor | None = None, memory_format: Any = contiguous_format
) -> Tensor:
    """Returns a tensor with uninitialized values."""
    shape = sizes("empty", args, size)
    layout_format = checked_format("empty", memory_format)
    if out is not None:
        options.check_out(out)
        return resize_(out, shape, memory_format=layout_format)
    return options.new(shape, format_strides(shape, layout_format))


@factory(method=False)
def empty_strided(options: Options, size: Any, stride: Any) -> Tensor:
    """Returns a tensor of given sizes and strides (in elements) with uninitialized values. Raises
    RuntimeError for negative sizes or strides and for lists of different lengths."""
    shape, strides = strided_layout("empty_strided", size, stride)
    return options.new(shape, strides)


def strided_layout(function: str, size: Any, stride: Any) -> tuple[Ints, Ints]:
    shape = int_list(size, function, "size")
    strides = int_list(stride, function, "stride")
    if len(shape) != len(strides):
        raise errors_creation.stride_count(shape, strides)
    if strides and min(strides) < 0:
        raise errors_creation.negative_stride(strides)
    return checked_shape(shape), strides


@factory(method=False)
def empty_permuted(options: Options, size: Any, physical_layout: Any) -> Tensor:
    """Returns a tensor without gaps, with uninitialized values, whose dims have the memory order
    `physical_layout`, outermost first. Raises RuntimeError if that doesn't name each dim once."""
    shape = checked_shape(int_list(size, "empty_permuted", "size"))
    order = int_list(physical_layout, "empty_permuted", "physical_layout")
    if sorted(order) != list(range(len(shape))):
        raise errors_creation.bad_physical_layout(shape, order)
    strides = strides_in_order(tuple([max(n, 1) for n in shape]), order)
    return options.new(shape, strides)


@factory(method=False)
def scalar_tensor(options: Options, s: Any) -> Tensor:
    """Returns a 0-d tensor of the default dtype unless another is given."""
    value = number_argument("scalar_tensor", "s", s)
    return fill_(options.new(()), value)


def legacy_constructor(
    *args: Any, device: DeviceLike | None = None, element: dtype | None = None, **data: Any
) -> Tensor:
    """Implements `ft.Tensor(2, 3)` by sizes and `ft.Tensor([..])` by data, of the default dtype or
    of `element`."""
    if data:
        if args or set(data) != {"data"}:
            raise errors_creation.legacy_data(data)
        args = (data["data"],)
    target_device = Options("Tensor", device=device).device
    element = element or dtypes.get_default_dtype()
    if not args:
        return new((0,), element, target_device)
    first = args[0]
    if isinstance(first, Tensor) and len(args) == 1:
        return first._view(first._shape, first._strides, first._offset)
    value = number(first)
    if len(args) > 1 or isinstance(first, Size) or isinstance(value, int):
        return new(sizes("Tensor", args), element, target_device)
    if value is not None:
        raise errors_creation.legacy_data(first)
    return creation_data.tensor_of(first, element, target_device)


@method("__new__")
def called(cls: type[Tensor], *args: Any, **kwargs: Any) -> Tensor:
    return legacy_constructor(*args, **kwargs)


@factory(method=False)
def empty_like(options: Options, input: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """Returns a tensor with uninitialized values and `input`'s shape, dtype, device and memory
    order."""
    return options.like(input, memory_format)


@factory(method=False)
def zeros_like(options: Options, input: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """Returns zeros of `input`'s shape, dtype, device and memory order."""
    return zero_(options.like(input, memory_format))


@factory(method=False)
def ones_like(options: Options, input: Tensor, *, memory_format: Any = preserve_format) -> Tensor:
    """Returns ones of `input`'s shape, dtype, device and memory order."""
    return fill_(options.like(input, memory_format), 1)


@factory(method=False)
def full_like(options: Options, input: Tensor, fill_value: Any, *, memory_format: Any = preserve_format) -> Tensor:
    """Returns a tensor filled with one value, of `input`'s shape, dtype, device and memory order.
    Raises RuntimeError if the dtype can't hold the value."""
    value = number_argument("full_like", "fill_value", fill_value)
    return fill_(options.like(input, memory_format), value)


@factory(function=False, ways=("*size",))
def new_empty(options: Options, input: Tensor, *args: Any, size: Any = None) -> Tensor:
    """Like `empty`, with this tensor's dtype and device unless others are given."""
    return options.new(sizes("new_empty", args, size))


@factory(function=False, ways=("*size",))
def new_zeros(options: Options, input: Tensor, *args: Any, size: Any = None) -> Tensor:
    """Like `zeros`, with this tensor's dtype and device unless others are given."""
    return zero_(options.new(sizes("new_zeros", args, size)))


@factory(function=False, ways=("*size",))
def new_ones(options: Options, input: Tensor, *args: Any, size: Any = None) -> Tensor:
    """Like `ones`, with this tensor's dtype and device unless others are given."""
    return fill_(options.new(sizes("new_ones", args, size)), 1)


@factory(function=False)
def new_full(options: Options, input: Tensor, size: Any, fill_value: Any) -> Tensor:
    """Like `full`, with this tensor's dtype (not the value's) and device by default."""
    shape = int_list(size, "new_full", "size")
    value = number_argument("new_full", "fill_value", fill_value)
    return fill_(options.new(sizes("new_full", (shape,))), value)


@factory(function=False)
def new_empty_strided(options: Options, input: Tensor, size: Any, stride: Any) -> Tensor:
    """Like `empty_strided`, with this tensor's dtype and device unless others are given."""
    return options.new(*strided_layout("new_empty_strided", size, stride))


@factory(function=False)
def new_tensor(options: Options, input: Tensor, data: Any) -> Tensor:
    """Like `tensor(data)`, with this tensor's dtype and device unless others are given."""
    if isinstance(data, Tensor):
        warnings.warn(errors_creation.copied_tensor("new_tensor"), stacklevel=2)
    return tensor_of(data, options.dtype, options.device)


@op(function=False, name="new", forms=("new(*sizes) -> Tensor", "new(data) -> Tensor"))
def new_(input: Tensor, *args: Any, device: DeviceLike | None = None) -> Tensor:
    """Returns a tensor of this tensor's dtype and device, from sizes or data: torch's legacy
    `Tensor.new`."""
    target_device = input._storage.device if device is None else device
    return legacy_constructor(*args, device=target_device, element=input._dtype)
