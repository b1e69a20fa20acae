"""Small tensors that are the same at every call: made once for each device, and never written."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from .._tensor import Tensor
from .indexed import host_tensor, record_array_bounds
from .look_up import geometry_storage

# Bytes of an array from which on equal ones are not looked for, and what one takes beside its own.
MOST, OVERHEAD = 1 << 16, 1 << 10


class _Constant(NamedTuple):
    """Stands among a device's launches, which go when they have not been used for long."""

    tensor: Tensor

    @property
    def kept_bytes(self) -> int:
        """With its key, which may be its bytes."""
        return 2 * self.tensor._storage.nbytes + OVERHEAD


def constant(key: Hashable, like: Tensor, make: Callable[[], np.ndarray[Any, Any]]) -> Tensor:
    """The tensor of an array that `make()` gives at the first call with a key, on `like`'s device:
    contiguous, and for kernels to read alone."""
    storage = like._storage
    launches, whole = storage.backend.launches, (_Constant, storage.device, key)
    entry: _Constant | None = launches.find(whole)
    if entry is None:
        array = np.ascontiguousarray(make())
        memory = geometry_storage(storage.backend, array.ravel().tolist(), array.dtype)
        memory.device = storage.device
        strides = tuple([s // array.itemsize for s in array.strides])
        tensor = Tensor._make(memory, dtypes.from_numpy_dtype(array.dtype), array.shape, strides)
        entry = launches.keep(whole, _Constant(record_array_bounds(tensor, array)))
    return entry.tensor


def constant_of(array: np.ndarray[Any, Any], like: Tensor) -> Tensor:
    """The same for an array that is computed at each call: equal ones are one tensor, but for large
    ones."""
    if not 0 < array.nbytes <= MOST:
        return host_tensor(array, like)
    key = array.dtype.char, array.shape, array.tobytes()
    return constant(key, like, lambda: array)
