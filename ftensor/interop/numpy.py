"""Conversion between NumPy arrays and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from .._device import DeviceLike, resolve
from .._tensor import Tensor
from ..dtypes import from_numpy_dtype
from . import host


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
    return host.import_memory(
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
    """Returns the tensor of an array operand, on the device of the other operand `tensor`.

    Like `from_numpy`, but copies an array whose strides `from_numpy` refuses.
    """
    size, steps = array.itemsize, array.strides
    if any(s < 0 or s % size for s in steps):
        array = np.ascontiguousarray(array)
    return from_numpy(array, device=tensor._storage.device)


def to_numpy(tensor: Tensor, *, force: bool = False, non_blocking: bool = False) -> np.ndarray[Any, Any]:
    """Waits for the ops that write the tensor and returns it as an array.

    The array shares memory and strides on a device that computes in host memory. While it lives,
    ops on that memory are done when they return (with `non_blocking`: after `ft.synchronize()`).
    On other devices the array is a copy. The array of a read-only tensor is read-only. `force` has
    no effect: ftensor tensors need no gradient and have no lazy conjugates.

    Raises TypeError for bfloat16, float8 and complex32, which NumPy lacks.
    """
    if not tensor._dtype.in_numpy:
        raise errors.no_numpy_dtype(tensor._dtype)
    return host.export(tensor, non_blocking=non_blocking)[0]


def to_array(tensor: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    """Returns the tensor as an array, for NumPy's `__array__` protocol.

    `copy` is NumPy's: None copies only if needed, False raises ValueError if a copy is needed.
    """
    if not tensor._dtype.in_numpy:
        raise errors.no_numpy_dtype(tensor._dtype)
    numpy_dtype = tensor._dtype.numpy
    converts = dtype is not None and np.dtype(dtype) != numpy_dtype
    array, fresh = host.export(tensor, copy and not converts)
    if copy is False and (fresh or converts):
        raise errors.array_needs_copy(tensor._dtype, np.dtype(dtype) if converts else None)
    return array.astype(dtype) if converts else array
