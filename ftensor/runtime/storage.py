"""Storage: one device buffer, its owner, its host address where the device shares memory."""

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
    """Bytes that programs may still use, those that files are kept in meanwhile among them."""
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
    """A block of device memory; it goes back to the pool of its stream when nobody holds it.

    `handle` is what a kernel takes (a `cl.Buffer`, or an address in C simulation). `ptr` is the
    host address of the first byte where the device shares host memory, else None. `nbytes` is
    the size asked for; the block behind it is larger. `owner` keeps imported memory alive.
    `stream` is the stream it was allocated on, `users` the other streams that used it since.
    `device` is a label that the caller sets.
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
        # (dtype, least, greatest) of whatever elements are read, where the host knows them.
        self.bounds: tuple[Any, int, int] | None = None
        # What was made of the bytes and kept for the next call (execute/packed_weights.py).
        self.derived: Any = None
        # Whether somebody has the address for good, who may write there unseen.
        self.exposed = False
        # Who else sees the memory while it is written: a launch that uses it is waited for then.
        self.visible = _NOBODY

    def __del__(self) -> None:
        # The common case must stay this short: every temporary tensor passes here. Appending to
        # a list is atomic, so no lock, which a collection during the pool's own work could need.
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
        """Somebody writes here, or may write: forget what is known of the bytes, and what was made
        of them."""
        self.bounds = self.derived = None

    def expose(self) -> None:
        """Somebody gets the address, who may write there unseen from now on."""
        self.exposed = True
        self.changed()

    def show(self, alias: int) -> None:
        """Note that the host sees this memory by way of the object of this id, until `hide`."""
        with _showing:
            self.visible = self.visible or []
            self.visible.append(alias)

    def hide(self, alias: int) -> None:
        """The host has let go of it. Without a lock: collections come here."""
        self.visible.remove(alias)

    @property
    def skew(self) -> int:
        """Bytes between a boundary of 64 and the first byte; 0 unless the memory is imported."""
        return 0 if self.owner is None or self.ptr is None else self.ptr % 64

    def synchronize(self) -> None:
        """Wait until no command that was enqueued so far can still touch these bytes."""
        self.stream.synchronize()
        for stream in self.users or ():
            stream.synchronize()

    def __repr__(self) -> str:
        where = self.device if self.device is not None else self.backend.target.name
        return f"Storage({self.nbytes} bytes, {where})"
