"""Memory of a device: storages, and the pool of their blocks by size class and stream."""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from .. import errors

if TYPE_CHECKING:
    from .backend import Backend
    from .private_pool import PrivatePool
    from .stream import DeviceStream


def free_memory() -> int:
    """Returns the bytes of host memory available to programs, including the page cache."""
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


_NOBODY: list[int] = []
_showing = threading.RLock()


def _new_lock() -> None:
    # A fork while another thread holds the lock would leave the lock held in the child for ever.
    global _showing
    _showing = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


class Storage:
    """A block of device memory, returned to its stream's pool when the storage is dropped.

    `handle` is the kernel argument (a `cl.Buffer`, or an address in C simulation). `ptr` is the
    host address of the first byte if the device shares host memory, else None. `nbytes` is the
    requested size; the block is larger. `owner` keeps imported memory alive. `stream` is the stream
    of the allocation, `users` the other streams that used the storage since. The caller sets the
    label `device`.
    """

    __slots__ = (
        "__weakref__",
        "backend",
        "block",
        "bounds",
        "derived",
        "device",
        "exposed",
        "handle",
        "nbytes",
        "owner",
        "ptr",
        "readonly",
        "replaced",
        "stream",
        "users",
        "visible",
    )

    def __init__(
        self,
        backend: Backend,
        stream: DeviceStream,
        block: Block,
        nbytes: int,
        owner: object | None = None,
        readonly: bool = False,
    ) -> None:
        self.backend = backend
        self.stream = stream
        self.block = block
        self.handle: Any = block.handle
        self.ptr: int | None = block.ptr
        self.nbytes = nbytes
        self.owner, self.readonly = owner, readonly
        self.replaced = False  # True once a tensor was resized and so left this memory
        self.users: WeakSet[DeviceStream] | None = None
        self.device: Any = None
        # (dtype, lower bound, upper bound) of any elements read, if the host knows them.
        self.bounds: tuple[Any, int, int] | None = None
        # A value derived from the bytes, cached for the next call (execute/packed_weights.py).
        self.derived: Any = None
        # True if other code has the address for good and may write unseen.
        self.exposed = False
        # Ids of host objects that see this memory; if any exist, launches that use it are waited
        # for.
        self.visible = _NOBODY

    def __del__(self) -> None:
        # Keep the common case short: every temporary tensor is freed here. Appending to a list is
        # atomic, so this takes no lock; a collection during the pool's own work could need it.
        try:
            block = self.block
        except AttributeError:  # Ctrl-C struck before __init__ had begun
            return
        if self.users is None and self.owner is None:
            block.pool.allocated -= block.size
            self.stream.free[block.size].append(block)
        else:
            block.pool.give_back(self)

    def changed(self) -> None:
        """Drops the known bounds and derived values, since the bytes may be written."""
        self.bounds = self.derived = None

    def expose(self) -> None:
        """Marks the storage as exposed: other code has the address and may write unseen."""
        self.exposed = True
        self.changed()

    def show(self, alias: int) -> None:
        """Records that the host object with id `alias` sees this memory, until `hide`."""
        with _showing:
            self.visible = self.visible or []
            self.visible.append(alias)

    def hide(self, alias: int) -> None:
        """Removes `alias` from `visible`. Takes no lock, since garbage collections call this."""
        self.visible.remove(alias)

    @property
    def misalignment(self) -> int:
        """Bytes from the last 64-byte boundary to the first byte; 0 unless the memory is
        imported."""
        return 0 if self.owner is None or self.ptr is None else self.ptr % 64

    def synchronize(self) -> None:
        """Waits for all enqueued commands that may use these bytes."""
        self.stream.synchronize()
        for stream in self.users or ():
            stream.synchronize()

    def __repr__(self) -> str:
        where = self.device if self.device is not None else self.backend.target.name
        return f"Storage({self.nbytes} bytes, {where})"


VECTOR = 64  # bytes: the width of a kernel's memory port, and the tail padding of every block
# The most bytes by which a reused free block may exceed a request; it must also be less than
# twice as large. Without this reuse, sizes that change from call to call, like text lengths,
# would leave free blocks in every class.
SPARE = 1 << 24


def size_class(nbytes: int) -> int:
    """Returns the usable bytes of the block for a request: at most an eighth more, above 512.

    Sizes are multiples of 64 with eight steps per power of two, so there are few classes, and
    powers of two are classes themselves.
    """
    if nbytes <= 512:
        return (nbytes + 63) & -64 or 64
    step = 1 << ((nbytes - 1).bit_length() - 4)
    return (nbytes + step - 1) & -step


class Block:
    """Device memory as allocated: `size` usable bytes followed by one vector of padding."""

    __slots__ = ("handle", "memory", "pool", "private", "ptr", "size")

    def __init__(self, pool: MemoryPool, size: int, handle: Any, ptr: int | None, memory: object) -> None:
        self.pool = pool
        self.size, self.handle, self.ptr = size, handle, ptr
        self.memory = memory  # the host memory behind the handle, if ftensor allocated it
        self.private: PrivatePool | None = None  # that owns the block


class FreeLists(dict[int, list[Block]]):
    """The free blocks of one stream by size class; reading a class adds its empty list."""

    def __missing__(self, size: int) -> list[Block]:
        return self.setdefault(size, [])


def larger_free_block(size: int, free: FreeLists) -> Block | None:
    """Returns the smallest free block that is somewhat larger than `size`, or None."""
    most = min(2 * size, size + SPARE)
    # The next size class is an eighth of a power of two away (`size_class`).
    while size >= 512 and (size := size + (1 << (size.bit_length() - 4))) < most:
        blocks = free.get(size)
        if blocks:
            with suppress(IndexError):  # another thread took the last one
                return blocks.pop()
    return None


REPLACED = 1 << 16  # bytes from which a free block is returned to the driver for a larger one
POISON = 0xFF  # the byte: NaN in every floating point dtype but float8_e5m2fnuz, -1 in integers


class MemoryPool:
    """Allocates storages, and reuses freed blocks for requests of the same size and stream.

    A block that is freed while its stream still works is reused on that stream at once: the queue
    is in-order, so the next user's commands run after the last user's.
    """

    def __init__(
        self, backend: Backend, total: int, make: Callable[[int], tuple[Any, int | None, object] | None]
    ) -> None:
        self.backend = backend
        self.make = make
        self.total = self.limit = _limit_from_environment() or total
        self.fraction = 1.0  # of the total, that may be allocated
        self.lock = threading.RLock()
        # Every block, so that a block without a holder is not freed while the device uses it:
        # Ctrl-C may strike between the lines that pass a block from one holder to the next.
        self.blocks: set[Block] = set()
        # Memory that commands may still use, adopted or about to be freed: (marker, block, owner).
        self.deferred: deque[tuple[Any, Block, object]] = deque()
        self.allocated = self.reserved = self.adopted = 0
        self.peak_allocated = self.peak_reserved = 0
        self.requests = self.device_allocations = self.retries = self.failures = 0
        self.private: WeakSet[PrivatePool] = WeakSet()
        # Called without the lock when memory runs out; returns True if a tensor was dropped.
        self.make_room: Callable[[], bool] = lambda: False

    def set_limit(self, total: int) -> None:
        """Sets the limit to the device's `total` bytes, unless the environment sets a limit."""
        self.total = _limit_from_environment() or total
        self.limit = int(self.total * self.fraction)

    def set_fraction(self, fraction: float) -> None:
        """Limits the memory to a fraction of the total, and frees cached blocks beyond it."""
        self.fraction, self.limit = fraction, int(self.total * fraction)
        if self.reserved > self.limit:
            self.backend.drop_caches()
            self.release_cached()

    def take(self, nbytes: int, stream: DeviceStream) -> Storage:
        """Returns a storage of `nbytes` bytes with undefined contents."""
        if nbytes <= 512:
            size = (nbytes + 63) & -64 or 64
        else:
            size = size_class(nbytes)
        self.requests += 1
        blocks = stream.free[size]
        try:
            # No lock: popping is atomic, and two threads never get the same block. The check comes
            # before the pop since growing sizes always miss, and an exception costs more than the
            # check.
            block = blocks.pop() if blocks else None
        except IndexError:  # another thread took the last one
            block = None
        if block is None:
            block = larger_free_block(size, stream.free) or self._grow(size, nbytes, stream)
            if block.private is not None:  # lent by a pool with use_on_oom
                return block.private.hold(block, nbytes, stream)
            size = block.size
        allocated = self.allocated = self.allocated + size
        if allocated > self.peak_allocated:
            self.peak_allocated = allocated
        return Storage(self.backend, stream, block, nbytes)

    def new_block(self, size: int, nbytes: int) -> Block:
        """Returns a block of a size class from newly allocated memory, for a request of `nbytes`."""
        while (block := self._block(size)) is None:
            if size + VECTOR > self.limit or not (self.backend.drop_caches() or self.make_room()):
                raise self._refusal(nbytes)
        return block

    def _block(self, size: int) -> Block | None:
        with self.lock:
            for attempt in (1, 2):
                room = self.reserved + size + VECTOR <= self.limit
                memory = self.make(size + VECTOR) if room else None
                if memory is not None:
                    break
                if attempt == 1:
                    self.retries += 1
                    self.release_cached()
            if memory is None:
                return None
            self.device_allocations += 1
            self.reserved += size + VECTOR
            self.peak_reserved = max(self.peak_reserved, self.reserved)
            block = Block(self, size, *memory)
            self.blocks.add(block)
            return block

    def _grow(self, size: int, nbytes: int, stream: DeviceStream) -> Block:
        try:
            block = self.new_block(size, nbytes)
        except errors.OutOfMemoryError:
            lent = next(filter(None, (private.lend(size, stream) for private in tuple(self.private))), None)
            if lent is None:
                raise
            return lent
        self._replace(size, stream)
        return block

    def _replace(self, size: int, stream: DeviceStream) -> None:
        """Frees one smaller free block, since the new block can serve the same requests."""
        least = max(size - SPARE, size // 2, REPLACED)
        smaller = size_class(least + 1)
        while smaller < size:
            blocks = stream.free.get(smaller)
            if blocks:
                with suppress(IndexError):  # another thread took the last one
                    block = blocks.pop()
                    self.deferred.append((stream.enqueued(), block, None))
                    with self.lock:
                        self.blocks.discard(block)
                        self.reserved -= smaller + VECTOR
                    self.reap()
                    return
            smaller = size_class(smaller + 1)

    def renew(self, storage: Storage) -> None:
        """Prepares a block of a private pool for its next storage."""

    def check_open(self) -> None:
        """Does nothing while allocation is allowed."""

    def check_capacity(self, nbytes: int) -> None:
        """Raises OutOfMemoryError if `nbytes` could not be allocated even with everything else
        freed.

        Callers check this before the work for a result, such as compiling kernels or filling host
        tables, which also takes memory.
        """
        if nbytes + VECTOR > self.limit:
            raise self._refusal(nbytes)

    def _refusal(self, nbytes: int) -> Exception:
        self.failures += 1
        properties = self.backend.properties
        return errors.out_of_memory(
            properties.name, nbytes, self.allocated, self.reserved, self.limit, properties.max_allocation
        )

    def adopt(self, block: Block, stream: DeviceStream, owner: object, readonly: bool) -> Storage:
        """Returns a storage on memory that `owner` keeps alive; the block never enters a free
        list."""
        self.reap()
        self.adopted += block.size
        return Storage(self.backend, stream, block, block.size, owner, readonly)

    def give_back(self, storage: Storage) -> None:
        """Frees adopted memory, and memory that several streams used."""
        block, stream = storage.block, storage.stream
        for user in storage.users or ():
            # Make later commands of the home stream on this block wait for the other stream's work.
            if user is not stream:
                stream.wait_enqueued(user)
        if storage.owner is None:
            self.allocated -= block.size
            stream.free[block.size].append(block)
            return
        self.adopted -= block.size
        if stream.idle():
            return
        self.deferred.append((stream.enqueued(), block, storage.owner))

    def reap(self) -> None:
        """Drops adopted and freed memory once the device has finished with it."""
        # Only pops and appends, since freeing an owner may run code that frees more.
        for _ in range(len(self.deferred)):
            try:
                waiting = self.deferred.popleft()
            except IndexError:  # another thread reaps too
                return
            if not self.backend.marker_done(waiting[0]):
                self.deferred.append(waiting)

    def release_cached(self) -> None:
        """Waits for the device, then frees all cached blocks."""
        with self.lock:
            self.backend.synchronize()
            for stream in self.backend.all_streams():
                self.drop_free(stream.free)
            self.backend.tables.release()

    def drop_free(self, free: FreeLists) -> None:
        """Frees a stream's cached blocks. No command may use them any more."""
        for size, blocks in list(free.items()):
            while blocks:
                try:
                    self.blocks.discard(blocks.pop())
                except IndexError:  # another thread took the last one
                    break
                self.reserved -= size + VECTOR

    def close(self) -> None:
        """Called at the interpreter's exit."""
        self.__class__ = ClosedPool

    def reset_peaks(self) -> None:
        """Resets the peak counters to the current values."""
        self.peak_allocated = self.allocated
        self.peak_reserved = self.reserved

    def stats(self) -> dict[str, int]:
        """Returns the counters, in bytes and in calls."""
        return {
            "allocated_bytes": self.allocated,
            "peak_allocated_bytes": self.peak_allocated,
            "reserved_bytes": self.reserved,
            "peak_reserved_bytes": self.peak_reserved,
            "adopted_bytes": self.adopted,
            "limit_bytes": self.limit,
            "requests": self.requests,
            "device_allocations": self.device_allocations,
            "retries": self.retries,
            "out_of_memory": self.failures,
        }

    def free_blocks(self) -> set[int]:
        """Returns the ids of the blocks that no storage holds."""
        lists = [stream.free for stream in self.backend.all_streams()]
        lists += [free for private in tuple(self.private) for free in list(private.free.values())]
        return {id(block) for free in lists for blocks in list(free.values()) for block in list(blocks)}

    def snapshot(self) -> list[dict[str, Any]]:
        """Returns one entry per block in torch's memory segment format."""
        free = self.free_blocks() | {id(block) for block in self.backend.tables.unused()}
        segments = []
        for block in list(self.blocks):
            held = 0 if id(block) in free else block.size
            state = "active_allocated" if held else "inactive"
            address = block.ptr or 0
            segments.append(
                {
                    "address": address,
                    "total_size": block.size,
                    "allocated_size": held,
                    "active_size": held,
                    "segment_type": "large" if block.size > 1 << 20 else "small",
                    "segment_pool_id": (0, 0) if block.private is None else block.private.id,
                    "blocks": [{"address": address, "size": block.size, "state": state}],
                }
            )
        return sorted(segments, key=lambda one: (-one["total_size"], one["address"]))


def wait_unless_exiting() -> None:
    """Called during the exit: returns in the main thread and blocks all others for ever."""
    if threading.current_thread() is not threading.main_thread():
        threading.Event().wait()


class ClosedPool(MemoryPool):
    """A pool after the interpreter's exit began: only the exiting thread goes on."""

    def take(self, nbytes: int, stream: DeviceStream) -> Storage:
        self.check_open()
        return super().take(nbytes, stream)

    def check_open(self) -> None:
        wait_unless_exiting()


def leak(thing: object) -> None:
    """Keeps an object alive beyond the interpreter's end, so that it is never finalized."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class LostPool(ClosedPool):
    """A pool in a forked child: allocates nothing and never calls the device."""

    def check_open(self) -> None:
        raise errors.used_after_fork(self.backend.properties.name)

    def give_back(self, storage: Storage) -> None:
        leak(storage.block)  # it ends with the process


def _limit_from_environment() -> int | None:
    text = os.environ.get("FTENSOR_MEMORY_LIMIT", "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise errors.environment_value("FTENSOR_MEMORY_LIMIT", text, "a positive number of bytes")
    return int(text)
