"""Copies of imported memory for kernels that read whole beats.

A board's own memory begins on a beat. A device in host memory that stands for a board may have memory
that begins anywhere: NumPy's, imported before the device took an image.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._tensor import Tensor
from ..kernels.workload import PORT_BYTES
from ..runtime.backend import host_bytes

if TYPE_CHECKING:
    from ..execute.launch import Launch
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage

# Skeletons that read whole beats; kernels of others are chosen by the addresses of their operands.
_READ_BEATS = ("staged", "network")


def reads_beats(backend: Backend, launch: Launch | None) -> bool:
    """True if a launch on a device in a board's form has a kernel that reads whole beats."""
    if launch is None or not backend.target.is_board:
        return False
    return any(step.key.skeleton in _READ_BEATS for step in launch.steps)


def on_beats(tensor: Tensor, start: int) -> Tensor:
    """Returns the tensor over a copy of its whole memory, from which it begins `start` bytes behind a
    beat."""
    storage, size = tensor._storage, tensor._dtype.itemsize
    before = (start - tensor._offset * size) % PORT_BYTES
    copy = storage.backend.allocate(before + storage.nbytes)
    copy.device = storage.device
    _bytes(copy, before, storage.nbytes)[:] = _bytes(storage, 0, storage.nbytes)
    return Tensor._make(copy, tensor._dtype, tensor._shape, tensor._strides, tensor._offset + before // size)


def write_back(copy: Tensor, tensor: Tensor) -> None:
    """Copies what a launch wrote to `copy`, made by `on_beats`, to the tensor's own memory.

    That is the whole memory: a launch gets one argument for all views of a memory.
    """
    storage = tensor._storage
    before = (copy._offset - tensor._offset) * tensor._dtype.itemsize
    _bytes(storage, 0, storage.nbytes)[:] = _bytes(copy._storage, before, storage.nbytes)
    storage.changed()


def _bytes(storage: Storage, begin: int, nbytes: int) -> np.ndarray:
    """Returns bytes of a storage in host memory, after all commands that use it."""
    storage.backend.current_stream().synchronize()
    storage.synchronize()
    address = storage.block.ptr  # a storage's own may be hidden, while the device stands for a board
    assert address is not None, "a kernel of beats is off beats in memory that the host cannot see"
    return host_bytes(address + begin, nbytes)
