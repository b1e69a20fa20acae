"""Tensors made of sizes: zeros, ones, full, empty, and what calling `ft.Tensor` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import dtypes
from ..._tensor import Tensor, method
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...execute.memory import format_strides, new
from ...formats import Size, contiguous_format
from ...iterator.shape import numel
from ...iterator.stride import strides_in_order
from ...ops.types.copy import fill_, resize_, zero_
from ..user_values import number, storable
from ..view.arguments import int_list
from . import data as creation_data
from .arguments import checked_format, checked_shape, number_argument, number_dtype, sizes
from .factory import Options, factory

if TYPE_CHECKING:
    from ..._device import DeviceLike

Ints = tuple[int, ...]


@factory(method=False, ways=("*size",))
def zeros(options: Options, *args: Any, size: Any = None, out: Tensor | None = None) -> Tensor:
    """A tensor of zeros. The dtype is the default one unless given; RuntimeError for negative
    sizes.
    """
    shape = sizes("zeros", args, size)
    return zero_(options.destination(shape, out))


@factory(method=False, ways=("*size",))
def ones(options: Options, *args: Any, size: Any = None, out: Tensor | None = None) -> Tensor:
    """A tensor of ones. The dtype is the default one unless given; RuntimeError for
    negative sizes.
    """
    shape = sizes("ones", args, size)
    return fill_(options.destination(shape, out), 1)


@factory(method=False)
def full(options: Options, size: Any, fill_value: Any, *, out: Tensor | None = None) -> Tensor:
    """A tensor of one value, a number or a 0-d tensor. Without `dtype` it has the value's: bool,
    int64, the default dtype or its complex counterpart. RuntimeError where the dtype can't hold it.
    """
    shape = checked_shape(int_list(size, "full", "size"))
    value = number_argument("full", "fill_value", fill_value)
    kind = options.dtype or (out._dtype if out is not None else number_dtype(value))
    value = storable("full", value, kind, numel(shape) == 1)
    return fill_(options.destination(shape, out, kind), value)


@factory(method=False, ways=("*size",))
def empty(
    options: Options, *args: Any, size: Any = None, out: Tensor | None = None, memory_format: Any = contiguous_format
) -> Tensor:
    """A tensor whose values are whatever lies in its memory."""
    shape = sizes("empty", args, size)
    wanted = checked_format("empty", memory_format)
    if out is not None:
        options.check_out(out)
        return resize_(out, shape, memory_format=wanted)
    return options.new(shape, format_strides(shape, wanted))


@factory(method=False)
def empty_strided(options: Options, size: Any, stride: Any) -> Tensor:
    """A tensor of given sizes and strides (in elements) with whatever values lie in its memory.
    RuntimeError for negative ones, or where they are not equally many.
    """
    shape, strides = strided_layout("empty_strided", size, stride)
    return options.new(shape, strides)


def strided_layout(function: str, size: Any, stride: Any) -> tuple[Ints, Ints]:
    """Sizes and strides that go together."""
    shape = int_list(size, function, "size")
    strides = int_list(stride, function, "stride")
    if len(shape) != len(strides):
        raise errors_creation.stride_count(shape, strides)
    if strides and min(strides) < 0:
        raise errors_creation.negative_stride(strides)
    return checked_shape(shape), strides


@factory(method=False)
def empty_permuted(options: Options, size: Any, physical_layout: Any) -> Tensor:
    """A tensor without gaps whose dims lie in memory in the order `physical_layout`, outermost
    first. RuntimeError if that does not name each dim once.
    """
    shape = checked_shape(int_list(size, "empty_permuted", "size"))
    order = int_list(physical_layout, "empty_permuted", "physical_layout")
    if sorted(order) != list(range(len(shape))):
        raise errors_creation.bad_physical_layout(shape, order)
    strides = strides_in_order(tuple([max(n, 1) for n in shape]), order)
    return options.new(shape, strides)


@factory(method=False)
def scalar_tensor(options: Options, s: Any) -> Tensor:
    """A 0-d tensor, of the default dtype unless another is given."""
    value = number_argument("scalar_tensor", "s", s)
    return fill_(options.new(()), value)


def legacy_constructor(*args: Any, device: DeviceLike | None = None, of: dtype | None = None, **data: Any) -> Tensor:
    """`ft.Tensor(2, 3)` by sizes, `ft.Tensor([..])` by data, of the default dtype (or of `of`)."""
    if data:
        if args or set(data) != {"data"}:
            raise errors_creation.legacy_data(data)
        args = (data["data"],)
    where = Options("Tensor", device=device).device
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
    return creation_data.tensor_of(first, of, where)


@method("__new__")
def called(cls: type[Tensor], *args: Any, **kwargs: Any) -> Tensor:
    return legacy_constructor(*args, **kwargs)
