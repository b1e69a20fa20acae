"""The memory pool of a device: size classes, free lists per stream, statistics, the limit."""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import errors
from .storage import Storage

if TYPE_CHECKING:
    from .backend import Backend
    from .stream import DeviceStream


VECTOR = 64  # bytes: the width of a kernel's memory port, and the tail padding of every block
# Bytes at most by which a free block may be larger than a request that no block of its own class
# serves; also less than twice as large. Else sizes that change from call to call, as lengths of
# texts do, would leave blocks of every class behind.
SPARE = 1 << 24


def size_class(nbytes: int) -> int:
    """The usable bytes of the block that serves a request: at most an eighth more, above 512.

    Multiples of 64, and eight steps per power of two, so that few classes exist and powers of
    two are met exactly.
    """
    if nbytes <= 512:
        return (nbytes + 63) & -64 or 64
    step = 1 << ((nbytes - 1).bit_length() - 4)
    return (nbytes + step - 1) & -step


class Block:
    """Memory as the device gave it; `size` usable bytes, with one spare vector behind them."""

    __slots__ = ("handle", "memory", "pool", "ptr", "size")

    def __init__(self, pool: MemoryPool, size: int, handle: Any, ptr: int | None, memory: object) -> None:
        self.pool = pool
        self.size = size
        self.handle = handle
        self.ptr = ptr
        self.memory = memory  # the host memory behind the handle, if it is ours


class FreeLists(dict[int, list[Block]]):
    """The free blocks of one stream by size class; a class is made when first asked for."""

    def __missing__(self, size: int) -> list[Block]:
        return self.setdefault(size, [])


def larger(size: int, stream: DeviceStream) -> Block | None:
    """A free block that is somewhat larger, if there is one: the smallest of these."""
    most, free = min(2 * size, size + SPARE), stream.free
    # The class behind one is an eighth of a power of two away (`size_class`).
    while size >= 512 and (size := size + (1 << (size.bit_length() - 4))) < most:
        blocks = free.get(size)
        if blocks:
            with suppress(IndexError):  # another thread took the last one
                return blocks.pop()
    return None


REPLACED = 1 << 16  # bytes of a free block that is worth giving back for a larger one
POISON = 0xFF  # the byte: NaN in every floating point dtype but float8_e5m2fnuz, -1 in integers


class MemoryPool:
    """Hands out storages and keeps what comes back for the next request of that size and stream.

    A block freed while its stream still works is reused on that stream at once: the queue runs
    in order, so the next user's commands come after the last user's.
    """

    def __init__(
        self, backend: Backend, total: int, make: Callable[[int], tuple[Any, int | None, object] | None]
    ) -> None:
        self.backend = backend
        self.make = make
        self.limit = _limit_from_environment() or total
        self.lock = threading.RLock()
        # Every block, so that one which nobody holds is not freed while the device uses it: Ctrl-C
        # may strike between the lines that hand a block from one holder to the next.
        self.blocks: set[Block] = set()
        # Memory that the device may still be using, adopted or on its way back to the system:
        # (marker, block, owner).
        self.deferred: deque[tuple[Any, Block, object]] = deque()
        self.allocated = self.reserved = self.adopted = 0
        self.peak_allocated = self.peak_reserved = 0
        self.requests = self.device_allocations = self.retries = self.failures = 0
        # Asked when nothing is left, without the lock: whether somebody let go of a tensor.
        self.make_room: Callable[[], bool] = lambda: False

    def set_limit(self, total: int) -> None:
        """The device turned out to have `total` bytes; the environment's limit goes before."""
        self.limit = _limit_from_environment() or total

    def take(self, nbytes: int, stream: DeviceStream) -> Storage:
        """A storage of `nbytes`; its bytes are whatever was there before."""
        if nbytes <= 512:
            size = (nbytes + 63) & -64 or 64
        else:
            size = size_class(nbytes)
        self.requests += 1
        blocks = stream.free[size]
        try:
            # Without a lock: popping is atomic, and two threads never get the same block. Lengths
            # that grow find none, and an exception takes longer than to look.
            block = blocks.pop() if blocks else None
        except IndexError:  # another thread took the last one
            block = None
        if block is None:
            block = larger(size, stream) or self._grow(size, nbytes, stream)
            size = block.size
        allocated = self.allocated = self.allocated + size
        if allocated > self.peak_allocated:
            self.peak_allocated = allocated
        return Storage(self.backend, stream, block, nbytes)

    def _new_block(self, size: int, nbytes: int) -> Block:
        while (block := self._block(size)) is None:
            if size + VECTOR > self.limit or not (self.backend.drop_kept() or self.make_room()):
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
        block = self._new_block(size, nbytes)
        self._replace(size, stream)
        return block

    def _replace(self, size: int, stream: DeviceStream) -> None:
        """Give one smaller free block back to the system, whose requests a new one will serve."""
        least = max(size - SPARE, size // 2, REPLACED)
        other = size_class(least + 1)
        while other < size:
            blocks = stream.free.get(other)
            if blocks:
                with suppress(IndexError):  # another thread took the last one
                    block = blocks.pop()
                    self.deferred.append((stream.enqueued(), block, None))
                    with self.lock:
                        self.blocks.discard(block)
                        self.reserved -= other + VECTOR
                    self.reap()
                    return
            other = size_class(other + 1)

    def fresh(self, size: int) -> Block:
        """A block of a size class that nobody has used."""
        return self._new_block(size, size)

    def check_open(self) -> None:
        """Nothing, while memory may be handed out."""

    def ask(self, nbytes: int) -> None:
        """OutOfMemoryError for what cannot be had even if all else is freed.

        It is asked before the work that leads to a result: kernels that are compiled, tables of the
        host, which count as memory.
        """
        if nbytes + VECTOR > self.limit:
            raise self._refusal(nbytes)

    def _refusal(self, nbytes: int) -> Exception:
        self.failures += 1
        of = self.backend.properties
        return errors.out_of_memory(of.name, nbytes, self.allocated, self.reserved, self.limit, of.max_allocation)

    def adopt(self, block: Block, stream: DeviceStream, owner: object, readonly: bool) -> Storage:
        """A storage on memory that `owner` keeps alive; it never enters the free lists."""
        self.reap()
        self.adopted += block.size
        return Storage(self.backend, stream, block, block.size, owner, readonly)

    def give_back(self, storage: Storage) -> None:
        """The rarer ways to free: memory of others, and memory that other streams used too."""
        block, stream = storage.block, storage.stream
        for user in storage.users or ():
            # What the home stream does next with the block comes after the other stream's work.
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
        """Let go of adopted memory that the device has finished with."""
        # Popping and appending only, since freeing an owner may run code that frees more.
        for _ in range(len(self.deferred)):
            try:
                waiting = self.deferred.popleft()
            except IndexError:  # another thread reaps too
                return
            if not self.backend.marker_done(waiting[0]):
                self.deferred.append(waiting)

    def release_cached(self) -> None:
        """Give the free blocks back to the system, after waiting for the work that uses them."""
        with self.lock:
            self.backend.synchronize()
            for stream in self.backend.all_streams():
                self.drop_free(stream.free)
            self.backend.tables.release()

    def drop_free(self, free: FreeLists) -> None:
        """Give a stream's free blocks back to the system; no work may use them any more."""
        for size, blocks in list(free.items()):
            while blocks:
                try:
                    self.blocks.discard(blocks.pop())
                except IndexError:  # another thread took the last one
                    break
                self.reserved -= size + VECTOR

    def close(self) -> None:
        """The interpreter exits."""
        self.__class__ = ClosedPool

    def reset_peaks(self) -> None:
        """Start the high-water marks again from what is in use now."""
        self.peak_allocated = self.allocated
        self.peak_reserved = self.reserved

    def stats(self) -> dict[str, int]:
        """The counters, in bytes and in calls."""
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

    def snapshot(self) -> list[dict[str, Any]]:
        """Every block, as torch lists segments of memory."""
        free = {
            id(block)
            for stream in self.backend.all_streams()
            for blocks in list(stream.free.values())
            for block in list(blocks)
        }
        free |= {id(block) for block in self.backend.tables.unused()}
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
                    "blocks": [{"address": address, "size": block.size, "state": state}],
                }
            )
        return sorted(segments, key=lambda one: (-one["total_size"], one["address"]))


def wait_unless_exiting() -> None:
    """At the end of the process: lets the thread that ends it through, others never."""
    if threading.current_thread() is not threading.main_thread():
        threading.Event().wait()


class ClosedPool(MemoryPool):
    """What a pool becomes when the interpreter exits."""

    def take(self, nbytes: int, stream: DeviceStream) -> Storage:
        """A storage, for the exiting thread alone."""
        self.check_open()
        return super().take(nbytes, stream)

    def check_open(self) -> None:
        """Lets the exiting thread go on, others never."""
        wait_unless_exiting()


def leak(thing: object) -> None:
    """Keep an object beyond the interpreter's end, which frees what only a module holds."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class LostPool(MemoryPool):
    """What a pool becomes in a forked child: nothing is handed out, nothing asks the device."""

    def take(self, nbytes: int, stream: DeviceStream) -> Storage:
        """Fails: the memory could not be used."""
        self.check_open()
        return super().take(nbytes, stream)

    def check_open(self) -> None:
        """Fails."""
        raise errors.used_after_fork(self.backend.properties.name)

    def give_back(self, storage: Storage) -> None:
        """Leaves the memory to the end of the process."""
        leak(storage.block)


def poisoned(pool: MemoryPool) -> MemoryPool:
    """The pool, which with FTENSOR_POISON=1 fills what it hands out: memory that no kernel has
    written shows then. A class of its own, so that `take` costs nothing where it is not set."""
    text = os.environ.get("FTENSOR_POISON", "").strip()
    if text not in ("", "0", "1"):
        raise errors.environment_value("FTENSOR_POISON", text, "0 or 1")
    if text == "1":
        kind = type(pool)

        def take(self: MemoryPool, nbytes: int, stream: DeviceStream) -> Storage:
            storage = kind.take(self, nbytes, stream)
            # Whole vectors, as kernels fill them; nobody reads what is behind.
            self.backend.poison(storage, (nbytes + VECTOR - 1) & -VECTOR)
            return storage

        pool.__class__ = type(f"Poisoned{kind.__name__}", (kind,), {"take": take})
    return pool


def _limit_from_environment() -> int | None:
    text = os.environ.get("FTENSOR_MEMORY_LIMIT", "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) == 0:
        raise errors.environment_value("FTENSOR_MEMORY_LIMIT", text, "a positive number of bytes")
    return int(text)
