"""Ops without arithmetic: allocation, views, `set_` and `resize_`.

Views only access a tensor's metadata, so torch's own CPU kernels compute them. The dispatcher
calls these kernels with the CPU's dispatch keys, without a Python frame in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch.library import get_kernel

from .._device import backend_of
from .._tensor import Tensor
from ..dtypes import uint8
from ..errors import torch as errors
from ..execute.output import new as ft_new
from ..execute.pointwise import copy
from ..iterator.shape import contiguous_strides, extent
from . import memory as m
from .internals import CPU_KEYS, has_kernel_for, untyped_storage
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
    if layout is not None and layout is not torch.strided:
        raise errors.layout(layout)
    if min(size, default=0) < 0:
        raise errors.negative_dimension(size)
    strides = format_strides(size, memory_format)
    return empty_strided(size, strides, dtype=dtype, device=device, pin_memory=pin_memory)


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
    check(device, pin_memory)
    if min(size, default=0) < 0:
        raise errors.negative_dimension(size)
    torch_dtype = torch.get_default_dtype() if dtype is None else dtype
    dtype_ = m.TO_FT.get(torch_dtype)
    if dtype_ is not None:
        return _fill_deterministic(m.wrap(ft_new(tuple(size), dtype_, m.device_of_calls(), tuple(stride))))
    # A dtype that ftensor lacks: a buffer of bytes, for ops on the host.
    nbytes = 0 if 0 in size else (extent(tuple(size), tuple(stride))[1] + 1) * torch_dtype.itemsize
    return m.tensor_over(m.new_storage(m.allocate(nbytes), nbytes), torch_dtype, size, stride)


def _fill_deterministic(t: torch.Tensor) -> torch.Tensor:
    """Fills new memory if torch.use_deterministic_algorithms requests it, and returns `t`."""
    if not torch.are_deterministic_algorithms_enabled():
        return t
    if not torch.utils.deterministic.fill_uninitialized_memory:
        return t
    if t.dtype.is_floating_point or t.dtype.is_complex:
        return t.fill_(float("nan"))
    return t.fill_(True if t.dtype is torch.bool else torch.iinfo(t.dtype).max)


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
