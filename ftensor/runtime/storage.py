"""Storage: a device buffer with its owner, and its host address if the host shares it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from .backend import Backend
    from .pool import Block
    from .stream import DeviceStream


def free_memory() -> int:
    """Returns the bytes of host memory available to programs, including the page cache."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


_NOBODY: list[int] = []
_showing = threading.RLock()


def _new_lock() -> None:
    # A fork while another thread held the lock would leave it locked for ever in the child.
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
        self.owner = owner
        self.readonly = readonly
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
        """Forgets the known bounds and derived values, since the bytes may be written."""
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
    def skew(self) -> int:
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
