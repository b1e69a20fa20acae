"""Replaces torch functions that create device storages by an allocator in C++.

These save, load, copy and resize storages, send them to processes, and create
`UntypedStorage(n, device="fpga")`. Another replacement serves `safetensors.safe_open(...,
device="fpga")`: that library has a fixed list of devices in Rust code, without `fpga`.
"""

from __future__ import annotations

import sys
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
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


class _OnDevice:
    """Wraps an open file or a slice of a tensor and copies the tensors it returns to the device."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def __enter__(self) -> _OnDevice:
        self._opened.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._opened.__exit__(*exc)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opened, name)

    def __getitem__(self, index: Any) -> torch.Tensor:
        return self._opened[index].to(NAME)

    def get_slice(self, name: str) -> _OnDevice:
        return _OnDevice(self._opened.get_slice(name))

    def get_tensor(self, name: str) -> torch.Tensor:
        return self._opened.get_tensor(name).to(NAME)

    def get_tensors(self, *args: Any) -> dict[str, torch.Tensor]:
        return {name: t.to(NAME) for name, t in self._opened.get_tensors(*args).items()}


def _is_device(device: Any) -> bool:
    if not isinstance(device, torch.device):
        if not (isinstance(device, str) and device.partition(":")[0] == NAME):
            return False
        device = torch.device(device)
    check_index(device)
    return device.type == NAME


def install_safetensors() -> None:
    """Replaces `safetensors.safe_open`, which `safetensors.torch` also uses to load files."""
    if find_spec("safetensors") is None:
        return
    library = import_module("safetensors")
    safe_open = library.safe_open

    @wraps(safe_open, updated=())
    def opened(filename: Any, framework: str = "pt", device: Any = "cpu", **kwargs: Any) -> Any:
        if not _is_device(device):
            return safe_open(filename, framework, device, **kwargs)
        return _OnDevice(safe_open(filename, framework, "cpu", **kwargs))

    library.safe_open = opened  # type: ignore[attr-defined]
    if (user := sys.modules.get("safetensors.torch")) is not None:
        user.safe_open = opened  # type: ignore[attr-defined]
