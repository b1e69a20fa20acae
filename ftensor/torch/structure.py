"""Ops without arithmetic: allocation, views, `set_` and `resize_`.

Views only access a tensor's metadata, so torch's own CPU kernels compute them. The dispatcher
calls these kernels with the CPU's dispatch keys, without a Python frame in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import torch
from torch.library import get_kernel

from .. import dtypes
from .._device import backend_of, first_fpga
from .._tensor import Tensor
from ..dtypes import uint8
from ..errors import torch as errors
from ..execute.output import fresh_layout
from ..execute.output import new as ft_new
from ..execute.pointwise import copy, pointwise
from ..iterator.plan import like_strides
from ..iterator.shape import Ints, contiguous_strides, extent
from ..rows.copies import FILL
from . import memory as m
from .internals import CPU_KEYS, has_kernel_for, untyped_storage
from .prepared_kernels import impl_prepared
from .registration import DEVICE, aten, impl, written

VIEWS = (
    "as_strided",
    "view",
    "_reshape_alias",
    "unfold",
    "view_as_real",
    "view_as_complex",
    "alias",
    "view.dtype",
    "set_.source_Storage_storage_offset",
    "set_.source_Tensor",
)
_kernels = []  # keeps the kernels alive: C++ does not

for _name in VIEWS:
    if has_kernel_for(f"aten::{_name}", "CPU"):
        _kernels.append(get_kernel(f"aten::{_name}", "CPU"))
        written[_name] = partial(_kernels[-1].call_boxed, CPU_KEYS)
        aten.impl(_name, written[_name])


def format_strides(size: Sequence[int], memory_format: torch.memory_format | None) -> Any:
    """Returns the strides of a new tensor in a memory format."""
    if memory_format in (None, torch.contiguous_format, torch.preserve_format):
        return contiguous_strides(tuple(size))
    return torch.empty(size, device="meta", memory_format=memory_format).stride()


def check_index(device: torch.device | None) -> None:
    """Raises RuntimeError for fpga:1 and above."""
    if device is not None and device.index and device.type == DEVICE.type:
        raise errors.device_index(device.index)


def check(device: torch.device | None, pin_memory: bool | None) -> None:
    """Raises RuntimeError for fpga:1 and above, and for pinned memory."""
    check_index(device)
    if pin_memory:
        raise errors.cannot_pin()


class _Whole(NamedTuple):
    """The memory of a new tensor: its bytes, and a tensor without memory that has the geometry."""

    nbytes: int
    like: Tensor


@lru_cache(1 << 12)
def _checked_geometry(
    size: Ints,
    stride: Ints | None,
    dtype: torch.dtype,
    layout: torch.layout | None,
    device: torch.device | None,
    pin_memory: bool | None,
    memory_format: torch.memory_format | None,
) -> tuple[Ints, Ints, dtypes.dtype | None, _Whole | None]:
    """Returns (shape, strides, dtype, or None if ftensor lacks it, its memory) of a new tensor, from the
    arguments of a call. The cache saves the checks of all calls but the first.

    The memory is None for a tensor without elements or of a dtype that not all devices have.
    """
    if layout is not None and layout is not torch.strided:
        raise errors.layout(layout)
    if min(size, default=0) < 0:
        raise errors.negative_dimension(size)
    check(device, pin_memory)
    strides = format_strides(size, memory_format) if stride is None else stride
    element, whole = m.TO_FT.get(dtype), None
    if element is not None and 0 not in size and len(size) <= m.MAX_DIMS:
        nbytes, _, key, double = fresh_layout(size, element, strides)
        if not double:
            like = object.__new__(Tensor)
            like._shape, like._strides, like._dtype, like._key = size, strides, element, key
            whole = _Whole(nbytes, like)
    return size, strides, element, whole


@impl("empty.memory_format")
def empty(
    size: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> torch.Tensor:
    """Returns an uninitialized tensor in a memory format."""
    dtype = dtype or torch.get_default_dtype()
    return _new(dtype, *_checked_geometry(tuple(size), None, dtype, layout, device, pin_memory, memory_format))


@impl("empty_strided")
def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> torch.Tensor:
    """Returns an uninitialized tensor with given strides."""
    dtype = dtype or torch.get_default_dtype()
    return _new(dtype, *_checked_geometry(tuple(size), tuple(stride), dtype, layout, device, pin_memory, None))


def _new(
    torch_dtype: torch.dtype, shape: Ints, strides: Ints, dtype: dtypes.dtype | None, whole: _Whole | None
) -> torch.Tensor:
    if whole is not None:
        device, backend = first_fpga()
        memory = backend.allocate(whole.nbytes)
        memory.device = device
        tensor = m.wrap_new(memory, whole.like)
        return _fill_deterministic(tensor) if torch.are_deterministic_algorithms_enabled() else tensor
    if dtype is None:  # a buffer of bytes, for ops on the host
        nbytes = 0 if 0 in shape else (extent(shape, strides)[1] + 1) * torch_dtype.itemsize
        return m.tensor_over(m.new_storage(m.allocate(nbytes), nbytes), torch_dtype, shape, strides)
    tensor = m.wrap(ft_new(shape, dtype, m.device_of_calls(), strides))
    return _fill_deterministic(tensor) if torch.are_deterministic_algorithms_enabled() else tensor


def _fill_deterministic(t: torch.Tensor) -> torch.Tensor:
    """Fills new memory if torch.use_deterministic_algorithms requests it, and returns `t`."""
    if not torch.are_deterministic_algorithms_enabled():
        return t
    if not torch.utils.deterministic.fill_uninitialized_memory:
        return t
    if t.dtype.is_floating_point or t.dtype.is_complex:
        return t.fill_(float("nan"))
    return t.fill_(True if t.dtype is torch.bool else torch.iinfo(t.dtype).max)


def filled(
    number: float,
    size: Sequence[int],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
) -> torch.Tensor:
    """Returns a contiguous tensor with every element equal to `number`, which any dtype can hold.
    Raises NotImplementedError for a dtype that ftensor lacks."""
    return _new_filled(number, tuple(size), None, dtype or torch.get_default_dtype(), layout, device, pin_memory, None)


def filled_like(
    number: float,
    self: torch.Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    memory_format: Any = None,
) -> torch.Tensor:
    """Returns a tensor with the geometry of `self`, by default also its dtype, and every element equal
    to `number`, which any dtype can hold."""
    here = device is None or device.type == DEVICE.type
    if not here or memory_format not in (None, torch.preserve_format) or (dtype or self.dtype) not in m.TO_FT:
        like = torch.empty_like(
            self, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory, memory_format=memory_format
        )
        return like.fill_(number)
    shape = tuple(self.shape)
    return _new_filled(
        number, shape, like_strides(shape, self.stride()), dtype or self.dtype, layout, device, pin_memory, None
    )


for _name, _number in (("zeros_like", 0), ("ones_like", 1)):
    impl_prepared(_name)(partial(filled_like, _number))


def _new_filled(number: float, *arguments: Any) -> torch.Tensor:
    shape, strides, dtype, _ = _checked_geometry(*arguments)
    if dtype is None:
        raise NotImplementedError
    return m.wrap(pointwise(FILL, (), (number,), ft_new(shape, dtype, m.device_of_calls(), strides), True))


@impl("set_.source_Storage")
def set_source_storage(self: torch.Tensor, source: Any) -> torch.Tensor:
    """Makes `self` a 1-d view of a whole storage."""
    count = source.nbytes() // self.dtype.itemsize
    return m.set_storage(CPU_KEYS, self, source, 0, [count], [1])


@impl("set_")
def set_nothing(self: torch.Tensor) -> torch.Tensor:
    """Makes `self` an empty 1-d tensor on a new storage."""
    return m.set_storage(CPU_KEYS, self, m.new_storage(m.allocate(0), 0), 0, [0], [1])


@impl("resize_")
def resize_(self: torch.Tensor, size: Sequence[int], *, memory_format: Any = None) -> torch.Tensor:
    """Changes the size of `self`; keeps the elements.

    If the storage is too small, `self` gets a new storage with a copy of the old bytes. Other
    tensors keep the old storage.
    """
    if min(size, default=0) < 0:
        raise errors.negative_dimension(size)
    strides = format_strides(size, memory_format)
    if tuple(size) == tuple(self.shape) and memory_format is None:
        return self
    storage, offset = untyped_storage(self), self.storage_offset()
    count = 0 if 0 in size else extent(tuple(size), tuple(strides))[1] + 1
    needed = (offset + count) * self.dtype.itemsize if count else 0
    if needed > storage.nbytes():
        old_nbytes, old_storage = storage.nbytes(), storage
        old_storage._ft.replaced = True
        storage = m.new_storage(m.allocate(needed), needed)
        if self.dtype in m.TO_FT:
            _fill_deterministic(m.tensor_over(storage, self.dtype, (needed // self.dtype.itemsize,), (1,)))
        if old_nbytes:
            old_bytes = Tensor._make(old_storage._ft, uint8, (old_nbytes,), (1,), 0)
            copy(old_bytes, Tensor._make(storage._ft, uint8, (old_nbytes,), (1,), 0))
    return m.set_storage(CPU_KEYS, self, storage, offset, list(size), list(strides))


@impl("_efficientzerotensor")
def zero_tensor(
    size: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> torch.Tensor:
    """Returns plain zeros for forward-mode autograd: torch's zero tensors have a dispatch key."""
    return torch.zeros(size, dtype=dtype, device=DEVICE)


@impl("is_pinned")
def is_pinned(self: torch.Tensor, device: Any = None) -> bool:
    """Returns False: torch does not treat device memory as host memory."""
    return False


@impl("record_stream")
def record_stream(self: torch.Tensor, s: Any) -> None:
    """Does nothing: storages record the streams that use them."""


@impl("is_set_to")
def is_set_to(self: torch.Tensor, tensor: torch.Tensor) -> bool:
    """True if two tensors have the same storage, offset, shape and strides."""
    return (
        untyped_storage(self)._cdata == untyped_storage(tensor)._cdata
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


def host_shared() -> bool:
    """True if the device computes in host memory."""
    return backend_of(m.device_of_calls()).host_shared
