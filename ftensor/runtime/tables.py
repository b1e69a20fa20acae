"""Numbers that prepared launches read, where a device computes in the host's memory."""

from __future__ import annotations

import ctypes
from collections import deque
from typing import TYPE_CHECKING

from .blocks import Block, FreeLists, size_class
from .storage import Storage

if TYPE_CHECKING:
    import numpy as np

    from .backend import Backend


class Table(Storage):
    """Memory of the default stream that the host has filled, without the queue."""

    __slots__ = ()

    def __del__(self) -> None:
        block, stream = self.block, self.stream
        block.pool.allocated -= block.size
        self.backend.tables.retired.append((stream.launched, block))


class Tables:
    """Makes tables in memory that no command in flight uses, so that nothing has to wait.

    Memory that comes back is such when the default stream has done what it then had been given;
    whoever lets go of launches of other streams waits for these before.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.retired: deque[tuple[int, Block]] = deque()
        self._free = FreeLists()

    def holding(self, array: np.ndarray) -> Table:
        """A table of an array's numbers."""
        pool, stream, size = (self.backend.pool, self.backend.default_stream, size_class(array.nbytes))
        pool.check_open()
        self._collect(stream.finished)
        try:
            block = self._free[size].pop()
        except IndexError:
            block = pool.fresh(size)
        pool.allocated += block.size
        assert block.ptr is not None, "a device's own memory is written by its queue"
        ctypes.memmove(block.ptr, array.tobytes(), array.nbytes)
        return Table(self.backend, stream, block, array.nbytes)

    def unused(self) -> list[Block]:
        """The blocks that no table holds."""
        free = [block for blocks in list(self._free.values()) for block in list(blocks)]
        return [*free, *(block for _, block in list(self.retired))]

    def release(self) -> None:
        """Give the memory back that is not in use; the device has been waited for."""
        self._collect(self.backend.default_stream.finished)
        self.backend.pool.drop_free(self._free)

    def _collect(self, finished: int) -> None:
        while self.retired:
            try:
                launched, block = self.retired.popleft()
            except IndexError:  # another thread took the last one
                return
            if launched > finished:
                self.retired.appendleft((launched, block))
                return
            self._free[block.size].append(block)
