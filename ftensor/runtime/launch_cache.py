"""Caches of a device: compiled kernels and prepared launches, both bounded."""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from .pool import Block, FreeLists, Storage, size_class

if TYPE_CHECKING:
    import numpy as np

    from .backend import Backend


# On Intel's CPU runtime a kernel takes 0.6 MB.
MAX_KERNELS = 640


class KernelTable(OrderedDict[Hashable, Any]):
    """Cache of kernels by key. A full cache evicts the least recently used quarter.

    Prepared launches hold kernels and don't look them up, so each eviction also calls
    `forget_launches`. The table calls it once more at three quarters full, so that the kernels in
    use are looked up again before the first eviction.
    """

    def __init__(self, forget_launches: Callable[[], None], most: int = MAX_KERNELS) -> None:
        super().__init__()
        self.most = most
        self._forget_launches = forget_launches
        self._asked = False

    def get(self, key: Hashable, default: Any = None) -> Any:
        """Returns the kernel of this key and marks the key as the most recently used."""
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
    """One lock per key: one thread makes the value of a key while others make other values.

    The locks are reentrant, so a signal handler may make the value that its thread is making.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._making: dict[Any, tuple[Any, list[int]]] = {}

    @contextmanager
    def lock_for(self, thing: Any) -> Iterator[None]:
        """Inside the block, no other thread makes `thing`."""
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


# Limit on all memory held by prepared launches: about 6000 launches.
MAX_BYTES = 1 << 25


class CachedLaunch(Protocol):
    """A value that `LaunchTable` stores."""

    @property
    def kept_bytes(self) -> int:
        """The memory in bytes that evicting the entry frees."""
        ...


K = TypeVar("K", bound=CachedLaunch)


class _Miss:
    """The value for a key that is not in the table."""

    def call(self, inputs: Any, numbers: Any, out: Any) -> None:
        """Does nothing."""


NEW = _Miss()


class LaunchTable(dict[Hashable, Any]):
    """Cache of launches by key, in two generations. `table[key]` looks up the newer generation at
    a dict's speed; for a missing key it returns NEW, whose `call` does nothing.

    When the newer generation holds `most` / 2 bytes, it becomes the older generation, and the
    previous older generation is evicted. `find` also looks in the older generation and moves a hit
    to the newer, so entries in use survive. Evicted launches may be in flight, so eviction calls
    `synchronize`. An entry whose attribute `is_dead` is true is useless: code that finds a dead
    entry calls `note_dead`, and the next `keep` removes all dead entries.
    """

    def __init__(self, synchronize: Callable[[], object], most: int = MAX_BYTES) -> None:
        super().__init__()
        self.most = most
        self.newer_bytes = 0  # bytes of the newer ones
        self._lost = False
        self._older: dict[Hashable, Any] = {}
        self._synchronize = synchronize
        # Reentrant: a signal handler may enter while its thread holds it.
        self._turning = threading.RLock()

    def __missing__(self, key: Hashable) -> Any:
        return NEW

    def find(self, key: Hashable) -> Any:
        """Returns the entry of `key` in either generation, or None."""
        entry = self.get(key)
        if entry is None:
            entry = self._older.pop(key, None)
            if entry is not None:
                entry = self.keep(key, entry)
        return entry

    def keep(self, key: Hashable, entry: K) -> K:
        """Stores `entry`, unless another thread stored an entry for `key` first; returns the stored
        entry."""
        if self._lost:
            self._remove_dead()
        one: K = self.setdefault(key, entry)
        if one is entry:
            self.newer_bytes += entry.kept_bytes
            if 2 * self.newer_bytes > self.most:
                self._make_older()
        return one

    def note_dead(self, *_: object) -> None:
        """Notes that an entry is dead. Finalizers call this at any point of their thread's work, so
        it only sets a flag."""
        self._lost = True

    def _remove_dead(self) -> None:
        with self._turning:
            self._lost = False
            gone = []
            for table in (self, self._older):
                for key, entry in tuple(table.items()):
                    if getattr(entry, "is_dead", False):
                        gone.append(table.pop(key, None))
        if gone:
            self._synchronize()

    def _make_older(self) -> None:
        with self._turning:
            if 2 * self.newer_bytes <= self.most:
                return  # another thread has done it
            self.newer_bytes = 0
            gone, self._older = self._older, {}
            while self:  # one by one: others keep more meanwhile
                key, entry = self.popitem()
                self._older[key] = entry
        if gone:
            self._synchronize()

    def clear(self) -> None:
        """Drops all entries. The caller has waited for the launches in flight."""
        super().clear()
        self._older.clear()
        self.newer_bytes = 0


class HostTable(Storage):
    """Memory of the default stream that the host fills directly, not through the queue."""

    __slots__ = ()

    def __del__(self) -> None:
        block, stream = self.block, self.stream
        block.pool.allocated -= block.size
        self.backend.tables.retired.append((stream.launched, block))


class SharedTable:
    """A table that launches with equal contents share. It has no finalizer, so a weak reference
    never revives it while the block goes back."""

    __slots__ = ("__weakref__", "table")

    def __init__(self, table: HostTable) -> None:
        self.table = table

    @property
    def handle(self) -> Any:
        """Returns the kernel argument."""
        return self.table.handle

    @property
    def nbytes(self) -> int:
        """Returns the bytes of the contents."""
        return self.table.nbytes


class Tables:
    """Allocates host-filled tables in memory that no command in flight uses, so nothing waits.

    A table's block is free again once the default stream has finished the commands that were
    enqueued when the table was dropped. Code that drops launches of other streams waits for
    those streams first.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.retired: deque[tuple[int, Block]] = deque()
        self._free = FreeLists()
        self._shared: WeakValueDictionary[bytes, SharedTable] = WeakValueDictionary()

    def sharing(self, array: np.ndarray) -> SharedTable:
        """Returns the shared table with the contents of the array: an existing one, or a new one.
        No kernel writes it."""
        content = array.tobytes()
        shared = self._shared.get(content)
        if shared is None:
            shared = self._shared[content] = SharedTable(self.holding(array))
        return shared

    def holding(self, array: np.ndarray) -> HostTable:
        """Returns a table with the contents of the array that no other launch shares."""
        pool, stream, size = (self.backend.pool, self.backend.default_stream, size_class(array.nbytes))
        pool.check_open()
        self._collect(stream.count_finished())
        try:
            block = self._free[size].pop()
        except IndexError:
            block = pool.fresh(size)
        pool.allocated += block.size
        assert block.ptr is not None, "a device's own memory is written by its queue"
        ctypes.memmove(block.ptr, array.tobytes(), array.nbytes)
        return HostTable(self.backend, stream, block, array.nbytes)

    def unused(self) -> list[Block]:
        """Returns the blocks that no table holds."""
        free = [block for blocks in list(self._free.values()) for block in list(blocks)]
        return [*free, *(block for _, block in list(self.retired))]

    def release(self) -> None:
        """Frees the memory of unused tables. The caller has waited for the device."""
        self._collect(self.backend.default_stream.count_finished())
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
