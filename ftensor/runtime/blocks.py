"""Blocks of a device's memory: their size classes, and the free ones of a stream."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .pool import Pool
    from .stream import Stream

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

    def __init__(self, pool: Pool, size: int, handle: Any, ptr: int | None, memory: object) -> None:
        self.pool = pool
        self.size = size
        self.handle = handle
        self.ptr = ptr
        self.memory = memory  # the host memory behind the handle, if it is ours


class FreeLists(dict[int, list[Block]]):
    """The free blocks of one stream by size class; a class is made when first asked for."""

    def __missing__(self, size: int) -> list[Block]:
        return self.setdefault(size, [])


def larger(size: int, stream: Stream) -> Block | None:
    """A free block that is somewhat larger, if there is one: the smallest of these."""
    most, free = min(2 * size, size + SPARE), stream.free
    # The class behind one is an eighth of a power of two away (`size_class`).
    while size >= 512 and (size := size + (1 << (size.bit_length() - 4))) < most:
        blocks = free.get(size)
        if blocks:
            with suppress(IndexError):  # another thread took the last one
                return blocks.pop()
    return None
