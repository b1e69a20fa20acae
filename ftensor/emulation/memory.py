"""The board's memory: each buffer has its own pages, with guard pages on both sides.

The host identifies a buffer by a device address; the kernel gets a pointer. Buffers that are
adjacent on the board are far apart here, so a kernel that leaves its buffer faults at once
instead of reading another buffer. XRT rounds sizes up to pages, and so the bounds are rounded.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
import os
import zlib
from dataclasses import dataclass, field

PAGE = mmap.PAGESIZE
# Guard bytes before and after a buffer. They use only address space, of which a process has
# 2**47. A larger buffer has guards of its own size; guards are one page if address space is
# scarce (ulimit -v).
GUARD = 1 << 30
MOST_CHECKED = 256 << 20  # bytes; a checksum of a larger buffer would take too long
# In the environment of the device: set if a buffer of xrt::bo is one memory of host and board.
P2P = "FTENSOR_EMULATION_P2P"
_FIXED = 0x10  # MAP_FIXED
_NORESERVE = 0x4000  # MAP_NORESERVE: a page counts when it is touched
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class OutOfRange(Exception):
    """An access outside of all live buffers."""


@dataclass
class Buffer:
    """A live buffer. `written` is True once the host wrote data or a kernel had the buffer as an
    argument. `result` names the argument through which a kernel may have written it, until the
    buffer is read; `before` is the checksum of its bytes before that kernel, or None if nothing had
    been written."""

    address: int
    size: int
    pointer: int  # to the first byte
    mapped: tuple[int, int] = field(repr=False)  # start and length, guard pages included
    written: bool = False
    result: str = ""
    before: int | None = None
    shared: bool = False  # the same memory as the host's

    @property
    def end(self) -> int:
        """The address after the last byte."""
        return self.address + self.size

    def give(self, result: str) -> None:
        """Records that a kernel gets the buffer and may write to it through the argument `result`."""
        if self.shared:  # nobody needs to send or fetch it
            return
        self.before = self._checksum() if result and self.written else None
        self.result, self.written = result, True

    def settle(self) -> str:
        """Returns `result`, or "" if the kernel has not written to the buffer, which its C types
        cannot show."""
        if self.result and self.before is not None and (self.size > MOST_CHECKED or self.before == self._checksum()):
            self.result = ""
        return self.result

    def _checksum(self) -> int:
        return zlib.crc32(_view(self, self.address, self.size)) if self.size <= MOST_CHECKED else 0

    def __str__(self) -> str:
        return f"{self.address:#x}..{self.end:#x} ({self.size} bytes)"


class BoardMemory:
    """The live buffers of a board, by device address."""

    def __init__(self) -> None:
        self._starts: list[int] = []  # sorted, for bisect
        self._buffers: dict[int, Buffer] = {}

    def allocate(self, address: int, size: int, file: int | None = None) -> bool:
        """Creates a buffer of zeros, in the memory of `file` if one is given. Returns False if there
        is no room."""
        at = bisect.bisect_right(self._starts, address)
        before = self._buffers[self._starts[at - 1]] if at else None
        if size <= 0 or (before is not None and before.end > address):
            return False
        if at < len(self._starts) and self._starts[at] < address + size:
            return False
        length = -(-size // PAGE) * PAGE
        for guard in (max(GUARD, length), PAGE):
            start = _reserve(length + 2 * guard)
            if start is not None:
                break
        else:
            return False
        mapped = (start, length + 2 * guard)
        if not _open(start + guard, length, file):
            _libc.munmap(*mapped)
            return False
        self._starts.insert(at, address)
        shared = file is not None
        self._buffers[address] = Buffer(address, size, start + guard, mapped, written=shared, shared=shared)
        return True

    def free(self, address: int) -> None:
        """Frees a buffer's memory."""
        buffer = self._buffers.pop(address, None)
        if buffer is None:
            raise OutOfRange(f"there is no buffer at {address:#x} to free; {self.describe()}")
        self._starts.remove(address)
        _libc.munmap(*buffer.mapped)

    def unread(self) -> list[str]:
        """Returns the results in live buffers that were never read."""
        return [buffer.result for buffer in self._buffers.values() if buffer.settle()]

    def find(self, address: int) -> Buffer | None:
        """Returns the live buffer that contains an address, or None."""
        at = bisect.bisect_right(self._starts, address)
        if not at:
            return None
        buffer = self._buffers[self._starts[at - 1]]
        return buffer if address < buffer.end else None

    def locate(self, address: int, size: int, access: str) -> Buffer:
        """Returns the live buffer that contains a range. Raises OutOfRange with a message if none
        does."""
        buffer = self.find(address)
        if buffer is None or address + size > buffer.end:
            raise OutOfRange(
                f"{access} {size} bytes at {address:#x}..{address + size:#x}, "
                + (f"which leaves the buffer {buffer}" if buffer else "which is in no live buffer")
                + f"; {self.describe()}"
            )
        return buffer

    def write(self, address: int, data: memoryview) -> None:
        """Copies data from the host into one live buffer."""
        buffer = self.locate(address, len(data), "the host writes")
        buffer.settle()
        buffer.written = True
        _view(buffer, address, len(data))[:] = data

    def read(self, address: int, size: int) -> memoryview:
        """Returns the bytes of one live buffer for the host; empty if the buffer was never written.

        XRT then keeps the host's own copy. This makes clEnqueueCopyBuffer correct for a source that
        was filled but not sent yet, since XRT fetches the source from the device before it copies.
        """
        buffer = self.locate(address, size, "the host reads")
        buffer.result = ""
        return _view(buffer, address, size) if buffer.written else memoryview(b"")

    def explain(self, pointer: int) -> str:
        """Describes the location of a pointer, for a report on a kernel's access."""
        for buffer in list(self._buffers.values()):  # a fault can occur at any moment
            start, length = buffer.mapped
            if start <= pointer < start + length:
                offset = pointer - buffer.pointer
                if offset < 0:
                    return f"{-offset} bytes before the buffer {buffer}"
                if offset == buffer.size:
                    return f"the first bytes behind the end of the buffer {buffer}"
                return f"{offset - buffer.size} bytes behind the end of the buffer {buffer}"
        return f"the pointer {pointer:#x}, which is near no buffer"

    def describe(self, most: int = 8) -> str:
        """Lists the live buffers, for messages."""
        shown = [str(self._buffers[start]) for start in self._starts[:most]]
        more = len(self._starts) - len(shown)
        return "live buffers: " + (", ".join(shown) or "none") + f" and {more} more" * (more > 0)


def _reserve(length: int) -> int | None:
    """Reserves inaccessible pages; returns None if there is not enough address space."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE
    start: int | None = _libc.mmap(None, length, 0, flags, -1, 0)
    return None if start == ctypes.c_void_p(-1).value else start


def _open(start: int, length: int, file: int | None) -> bool:
    """Lets reserved pages be read and written; they are the memory of `file` if one is given."""
    access = mmap.PROT_READ | mmap.PROT_WRITE
    if file is None:
        return not _libc.mprotect(start, length, access)
    os.ftruncate(file, length)
    return bool(_libc.mmap(start, length, access, mmap.MAP_SHARED | _FIXED, file, 0) == start)


def _view(buffer: Buffer, address: int, size: int) -> memoryview:
    address_ = buffer.pointer + address - buffer.address
    return memoryview((ctypes.c_char * size).from_address(address_)).cast("B")
