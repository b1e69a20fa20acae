"""What has no arithmetic: memory for tensors, views, and tensors that get other memory or sizes.

Views only read and write what a tensor says of itself, so torch's own CPU kernels make them: these
are called with the CPU's keys, without a frame of Python between.
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
from ..errors import torch_device as errors
from ..execute.copy import copy
from ..execute.output import new as ft_new
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
_kernels = []  # held, as C++ does not

for _name in VIEWS:
    if has_kernel_for(f"aten::{_name}", "CPU"):
        _kernels.append(get_kernel(f"aten::{_name}", "CPU"))
        written[_name] = partial(_kernels[-1].call_boxed, CPU_KEYS)
        aten.impl(_name, written[_name])


def format_strides(size: Sequence[int], memory_format: torch.memory_format | None) -> Any:
    """The strides of a fresh tensor in a memory format."""
    if memory_format in (None, torch.contiguous_format, torch.preserve_format):
        return contiguous_strides(tuple(size))
    return torch.empty(size, device="meta", memory_format=memory_format).stride()


def check_index(device: torch.device | None) -> None:
    """RuntimeError for fpga:1 and above."""
    if device is not None and device.index and device.type == DEVICE.type:
        raise errors.device_index(device.index)


def check(device: torch.device | None, pin_memory: bool | None) -> None:
    """RuntimeError for what a fresh tensor cannot have."""
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
    """Memory for a tensor in a memory format."""
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
    """Memory for a tensor of these strides."""
    check(device, pin_memory)
    if min(size, default=0) < 0:
        raise errors.negative_dimension(size)
    of = torch.get_default_dtype() if dtype is None else dtype
    known = m.TO_FT.get(of)
    if known is not None:
        return _known(m.wrap(ft_new(tuple(size), known, m.device_of_calls(), tuple(stride))))
    # A dtype that ftensor lacks: bytes, which the fallback computes on.
    nbytes = 0 if 0 in size else (extent(tuple(size), tuple(stride))[1] + 1) * of.itemsize
    return m.over(m.new_storage(m.allocate(nbytes), nbytes), of, size, stride)


def _known(t: torch.Tensor) -> torch.Tensor:
    """Fresh memory as it is; where algorithms are to be deterministic, torch fills it first."""
    if not torch.are_deterministic_algorithms_enabled():
        return t
    if not torch.utils.deterministic.fill_uninitialized_memory:
        return t
    if t.dtype.is_floating_point or t.dtype.is_complex:
        return t.fill_(float("nan"))
    return t.fill_(True if t.dtype is torch.bool else torch.iinfo(t.dtype).max)


@impl("set_.source_Storage")
def set_source_storage(self: torch.Tensor, source: Any) -> torch.Tensor:
    """All of a storage, as a tensor of one dim."""
    count = source.nbytes() // self.dtype.itemsize
    return m.set_storage(CPU_KEYS, self, source, 0, [count], [1])


@impl("set_")
def set_nothing(self: torch.Tensor) -> torch.Tensor:
    """No elements."""
    return m.set_storage(CPU_KEYS, self, m.new_storage(m.allocate(0), 0), 0, [0], [1])


@impl("resize_")
def resize_(self: torch.Tensor, size: Sequence[int], *, memory_format: Any = None) -> torch.Tensor:
    """Another size, in more memory where there is too little; the elements that were stay.

    The tensor gets a new storage then: those that shared the old one keep it.
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
        had, before = storage.nbytes(), storage
        storage = m.new_storage(m.allocate(needed), needed)
        if self.dtype in m.TO_FT:
            _known(m.over(storage, self.dtype, (needed // self.dtype.itemsize,), (1,)))
        if had:
            old = Tensor._make(before._ft, uint8, (had,), (1,), 0)
            copy(old, Tensor._make(storage._ft, uint8, (had,), (1,), 0))
    return m.set_storage(CPU_KEYS, self, storage, offset, list(size), list(strides))


@impl("_efficientzerotensor")
def zero_tensor(
    size: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> torch.Tensor:
    """Zeros, which forward-mode gradients ask for; torch's own kind has keys of its own."""
    return torch.zeros(size, dtype=dtype, device=DEVICE)


@impl("is_pinned")
def is_pinned(self: torch.Tensor, device: Any = None) -> bool:
    """False: the device's memory is no host memory to torch."""
    return False


@impl("record_stream")
def record_stream(self: torch.Tensor, s: Any) -> None:
    """Nothing: memory knows the streams it is used on."""


@impl("is_set_to")
def is_set_to(self: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether two tensors are the same view of the same memory."""
    return (
        untyped_storage(self)._cdata == untyped_storage(tensor)._cdata
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


def host_shared() -> bool:
    """Whether the device computes in host memory."""
    return backend_of(m.device_of_calls()).host_shared
