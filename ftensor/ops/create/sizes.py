"""Tensors made of sizes: zeros, ones, full, empty, and what calling `ft.Tensor` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import dtypes
from ..._tensor import Tensor, method
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...execute.memory import format_strides, new
from ...formats import Size, contiguous_format
from ...iterator.stride import strides_in_order
from ...ops.types.copy import fill_, resize_, zero_
from ...rows.catalogue import op
from ..scalars import number, storable
from ..view.arguments import int_list
from . import data as creation_data
from .arguments import (
    check_out,
    checked_format,
    checked_shape,
    destination,
    given_number,
    number_dtype,
    options,
    sizes,
)

if TYPE_CHECKING:
    import numpy as np

    from ..._device import DeviceLike

Ints = tuple[int, ...]


@op(method=False)
def zeros(
    *args: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of zeros. The dtype is the default one unless given; RuntimeError for negative
    sizes.
    """
    of, where = options("zeros", dtype, device, layout, pin_memory, requires_grad)
    shape = sizes("zeros", args, size)
    return zero_(destination("zeros", shape, of, where, out, given_device=device))


@op(method=False)
def ones(
    *args: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of ones. The dtype is the default one unless given; RuntimeError for
    negative sizes.
    """
    of, where = options("ones", dtype, device, layout, pin_memory, requires_grad)
    shape = sizes("ones", args, size)
    return fill_(destination("ones", shape, of, where, out, given_device=device), 1)


@op(method=False)
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of one value, a number or a 0-d tensor. Without `dtype` it has the value's: bool,
    int64, the default dtype or its complex counterpart. RuntimeError where the dtype can't hold it.
    """
    of, where = options("full", dtype, device, layout, pin_memory, requires_grad)
    shape = checked_shape(int_list(size, "full", "size"))
    value = given_number("full", "fill_value", fill_value)
    kind = of or (out._dtype if out is not None else number_dtype(value))
    value = storable("full", value, kind)
    return fill_(destination("full", shape, of, where, out, kind, device), value)


@op(method=False)
def empty(
    *args: Any,
    size: Any = None,
    out: Tensor | None = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = contiguous_format,
) -> Tensor:
    """A tensor whose values are whatever lies in its memory."""
    of, where = options("empty", dtype, device, layout, pin_memory, requires_grad)
    shape = sizes("empty", args, size)
    wanted = checked_format("empty", memory_format)
    if out is not None:
        check_out("empty", out, of, device)
        return resize_(out, shape, memory_format=wanted)
    return new(shape, of or dtypes.get_default_dtype(), where, format_strides(shape, wanted))


@op(method=False)
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of given sizes and strides (in elements) with whatever values lie in its memory.
    RuntimeError for negative ones, or where they are not equally many.
    """
    of, where = options("empty_strided", dtype, device, layout, pin_memory, requires_grad)
    shape, strides = strided_layout("empty_strided", size, stride)
    return new(shape, of or dtypes.get_default_dtype(), where, strides)


def strided_layout(function: str, size: Any, stride: Any) -> tuple[Ints, Ints]:
    """Sizes and strides that go together."""
    shape = int_list(size, function, "size")
    strides = int_list(stride, function, "stride")
    if len(shape) != len(strides):
        raise errors_creation.stride_count(shape, strides)
    if strides and min(strides) < 0:
        raise errors_creation.negative_stride(strides)
    return checked_shape(shape), strides


@op(method=False)
def empty_permuted(
    size: Any,
    physical_layout: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor without gaps whose dims lie in memory in the order `physical_layout`, outermost
    first. RuntimeError if that does not name each dim once.
    """
    of, where = options("empty_permuted", dtype, device, layout, pin_memory, requires_grad)
    shape = checked_shape(int_list(size, "empty_permuted", "size"))
    order = int_list(physical_layout, "empty_permuted", "physical_layout")
    if sorted(order) != list(range(len(shape))):
        raise errors_creation.bad_physical_layout(shape, order)
    strides = strides_in_order(tuple([max(n, 1) for n in shape]), order)
    return new(shape, of or dtypes.get_default_dtype(), where, strides)


@op(method=False)
def scalar_tensor(
    s: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: DeviceLike | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A 0-d tensor, of the default dtype unless another is given."""
    of, where = options("scalar_tensor", dtype, device, layout, pin_memory, requires_grad)
    value = given_number("scalar_tensor", "s", s)
    return fill_(new((), of or dtypes.get_default_dtype(), where), value)


def legacy_constructor(
    *args: Any, device: DeviceLike | None = None, of: dtype | None = None, **data: Any
) -> Tensor:
    """`ft.Tensor(2, 3)` by sizes, `ft.Tensor([..])` by data, of the default dtype (or of `of`)."""
    if data:
        if args or set(data) != {"data"}:
            raise errors_creation.legacy_data(data)
        args = (data["data"],)
    where = options("Tensor", None, device)[1]
    of = of or dtypes.get_default_dtype()
    if not args:
        return new((0,), of, where)
    first = args[0]
    if isinstance(first, Tensor) and len(args) == 1:
        return first._view(first._shape, first._strides, first._offset)
    value = number(first)
    if len(args) > 1 or isinstance(first, Size) or isinstance(value, int):
        return new(sizes("Tensor", args), of, where)
    if value is not None:
        raise errors_creation.legacy_data(first)
    return creation_data.made_of(first, of, where)


def rebuild(array: np.ndarray[Any, Any], of: dtype) -> Tensor:
    """A pickled tensor, on the device of new tensors; bfloat16 comes as float32."""
    return creation_data.made_of(array, of, options("tensor", None, None)[1])


@method("__new__")
def called(cls: type[Tensor], *args: Any, **kwargs: Any) -> Tensor:
    return legacy_constructor(*args, **kwargs)


@method("__reduce__")
def reduced(self: Tensor) -> Any:
    return rebuild, (self._host_values().copy(order="K"), self._dtype)
