"""torch tensors over ftensor storages, and host views of them."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch.library import get_kernel

from .. import dtypes
from .._device import backend_of, first_fpga
from .._device import device as ft_device
from .._tensor import Tensor, geometry_key
from ..errors import torch as errors
from ..execute.output import new as ft_new
from ..interop import dlpack as exchange
from ..interop import host as shared
from ..iterator.shape import Ints
from ..runtime.pool import Storage
from . import internals
from .internals import CPU_KEYS, empty_tensor, storage_at, untyped_storage
from .registration import CPU, DEVICE


class _Dtypes(dict[torch.dtype, dtypes.dtype]):
    """ftensor dtypes by torch dtype; raises NotImplementedError, and so falls back, for others."""

    def __missing__(self, key: torch.dtype) -> dtypes.dtype:
        raise errors.no_dtype_here(key)


TO_FT = _Dtypes({getattr(torch, d.name): d for d in dtypes.FULL})
FROM_FT = {d: t for t, d in TO_FT.items()}

# torch's CPU kernel of set_ only touches a tensor's metadata, so it works for device tensors.
set_storage = get_kernel("aten::set_.source_Storage_storage_offset", "CPU").call_boxed


def device_of_calls() -> ft_device:
    """Returns the ftensor device of torch's fpga:0."""
    return first_fpga()[0]


def allocate(nbytes: int) -> Storage:
    """Returns a new storage on the device, allocated on the current stream."""
    return ft_new((nbytes,), dtypes.uint8, device_of_calls())._storage


def address_of(memory: Storage) -> int:
    """Returns the address of a storage for torch.

    torch rejects a storage with bytes and a null pointer. For memory that the host can't reach
    this is a non-canonical address, so that a dereference faults.
    """
    return memory.ptr or (1 << 62) + id(memory)


# --- torch from ftensor

# A DLPack capsule is torch's fastest way to a tensor over an address. Its structure has a NULL
# deleter, which torch reads when the storage dies, even at exit: so structures are never freed.
# Each thread has one structure for any geometry, and structures for one geometry each, in which
# only the address is written. A thread that ends leaves its structures to a later thread.
# Layout: data, device type, id, ndim, dtype, shape*, strides*, byte offset, manager, deleter; then
# the shape and the strides.
_DLPACK_DEVICE = 12  # kDLExtDev, which torch maps to PrivateUse1
_HEAD = 64
MAX_DIMS = 64
_MAX_STRUCTURES = 1024
_PACK = [struct.Struct(f"=QiiiIQQQQQ{n}q") for n in range(2 * MAX_DIMS + 2)]
_NAME = b"dltensor"
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
from_dlpack_capsule = internals.from_dlpack_capsule
_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_OF_THEIR_OWN = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}


def _code(d: dtypes.dtype) -> int:
    kind = _OF_THEIR_OWN.get(d.name, _KINDS[d.kind])
    return kind | (d.itemsize * 8) << 8 | 1 << 16


_CODES = {d: _code(d) for d in TO_FT.values()}
Structure = tuple[ctypes.Array[ctypes.c_char], int, ctypes.c_uint64]  # bytes, address, data


class _Structures:
    """The DLPack structures of one thread."""

    def __init__(self) -> None:
        self.any = _structure(2 * MAX_DIMS)
        self.by_key: dict[int, Structure] = {}  # by geometry key

    def of(self, f: Tensor) -> Structure:
        """Returns a structure with the geometry of `f`; caches it up to a limit."""
        n = len(f._shape)
        full = len(self.by_key) >= _MAX_STRUCTURES
        structure = self.any if full else _structure(2 * n)
        slot = structure[1]
        _PACK[2 * n].pack_into(
            structure[0], 0, 0, _DLPACK_DEVICE, 0, n, _CODES[f._dtype], slot + _HEAD,
            slot + _HEAD + 8 * n, 0, 0, 0, *f._shape, *f._strides,
        )  # fmt: skip
        if not full:
            self.by_key[f._key] = structure
        return structure


def _structure(words: int) -> Structure:
    buffer = ctypes.create_string_buffer(_HEAD + words * 8)
    return buffer, ctypes.addressof(buffer), ctypes.c_uint64.from_buffer(buffer)


_never_freed: list[_Structures] = []
_idle: list[_Structures] = []


class _Thread(threading.local):
    def __init__(self) -> None:
        try:
            self.structures = _idle.pop()
        except IndexError:
            self.structures = _Structures()
            _never_freed.append(self.structures)
        self.end = _End(self.structures)


class _End:
    """Returns a thread's structures to the idle list when the thread ends."""

    def __init__(self, structures: _Structures) -> None:
        self.structures = structures

    def __del__(self, give_back: Any = _idle.append) -> None:
        give_back(self.structures)


thread = _Thread()


def new_storage(memory: Storage, nbytes: int | None = None) -> torch.UntypedStorage:
    """Returns a torch storage over an ftensor storage that has none yet."""
    storage = storage_at(address_of(memory), DEVICE, memory.nbytes if nbytes is None else nbytes)
    storage._ft = memory
    return storage


def tensor_over(
    storage: torch.UntypedStorage, dtype: torch.dtype, shape: Any, strides: Any, offset: int = 0
) -> torch.Tensor:
    """Returns a torch tensor over a torch storage; `strides` and `offset` in elements."""
    tensor = empty_tensor((0,), dtype)
    return set_storage(CPU_KEYS, tensor, storage, offset, list(shape), list(strides))


def wrap(f: Tensor) -> torch.Tensor:
    """Returns the torch tensor of an ftensor result whose storage has no torch storage yet."""
    memory, shape = f._storage, f._shape
    if f._offset or 0 in shape or len(shape) > MAX_DIMS:
        return tensor_over(new_storage(memory), FROM_FT[f._dtype], shape, f._strides, f._offset)
    return wrap_new(memory, f)


def wrap_new(memory: Storage, like: Tensor) -> torch.Tensor:
    """Returns the torch tensor over a whole storage that has no torch storage yet, with the geometry of
    `like`, which has elements."""
    structures = thread.structures
    _, slot, data = structures.by_key.get(like._key) or structures.of(like)
    data.value = memory.ptr or address_of(memory)
    tensor = from_dlpack_capsule(new_capsule(slot, _NAME, None))
    untyped_storage(tensor)._ft = memory
    return tensor


def unaliased(f: Tensor, *read: Any) -> Tensor:
    """Returns `f`, or a clone if `f` shares its storage with a tensor in `read`.

    aten defines the result of such an op as new memory.
    """
    for x in read:
        if type(x) is Tensor and x._storage is f._storage:
            return f.clone()
    return f


# --- ftensor from torch


def _check_cycle(memory: Storage) -> None:
    """Lets the current stream wait for all streams that use `memory`, and records its use."""
    current = memory.backend._current.stream
    current.wait_stream(memory.stream)
    for user in tuple(memory.users or ()):
        current.wait_stream(user)
    current.use(memory)


# Cache: (shape, strides, dtype) of a torch tensor -> those of ftensor, and the geometry key.
_geometries: dict[Any, tuple[Ints, Ints, dtypes.dtype, int]] = {}
_MAX_GEOMETRIES = 1 << 16
_new = object.__new__


def _geometry(key: Any) -> tuple[Ints, Ints, dtypes.dtype, int]:
    if len(_geometries) >= _MAX_GEOMETRIES:
        _geometries.clear()
    shape, strides, dtype = tuple(key[0]), key[1], TO_FT[key[2]]
    geometry = shape, strides, dtype, geometry_key(shape, strides, dtype)
    _geometries[tuple(key[0]), strides, key[2]] = geometry
    return geometry


def _view_of(memory: Storage, t: torch.Tensor) -> Tensor:
    """Like `Tensor._make` with the geometry of `t`; waits for other streams that use `memory`."""
    if memory.users is not None or memory.stream is not memory.backend._current.stream:
        _check_cycle(memory)
    key = t.shape, t.stride(), t.dtype
    self = _new(Tensor)
    self._storage = memory
    self._shape, self._strides, self._dtype, self._key = _geometries.get(key) or _geometry(key)
    self._offset = t.storage_offset()
    return self


def unwrap(t: torch.Tensor) -> Tensor:
    """Returns the ftensor tensor of a device tensor, for reading or writing.

    The current stream waits for other streams that own or used the memory. Raises RuntimeError for
    a tensor of another device, NotImplementedError for a dtype that ftensor lacks.
    """
    try:
        memory = untyped_storage(t)._ft
    except AttributeError:
        raise errors.two_devices(t.device) from None
    return _view_of(memory, t)


def lift(t: Any) -> Any:
    """Like `unwrap`, for an argument that an op only reads.

    Resolves a lazy conjugate or negation, copies a zero-dim tensor of the host to the device, and
    returns a number unchanged.
    """
    try:
        memory = untyped_storage(t)._ft
    except AttributeError:
        return _adopted(t)
    except TypeError:
        return t  # a number
    self = _view_of(memory, t)
    if self._dtype.kind == "c" and (t.is_conj() or t.is_neg()):
        return unwrap(t.resolve_conj().resolve_neg())
    return self


def _adopted(t: torch.Tensor) -> Tensor:
    if t.device.type == "cpu" and t.dim() == 0:
        return unwrap(adopt(t.clone()))
    raise errors.two_devices(t.device)


def is_here(t: torch.Tensor) -> bool:
    """True if a tensor is on the device."""
    return t.device == DEVICE


def give(out: torch.Tensor, f: Tensor) -> torch.Tensor:
    """Sets storage and geometry of torch tensor `out` to those of `f`, and returns `out`."""
    storage = untyped_storage(out)
    if storage._ft is not f._storage:
        storage = new_storage(f._storage)
    set_storage(CPU_KEYS, out, storage, f._offset, list(f._shape), list(f._strides))
    return out


__all__ = ["CPU", "DEVICE", "FROM_FT", "TO_FT", "Ints"]


_bytes = torch.uint8


def host_storage(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """Waits for the device and returns a CPU storage with the bytes of a device storage.

    The memory is shared if the host can reach it, else a copy.
    """
    memory: Storage = storage._ft
    if memory.backend.executor is not None:
        memory.backend.executor.read(memory)
    memory.synchronize()
    if memory.ptr is not None:
        cpu = storage.__dict__.get("_cpu")
        if cpu is None:
            cpu = internals.storage_at(storage.data_ptr(), CPU, storage.nbytes())
            cpu._owner = memory
            storage._cpu = cpu
        return cpu
    cpu = torch.UntypedStorage(storage.nbytes())
    if storage.nbytes():
        memory.backend.download(memory, 0, array_of(cpu))
    return cpu


def mark_written(storage: torch.UntypedStorage, cpu: torch.UntypedStorage) -> int:
    """Marks a storage as changed after a host write to `cpu`, the result of `host_storage`.

    Uploads `cpu` if it is a copy; returns the number of bytes uploaded.
    """
    memory: Storage = storage._ft
    memory.changed()
    if memory.ptr is not None or not storage.nbytes():
        return 0
    memory.backend.upload(memory, 0, array_of(cpu))
    return storage.nbytes()


def array_of(cpu: torch.UntypedStorage) -> np.ndarray:
    """Returns the bytes of a CPU storage as a uint8 array over the same memory."""
    return torch.empty(0, dtype=_bytes).set_(cpu).numpy()


def on_host(t: torch.Tensor, cpu: torch.UntypedStorage | None = None) -> torch.Tensor:
    """Returns a CPU tensor with the geometry of `t` over `cpu`, by default `host_storage`'s."""
    tensor = set_storage(
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
    """Returns a CPU tensor without elements."""
    return torch.empty(0, dtype=dtype, device=CPU)


def adopt(t: torch.Tensor, storages: dict[int, torch.UntypedStorage] | None = None) -> torch.Tensor:
    """Returns a device tensor with a CPU tensor's elements, over its memory if possible.

    The caller must not use the CPU tensor afterwards. `storages` maps the address (`_cdata`) of a
    CPU storage to its device storage; `adopt` adds the storages that it adopts.
    """
    if t.layout is not torch.strided:
        raise errors.layout(t.layout)
    if t.is_quantized:
        raise errors.quantized(t.dtype)
    if t.is_conj() or t.is_neg():
        t = t.resolve_conj().resolve_neg()
    cpu = untyped_storage(t)
    storage = None if storages is None else storages.get(cpu._cdata)
    if storage is None:
        storage = adopt_storage(cpu)
        if storages is not None:
            storages[cpu._cdata] = storage
    return tensor_over(storage, t.dtype, t.shape, t.stride(), t.storage_offset())


def adopt_storage(cpu: torch.UntypedStorage) -> torch.UntypedStorage:
    """Returns a device storage with a CPU storage's bytes, over its memory if possible."""
    device, nbytes = device_of_calls(), cpu.nbytes()
    backend = backend_of(device)
    if nbytes and backend.host_shared:
        storage = shared.adopt(backend, device, cpu.data_ptr(), nbytes, 1, cpu, False, True)
        if storage is not None:
            return new_storage(storage, nbytes)
    memory = allocate(nbytes)
    if nbytes:
        backend.upload(memory, 0, array_of(cpu))
    return new_storage(memory, nbytes)


# --- for users


def from_cpu(t: torch.Tensor) -> torch.Tensor:
    """Returns a device tensor over the memory of a CPU tensor: a write to either is visible in the
    other.

    Ops on it are done when they return, because the host may read at any time. Raises TypeError for
    a tensor of another device, ValueError if the device can't compute in this memory.
    """
    if t.device.type != "cpu":
        raise errors.not_on_the_host(t.device)
    f = exchange.from_torch(t.detach(), device=device_of_calls())
    if t.numel() and f._storage.ptr != untyped_storage(t).data_ptr():
        raise errors.not_shared(DEVICE, "the device has memory of its own")
    return from_ftensor(f)


def as_cpu(t: torch.Tensor) -> torch.Tensor:
    """Returns a CPU tensor over the memory of a device tensor: a write to either is visible in the
    other.

    While it lives, ops on this memory are done when they return. Raises TypeError for a tensor of
    another device, ValueError if the device has its own memory.
    """
    f = to_ftensor(t.detach())
    if f.numel() and f._storage.ptr is None:
        raise errors.not_shared(DEVICE, "the device has memory of its own")
    return exchange.to_torch(f)


def from_ftensor(f: Tensor) -> torch.Tensor:
    """Returns a torch tensor over an ftensor tensor's memory. Raises TypeError for anything else.

    The result is on "fpga", whatever ftensor device has the memory: torch has a single device.
    """
    if not isinstance(f, Tensor):
        raise errors.not_an_ftensor(f)
    weak = _torch_storages.get(f._storage)
    storage = None if weak is None else weak()
    if storage is None:
        storage = new_storage(f._storage)
        _torch_storages[f._storage] = _Weak(storage)
    return tensor_over(storage, FROM_FT[f._dtype], f._shape, f._strides, f._offset)


def to_ftensor(t: torch.Tensor) -> Tensor:
    """Returns the ftensor tensor over a device tensor's memory, without its gradient.

    Raises TypeError for a tensor of another device, or of a dtype that ftensor lacks.
    """
    if not isinstance(t, torch.Tensor) or not is_here(t):
        raise errors.not_on_the_device(getattr(t, "device", type(t).__name__))
    if t.dtype not in TO_FT:
        raise errors.no_such_dtype(t.dtype)
    f = unwrap(t.detach().resolve_conj().resolve_neg())
    storage = untyped_storage(t)
    if storage._ft is f._storage:
        _torch_storages[f._storage] = _Weak(storage)
    return f


class _Weak:
    """Weak reference to a torch storage: a call returns it, or None if nothing holds it."""

    def __init__(self, storage: torch.UntypedStorage) -> None:
        self.weak = torch.multiprocessing.reductions.StorageWeakRef(storage)

    def __call__(self) -> torch.UntypedStorage | None:
        if self.weak.expired():
            return None
        return torch.UntypedStorage._new_with_weak_ptr(self.weak.cdata)


_torch_storages: WeakKeyDictionary[Storage, _Weak] = WeakKeyDictionary()


def forget(memory: Storage) -> None:
    """Removes the recorded torch storage of `memory`, because that torch storage now has other
    memory."""
    memory.replaced = True
    _torch_storages.pop(memory, None)
