"""Private pools: memory that only chosen allocations use, as `torch.cuda.MemPool`."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from .pool import Block, FreeLists, LostPool, MemoryPool, Storage, larger_free_block, size_class

if TYPE_CHECKING:
    from .stream import DeviceStream

_numbers = count(1)


def next_id() -> tuple[int, int]:
    """Returns the id of a new private pool, unique in this process."""
    return 0, next(_numbers)


class PrivateStorage(Storage):
    """A storage on a block of a private pool, to which the block returns."""

    __slots__ = ()

    def __del__(self) -> None:
        with suppress(AttributeError):  # Ctrl-C struck before __init__ had begun
            private = self.block.private
            assert private is not None, "a block without its pool"
            private.give_back(self)


class PrivatePool:
    """Blocks of a device's pool that serve only the allocations of this object.

    A freed block serves the next request of its size and stream here. Statistics and limits are
    those of the device's pool. With `use_on_oom`, free blocks also serve others that would fail.
    """

    def __init__(self, pool: MemoryPool, number: tuple[int, int], use_on_oom: bool) -> None:
        self.pool, self.id, self.use_on_oom = pool, number, use_on_oom
        self.free: dict[DeviceStream, FreeLists] = {}
        self.closed = False
        pool.private.add(self)

    def take(self, nbytes: int, stream: DeviceStream) -> Storage:
        """Returns a storage of `nbytes` bytes with undefined contents."""
        self.pool.check_open()
        self.pool.requests += 1
        size = size_class(nbytes)
        block = self._find(size, stream)
        if block is None:
            block = self.pool.new_block(size, nbytes)
            block.private = self
        return self.hold(block, nbytes, stream)

    def hold(self, block: Block, nbytes: int, stream: DeviceStream) -> Storage:
        """Returns a storage on a block that `take` or `lend` found."""
        pool = self.pool
        pool.allocated += block.size
        pool.peak_allocated = max(pool.peak_allocated, pool.allocated)
        storage = PrivateStorage(pool.backend, stream, block, nbytes)
        pool.renew(storage)
        return storage

    def lend(self, size: int, stream: DeviceStream) -> Block | None:
        """Returns a free block for a request of the device's pool that would fail, or None."""
        return self._find(size, stream) if self.use_on_oom else None

    def _find(self, size: int, stream: DeviceStream) -> Block | None:
        free = self.free.setdefault(stream, FreeLists())
        with suppress(IndexError):  # none, or another thread took the last one
            return free[size].pop()
        return larger_free_block(size, free)

    def give_back(self, storage: Storage) -> None:
        """Frees the block of a storage that nobody holds any more."""
        block, stream = storage.block, storage.stream
        for user in storage.users or ():
            stream.wait_enqueued(user)
        self.pool.allocated -= block.size
        self.free.setdefault(stream, FreeLists())[block.size].append(block)
        if self.closed:
            self._return_to_pool()

    def close(self) -> None:
        """Returns the free memory to the driver. Memory in use joins the device's pool once it is
        freed."""
        self.closed = True
        if isinstance(self.pool, LostPool):  # the process that forked this one owns the memory
            return
        for stream, free in list(self.free.items()):
            stream.finish()
            self.pool.drop_free(free)

    def _return_to_pool(self) -> None:
        for stream, free in list(self.free.items()):
            for size, blocks in list(free.items()):
                while blocks:
                    with suppress(IndexError):  # another thread took the last one
                        block = blocks.pop()
                        block.private = None
                        stream.free[size].append(block)
