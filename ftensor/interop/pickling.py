"""Pickle and deepcopy: tensors that share memory share it afterwards, too."""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np

from .._device import backend_of, resolve
from .._tensor import Tensor, method
from ..dtypes import dtype, uint8
from ..execute.copy import copy
from ..execute.memory import new
from ..iterator.shape import Ints
from ..runtime.storage import Storage


def _all_of(storage: Storage) -> Tensor:
    """Every byte of a storage."""
    return Tensor._make(storage, uint8, (storage.nbytes,), (1,))


def filled(content: bytes) -> Storage:
    """A storage of these bytes on the device of new tensors."""
    made = new((len(content),), uint8, resolve(None))._storage
    if content:
        backend_of(made.device).upload(made, 0, np.frombuffer(content, np.uint8))
    return made


def rebuilt(storage: Storage, of: dtype, shape: Ints, strides: Ints, offset: int) -> Tensor:
    """A tensor over a storage; `offset` and `strides` in elements."""
    return Tensor._make(storage, of, shape, strides, offset)


def _reduce_storage(storage: Storage) -> tuple[Any, ...]:
    return filled, (_all_of(storage)._host().tobytes(),)


copyreg.pickle(Storage, _reduce_storage)


@method("__reduce__")
def reduced(self: Tensor) -> tuple[Any, ...]:
    return rebuilt, (self._storage, self._dtype, self._shape, self._strides, self._offset)


@method("__deepcopy__")
def deepcopied(self: Tensor, memo: dict[int, Any]) -> Tensor:
    storage = memo.get(id(self._storage))
    if storage is None:
        given = self._storage
        made = new((given.nbytes,), uint8, given.device)
        copy(_all_of(given), made)
        storage = memo[id(given)] = made._storage
    found = Tensor._make(storage, self._dtype, self._shape, self._strides, self._offset)
    memo[id(self)] = found
    return found
