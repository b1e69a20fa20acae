"""The host's view of the device's tensors and the device's of the host's: shared, or copied.

Where the device computes in host memory both are the same bytes. What is handed out here waits for
the device first; `wrote` is said after the host has written.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import torch

from .._device import backend_of
from ..errors import torch_device as errors
from ..interop import host as shared
from ..interop import torch as exchange
from ..runtime.storage import Storage
from . import memory as m
from . import private
from .private import CPU_KEYS, untyped_storage
from .registration import CPU

_bytes = torch.uint8


def host_storage(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """A CPU storage with the bytes of one of the device, shared or a copy; waits for the device."""
    memory: Storage = storage._ft
    memory.synchronize()
    if memory.ptr is not None:
        cpu = storage.__dict__.get("_cpu")
        if cpu is None:
            cpu = private.storage_at(storage.data_ptr(), CPU, storage.nbytes())
            cpu._owner = memory
            storage._cpu = cpu
        return cpu
    cpu = torch.UntypedStorage(storage.nbytes())
    if storage.nbytes():
        memory.backend.download(memory, 0, array_of(cpu))
    return cpu


def wrote(storage: torch.UntypedStorage, cpu: torch.UntypedStorage) -> int:
    """Say that the host has written what `host_storage` gave; returns the bytes sent back."""
    memory: Storage = storage._ft
    memory.changed()
    if memory.ptr is not None or not storage.nbytes():
        return 0
    memory.backend.upload(memory, 0, array_of(cpu))
    return storage.nbytes()


def array_of(cpu: torch.UntypedStorage) -> np.ndarray:
    """The bytes of a CPU storage."""
    return torch.empty(0, dtype=_bytes).set_(cpu).numpy()


def on_host(t: torch.Tensor, cpu: torch.UntypedStorage | None = None) -> torch.Tensor:
    """A CPU tensor with a device tensor's geometry over its bytes, shared or copied."""
    tensor = m.set_storage(
        CPU_KEYS,
        empty_tensor_cpu(t.dtype),
        host_storage(untyped_storage(t)) if cpu is None else cpu,
        t.storage_offset(),
        t.shape,
        t.stride(),
    )
    if t.dtype.is_complex and t.is_conj():
        tensor = tensor.conj()
    return torch._neg_view(tensor) if t.is_neg() else tensor


def empty_tensor_cpu(dtype: torch.dtype) -> torch.Tensor:
    """A CPU tensor without elements."""
    return torch.empty(0, dtype=dtype, device=CPU)


def adopt(t: torch.Tensor, known: dict[int, torch.UntypedStorage] | None = None) -> torch.Tensor:
    """A device tensor with a CPU tensor's elements and strides, in its memory where that can be.

    The CPU tensor is given up: nobody else writes there. `known` has the storages that are the
    device's already, by their host twins' address, and those adopted so far.
    """
    if t.layout is not torch.strided:
        raise errors.layout(t.layout)
    if t.is_quantized:
        raise errors.quantized(t.dtype)
    if t.is_conj() or t.is_neg():
        t = t.resolve_conj().resolve_neg()
    cpu = untyped_storage(t)
    storage = None if known is None else known.get(cpu._cdata)
    if storage is None:
        storage = adopt_storage(cpu)
        if known is not None:
            known[cpu._cdata] = storage
    return m.over(storage, t.dtype, t.shape, t.stride(), t.storage_offset())


def adopt_storage(cpu: torch.UntypedStorage) -> torch.UntypedStorage:
    """A storage of the device with a CPU storage's bytes, in its memory where that can be."""
    where, nbytes = m.where(), cpu.nbytes()
    backend = backend_of(where)
    if nbytes and backend.host_shared:
        adopted = shared.adopt(backend, where, cpu.data_ptr(), nbytes, 1, cpu, False, True)
        if adopted is not None:
            return m.new_storage(adopted, nbytes)
    memory = m.allocate(nbytes)
    if nbytes:
        backend.upload(memory, 0, array_of(cpu))
    return m.new_storage(memory, nbytes)


# --- for users


def from_cpu(t: torch.Tensor) -> torch.Tensor:
    """A device tensor in the memory of a CPU tensor: a write to either shows in the other.

    Ops on the device are done when they return, as the host may read at any time. TypeError for a
    tensor of another device, ValueError where the device can't compute in this memory.
    """
    if t.device.type != "cpu":
        raise errors.not_on_the_host(t.device)
    f = exchange.from_torch(t.detach(), device=m.where())
    if t.numel() and f._storage.ptr != untyped_storage(t).data_ptr():
        raise errors.not_shared(m.DEVICE, "the device has memory of its own")
    return from_ftensor(f)


def as_cpu(t: torch.Tensor) -> torch.Tensor:
    """A CPU tensor in the memory of a device tensor: a write to either shows in the other.

    As long as it lives, ops on the device's tensors there are done when they return. TypeError for
    a tensor of another device, ValueError where the device has memory of its own.
    """
    f = to_ftensor(t.detach())
    if f.numel() and f._storage.ptr is None:
        raise errors.not_shared(m.DEVICE, "the device has memory of its own")
    return exchange.to_torch(f)


def from_ftensor(f: m.Tensor) -> torch.Tensor:
    """A torch tensor of the device over an ftensor tensor's memory; TypeError for anything else.

    It is on "fpga" whatever device of ftensor's the memory lies on: torch knows one.
    """
    if not isinstance(f, m.Tensor):
        raise errors.not_an_ftensor(f)
    weak = _twins.get(f._storage)
    storage = None if weak is None else weak()
    if storage is None:
        storage = m.new_storage(f._storage)
        _twins[f._storage] = _Weak(storage)
    return m.over(storage, m.FROM_FT[f._dtype], f._shape, f._strides, f._offset)


def to_ftensor(t: torch.Tensor) -> m.Tensor:
    """The ftensor tensor over a device tensor's memory, without its gradient.

    TypeError for a tensor of another device, or of a dtype that ftensor lacks.
    """
    if not isinstance(t, torch.Tensor) or not m.is_here(t):
        raise errors.not_on_the_device(getattr(t, "device", type(t).__name__))
    if t.dtype not in m.TO_FT:
        raise errors.no_such_dtype(t.dtype)
    f = m.unwrap(t.detach().resolve_conj().resolve_neg())
    storage = untyped_storage(t)
    if storage._ft is f._storage:
        _twins[f._storage] = _Weak(storage)
    return f


class _Weak:
    """A torch storage as long as C++ or Python holds it."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self.weak = torch.multiprocessing.reductions.StorageWeakRef(storage)

    def __call__(self) -> torch.UntypedStorage | None:
        if self.weak.expired():
            return None
        return torch.UntypedStorage._new_with_weak_ptr(self.weak.cdata)


_twins: WeakKeyDictionary[Storage, _Weak] = WeakKeyDictionary()


def forget(memory: Storage) -> None:
    """Forgets the torch storage of memory, which has other memory now."""
    _twins.pop(memory, None)
