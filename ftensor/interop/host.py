"""Host memory as tensors and tensors as host memory: what NumPy, torch and DLPack exchange share.

On a device that computes in the host's memory (`backend.host_shared`) both directions hand over
an address and keep the other side's memory alive; nothing is copied. Everything else is one copy,
made here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from .. import errors
from .._device import backend_of, device
from .._tensor import Tensor
from ..dtypes import dtype
from ..execute.copy import clone
from ..formats import contiguous_format
from ..iterator.shape import Ints, contiguous_strides, extent, numel

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.storage import Storage


class _Memory:
    """What an array over others' memory has as its `base`: keeps its owner, names its address."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: object, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


class _Alias(_Memory):
    """An exported array's `base`: while it lives, the host sees what ops do with the storage."""

    __slots__ = ()
    owner: Storage

    def __init__(self, owner: Storage, interface: dict[str, Any]) -> None:
        super().__init__(owner, interface)
        owner.show(id(self))

    def __del__(self) -> None:
        self.owner.hide(id(self))


def array_at(
    address: int,
    of: dtype,
    shape: Ints,
    strides: Ints,
    owner: Any,
    readonly: bool = False,
    base: type[_Memory] = _Memory,
) -> np.ndarray[Any, Any]:
    """An array over memory that `owner` keeps alive; `strides` in elements.

    What NumPy lacks comes by its bits.
    """
    size = of.itemsize
    interface = {
        "version": 3,
        "typestr": of.numpy.str,
        "shape": shape,
        "strides": tuple([s * size for s in strides]),
        "data": (address, readonly),
    }
    return np.asarray(base(owner, interface))


def export(tensor: Tensor, copy: bool | None = None, non_blocking: bool = False) -> tuple[np.ndarray[Any, Any], bool]:
    """The tensor's elements in host memory, and whether they are a copy; waits for the device.

    Shared where the device computes in host memory, unless `copy` is True; then ops on the memory
    are waited for as long as the array lives, unless `non_blocking`. A copy keeps the strides
    when the elements lie without gaps. What NumPy lacks comes as unsigned integers.
    """
    storage = tensor._storage
    of, shape, strides = tensor._dtype, tensor._shape, tensor._strides
    if storage.backend.executor is not None:
        storage.backend.executor.read(storage)
    storage.backend.current_stream().synchronize()
    storage.synchronize()
    if storage.backend.host_shared:
        assert storage.ptr is not None
        if copy or not non_blocking:
            storage.changed()  # whoever holds the memory may write there
        else:
            storage.expose()
        address = storage.ptr + tensor._offset * of.itemsize
        base = _Memory if copy or non_blocking else _Alias
        array = array_at(address, of, shape, strides, storage, storage.readonly, base)
        return (array.copy(order="K"), True) if copy else (array, False)
    low, high = extent(shape, strides)
    if high - low >= numel(shape):  # gaps: close them on the device rather than fetch them
        return export(clone(tensor, contiguous_format), copy)
    block = np.empty(high - low + 1, of.numpy)
    if block.size:
        storage.backend.download(storage, (tensor._offset + low) * of.itemsize, block)
    steps = tuple([s * of.itemsize for s in strides])
    return np.ndarray(shape, of.numpy, block, -low * of.itemsize, steps), True


def adopt(
    backend: Backend,
    where: device,
    address: int,
    nbytes: int,
    itemsize: int,
    owner: object,
    readonly: bool = False,
    non_blocking: bool = False,
) -> Storage | None:
    """A storage over foreign host memory: just these bytes, from the first one on.

    None where that needs a copy: a device with its own memory, or an address that is no whole
    number of elements.
    """
    if not backend.host_shared or address % max(itemsize, backend.adopt_alignment):
        return None
    storage = backend.adopt(address, nbytes, owner, readonly)
    storage.device = where
    return seen(storage, non_blocking)


def seen(storage: Storage, non_blocking: bool) -> Storage:
    """Imported memory, whose ops are waited for: nobody can know when its owner lets go of it."""
    if not (non_blocking or storage.visible):
        storage.show(0)  # no object's id
    return storage


# Storages made from others' memory, so that the same memory imported twice is one storage here,
# and in-place ops see that its tensors overlap.
_adopted: WeakValueDictionary[tuple[int, int, device], Storage] = WeakValueDictionary()


def adopt_whole(
    backend: Backend, where: device, address: int, nbytes: int, itemsize: int, owner: object, non_blocking: bool
) -> Storage | None:
    """As `adopt`, but the storage of an earlier import while that is alive.

    `owner` is the object that stands for this memory. Memory at a known address that belongs
    to another object is new: the earlier owner gave it up.
    """
    key = (address, nbytes, where)
    storage = _adopted.get(key)
    if storage is not None and storage.owner is owner and storage.backend is backend:
        return None if address % itemsize else seen(storage, non_blocking)
    storage = adopt(backend, where, address, nbytes, itemsize, owner, False, non_blocking)
    if storage is not None:
        _adopted[key] = storage
    return storage


def copied(
    backend: Backend, where: device, address: int, of: dtype, shape: Ints, strides: Ints, owner: object
) -> Tensor:
    """A new tensor with the elements at `address`, in the same order of dims in memory.

    The strides are kept when the elements lie without gaps (expanded ones included).
    """
    low, high = extent(shape, strides)
    if low == 0 and high < numel(shape):
        block = array_at(address, of, (high + 1,), (1,), owner)
    else:
        packed = array_at(address, of, shape, strides, owner).copy(order="K")
        strides = tuple([s // of.itemsize for s in packed.strides])
        block = packed.ravel(order="K")
    storage = backend.allocate(block.nbytes)
    storage.device = where
    backend.upload(storage, 0, block)
    return Tensor._make(storage, of, shape, strides, 0)


def empty(backend: Backend, where: device, of: dtype, shape: Ints, strides: Ints) -> Tensor:
    """A tensor without elements."""
    storage = backend.allocate(0)
    storage.device = where
    return Tensor._make(storage, of, shape, strides, 0)


def imported(
    where: device,
    address: int,
    of: dtype,
    shape: Ints,
    strides: Ints | None,
    owner: object,
    *,
    readonly: bool = False,
    copy: bool | None = None,
    non_blocking: bool = False,
) -> Tensor:
    """A tensor over the elements at `address`: shared if possible, else, or if `copy`, a copy.

    Memory that is shared stays alive through `owner`. Negative strides need a copy. ValueError
    where a copy is needed and `copy` is False.
    """
    backend = backend_of(where)
    if strides is None:
        strides = contiguous_strides(shape)
    if min(strides, default=0) < 0:  # one that no index ever steps along is no obstacle
        strides = tuple([abs(s) if n < 2 else s for n, s in zip(shape, strides)])
    if 0 in shape:
        return empty(backend, where, of, shape, tuple([abs(s) for s in strides]))
    if not copy:
        low, high = extent(shape, strides)
        if low == 0:
            size = of.itemsize
            nbytes = (high + 1) * size
            storage = adopt(backend, where, address, nbytes, size, owner, readonly, non_blocking)
            if storage is not None:
                return Tensor._make(storage, of, shape, strides)
        if copy is False:
            raise errors.import_needs_copy(where, strides)
    return copied(backend, where, address, of, shape, strides, owner)
