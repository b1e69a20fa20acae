"""Copies between tensors, devices and dtypes; DLPack exchange."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch
from torch.library import Library, fallthrough_kernel, get_kernel
from torch.multiprocessing.reductions import StorageWeakRef

from .. import formats
from ..errors import torch as errors
from ..execute.indexed import MAX_CHECKED_INDICES, record_bounds
from ..execute.pointwise import clone as ft_clone
from ..execute.pointwise import convert as ft_converted
from ..execute.pointwise import copy as ft_copy
from ..interop.dlpack import to_torch
from ..runtime.pool import Storage
from . import memory as m
from .internals import CPU_KEYS, untyped_storage
from .memory import adopt, host_storage, mark_written, on_host, to_ftensor
from .prepared_kernels import impl_prepared
from .registration import aten, impl
from .structure import check_index

MEMORY = {
    torch.contiguous_format: formats.contiguous_format,
    torch.preserve_format: formats.preserve_format,
    torch.channels_last: formats.channels_last,
    torch.channels_last_3d: formats.channels_last_3d,
}


def _is_copyable(t: torch.Tensor) -> bool:
    """True if ftensor has the dtype and the tensor is not a lazy conjugate or negation."""
    return t.dtype in m.TO_FT and not (t.is_conj() or t.is_neg())


@impl("_copy_from")
def _copy_from(self: torch.Tensor, dst: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Copies `self`, broadcast and converted, into `dst`: the device's kernel of `copy_`."""
    if not dst.numel():
        self.expand(dst.shape)  # raises if the shapes don't match, like copies of tensors with elements
        return dst
    if not m.is_here(dst):
        dst.copy_(_read(self))
    elif m.is_here(self):
        same_view_flags = self.is_conj() == dst.is_conj() and self.is_neg() == dst.is_neg()
        if same_view_flags and self.dtype in m.TO_FT and dst.dtype in m.TO_FT:
            source = self if self.shape == dst.shape else self.expand(dst.shape)
            ft_copy(m.unwrap(source), m.unwrap(dst))
        else:
            _by_host(on_host(self), dst)
    elif _shares_memory(dst) or not _is_copyable(dst):
        _by_host(self, dst)
        if dst.dtype in (torch.int64, torch.int32) and dst.numel() <= MAX_CHECKED_INDICES:
            _record_bounds(self, dst)
    else:
        source = self.to(dst.dtype).resolve_conj().resolve_neg().contiguous()
        on_device = adopt(source).expand(dst.shape)
        ft_copy(m.unwrap(on_device), m.unwrap(dst))
    return dst


def _record_bounds(source: torch.Tensor, dst: torch.Tensor) -> None:
    """Records the least and greatest of the integers copied to `dst`, if they fill its storage.

    Ops that take `dst` as indices then skip the bounds check.
    """
    f = m.unwrap(dst)
    if f.numel() * f._dtype.itemsize == f._storage.nbytes and f.is_contiguous():
        lowest, highest = torch.aminmax(source)
        record_bounds(f, int(lowest), int(highest))


def _read(t: torch.Tensor) -> torch.Tensor:
    """Returns a host tensor with the values of device tensor `t`, valid for immediate reading."""
    if _shares_memory(t) or not _is_copyable(t):
        return on_host(t)
    return to_torch(m.unwrap(t), non_blocking=True)


def _by_host(source: torch.Tensor, dst: torch.Tensor) -> None:
    storage = untyped_storage(dst)
    cpu = host_storage(storage)
    on_host(dst, cpu).copy_(source)
    mark_written(storage, cpu)


def _shares_memory(t: torch.Tensor) -> bool:
    """True if the host reaches the memory of device tensor `t`."""
    memory: Storage = untyped_storage(t)._ft
    return memory.backend.host_shared


@impl("_copy_from_and_resize")
def _copy_from_and_resize(self: torch.Tensor, dst: torch.Tensor) -> torch.Tensor:
    if dst.shape != self.shape:
        dst.resize_(self.shape)
    return _copy_from(self, dst)


@impl_prepared("clone")
def clone(self: torch.Tensor, *, memory_format: Any = None) -> torch.Tensor:
    """Returns a copy of `self` in new memory, in `memory_format` (default: preserved)."""
    if not _is_copyable(self):
        return adopt(on_host(self).clone(memory_format=memory_format or torch.preserve_format))
    target_format = MEMORY[memory_format or torch.preserve_format]
    return m.wrap(ft_clone(m.unwrap(self), target_format))


_to_copy_in_torch = get_kernel("aten::_to_copy", "CPU")


@impl("_to_copy")
def _to_copy(
    self: torch.Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> torch.Tensor:
    """Returns a copy in a dtype and on a device.

    Passes `non_blocking=False` to torch's kernel: torch's kernel would otherwise allocate pinned
    memory for a copy to the host, and the device has no pinned memory.
    """
    check_index(device)
    target_dtype = m.TO_FT.get(dtype or self.dtype)
    stays_on_device = (device is None or device.type == "fpga") and m.is_here(self)
    if stays_on_device and target_dtype is not None and _is_copyable(self):
        target_format = MEMORY[memory_format or torch.preserve_format]
        f = m.unwrap(self)
        return m.wrap(ft_converted(f, target_dtype, f.device, True, target_format))
    return _to_copy_in_torch.call_boxed(
        CPU_KEYS,
        self,
        dtype=dtype,
        layout=layout,
        device=device,
        pin_memory=pin_memory,
        non_blocking=False,
        memory_format=memory_format,
    )


@impl("_local_scalar_dense")
def _local_scalar_dense(self: torch.Tensor) -> Any:
    """Waits for the device and returns the only element as a Python number."""
    return m.unwrap(self).item() if _is_copyable(self) else on_host(self).item()


@impl("equal")
def equal(self: torch.Tensor, other: torch.Tensor) -> bool:
    """True if shapes and elements are equal; waits for the device."""
    for t in (self, other):
        if not m.is_here(t):
            raise errors.two_devices(t.device)
    return torch.equal(on_host(self), on_host(other))


# The schemas of these ops do not mark `dst` as written. For a lazy conjugate torch's kernel would
# pass on a resolved copy of `dst`, and the write would be lost. All writes to lazy conjugates and
# negations end in these ops, so the kernels fall through.
_lazy = [Library("aten", "IMPL", key) for key in ("Conjugate", "Negative")]
for _library in _lazy:
    for _name in ("_copy_from", "_copy_from_and_resize"):
        _library.impl(_name, fallthrough_kernel)

# DataLoader(pin_memory=True) calls the accelerator's hooks, which Python can't implement.
_cpu = Library("aten", "IMPL", "CPU")


def _pin_memory(self: torch.Tensor, device: Any = None) -> torch.Tensor:
    return self.clone()


def _not_pinned(self: torch.Tensor, device: Any = None) -> torch.Tensor:
    raise errors.not_pinned(self.device)


_cpu.impl("_pin_memory", _pin_memory)
for _name in ("pin_memory", "_pin_memory"):
    aten.impl(_name, _not_pinned)


_to = torch.utils.dlpack.to_dlpack
_from = torch.utils.dlpack.from_dlpack
_capsule = torch.Tensor.__dlpack__
_device = torch.Tensor.__dlpack_device__
# Storages exported as capsules, by the address of the capsule's data. torch's from_dlpack makes a
# new torch storage from a capsule, without the ftensor storage.
_exported: dict[int, StorageWeakRef] = {}


@wraps(_to)
def to_dlpack(tensor: torch.Tensor, /, *args: Any, **kwargs: Any) -> Any:
    """Returns a DLPack capsule over the tensor's memory, after all writes to it are done."""
    if not m.is_here(tensor):
        return _to(tensor, *args, **kwargs)
    for address in [a for a, weak in _exported.items() if weak.expired()]:
        del _exported[address]
    memory = m.unwrap(tensor)._storage
    if memory.backend.executor is not None:
        memory.backend.executor.read(memory)
    memory.synchronize()
    memory.expose()
    _exported[tensor.data_ptr()] = StorageWeakRef(untyped_storage(tensor))
    return _to(tensor, *args, **kwargs)


@wraps(_from)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> torch.Tensor:
    """Returns a tensor over the memory of a tensor or a capsule.

    Device memory exported by `to_dlpack` gets its original torch storage back.
    """
    if isinstance(ext_tensor, torch.Tensor) and m.is_here(ext_tensor):
        if device is None or torch.device(device).type == m.DEVICE.type:
            return ext_tensor.clone() if copy else ext_tensor.detach()
    tensor = _from(ext_tensor, device=device, copy=copy)
    if not m.is_here(tensor) or not tensor.numel():
        return tensor
    weak = _exported.get(tensor.data_ptr())
    storage = None if weak is None else torch.UntypedStorage._new_with_weak_ptr(weak.cdata)
    if storage is None:
        return tensor
    offset = (tensor.data_ptr() - storage.data_ptr()) // tensor.dtype.itemsize
    return m.tensor_over(storage, tensor.dtype, tensor.shape, tensor.stride(), offset)


@wraps(_capsule)
def _exchanged(self: torch.Tensor, **kwargs: Any) -> Any:
    if not m.is_here(self) or self.requires_grad or self.is_conj() or self.is_neg():
        return _capsule(self, **kwargs)
    kwargs["stream"] = None  # torch passes -1 for no stream
    return to_ftensor(self).__dlpack__(**kwargs)


@wraps(_device)
def _exchanged_device(self: torch.Tensor) -> Any:
    return to_ftensor(self).__dlpack_device__() if m.is_here(self) else _device(self)


def install() -> None:
    """Replaces torch's DLPack functions and methods by those of this module."""
    for module in (torch, torch.utils.dlpack):
        module.to_dlpack = to_dlpack
        module.from_dlpack = from_dlpack
    torch.Tensor.__dlpack__ = _exchanged
    torch.Tensor.__dlpack_device__ = _exchanged_device
