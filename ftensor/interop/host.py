"""Import and export of host memory, the common base of exchange with torch and DLPack; conversion
between NumPy arrays and tensors.

On a device that computes in host memory (`backend.host_shared`) import and export pass an address
and keep the owner of the memory alive, without a copy. In all other cases this module makes one
copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from .. import errors
from .._device import DeviceLike, backend_of, device, resolve
from .._tensor import Tensor, method
from ..dtypes import dtype, from_numpy_dtype
from ..execute.pointwise import clone
from ..formats import contiguous_format
from ..iterator.shape import Ints, contiguous_strides, extent, numel

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage


class _Memory:
    """The `base` of an array over foreign memory: keeps the owner alive, provides the address."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: object, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


class _Alias(_Memory):
    """The `base` of an array that shares a storage's memory: while the array lives, ops on the
    storage are done when they return."""

    __slots__ = ()
    owner: Storage

    def __init__(self, owner: Storage, interface: dict[str, Any]) -> None:
        super().__init__(owner, interface)
        owner.show(id(self))

    def __del__(self) -> None:
        self.owner.hide(id(self))


def array_at(
    address: int,
    dtype: dtype,
    shape: Ints,
    strides: Ints,
    owner: Any,
    readonly: bool = False,
    base: type[_Memory] = _Memory,
) -> np.ndarray[Any, Any]:
    """Returns an array over memory that `owner` keeps alive; `strides` in elements.

    Dtypes that NumPy lacks become unsigned integers of the same bits.
    """
    size = dtype.itemsize
    interface = {
        "version": 3,
        "typestr": dtype.numpy.str,
        "shape": shape,
        "strides": tuple([s * size for s in strides]),
        "data": (address, readonly),
    }
    return np.asarray(base(owner, interface))


def export(tensor: Tensor, copy: bool | None = None, non_blocking: bool = False) -> tuple[np.ndarray[Any, Any], bool]:
    """Waits for the device and returns (array of the elements in host memory, True for a copy).

    The array shares memory if the device computes in host memory, unless `copy` is True. While a
    shared array lives, ops on its memory are done when they return, unless `non_blocking`. A copy
    keeps the strides if the elements have no gaps. Dtypes that NumPy lacks become unsigned
    integers.
    """
    storage = tensor._storage
    dtype, shape, strides = tensor._dtype, tensor._shape, tensor._strides
    if storage.backend.executor is not None:
        storage.backend.executor.read(storage)
    storage.backend.current_stream().synchronize()
    storage.synchronize()
    if storage.backend.host_shared:
        assert storage.ptr is not None
        if copy or not non_blocking:
            storage.changed()  # the array's user may write to the memory
        else:
            storage.expose()
        address = storage.ptr + tensor._offset * dtype.itemsize
        base = _Memory if copy or non_blocking else _Alias
        array = array_at(address, dtype, shape, strides, storage, storage.readonly, base)
        return (array.copy(order="K"), True) if copy else (array, False)
    low, high = extent(shape, strides)
    if high - low >= numel(shape):  # copies without gaps on the device, instead of downloading the gaps
        return export(clone(tensor, contiguous_format), copy)
    block = np.empty(high - low + 1, dtype.numpy)
    if block.size:
        storage.backend.download(storage, (tensor._offset + low) * dtype.itemsize, block)
    steps = tuple([s * dtype.itemsize for s in strides])
    return np.ndarray(shape, dtype.numpy, block, -low * dtype.itemsize, steps), True


def adopt(
    backend: Backend,
    device: device,
    address: int,
    nbytes: int,
    itemsize: int,
    owner: object,
    readonly: bool = False,
    non_blocking: bool = False,
) -> Storage | None:
    """Returns a storage over `nbytes` bytes of foreign host memory at `address`.

    Returns None if that needs a copy: for a device with its own memory, or for an address that is
    not aligned to `itemsize` and the backend's `adopt_alignment`.
    """
    if not backend.host_shared or address % max(itemsize, backend.adopt_alignment):
        return None
    storage = backend.adopt(address, nbytes, owner, readonly)
    storage.device = device
    return mark_exposed(storage, non_blocking)


def mark_exposed(storage: Storage, non_blocking: bool) -> Storage:
    """Marks an imported storage as visible to the host, unless `non_blocking`, and returns it.

    Ops on a visible storage finish before they return, because its owner may read or free the
    memory at any time.
    """
    if not (non_blocking or storage.visible):
        storage.show(0)  # 0 is not the id of any object
    return storage


# Storages over foreign memory. Memory that is imported twice gets one storage, so that in-place
# ops detect overlapping tensors.
_adopted: WeakValueDictionary[tuple[int, int, device], Storage] = WeakValueDictionary()


def adopt_whole(
    backend: Backend, device: device, address: int, nbytes: int, itemsize: int, owner: object, non_blocking: bool
) -> Storage | None:
    """Like `adopt`, but returns the storage of an earlier import of the same memory if it is alive.

    `owner` identifies the memory. A known address with another owner is new memory, because the
    earlier owner has freed it.
    """
    key = (address, nbytes, device)
    storage = _adopted.get(key)
    if storage is not None and storage.owner is owner and storage.backend is backend:
        return None if address % itemsize else mark_exposed(storage, non_blocking)
    storage = adopt(backend, device, address, nbytes, itemsize, owner, False, non_blocking)
    if storage is not None:
        _adopted[key] = storage
    return storage


def copy_from_address(
    backend: Backend, device: device, address: int, dtype: dtype, shape: Ints, strides: Ints, owner: object
) -> Tensor:
    """Returns a new tensor with a copy of the elements at `address`, in the same order of dims.

    Keeps the strides if the elements have no gaps; an expanded tensor stays expanded.
    """
    low, high = extent(shape, strides)
    if low == 0 and high < numel(shape):
        block = array_at(address, dtype, (high + 1,), (1,), owner)
    else:
        packed = array_at(address, dtype, shape, strides, owner).copy(order="K")
        strides = tuple([s // dtype.itemsize for s in packed.strides])
        block = packed.ravel(order="K")
    storage = backend.allocate(block.nbytes)
    storage.device = device
    backend.upload(storage, 0, block)
    return Tensor._make(storage, dtype, shape, strides, 0)


def empty(backend: Backend, device: device, dtype: dtype, shape: Ints, strides: Ints) -> Tensor:
    """Returns a tensor without elements; a size in its shape is 0."""
    storage = backend.allocate(0)
    storage.device = device
    return Tensor._make(storage, dtype, shape, strides, 0)


def import_memory(
    device: device,
    address: int,
    dtype: dtype,
    shape: Ints,
    strides: Ints | None,
    owner: object,
    *,
    readonly: bool = False,
    copy: bool | None = None,
    non_blocking: bool = False,
) -> Tensor:
    """Returns a tensor over the elements at `address`, or a copy if `copy` or if sharing fails.

    The tensor keeps `owner` alive while it shares memory. Negative strides need a copy. Raises
    ValueError if a copy is needed and `copy` is False.
    """
    backend = backend_of(device)
    if strides is None:
        strides = contiguous_strides(shape)
    if min(strides, default=0) < 0:  # strides of dims of size 0 or 1 are not used
        strides = tuple([abs(s) if n < 2 else s for n, s in zip(shape, strides)])
    if 0 in shape:
        return empty(backend, device, dtype, shape, tuple([abs(s) for s in strides]))
    if not copy:
        low, high = extent(shape, strides)
        if low == 0:
            size = dtype.itemsize
            nbytes = (high + 1) * size
            storage = adopt(backend, device, address, nbytes, size, owner, readonly, non_blocking)
            if storage is not None:
                return Tensor._make(storage, dtype, shape, strides)
        if copy is False:
            raise errors.import_needs_copy(device, strides)
    return copy_from_address(backend, device, address, dtype, shape, strides, owner)


def from_numpy(
    ndarray: np.ndarray[Any, Any], *, device: DeviceLike | None = None, non_blocking: bool = False
) -> Tensor:
    """Returns a tensor over the array's memory: a write to either is visible in the other.

    The tensor has the array's strides. The elements are copied to a device with its own memory, and
    if the array does not start at a multiple of its itemsize. A read-only array gives a tensor that
    in-place ops refuse. An op on shared memory is done when its call returns; with `non_blocking`,
    call `ft.synchronize()` before NumPy reads or writes the memory.

    Raises TypeError for a value that is no array or a dtype that ftensor lacks; ValueError for
    negative strides, for strides that are no multiple of the itemsize and for foreign byte order.
    """
    if not isinstance(ndarray, np.ndarray):
        raise errors.not_an_array(ndarray)
    dtype = from_numpy_dtype(ndarray.dtype)
    size = dtype.itemsize
    steps = ndarray.strides
    if ndarray.size:
        if min(steps, default=0) < 0:
            raise errors.negative_strides(steps)
        if any(s % size for s in steps):
            raise errors.uneven_strides(steps, size)
    return import_memory(
        resolve(device),
        ndarray.__array_interface__["data"][0],
        dtype,
        ndarray.shape,
        tuple([s // size for s in steps]),
        ndarray,
        readonly=not ndarray.flags.writeable,
        non_blocking=non_blocking,
    )


def operand_tensor(array: np.ndarray[Any, Any], tensor: Tensor) -> Tensor:
    """Returns an array operand as a tensor on the device of the other operand, `tensor`.

    Like `from_numpy`, but copies an array whose strides `from_numpy` refuses.
    """
    size, steps = array.itemsize, array.strides
    if any(s < 0 or s % size for s in steps):
        array = np.ascontiguousarray(array)
    return from_numpy(array, device=tensor._storage.device)


@method("numpy")
def numpy(tensor: Tensor, *, force: bool = False, non_blocking: bool = False) -> np.ndarray[Any, Any]:
    """Waits for the ops that write the tensor and returns it as an array.

    The array shares memory and strides on a device that computes in host memory. While it lives,
    ops on that memory are done when they return (with `non_blocking`: after `ft.synchronize()`).
    On other devices the array is a copy. The array of a read-only tensor is read-only. `force` has
    no effect: ftensor tensors need no gradient and have no lazy conjugates.

    Raises TypeError for bfloat16, float8 and complex32, which NumPy lacks.
    """
    if not tensor._dtype.in_numpy:
        raise errors.no_numpy_dtype(tensor._dtype)
    return export(tensor, non_blocking=non_blocking)[0]


@method("__array__")
def to_array(
    tensor: Tensor, dtype: np.dtype[Any] | type | str | None = None, copy: bool | None = None
) -> np.ndarray[Any, Any]:
    """Returns the tensor as an array, for NumPy's `__array__` protocol.

    `copy` is NumPy's: None copies only if needed, False raises ValueError if a copy is needed.
    """
    if not tensor._dtype.in_numpy:
        raise errors.no_numpy_dtype(tensor._dtype)
    numpy_dtype = tensor._dtype.numpy
    converts = dtype is not None and np.dtype(dtype) != numpy_dtype
    array, fresh = export(tensor, copy and not converts)
    if copy is False and (fresh or converts):
        raise errors.array_needs_copy(tensor._dtype, np.dtype(dtype) if converts else None)
    return array.astype(dtype) if converts else array
