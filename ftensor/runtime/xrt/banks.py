"""Device buffers by memory bank, and the arena that divides a board's HBM."""

from __future__ import annotations

import ctypes
import weakref
from bisect import insort
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import OutOfMemoryError
from ...errors import image as errors
from ...kernels.channels import SlabCut, nearest_channels, slab_channel
from ..pool import VECTOR, Block, MemoryPool, Storage, free_memory, wait_unless_exiting

if TYPE_CHECKING:
    from ..stream import DeviceStream
    from .backend import XrtBackend
    from .memory import XrtMemory
    from .queue import Marker, XrtQueue


PAGE = 4096  # XRT's alignment of parts of a buffer
KEPT = 64  # XRT reserves one byte in every 64
_Address = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


class Space:
    """First-fit allocator of address ranges, in pages."""

    def __init__(self, begin: int, end: int) -> None:
        self.free = [(begin, end)]
        # Freed ranges, merged in at the next `take`: any thread may free at any time.
        self.freed: deque[tuple[int, int]] = deque()

    def take(self, nbytes: int, begin: int, end: int) -> int | None:
        """Allocates `nbytes` bytes between two addresses; returns their address, or None."""
        self._merge_freed()
        nbytes = -(-nbytes // PAGE) * PAGE
        for k, (low, high) in enumerate(self.free):
            at = max(low, -(-begin // PAGE) * PAGE)
            if at + nbytes <= min(high, end):
                rest = [(low, at), (at + nbytes, high)]
                self.free[k : k + 1] = [(a, b) for a, b in rest if b > a]
                return at
        return None

    def release(self, at: int, nbytes: int) -> None:
        """Frees `nbytes` bytes at an address."""
        self.freed.append((at, at + -(-nbytes // PAGE) * PAGE))

    def _merge_freed(self) -> None:
        while self.freed:
            insort(self.free, self.freed.popleft())
        merged: list[tuple[int, int]] = []
        for low, high in self.free:
            if merged and merged[-1][1] == low:
                merged[-1] = merged[-1][0], high
            else:
                merged.append((low, high))
        self.free = merged


class ArenaBuffer:
    """One driver buffer, and the free space in it."""

    def __init__(self, cl: Any, address: int, nbytes: int) -> None:
        self.cl, self.address, self.end = cl, address, address + nbytes
        self.space = Space(-(-address // PAGE) * PAGE, self.end)


class ArenaBlock:
    """A part of an `ArenaBuffer`; `cl` is the kernel argument. Dropping the object frees it."""

    def __init__(self, region: ArenaBuffer, at: int, nbytes: int, before: int = 0) -> None:
        """`before`: bytes of other blocks between the argument's start and this block."""
        self.region, self.at, self.nbytes = region, at, nbytes
        self.address = at - before
        self.cl = region.cl.get_sub_region(at - before - region.address, before + nbytes)

    def __del__(self) -> None:
        # Also if the driver has refused the block.
        self.region.space.release(self.at, self.nbytes)


class Slabs:
    """A tensor split into slabs, one `ArenaBlock` per compute unit. Each argument begins where the
    whole tensor would begin, were it contiguous there. `bounds` are the tensor's byte offsets
    between slabs, including both ends."""

    def __init__(self, pieces: Sequence[ArenaBlock], bounds: Sequence[int], turn: int) -> None:
        self.pieces, self.bounds, self.turn = tuple(pieces), tuple(bounds), turn

    def in_range(self, begin: int, end: int) -> Iterator[tuple[Any, int, int]]:
        """Yields (driver buffer, begin, end) for each slab between two bytes. Offsets count from
        the tensor's first byte, which is also the buffer's."""
        for piece, low, high in zip(self.pieces, self.bounds, self.bounds[1:]):
            if max(low, begin) < min(high, end):
                yield piece.cl, max(low, begin), min(high, end)


class Arena:
    """The channels of a memory: `count` channels of `channel` bytes from address `base`."""

    def __init__(self, backend: XrtMemory, base: int, channel: int, count: int) -> None:
        self.backend, self.base, self.channel, self.count = backend, base, channel, count
        self.regions: list[ArenaBuffer] = []
        self.turn = 0  # the channel whose turn is next

    def fill(self, kernel: Any, number: int) -> None:
        """Allocates all memory that a kernel's argument reaches from the driver; on a card at most
        half of the host's free memory, since XRT keeps a copy of that size on the host."""
        cl, left = self.backend.cl, self.channel * self.count
        left -= max(left // KEPT, 1 << 18)
        if not self.backend.emulated:
            left = min(left, free_memory() // 2)
        while left >= self.channel // 2:
            size = min(left, self.backend.properties.max_allocation) // PAGE * PAGE
            try:
                whole = cl.Buffer(self.backend.context, cl.mem_flags.READ_WRITE, size)
                kernel._set_arg_multi((number, whole))
            except cl.Error as error:
                if error.code not in self.backend.full:
                    raise
                left -= self.channel // 2
                continue
            self.regions.append(ArenaBuffer(whole, self._address(whole), size))
            left -= size

    def _address(self, cl: Any) -> int:
        """Returns a buffer's address on the board, by an extension function of Xilinx."""
        library = ctypes.CDLL(self.backend.cl._cl.__file__)
        find = library.clGetExtensionFunctionAddressForPlatform
        find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
        device = self.backend.cl_device
        ask = _Address(find(device.platform.int_ptr, b"xclGetMemObjDeviceAddress"))
        address = ctypes.c_uint64()
        status = ask(cl.int_ptr, device.int_ptr, ctypes.sizeof(address), ctypes.addressof(address))
        assert status == 0, f"a buffer that is bound has an address: {status}"
        return address.value

    def line(self, nbytes: int) -> ArenaBlock | None:
        """Allocates a contiguous block; in a single channel, taken in turn, if one has room.
        Returns None if the memory is full."""
        first, self.turn = self.turn, (self.turn + 1) % self.count
        for k in range(self.count) if nbytes <= self.channel else ():
            at = self.base + (first + k) % self.count * self.channel
            if (piece := self._piece(nbytes, at, at + self.channel)) is not None:
                return piece
        return self._piece(nbytes, 0, 1 << 63)

    def slabs(self, nbytes: int, cut: SlabCut, avoid: Sequence[int]) -> Slabs | None:
        """Allocates `nbytes` bytes for a tensor in slabs, each in a channel next to its compute
        unit. Prefers channels whose turn is not in `avoid`. Returns None if there is no room."""
        bounds = (*cut.starts(), nbytes)
        size = len(nearest_channels(0, self.count))
        first, self.turn = self.turn, (self.turn + 1) % self.count
        turns = sorted(((first + k) % size for k in range(size)), key=lambda t: t in avoid)
        for turn in turns:
            pieces = []
            for unit, (begin, end) in enumerate(pairwise(bounds)):
                at = self.base + slab_channel(unit, turn, self.count) * self.channel
                piece = self._piece(end - begin, at, at + self.channel, begin)
                if piece is None:
                    break
                pieces.append(piece)
            else:
                return Slabs(pieces, bounds, turn)
        return None

    def _piece(self, nbytes: int, begin: int, end: int, before: int = 0) -> ArenaBlock | None:
        """Allocates a block between two addresses. Its argument begins `before` bytes earlier, in
        the same driver buffer."""
        inside = before % PAGE  # arguments begin with pages
        for region in self.regions:
            low = max(begin, region.address + before - inside)
            at = region.space.take(nbytes + inside, low, min(end, region.end))
            if at is not None:
                return ArenaBlock(region, at, nbytes + inside, before - inside)
        return None


class BankedBuffer:
    """A kernel argument for XRT: the current driver buffer and its bank.

    `home` is the bank of the driver buffer `cl`. Both are None until a launch first uses the
    buffer; until then `host` holds the bytes that the host wrote, since XRT cannot place them if
    there are several banks. `bank` is the bank of defined bytes, and `defined` is True if the bytes
    are defined. Ops hold this object, so its driver buffer can be exchanged. In an arena, `cl` is a
    part of the arena, which `piece` holds, or `Slabs`, whose bank name includes their cut.
    `arrival` is the queue and marker of the transfer to the bank. Other queues wait for the
    transfer themselves, since users of the tensor expect the bytes to be there.
    """

    __slots__ = ("arrival", "bank", "cl", "defined", "home", "host", "nbytes", "piece", "stream")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.cl: Any = None
        self.piece: ArenaBlock | None = None
        self.home: str | None = None
        self.bank: str | None = None
        self.host: np.ndarray | None = None
        self.defined = False
        self.arrival: tuple[XrtQueue, Marker] | None = None
        # The stream of the storage's allocation. Weak, as the stream's free list refers back here.
        self.stream: weakref.ref[DeviceStream] | None = None

    def reset_for(self, stream: DeviceStream) -> None:
        """Resets the buffer for a new storage: its bytes are undefined."""
        self.bank, self.host, self.defined, self.arrival = None, None, False, None
        self.stream = weakref.ref(stream)

    def write_host(self, offset: int, data: np.ndarray) -> None:
        """Stores bytes on the host until the buffer has a bank."""
        if self.host is None:
            self.host = np.zeros(self.nbytes, np.uint8)
        self.host[offset : offset + data.size] = data
        self.defined = True

    def leave_device(self, host: np.ndarray | None) -> None:
        """Drops the driver buffer; `host` holds its bytes if they are defined."""
        self.cl = self.piece = self.home = self.bank = self.arrival = None
        if host is not None:
            self.host = host

    def awaited_by(self, queue: XrtQueue) -> None:
        """Makes the next command of a queue wait until the buffer's bytes are in its bank."""
        if self.arrival is not None:
            sender, marker = self.arrival
            if marker.ended is not None:
                self.arrival = None
            elif sender is not queue:
                queue.wait_for(marker)

    def swap(self, other: BankedBuffer) -> None:
        """Exchanges the driver buffers of two handles."""
        self.cl, other.cl = other.cl, self.cl
        self.piece, other.piece = other.piece, self.piece
        self.home, other.home = other.home, self.home


class BankedPool(MemoryPool):
    """A pool that distinguishes free blocks by bank, once a kernel needs a certain bank.

    An output is allocated before its kernel is known, so any free block of the size serves. If its
    bank is wrong and its bytes are undefined, its driver buffer is exchanged with that of a free
    block in the right bank.
    """

    def take(self, nbytes: int, stream: DeviceStream) -> Storage:
        storage = super().take(nbytes, stream)
        storage.handle.reset_for(stream)
        return storage

    def exchange(self, handle: BankedBuffer, bank: str | None, stream: DeviceStream) -> BankedBuffer:
        """Gives a handle a driver buffer in `bank` (or one that has no bank yet), taken from the
        free buffers of its own stream or newly allocated. Returns the free handle that got the
        previous buffer. Commands on `stream` may use the new buffer next."""
        buffer = self.find(handle, bank, stream) or self.find(handle, None, stream)
        if buffer is None:
            spare = self.new_block(handle.nbytes - VECTOR, handle.nbytes)
            buffer = spare.handle
            self._free(handle).append(spare)
        handle.swap(buffer)
        return buffer

    def find(self, handle: BankedBuffer, bank: str | None, stream: DeviceStream) -> BankedBuffer | None:
        """Returns a free buffer of the handle's size and stream in `bank` (None: without a bank),
        or None if there is no such buffer."""
        with self.lock:
            for block in tuple(self._free(handle)):
                buffer: BankedBuffer = block.handle
                if buffer.home == bank:
                    home = handle.stream() if handle.stream else None
                    if home is not None and home is not stream:
                        stream.wait_enqueued(home)  # other streams may still use its free blocks
                    return buffer
        return None

    def _free(self, handle: BankedBuffer) -> list[Block]:
        home = handle.stream() if handle.stream else None
        assert home is not None, "a storage holds its stream"
        return home.free[handle.nbytes - VECTOR]

    def close(self) -> None:
        self.__class__ = ClosedBankedPool

    def live(self) -> list[Block]:
        """Returns the blocks that storages hold."""
        free = self.free_blocks()
        return [block for block in tuple(self.blocks) if id(block) not in free]

    def renew(self, storage: Storage) -> None:
        storage.handle.reset_for(storage.stream)


class ClosedBankedPool(BankedPool):
    """A banked pool while the interpreter exits: `take` blocks every thread but the main one."""

    def take(self, nbytes: int, stream: DeviceStream) -> Storage:
        wait_unless_exiting()
        return super().take(nbytes, stream)


# A pointer argument of a kernel: its number, its bank, and whether the kernel writes through it.
Port = tuple[int, str, bool]


def place_arguments(
    backend: XrtBackend, stream: DeviceStream, kernel: Any, handles: Sequence[BankedBuffer], ports: Sequence[Port]
) -> tuple[list[Any], list[Storage]]:
    """Returns the driver buffers for a kernel's pointer arguments, each in the bank of its port.

    Buffers in other banks are copied; the images' report counts these copies. If a buffer is needed
    in two banks, it is placed in the bank in which the kernel writes it (otherwise it stays), and
    other ports get copies. Also returns the storages of the copies, which the caller keeps until
    the launch.
    """
    wanted_ports: dict[int, Port] = {}
    for handle, port in zip(handles, ports):
        before = wanted_ports.setdefault(id(handle), port)
        if before[2] and port[2] and before[1] != port[1]:
            raise errors.two_outputs_one_memory(kernel.function_name)
        if port[2] or (handle.bank == port[1] and not before[2]):
            wanted_ports[id(handle)] = port
    for handle in handles:
        handle.awaited_by(stream.queue)
        number, bank, _ = wanted_ports[id(handle)]
        if handle.bank != bank:
            _place_handle(backend, stream, kernel, handle, number, bank)
    buffers, held = [], []
    for handle, (number, bank, _) in zip(handles, ports):
        if handle.bank != bank:
            copy = backend.allocate(handle.nbytes - VECTOR, stream)
            _place_handle(backend, stream, kernel, copy.handle, number, bank)
            backend.copy_between_banks(stream, handle.cl, copy.handle)
            held.append(copy)
            buffers.append(copy.handle.cl)
        else:
            buffers.append(handle.cl)
    return buffers, held


def place_in_slabs(
    backend: XrtBackend,
    stream: DeviceStream,
    kernel: Any,
    handles: Sequence[BankedBuffer],
    ports: Sequence[Port],
    cuts: Sequence[SlabCut | None],
) -> bool:
    """Places the operands of a launch in slabs, one per compute unit; an operand without a cut
    stays contiguous, and all units read it. Returns True on success.

    Returns False if the operands must be contiguous: if an operand has bytes on the board in
    another layout, if another kernel needed this size contiguous before (moving bytes costs more
    than slabs save), or if a storage is two operands whose elements differ in bytes, since a
    storage has one cut.
    """
    sizes, each = backend.in_line, dict[int, str]()
    for handle, (_, bank, _), cut in zip(handles, ports, cuts):
        slabs_bank = slab_bank(bank, cut)
        fixed = cut is not None and handle.defined and handle.cl is not None and handle.bank != slabs_bank
        fixed |= each.setdefault(id(handle), slabs_bank) != slabs_bank
        fixed |= cut is not None and handle.nbytes in sizes
        if fixed or backend.arena(kernel, ports[0]) is None:
            return False
    for handle, (number, bank, _), cut in zip(handles, ports, cuts):
        handle.awaited_by(stream.queue)
        if handle.bank != slab_bank(bank, cut):
            avoid = [h.cl.turn for h in handles if isinstance(h.cl, Slabs)]
            try:
                _place_handle(backend, stream, kernel, handle, number, bank, cut, avoid)
            except OutOfMemoryError:
                return False
    return True


def slab_bank(bank: str, cut: SlabCut | None) -> str:
    """Returns the name under which a tensor in slabs is placed: the bank's name with the cut;
    `bank` itself without a cut."""
    if cut is None:
        return bank
    return f"{bank} in {cut.units} x {cut.beats} x {cut.beat}"


def _place_handle(
    backend: XrtBackend,
    stream: DeviceStream,
    kernel: Any,
    handle: BankedBuffer,
    number: int,
    reached: str,
    cut: SlabCut | None = None,
    avoid: Sequence[int] = (),
) -> None:
    """Moves a handle to the bank that a kernel's argument reaches, in slabs if `cut` is given.
    Copies its bytes if they are defined."""
    bank = slab_bank(reached, cut)
    source, other_buffer = None, None
    if handle.home not in (None, bank):
        source = handle.cl if handle.defined else None
        if source is not None and isinstance(source, Slabs):
            backend.in_line.add(handle.nbytes)
        try:
            other_buffer = backend.banked_pool.exchange(handle, bank, stream)
        except OutOfMemoryError:
            if source is not None or cut is not None:
                raise
            _release(backend, handle)
    if handle.home is None:
        cached = backend.banked_pool.find(handle, bank, stream)
        if cached is not None:
            handle.swap(cached)
    if handle.home is None:
        try:
            backend.give_memory(kernel, (number, reached, True), handle, cut, avoid)
        except OutOfMemoryError:
            if other_buffer is not None:  # the bytes are still where they were
                handle.swap(other_buffer)
                if source is None and cut is None:  # available to the next attempt
                    _release(backend, handle)
            raise
        handle.home = bank
    handle.bank = bank
    if source is not None:
        for other_stream in backend.all_streams():  # they may be using the bytes at their old place
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


def _release(backend: XrtBackend, handle: BankedBuffer) -> None:
    """Drops a buffer with undefined bytes, after waiting for commands that may still use it."""
    backend.synchronize()
    handle.leave_device(None)
