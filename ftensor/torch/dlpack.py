"""DLPack of the device's tensors. To others they are memory of the host, where the device computes
there; a capsule that torch makes comes back as a view of the same storage."""

from __future__ import annotations

from functools import wraps
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import memory as m
from .host import to_ftensor
from .private import untyped_storage

_to = torch.utils.dlpack.to_dlpack
_from = torch.utils.dlpack.from_dlpack
_capsule = torch.Tensor.__dlpack__
_device = torch.Tensor.__dlpack_device__
# Storages that capsules were made of, by the address that these have: torch makes a storage of its
# own of that, which does not know ftensor's memory.
_exported: dict[int, StorageWeakRef] = {}


@wraps(_to)
def to_dlpack(tensor: torch.Tensor, /, *args: Any, **kwargs: Any) -> Any:
    """A capsule, of memory that nothing writes any more."""
    if not m.is_here(tensor):
        return _to(tensor, *args, **kwargs)
    for address in [a for a, weak in _exported.items() if weak.expired()]:
        del _exported[address]
    memory = m.unwrap(tensor)._storage
    memory.synchronize()
    memory.expose()
    _exported[tensor.data_ptr()] = StorageWeakRef(untyped_storage(tensor))
    return _to(tensor, *args, **kwargs)


@wraps(_from)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> torch.Tensor:
    """A tensor over the memory of another one, or of a capsule."""
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
    return m.over(storage, tensor.dtype, tensor.shape, tensor.stride(), offset)


@wraps(_capsule)
def _exchanged(self: torch.Tensor, **kwargs: Any) -> Any:
    if not m.is_here(self) or self.requires_grad or self.is_conj() or self.is_neg():
        return _capsule(self, **kwargs)
    kwargs["stream"] = None  # -1 is torch's word for none
    return to_ftensor(self).__dlpack__(**kwargs)


@wraps(_device)
def _exchanged_device(self: torch.Tensor) -> Any:
    return to_ftensor(self).__dlpack_device__() if m.is_here(self) else _device(self)


def install() -> None:
    """Put them where torch's are."""
    for where in (torch, torch.utils.dlpack):
        where.to_dlpack = to_dlpack
        where.from_dlpack = from_dlpack
    torch.Tensor.__dlpack__ = _exchanged
    torch.Tensor.__dlpack_device__ = _exchanged_device
