"""Exchange with torch, NumPy and other array libraries, without a copy if possible; the methods of Tensor
for it. The first conversion from or to a torch tensor imports torch.

DLPack's capsules: NumPy makes the capsule of an export over ftensor's memory. A capsule's destructor
and deleter may run while an exception is set, on threads without the GIL, or after the interpreter has
ended, so they can't safely be Python code. This module corrects the dtype and the flags that NumPy
can't know. It reads the capsule of an import itself: NumPy rejects dtypes that it lacks, such as
bfloat16, and imports capsules from before DLPack 1.0 as read-only arrays.
"""

from __future__ import annotations

import ctypes as c
import sys
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes, errors
from .._device import DeviceLike, backend_of, resolve
from .._tensor import Tensor, method
from ..formats import contiguous_format
from ..iterator.shape import contiguous_strides, extent
from . import host

if TYPE_CHECKING:
    import torch


@cache
def _from_torch_dtypes() -> dict[Any, dtypes.dtype]:
    import torch

    return {getattr(torch, d.name): d for d in dtypes.ALL}


def strided_cpu_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a strided CPU tensor with the values of `tensor`.

    Resolves a lazy conjugate, negation or zero tensor. Raises TypeError for tensors of another
    layout or device, for nested, quantized and fake tensors, for tensors inside a torch.func
    transform, and for subclasses with `__torch_dispatch__`.
    """
    import torch

    # Checks tensors without memory first: other queries of these may fail.
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        raise errors.torch_kind_not_supported("inside a transform of torch.func")
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise errors.torch_kind_not_supported(f"of the kind {type(tensor).__name__}")
    if tensor.is_nested or tensor.is_quantized:
        kind = "nested" if tensor.is_nested else "quantized"
        raise errors.torch_kind_not_supported(f"that is {kind}")
    if not tensor.is_cpu:
        raise errors.torch_device_not_supported(tensor.device)
    if tensor.layout is not torch.strided:
        raise errors.torch_layout_not_supported(tensor.layout)
    if tensor._is_zerotensor():
        return torch.zeros(tensor.shape, dtype=tensor.dtype)
    return tensor.resolve_conj().resolve_neg()


def from_torch(tensor: torch.Tensor, *, device: DeviceLike | None = None, non_blocking: bool = False) -> Tensor:
    """Returns the torch tensor's elements, with its strides, as a tensor on the current (or given)
    device.

    Shares memory if the device computes in host memory: a write to either is visible in the other,
    and tensors that share a torch storage share memory here. An op on shared memory is done when
    its call returns; with `non_blocking`, call `ft.synchronize()` before torch reads or writes the
    memory. The elements are copied to a device with its own memory (an expanded tensor stays
    expanded, gaps between elements are removed). A lazy conjugate or negation, and memory that
    starts between two elements, are copied too.

    Raises RuntimeError for a tensor that requires grad: ftensor records no gradients, so call
    `.detach()`. Raises TypeError for a device other than torch's CPU, for tensors without strided
    memory (sparse, nested, quantized, fake tensors, those inside vmap), and for dtypes that ftensor
    lacks.
    """
    import torch

    if not isinstance(tensor, torch.Tensor):
        raise errors.not_a_torch_tensor(tensor)
    tensor = strided_cpu_tensor(tensor)
    dtype = _from_torch_dtypes().get(tensor.dtype)
    if dtype is None:
        raise errors.torch_dtype_not_supported(tensor.dtype)
    if tensor.requires_grad:
        raise errors.requires_grad()
    target = resolve(device)
    backend = backend_of(target)
    shape, strides = tuple(tensor.shape), tensor.stride()
    if 0 in shape:
        return host.empty(backend, target, dtype, shape, strides)
    memory = tensor.untyped_storage()
    storage = host.adopt_whole(
        backend, target, memory.data_ptr(), memory.nbytes(), dtype.itemsize, memory, non_blocking
    )
    if storage is None:
        return host.copy_from_address(backend, target, tensor.data_ptr(), dtype, shape, strides, memory)
    return Tensor._make(storage, dtype, shape, strides, tensor.storage_offset())


@method("to_torch")
def to_torch(self: Tensor, *, non_blocking: bool = False) -> Any:
    """Waits for the ops that write the tensor and returns it as a torch CPU tensor with the same
    strides.

    Shares memory on a device that computes in host memory. As long as torch holds it, ops on it are
    done when their calls return (with `non_blocking`: after `ft.synchronize()`). The result is a
    copy on other devices, and for a read-only tensor, since torch has no read-only memory.
    """
    import torch

    array = host.export(self, self._storage.readonly or None, non_blocking)[0]
    result = torch.from_numpy(array)
    if self._dtype.in_numpy:
        return result
    return result.view(getattr(torch, self._dtype.name))


CPU = (1, 0)
_HOST_MEMORY = (1, 3, 11)  # kDLCPU, and host memory pinned for CUDA or ROCm
_VERSION = (1, 0)
# Older NumPy only makes capsules from before DLPack 1.0, which any consumer accepts.
_NUMPY_VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
_MAX_DIMS, _MAX_BYTES = 64, (1 << 63) - 1
_READ_ONLY, _IS_COPIED = 1, 2  # bits of the flags


class _DataType(c.Structure):
    _fields_ = (("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16))


class _Tensor(c.Structure):
    _fields_ = (
        ("data", c.c_void_p),
        ("device_type", c.c_int32),
        ("device_id", c.c_int32),
        ("ndim", c.c_int32),
        ("dtype", _DataType),
        ("shape", c.POINTER(c.c_int64)),
        ("strides", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    )


class _Legacy(c.Structure):
    _fields_ = (("tensor", _Tensor), ("context", c.c_void_p), ("deleter", c.c_void_p))


class _Versioned(c.Structure):
    _fields_ = (
        ("major", c.c_uint32),
        ("minor", c.c_uint32),
        ("context", c.c_void_p),
        ("deleter", c.c_void_p),
        ("flags", c.c_uint64),
        ("tensor", _Tensor),
    )


# Own prototypes: attributes of ctypes.pythonapi are shared with other code that sets argtypes.
def _python_api(name: str, result: Any, *arguments: Any) -> Any:
    return c.PYFUNCTYPE(result, *arguments)((name, c.pythonapi))


_is_valid = _python_api("PyCapsule_IsValid", c.c_int, c.py_object, c.c_char_p)
_pointer = _python_api("PyCapsule_GetPointer", c.c_void_p, c.py_object, c.c_char_p)
_rename = _python_api("PyCapsule_SetName", c.c_int, c.py_object, c.c_char_p)
_deleter = c.CFUNCTYPE(None, c.c_void_p)

# A capsule keeps only the address of its name, and may outlive this module at exit. So the two new
# names get a reference that is never released.
_LEGACY, _VERSIONED = b"dltensor", b"dltensor_versioned"
_USED = {_LEGACY: b"used_dltensor", _VERSIONED: b"used_dltensor_versioned"}
for _name in _USED.values():
    _python_api("Py_IncRef", None, c.py_object)(_name)

_KINDS = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}
_CODES = {d: _KINDS[d.kind] for d in dtypes.ALL}
_CODES |= {dtypes.bfloat16: 4, dtypes.float8_e4m3fn: 10, dtypes.float8_e5m2: 12}
_DTYPES = {(code, d.itemsize * 8): d for d, code in _CODES.items()}


def _content(capsule: object) -> tuple[bytes, Any]:
    """Returns (name, structure) of a capsule; (b"", None) if it is used or not a capsule."""
    for name, kind in ((_VERSIONED, _Versioned), (_LEGACY, _Legacy)):
        if _is_valid(capsule, name):
            return name, kind.from_address(_pointer(capsule, name))
    return b"", None


class _Taken:
    """Owns a structure from a capsule: calls the producer's deleter when it is collected."""

    __slots__ = ("__weakref__", "_address", "_delete")

    def __init__(self, managed: Any) -> None:
        self._address = c.addressof(managed)
        # A producer that has nothing to clean up sets no deleter.
        self._delete = _deleter(managed.deleter) if managed.deleter else None

    def __del__(self) -> None:
        if self._delete is not None:
            self._delete(self._address)


@method("__dlpack_device__")
def dlpack_device(tensor: Tensor) -> tuple[int, int]:
    """Returns DLPack's (device type, device id) of the host, for a tensor on any device.

    A tensor on a device with its own memory is exported as a copy in host memory.
    """
    return CPU


@method("__dlpack__")
def to_dlpack_capsule(
    tensor: Tensor,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> object:
    """Waits for the tensor's ops and returns a capsule over its memory, for `Tensor.__dlpack__`.

    Exports a copy from a device with its own memory, and of a read-only tensor for a consumer from
    before DLPack 1.0, whose capsules have no read-only flag. Raises BufferError if `copy` is False
    and a copy is needed, and for a `dl_device` other than the host.
    """
    if stream is not None:
        if not isinstance(stream, int):
            raise errors.dlpack_stream_type(stream)
        if stream != -1:  # host memory has no streams; -1 ("don't wait") has no effect
            raise errors.dlpack_stream(stream)
    if dl_device is not None and tuple(dl_device) != CPU:
        raise errors.dlpack_device(dl_device)
    versioned = _NUMPY_VERSIONED and max_version is not None and max_version[0] >= 1
    storage = tensor._storage
    needed = not storage.backend.host_shared or (storage.readonly and not versioned)
    if needed and copy is False:
        raise errors.export_needs_copy(storage.device, storage.readonly)
    array, fresh = host.export(tensor, copy or needed)
    capsule = array.__dlpack__(max_version=_VERSION) if versioned else array.__dlpack__()
    if fresh or not tensor._dtype.in_numpy:
        name, managed = _content(capsule)
        managed.tensor.dtype.code = _CODES[tensor._dtype]  # for NumPy, a dtype that it lacks was an integer type
        if fresh and name == _VERSIONED:
            managed.flags |= _IS_COPIED
    return capsule


def from_dlpack(
    ext_tensor: Any, *, device: DeviceLike | None = None, copy: bool | None = None, non_blocking: bool = False
) -> Tensor:
    """Returns a tensor over the memory of another library's array (`__dlpack__`) or of a DLPack
    capsule.

    It is on `device`, by default the current one, and shares the memory if that device computes in
    host memory. Everything is copied to a device with its own memory. Data that the producer has on
    a device of its own, negative strides, and data that starts between two elements are copied too.
    `copy=True` always copies; `copy=False` raises ValueError or BufferError if a copy is needed.
    Read-only memory gives a tensor that in-place ops refuse. Raises BufferError for dtypes that
    ftensor lacks, RuntimeError for an object without `__dlpack__`.
    """
    if isinstance(ext_tensor, Tensor) and not copy and (device is None or resolve(device) == ext_tensor.device):
        return ext_tensor._view(ext_tensor._shape, ext_tensor._strides, ext_tensor._offset)
    if (torch := sys.modules.get("torch")) and isinstance(ext_tensor, torch.Tensor):
        ext_tensor = strided_cpu_tensor(ext_tensor)  # torch exports a lazy negation's memory unchanged
    capsule = ext_tensor
    if type(ext_tensor).__name__ != "PyCapsule":
        capsule = _request(ext_tensor, copy)
    name, managed = _content(capsule)
    if managed is None:
        raise errors.not_a_dlpack_capsule(capsule)
    if name == _VERSIONED and managed.major > _VERSION[0]:
        raise errors.dlpack_version(managed.major, managed.minor)
    tensor = managed.tensor
    if tensor.device_type not in _HOST_MEMORY:
        raise errors.dlpack_foreign_device((tensor.device_type, tensor.device_id))
    kind = tensor.dtype
    of = _DTYPES.get((kind.code, kind.bits)) if kind.lanes == 1 else None
    if of is None:
        raise errors.dlpack_dtype(kind.code, kind.bits, kind.lanes)
    shape, strides, address = _geometry(tensor, of.itemsize)
    readonly = name == _VERSIONED and bool(managed.flags & _READ_ONLY)
    # Takes ownership of the structure; until here the capsule's destructor would have freed it.
    _rename(capsule, _USED[name])
    owner = _Taken(managed)
    where = resolve(device)
    return host.import_memory(
        where, address, of, shape, strides, owner, readonly=readonly, copy=copy, non_blocking=non_blocking
    )


def _geometry(tensor: Any, itemsize: int) -> tuple[tuple[int, ...], tuple[int, ...] | None, int]:
    """Returns (shape, strides or None, address of the first element) of a DLPack tensor.

    Raises BufferError for an invalid or impossible geometry.
    """
    ndim = tensor.ndim
    if not 0 <= ndim <= _MAX_DIMS:
        raise errors.dlpack_broken(f"{ndim} dims; 0 to {_MAX_DIMS} can be read")
    if ndim and not tensor.shape:
        raise errors.dlpack_broken(f"{ndim} dims, but no shape")
    shape = tuple(tensor.shape[:ndim]) if ndim else ()
    strides = tuple(tensor.strides[:ndim]) if ndim and tensor.strides else None
    if min(shape, default=0) < 0:
        raise errors.dlpack_broken(f"shape {shape}, of which a size is negative")
    address = (tensor.data or 0) + tensor.byte_offset
    if 0 in shape:
        return shape, strides, address
    if not tensor.data:
        raise errors.dlpack_broken(f"shape {shape}, but its data is NULL")
    low, high = extent(shape, contiguous_strides(shape) if strides is None else strides)
    if address + low * itemsize < 0 or address + (high + 1) * itemsize > _MAX_BYTES or prod(shape) > _MAX_BYTES:
        where = f"shape {shape}, strides {strides} and byte_offset {tensor.byte_offset}"
        raise errors.dlpack_broken(f"{where}, which reach beyond any memory")
    return shape, strides, address


def _request(producer: Any, copy: bool | None) -> object:
    """Returns the producer's capsule in host memory; asks the producer for a copy if needed."""
    if not hasattr(producer, "__dlpack__") or not hasattr(producer, "__dlpack_device__"):
        raise errors.no_dlpack(producer)
    where = producer.__dlpack_device__()
    options: dict[str, Any] = {"max_version": _VERSION}
    if int(where[0]) not in _HOST_MEMORY:
        if copy is False:
            raise errors.dlpack_foreign_device(where)
        options["dl_device"] = CPU
    elif copy is False:
        options["copy"] = False
    try:
        return producer.__dlpack__(**options)
    except TypeError:
        # Producers from before DLPack 1.0 accept no keywords.
        return producer.__dlpack__()


@method("to_device")
def to_device(self: Tensor, device: DeviceLike, /, *, stream: None = None) -> Tensor:
    """Returns the tensor on a device, the tensor itself if it is there: the array API standard's
    `to_device`.

    Raises ValueError for a stream: this function supports none.
    """
    if stream is not None:
        raise errors.stream_given(stream)
    return self.to(device)


@method("astype")
def astype(self: Tensor, dtype: Any, *, copy: bool = True) -> Tensor:
    """Returns the elements in another dtype (ftensor's, NumPy's or its name), like
    `ndarray.astype`.

    The result is a new tensor unless `copy` is False and nothing changes. Raises TypeError for an
    invalid dtype.
    """
    return self.to(dtype=dtype, copy=copy)


@method("copy")
def copy(self: Tensor, order: str = "C") -> Tensor:
    """Returns a new tensor of the elements: contiguous for `order` "C", with the same strides for
    "K"."""
    return self.clone() if order == "K" else self.clone(memory_format=contiguous_format)
