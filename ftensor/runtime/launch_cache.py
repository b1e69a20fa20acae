"""Caches of a device: compiled kernels and prepared launches, both bounded."""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .pool import Block, FreeLists, size_class
from .storage import Storage

if TYPE_CHECKING:
    import numpy as np

    from .backend import Backend


# On Intel's CPU runtime a kernel takes 0.6 MB.
MOST_KERNELS = 640


class KernelTable(OrderedDict[Hashable, Any]):
    """Kernels by key. A full table drops the quarter that was not used for the longest time.

    Prepared launches hold kernels and don't look them up, so `forget_launches` drops these, too.
    That is done once before the table is full, so that kernels in use are looked up in time.
    """

    def __init__(self, forget_launches: Callable[[], None], most: int = MOST_KERNELS) -> None:
        super().__init__()
        self.most = most
        self._forget_launches = forget_launches
        self._asked = False

    def get(self, key: Hashable, default: Any = None) -> Any:
        """The kernel of this key, which from now on is the one used last."""
        kernel = super().get(key, default)
        with suppress(KeyError):  # it is not there, or another thread drops it just now
            self.move_to_end(key)
        return kernel

    def __setitem__(self, key: Hashable, kernel: Any) -> None:
        super().__setitem__(key, kernel)
        full = len(self) > self.most
        if full:
            for _ in range(max(1, self.most // 4)):
                self.popitem(last=False)
        if full or (not self._asked and 4 * len(self) > 3 * self.most):
            self._asked = not full
            self._forget_launches()


class KeyedLocks:
    """A lock for each thing that is being made: by one thread, and other things meanwhile.

    A signal's handler that needs what its own thread is making makes it, too.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._making: dict[Any, tuple[Any, list[int]]] = {}

    @contextmanager
    def one(self, thing: Any) -> Iterator[None]:
        """Inside the block no other thread makes this thing."""
        with self._lock:
            lock, threads = self._making.setdefault(thing, (threading.RLock(), [0]))
            threads[0] += 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                threads[0] -= 1
                if not threads[0]:
                    del self._making[thing]


# Of all that prepared launches hold: some 12000 launches.
MOST_BYTES = 1 << 26


class CachedLaunch(Protocol):
    """What the table holds."""

    @property
    def kept_bytes(self) -> int:
        """The memory that goes when the table lets go of it."""
        ...


K = TypeVar("K", bound=CachedLaunch)


class _Miss:
    """What the table has for a call that is new."""

    def call(self, inputs: Any, numbers: Any, out: Any) -> None:
        """Nothing is done."""


NEW = _Miss()


class LaunchTable(dict[Hashable, Any]):
    """Launches, and what stands for them, by key: the newer ones, at a dict's speed. `table[key]`
    is the launch of a call, and for a new call NEW, whose `call` does nothing.

    When these hold half of `most` bytes they become the older ones, and what was older goes.
    `find` sees the older ones, too, and makes what it finds a newer one: so what is used stays.
    What goes may be in flight, so the device is waited for before, by `synchronize`. An entry with
    `dead` is of no use any more when that is true: whoever finds out calls `lost`, and what is dead
    goes when something is kept next.
    """

    def __init__(self, synchronize: Callable[[], object], most: int = MOST_BYTES) -> None:
        super().__init__()
        self.most = most
        self.held = 0  # bytes of the newer ones
        self._lost = False
        self._older: dict[Hashable, Any] = {}
        self._synchronize = synchronize
        # Signals' handlers come here, too, in whatever their thread was doing.
        self._turning = threading.RLock()

    def __missing__(self, key: Hashable) -> Any:
        return NEW

    def find(self, key: Hashable) -> Any:
        """What was kept under `key`, or None."""
        entry = self.get(key)
        if entry is None:
            entry = self._older.pop(key, None)
            if entry is not None:
                entry = self.keep(key, entry)
        return entry

    def keep(self, key: Hashable, entry: K) -> K:
        """Keep `entry`, or what another thread has kept under this key meanwhile; the one kept."""
        if self._lost:
            self._bury()
        one: K = self.setdefault(key, entry)
        if one is entry:
            self.held += entry.kept_bytes
            if 2 * self.held > self.most:
                self._turn()
        return one

    def lost(self, *_: object) -> None:
        """An entry is dead. Finalizers come here, amid whatever their thread was doing."""
        self._lost = True

    def _bury(self) -> None:
        with self._turning:
            self._lost = False
            gone = []
            for table in (self, self._older):
                for key, entry in tuple(table.items()):
                    if getattr(entry, "dead", False):
                        gone.append(table.pop(key, None))
        if gone:
            self._synchronize()

    def _turn(self) -> None:
        with self._turning:
            if 2 * self.held <= self.most:
                return  # another thread has done it
            self.held = 0
            gone, self._older = self._older, {}
            while self:  # one by one: others keep more meanwhile
                key, entry = self.popitem()
                self._older[key] = entry
        if gone:
            self._synchronize()

    def clear(self) -> None:
        """Let go of all; the caller has waited for what is in flight."""
        super().clear()
        self._older.clear()
        self.held = 0


class HostTable(Storage):
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

    def holding(self, array: np.ndarray) -> HostTable:
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
        return HostTable(self.backend, stream, block, array.nbytes)

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
