"""Constant tensors: read-only tensors that are made once per device and shared by calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from .._tensor import Tensor
from .dispatch import geometry_storage
from .indexed import host_tensor, record_array_bounds

# The largest array, in bytes, that is cached by its contents; the bytes of a cache entry.
MOST, OVERHEAD = 1 << 16, 1 << 10


class _Constant(NamedTuple):
    """Cache entry of a constant tensor among a device's launches; unused entries are evicted."""

    tensor: Tensor

    @property
    def kept_bytes(self) -> int:
        """Returns the bytes of the tensor and of its key, which may hold the same bytes."""
        return 2 * self.tensor._storage.nbytes + OVERHEAD


def constant(key: Hashable, like: Tensor, make: Callable[[], np.ndarray[Any, Any]]) -> Tensor:
    """Returns the contiguous read-only tensor of the array that `make()` returns, on the device of
    `like`. Cached by `key`."""
    storage = like._storage
    launches, entry_key = storage.backend.launches, (_Constant, storage.device, key)
    entry: _Constant | None = launches.find(entry_key)
    if entry is None:
        array = np.ascontiguousarray(make())
        memory = geometry_storage(storage.backend, array.ravel().tolist(), array.dtype)
        memory.device = storage.device
        strides = tuple([s // array.itemsize for s in array.strides])
        tensor = Tensor._make(memory, dtypes.from_numpy_dtype(array.dtype), array.shape, strides)
        entry = launches.keep(entry_key, _Constant(record_array_bounds(tensor, array)))
    return entry.tensor


def constant_of(array: np.ndarray[Any, Any], like: Tensor) -> Tensor:
    """Like `constant`, for an array that each call computes. Equal arrays share a tensor, up to
    `MOST` bytes."""
    if not 0 < array.nbytes <= MOST:
        return host_tensor(array, like)
    key = array.dtype.char, array.shape, array.tobytes()
    return constant(key, like, lambda: array)
