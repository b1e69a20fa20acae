"""Pickle and deepcopy of tensors; tensors that share memory still share it in the result.

With pickle protocol 5 a storage is an out-of-band buffer (`buffer_callback`), over the device's
own memory if the host shares it. A device that computes in host memory uses writable memory from
`buffers` in place. All other memory is uploaded.
"""

from __future__ import annotations

from pickle import PickleBuffer
from typing import Any

import numpy as np

from .._device import backend_of, resolve
from .._tensor import Tensor, method
from ..dtypes import dtype, uint8
from ..execute.copy import copy
from ..execute.output import new
from ..iterator.shape import Ints
from ..runtime.storage import Storage
from .host import adopt, export

_ALIGNMENT = 16  # bytes of the largest element


def _all_of(storage: Storage) -> Tensor:
    """Returns a uint8 tensor of all bytes of a storage."""
    return Tensor._make(storage, uint8, (storage.nbytes,), (1,))


def filled(content: Any) -> Storage:
    """Returns a storage with the bytes of a buffer object, on the device of new tensors.

    Uses writable, aligned memory in place if the device computes in host memory.
    """
    array = np.frombuffer(content, np.uint8)
    where = resolve(None)
    if array.flags.writeable and array.size:
        address = array.__array_interface__["data"][0]
        if address % _ALIGNMENT == 0:  # aligned for every dtype
            shared = adopt(backend_of(where), where, address, array.size, 1, array, non_blocking=True)
            if shared is not None:
                return shared
    storage = new((array.size,), uint8, where)._storage
    if array.size:
        backend_of(where).upload(storage, 0, array)
    return storage


def rebuilt(storage: Storage, of: dtype, shape: Ints, strides: Ints, offset: int) -> Tensor:
    """Returns a tensor over a storage; `offset` and `strides` in elements."""
    return Tensor._make(storage, of, shape, strides, offset)


def _reduced_storage(storage: Storage, protocol: int) -> tuple[Any, ...]:
    array: Any = export(_all_of(storage))[0] if storage.nbytes else np.empty(0, np.uint8)
    return filled, (PickleBuffer(array) if protocol >= 5 else array.tobytes(),)


# copyreg does not pass the protocol to its functions.
setattr(Storage, "__reduce_ex__", _reduced_storage)  # noqa: B010


@method("__reduce__")
def reduced(self: Tensor) -> tuple[Any, ...]:
    return rebuilt, (self._storage, self._dtype, self._shape, self._strides, self._offset)


@method("__deepcopy__")
def deepcopied(self: Tensor, memo: dict[int, Any]) -> Tensor:
    storage = memo.get(id(self._storage))
    if storage is None:
        source = self._storage
        buffer = new((source.nbytes,), uint8, source.device)
        copy(_all_of(source), buffer)
        storage = memo[id(source)] = buffer._storage
    duplicate = Tensor._make(storage, self._dtype, self._shape, self._strides, self._offset)
    memo[id(self)] = duplicate
    return duplicate
