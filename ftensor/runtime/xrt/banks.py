"""Device buffers by memory bank: XRT settles a buffer's bank when a kernel's argument first takes
it, and refuses it at a port that reaches another.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import OutOfMemoryError
from ...errors import image as errors
from ...kernels.channels import Cut
from ..blocks import VECTOR, Block
from ..pool import Pool, wait_unless_exiting
from ..storage import Storage
from .arena import Slabs

if TYPE_CHECKING:
    from ..stream import Stream
    from .arena import Piece
    from .backend import XrtBackend
    from .queue import Marker, XrtQueue


class BankedBuffer:
    """A kernel's argument for XRT: the driver's buffer of the moment, and where it lies.

    `home` is the bank of the driver's buffer `cl`; both are None until a kernel's argument first
    takes it, and what the host writes by then waits in `host`: with several banks XRT can't place
    it. `bank` is the bank in which defined bytes lie, `defined` says whether the bytes mean
    anything. Ops keep this object, so the driver's buffer behind it can be exchanged. Of an arena
    `cl` is a part of it, which `piece` keeps, or `Slabs`, whose bank says how they are cut.
    `arrival` is where the bytes are sent to the bank: a queue, and the point in it. For whoever
    uses the tensor they were there all along, so other queues wait for that by themselves.
    """

    __slots__ = ("arrival", "bank", "cl", "defined", "home", "host", "nbytes", "piece", "stream")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.cl: Any = None
        self.piece: Piece | None = None
        self.home: str | None = None
        self.bank: str | None = None
        self.host: np.ndarray | None = None
        self.defined = False
        self.arrival: tuple[XrtQueue, Marker] | None = None
        # The stream that the storage was taken on. Weak, as the stream's free list leads here.
        self.stream: weakref.ref[Stream] | None = None

    def taken(self, stream: Stream) -> None:
        """A storage was made of it: the bytes mean nothing yet."""
        self.bank, self.host, self.defined, self.arrival = None, None, False, None
        self.stream = weakref.ref(stream)

    def write_host(self, offset: int, data: np.ndarray) -> None:
        """Keep bytes until there is a bank for them."""
        if self.host is None:
            self.host = np.zeros(self.nbytes, np.uint8)
        self.host[offset : offset + data.size] = data
        self.defined = True

    def leave_device(self, host: np.ndarray | None) -> None:
        """Give up the driver's buffer; its bytes, if they mean anything, wait on the host."""
        self.cl = self.piece = self.home = self.bank = self.arrival = None
        if host is not None:
            self.host = host

    def awaited_by(self, queue: XrtQueue) -> None:
        """Let the next command of a queue wait until the bytes are in the bank."""
        if self.arrival is not None:
            sender, marker = self.arrival
            if marker.ended is not None:
                self.arrival = None
            elif sender is not queue:
                queue.wait_for(marker)

    def swap(self, other: BankedBuffer) -> None:
        """Exchange the driver's buffers."""
        self.cl, other.cl = other.cl, self.cl
        self.piece, other.piece = other.piece, self.piece
        self.home, other.home = other.home, self.home


class BankedPool(Pool):
    """A pool that tells free blocks apart by bank, once a kernel says which one it needs.

    An output is taken before anyone knows its kernel, so any free block of the size serves; one
    that lies in the wrong bank, and means nothing yet, trades places with a free block of the
    right one.
    """

    def take(self, nbytes: int, stream: Stream) -> Storage:
        """A storage of `nbytes`; its bytes are whatever was there before."""
        storage = super().take(nbytes, stream)
        storage.handle.taken(stream)
        return storage

    def exchange(self, handle: BankedBuffer, bank: str | None, stream: Stream) -> BankedBuffer:
        """Put a buffer of `bank`, or one without a bank yet, behind a handle.

        It comes from the free blocks of the handle's own stream, or is new; work on `stream` may
        use it next. Returned is the free handle that has what this one had.
        """
        buffer = self.find(handle, bank, stream) or self.find(handle, None, stream)
        if buffer is None:
            spare = self._new_block(handle.nbytes - VECTOR, handle.nbytes)
            buffer = spare.handle
            self._free(handle).append(spare)
        handle.swap(buffer)
        return buffer

    def find(self, handle: BankedBuffer, bank: str | None, stream: Stream) -> BankedBuffer | None:
        """A free buffer of a handle's size and stream that lies in `bank`; None is in none."""
        with self.lock:
            for block in tuple(self._free(handle)):
                buffer: BankedBuffer = block.handle
                if buffer.home == bank:
                    home = handle.stream() if handle.stream else None
                    if home is not None and home is not stream:
                        stream.wait_enqueued(home)  # which may still be using its free blocks
                    return buffer
        return None

    def _free(self, handle: BankedBuffer) -> list[Block]:
        home = handle.stream() if handle.stream else None
        assert home is not None, "a storage holds its stream"
        return home.free[handle.nbytes - VECTOR]

    def close(self) -> None:
        """The interpreter exits."""
        self.__class__ = ClosedBankedPool

    def live(self) -> list[Block]:
        """The blocks that storages hold."""
        free = {id(b) for s in self.backend.all_streams() for bs in s.free.values() for b in bs}
        return [block for block in tuple(self.blocks) if id(block) not in free]


class ClosedBankedPool(BankedPool):
    """What the pool becomes when the interpreter exits."""

    def take(self, nbytes: int, stream: Stream) -> Storage:
        """A storage, for the exiting thread alone."""
        wait_unless_exiting()
        return super().take(nbytes, stream)


# A pointer argument of a kernel: its number, its bank, and whether the kernel writes through it.
Port = tuple[int, str, bool]


def place(
    backend: XrtBackend, stream: Stream, kernel: Any, handles: Sequence[BankedBuffer], ports: Sequence[Port]
) -> tuple[list[Any], list[Storage]]:
    """The driver's buffers for a kernel's pointer arguments, each in the bank of its port.

    Buffers whose bytes lie elsewhere are copied, which the images' report counts. One that is
    needed in two banks lies where the kernel writes it (else where it was), and other ports get
    a copy: these are returned too, to be held until the launch.
    """
    wanted: dict[int, Port] = {}
    for handle, port in zip(handles, ports):
        before = wanted.setdefault(id(handle), port)
        if before[2] and port[2] and before[1] != port[1]:
            raise errors.two_outputs_one_memory(kernel.function_name)
        if port[2] or (handle.bank == port[1] and not before[2]):
            wanted[id(handle)] = port
    for handle in handles:
        handle.awaited_by(stream.queue)
        number, bank, _ = wanted[id(handle)]
        if handle.bank != bank:
            _settle(backend, stream, kernel, handle, number, bank)
    buffers, held = [], []
    for handle, (number, bank, _) in zip(handles, ports):
        if handle.bank != bank:
            copy = backend.allocate(handle.nbytes - VECTOR, stream)
            _settle(backend, stream, kernel, copy.handle, number, bank)
            backend.copy_between_banks(stream, handle.cl, copy.handle)
            held.append(copy)
            buffers.append(copy.handle.cl)
        else:
            buffers.append(handle.cl)
    return buffers, held


def spread(
    backend: XrtBackend,
    stream: Stream,
    kernel: Any,
    handles: Sequence[BankedBuffer],
    ports: Sequence[Port],
    cuts: Sequence[Cut],
) -> bool:
    """Let the operands of a launch lie in slabs, as its compute units take them. False, and they
    are to lie in a line, where one has bytes on the board that lie otherwise, and for tensors of a
    size that another kernel wanted in a line before: bringing bytes there costs more than it saves.
    So are they where a storage is two operands whose elements differ in bytes: it has one cut.
    """
    sizes, each = backend.in_line, dict[int, str]()
    for handle, (_, bank, _), cut in zip(handles, ports, cuts):
        wanted = in_slabs(bank, cut)
        fixed = handle.defined and handle.cl is not None and handle.bank != wanted
        fixed |= each.setdefault(id(handle), wanted) != wanted
        if fixed or handle.nbytes in sizes or backend.arena(kernel, ports[0]) is None:
            return False
    for handle, (number, bank, _), cut in zip(handles, ports, cuts):
        handle.awaited_by(stream.queue)
        if handle.bank != in_slabs(bank, cut):
            avoid = [h.cl.turn for h in handles if isinstance(h.cl, Slabs)]
            try:
                _settle(backend, stream, kernel, handle, number, bank, cut, avoid)
            except OutOfMemoryError:
                return False
    return True


def in_slabs(bank: str, cut: Cut) -> str:
    """What stands for a bank where a tensor lies there in slabs."""
    return f"{bank} in {cut.units} x {cut.beats} x {cut.beat}"


def _settle(
    backend: XrtBackend,
    stream: Stream,
    kernel: Any,
    handle: BankedBuffer,
    number: int,
    reached: str,
    cut: Cut | None = None,
    avoid: Sequence[int] = (),
) -> None:
    """Let a handle lie in a bank that a kernel's argument reaches, in slabs where there is a cut,
    with its bytes if they mean anything."""
    bank = reached if cut is None else in_slabs(reached, cut)
    source, other = None, None
    if handle.home not in (None, bank):
        source = handle.cl if handle.defined else None
        if source is not None and isinstance(source, Slabs):
            backend.in_line.add(handle.nbytes)
        try:
            other = backend.banked_pool.exchange(handle, bank, stream)
        except OutOfMemoryError:
            if source is not None or cut is not None:
                raise
            _let_go(backend, handle)
    if handle.home is None:
        cached = backend.banked_pool.find(handle, bank, stream)
        if cached is not None:
            handle.swap(cached)
    if handle.home is None:
        try:
            backend.give_memory(kernel, (number, reached, True), handle, cut, avoid)
        except OutOfMemoryError:
            if other is not None:  # the bytes are still where they were
                handle.swap(other)
                if source is None and cut is None:  # the next try has its memory, too
                    _let_go(backend, handle)
            raise
        handle.home = bank
    handle.bank = bank
    if source is not None:
        for other_stream in backend.all_streams():  # which may be using the bytes where they were
            if other_stream is not stream:
                stream.wait_enqueued(other_stream)
        backend.copy_between_banks(stream, source, handle)
        handle.arrival = stream.queue, stream.queue.marker()
        home = handle.stream() if handle.stream else None
        if home is not None:
            home.wait_enqueued(stream)  # the copy's source is free there now
    elif handle.host is not None:
        backend.send(stream, handle, handle.host)
        handle.arrival = stream.queue, stream.queue.marker()
        handle.host = None
    handle.defined = True


def _let_go(backend: XrtBackend, handle: BankedBuffer) -> None:
    """Give up a buffer whose bytes mean nothing; commands may still be using what was there."""
    backend.synchronize()
    handle.leave_device(None)
