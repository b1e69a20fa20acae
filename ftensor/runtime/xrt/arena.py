"""A board's HBM as one large buffer that is divided here, as XRT fills all channels from the first.

XRT gives no say in which channel of a range a buffer lies, but takes parts of a buffer as arguments
of kernels, and their addresses follow from the whole one's.
"""

from __future__ import annotations

import ctypes
from bisect import insort
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...kernels.channels import Cut, near
from ..host_memory import free_memory

if TYPE_CHECKING:
    from .memory import XrtMemory

PAGE = 4096  # XRT's alignment of parts of a buffer
KEPT = 64  # of so many bytes XRT keeps one for itself
_Address = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


class Space:
    """Addresses that are free, and those that are taken: the first that fits, in pages."""

    def __init__(self, begin: int, end: int) -> None:
        self.free = [(begin, end)]
        # What was given back, from any thread, at any time: a list that is taken in later.
        self.back: deque[tuple[int, int]] = deque()

    def take(self, nbytes: int, begin: int, end: int) -> int | None:
        """The address of so many bytes between two others, or None."""
        self._take_back()
        nbytes = -(-nbytes // PAGE) * PAGE
        for k, (low, high) in enumerate(self.free):
            at = max(low, -(-begin // PAGE) * PAGE)
            if at + nbytes <= min(high, end):
                rest = [(low, at), (at + nbytes, high)]
                self.free[k : k + 1] = [(a, b) for a, b in rest if b > a]
                return at
        return None

    def give(self, at: int, nbytes: int) -> None:
        """So many bytes at an address are free again."""
        self.back.append((at, at + -(-nbytes // PAGE) * PAGE))

    def _take_back(self) -> None:
        while self.back:
            insort(self.free, self.back.popleft())
        merged: list[tuple[int, int]] = []
        for low, high in self.free:
            if merged and merged[-1][1] == low:
                merged[-1] = merged[-1][0], high
            else:
                merged.append((low, high))
        self.free = merged


class Region:
    """One buffer of the driver's, and what is free of it."""

    def __init__(self, whole: Any, address: int, nbytes: int) -> None:
        self.whole, self.address, self.end = whole, address, address + nbytes
        self.space = Space(-(-address // PAGE) * PAGE, self.end)


class Piece:
    """A part of a region: `cl` is the argument of a kernel. It is free again when nobody holds
    this."""

    def __init__(self, region: Region, at: int, nbytes: int, before: int = 0) -> None:
        """`before`: bytes that the argument begins earlier, which are others'."""
        self.region, self.at, self.nbytes = region, at, nbytes
        self.address = at - before
        self.cl = region.whole.get_sub_region(at - before - region.address, before + nbytes)

    def __del__(self) -> None:
        # Also where the driver refused the part.
        self.region.space.give(self.at, self.nbytes)


class Slabs:
    """A tensor in slabs: for each compute unit a piece whose argument begins where the tensor
    would, were all of it in a line there. `bounds` are the bytes between slabs, and both ends."""

    def __init__(self, pieces: Sequence[Piece], bounds: Sequence[int], turn: int) -> None:
        self.pieces, self.bounds, self.turn = tuple(pieces), tuple(bounds), turn

    def parts(self, begin: int, end: int) -> Iterator[tuple[Any, int, int]]:
        """The driver's buffer, the first byte and the one behind, of each slab between two bytes;
        bytes count as the tensor's do, and as the buffer's."""
        for piece, low, high in zip(self.pieces, self.bounds, self.bounds[1:]):
            if max(low, begin) < min(high, end):
                yield piece.cl, max(low, begin), min(high, end)


class Arena:
    """The channels of a memory. `channel` is the bytes of one, `base` the first's address."""

    def __init__(self, backend: XrtMemory, base: int, channel: int, count: int) -> None:
        self.backend, self.base, self.channel, self.count = backend, base, channel, count
        self.regions: list[Region] = []
        self.turn = 0  # channels take turns

    def fill(self, kernel: Any, number: int) -> None:
        """Take the memory that a kernel's argument reaches, as much as there is; of a card's no
        more than half of what the host has free, as XRT keeps as much there."""
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
            self.regions.append(Region(whole, self._address(whole), size))
            left -= size

    def _address(self, whole: Any) -> int:
        """A buffer's address on the board, by a function of Xilinx's own."""
        library = ctypes.CDLL(self.backend.cl._cl.__file__)
        find = library.clGetExtensionFunctionAddressForPlatform
        find.restype, find.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
        device = self.backend.cl_device
        ask = _Address(find(device.platform.int_ptr, b"xclGetMemObjDeviceAddress"))
        address = ctypes.c_uint64()
        status = ask(whole.int_ptr, device.int_ptr, ctypes.sizeof(address), ctypes.addressof(address))
        assert status == 0, f"a buffer that is bound has an address: {status}"
        return address.value

    def line(self, nbytes: int) -> Piece | None:
        """Room for a tensor in a line, channel by channel; None where there is none."""
        first, self.turn = self.turn, (self.turn + 1) % self.count
        for k in range(self.count) if nbytes <= self.channel else ():
            at = self.base + (first + k) % self.count * self.channel
            if (piece := self._piece(nbytes, at, at + self.channel)) is not None:
                return piece
        return self._piece(nbytes, 0, 1 << 63)

    def slabs(self, nbytes: int, cut: Cut, avoid: Sequence[int]) -> Slabs | None:
        """Room for a tensor of so many bytes in slabs, each in one of the channels next to its
        unit, but in none of those `avoid` names by their turns if another has room."""
        bounds = (*cut.starts(), nbytes)
        size = len(near(0, self.count))
        first, self.turn = self.turn, (self.turn + 1) % self.count
        turns = sorted(((first + k) % size for k in range(size)), key=lambda t: t in avoid)
        for turn in turns:
            pieces = []
            for unit, (begin, end) in enumerate(pairwise(bounds)):
                at = self.base + near(unit, self.count)[turn] * self.channel
                piece = self._piece(end - begin, at, at + self.channel, begin)
                if piece is None:
                    break
                pieces.append(piece)
            else:
                return Slabs(pieces, bounds, turn)
        return None

    def _piece(self, nbytes: int, begin: int, end: int, before: int = 0) -> Piece | None:
        """A piece between two addresses whose argument begins `before` bytes earlier, in its
        region too."""
        inside = before % PAGE  # arguments begin with pages
        for region in self.regions:
            low = max(begin, region.address + before - inside)
            at = region.space.take(nbytes + inside, low, min(end, region.end))
            if at is not None:
                return Piece(region, at, nbytes + inside, before - inside)
        return None
