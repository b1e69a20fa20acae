"""Replaces torch functions that create device storages by an allocator in C++.

These save, load, copy and resize storages, send them to processes, and create
`UntypedStorage(n, device="fpga")`.
"""

from __future__ import annotations

from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing.reductions import reduce_storage

from .._tensor import Tensor
from ..dtypes import uint8
from ..errors import torch as errors
from ..execute.pointwise import copy
from . import internals
from . import memory as m
from .memory import adopt_storage, array_of, forget, host_storage
from .registration import NAME
from .structure import check_index

_Storage = torch.UntypedStorage
_new = _Storage.__new__
_clone = torch.storage._StorageBase.clone
_write_file = _Storage._write_file
_set_from_file = _Storage._set_from_file
_resize = _Storage.resize_


def _from_cpu(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    return adopt_storage(_clone(storage))


def _tag(storage: Any) -> str | None:
    return f"{NAME}:0" if storage.device.type == NAME else None


def _load(storage: Any, location: str) -> Any:
    if not location.startswith(NAME):
        return None
    check_index(torch.device(location))
    if isinstance(storage, torch.storage.TypedStorage):
        storage = storage._untyped_storage
    return _from_cpu(storage)


def _new_storage(cls: type, *args: Any, **kwargs: Any) -> Any:
    device = kwargs.get("device")
    if device is None or torch.device(device).type != NAME:
        return _new(cls, *args, **kwargs)
    check_index(torch.device(device))
    if args and not isinstance(args[0], int):
        return adopt_storage(_Storage(args[0]))
    nbytes = args[0] if args else 0
    return m.new_storage(m.allocate(nbytes), nbytes)


def _cloned(self: Any) -> Any:
    return _clone(self) if self.device.type != NAME else _from_cpu(host_storage(self))


def _written(self: Any, *args: Any) -> None:
    # torch.save's legacy format makes a tensor from the pointer alone, without ftensor's storage.
    _write_file(self if self.device.type != NAME else host_storage(self), *args)


def _read(self: Any, file: Any, offset: Any, is_real_file: bool, element_size: int) -> Any:
    if self.device.type != NAME:
        return _set_from_file(self, file, offset, is_real_file, element_size)
    cpu = _Storage(self.nbytes())
    _set_from_file(cpu, file, offset, is_real_file, element_size)
    return self.copy_(cpu)


def _resized(self: Any, size: int) -> Any:
    if self.device.type != NAME:
        return _resize(self, size)
    old_memory, old_nbytes = self._ft, self.nbytes()
    if size < 0:
        raise errors.negative_storage(size)
    if size == old_nbytes:
        return self
    memory = m.allocate(size)
    if copied_nbytes := min(size, old_nbytes):
        views = [Tensor._make(memory_, uint8, (copied_nbytes,), (1,), 0) for memory_ in (old_memory, memory)]
        copy(*views)
    internals.give_storage(self, m.address_of(memory) if size else 0, size)
    self._ft = memory
    self.__dict__.pop("_cpu", None)
    forget(old_memory)
    return self


def _sent(storage: Any) -> Any:
    """Reduces a storage for another process, which adopts a copy.

    The copy is in shared memory. A process that is being spawned gets the bytes instead: it would
    receive a file descriptor that is closed with the copy before the process starts.
    """
    if storage.device.type != NAME:
        return reduce_storage(storage)
    if get_spawning_popen() is not None:
        return _from_bytes, (bytearray(array_of(host_storage(storage))),)
    return adopt_storage, (_clone(host_storage(storage)),)


def _from_bytes(content: bytearray) -> torch.UntypedStorage:
    tensor = torch.frombuffer(content, dtype=torch.uint8) if content else torch.empty(0)
    return adopt_storage(tensor.untyped_storage())


def install() -> None:
    """Replaces these functions in torch; registers the device with torch.save and torch.load."""
    torch.serialization.register_package(5, _tag, _load)
    torch.storage._StorageBase.clone = _cloned
    _Storage.__new__ = staticmethod(_new_storage)
    _Storage._write_file = _written
    _Storage._set_from_file = _read
    _Storage.resize_ = _resized
    ForkingPickler.register(_Storage, _sent)
