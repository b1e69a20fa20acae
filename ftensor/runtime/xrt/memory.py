"""Memory of a Xilinx board: banks, channels, and copies to and from the host."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import errors
from ...kernels.channels import SlabCut, channels
from ..opencl.backend import SMALL_UPLOAD, OpenCLBackend
from ..pool import POISON
from .banks import Arena, BankedBuffer, BankedPool, Port, Slabs

if TYPE_CHECKING:
    from ..pool import Storage
    from ..stream import DeviceStream
    from .images import XrtImages

STAND_IN_BYTES = 4096


class XrtMemory(OpenCLBackend):
    """The memory part of a board's backend."""

    images: XrtImages
    banked_pool: BankedPool
    emulated: bool
    units: int

    def _begin_memory(self) -> None:
        """Creates the empty tables of dummy buffers and of HBM arenas, and lists the error codes of
        a full bank."""
        self._stand_ins: dict[str, BankedBuffer] = {}
        self._arenas: dict[str, Arena | None] = {}
        # Sizes in bytes of tensors that were in slabs and later needed contiguous.
        self.in_line: set[int] = set()
        status = self.cl.status_code
        # Error codes that XRT returns for a full bank.
        self.full = {status.MEM_OBJECT_ALLOCATION_FAILURE, status.OUT_OF_RESOURCES, status.OUT_OF_HOST_MEMORY}

    def _forget_memory(self) -> None:
        self._stand_ins.clear()
        self._arenas.clear()

    def arena(self, kernel: Any, port: Port) -> Arena | None:
        """Returns the arena for the memory of a port, or None if XRT allocates there.

        An arena exists if the image's kernels reach only one memory of several channels.
        """
        number, bank, _ = port
        if bank not in self._arenas:
            reached, active = channels(bank), self.images.active
            self._arenas[bank] = None
            if reached and active is not None:
                banks = active.file.banks
                if {b.name for b in banks} == set(bank.split()):
                    size, base = sum(b.size for b in banks), min(b.base for b in banks)
                    arena = Arena(self, base, size // len(reached), len(reached))
                    arena.fill(kernel, number)
                    self._arenas[bank] = arena if arena.regions else None
        return self._arenas[bank]

    def give_memory(
        self, kernel: Any, port: Port, handle: BankedBuffer, cut: SlabCut | None = None, avoid: Sequence[int] = ()
    ) -> None:
        """Allocates the driver buffer of a handle, in the bank of a kernel's argument.

        Raises OutOfMemoryError if the bank is full. Tells the driver that the host has no data for
        the buffer. Otherwise each launch would first send the host's copy, until one launch has
        begun, and the second compute unit's part of a launch would overwrite the results of the
        first.
        """
        cl, arena = self.cl, self.arena(kernel, port)
        try:
            if cut is not None:
                slabs = arena.slabs(handle.nbytes, cut, avoid) if arena else None
                if slabs is None:
                    raise self._no_room(handle.nbytes)
                self._undefined([piece.cl for piece in slabs.pieces])
                handle.cl = slabs
                return
            piece = arena.line(handle.nbytes) if arena else None
            if piece is not None:
                handle.cl, handle.piece = piece.cl, piece
            else:  # also the rest of an arena, at most half of the host's memory
                handle.cl = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, handle.nbytes)
                kernel._set_arg_multi((port[0], handle.cl))
            self._undefined([handle.cl])
        except cl.Error as error:
            handle.cl = handle.piece = None
            if error.code not in self.full:
                raise
            raise self._no_room(handle.nbytes) from None

    def _undefined(self, buffers: Sequence[Any]) -> None:
        # Nothing else uses the buffers yet, so this waits for no enqueued command.
        flags = self.cl.mem_migration_flags.CONTENT_UNDEFINED
        queue = self.default_stream.queue.cl
        self.cl.enqueue_migrate_mem_objects(queue, buffers, flags).wait()

    def _no_room(self, nbytes: int) -> Exception:
        pool = self.pool
        return errors.out_of_memory(
            self.properties.name, nbytes, pool.allocated, pool.reserved, pool.limit, self.properties.max_allocation
        )

    def stand_in(self, kernel: Any, number: int, bank: str) -> None:
        """Passes a small dummy buffer for a kernel argument that the launch does not use."""
        buffer = self._stand_ins.get(bank)
        if buffer is None:
            buffer = BankedBuffer(STAND_IN_BYTES)
            self.give_memory(kernel, (number, bank, True), buffer)
            self._stand_ins[bank] = buffer
        else:
            kernel._set_arg_multi((number, buffer.cl))

    def send(self, stream: DeviceStream, handle: BankedBuffer, host: np.ndarray) -> None:
        """Copies all bytes of a buffer to its bank on the board."""
        self._write(stream, handle, 0, host)

    def _read(self, stream: DeviceStream, source: Any, offset: int, data: np.ndarray) -> list[Any]:
        return self._copy(stream, source, offset, data, False)

    def _write(self, stream: DeviceStream, handle: BankedBuffer, offset: int, data: np.ndarray) -> list[Any]:
        return self._copy(stream, handle.cl, offset, data, True)

    def _copy(self, stream: DeviceStream, buffer: Any, offset: int, data: np.ndarray, write: bool) -> list[Any]:
        """Copies bytes from or to the board, one command per slab; returns the commands' events."""
        queue, end = stream.queue, offset + data.size
        before, events = queue.before(), []
        slabs = isinstance(buffer, Slabs)
        for part, low, high in buffer.in_range(offset, end) if slabs else ((buffer, offset, end),):
            host = data[low - offset : high - offset]
            ends = (part, host) if write else (host, part)
            at = {"dst_offset" if write else "src_offset": low}
            event = self.cl.enqueue_copy(queue.cl, *ends, is_blocking=False, wait_for=before, **at)
            events.append(event)
            # pyopencl waits for an event that is dropped early, since the event guards the array.
            stream.keep(event)
        queue.tail = events
        stream.launched += 1
        return events

    @staticmethod
    def _wait(events: Sequence[Any]) -> None:
        for event in events:
            event.wait()

    def copy_between_banks(self, stream: DeviceStream, source: Any, target: BankedBuffer) -> None:
        """Copies a buffer to a buffer in another bank, through the host, after the stream's earlier
        commands.

        XRT's own copy command is not used: without a copy engine, as on most platforms and in
        emulation, it would copy the host's old bytes instead of those that a kernel has written.
        """
        host = np.empty(target.nbytes, np.uint8)
        self._read(stream, source, 0, host)
        self._write(stream, target, 0, host)
        self.images.bank_copies += 1
        self.images.bank_bytes += target.nbytes

    def _make_memory(self, nbytes: int) -> tuple[Any, int | None, object] | None:
        if nbytes > self.properties.total_memory:
            return None
        # The driver buffer is allocated at the first launch, which determines the bank.
        return BankedBuffer(nbytes), None, None

    def poison(self, storage: Storage, nbytes: int) -> None:
        storage.handle.host = np.full(storage.handle.nbytes, POISON, np.uint8)

    def _upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        self.upload_on(self.current_stream(), storage, byte_offset, array)

    def upload_on(self, stream: DeviceStream, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies a C-contiguous array into a storage, in a stream's order."""
        stream.use(storage)
        handle: BankedBuffer = storage.handle
        data = array.reshape(-1).view(np.uint8)
        small = data.size <= SMALL_UPLOAD
        with self.lock:
            several = self.images.several_banks or any(self._arenas.values())
            if not handle.defined and handle.cl is not None and several:
                # The bank that the bytes will be needed in is unknown. If there is no room for
                # another block, they stay where they are and may have to be copied.
                with contextlib.suppress(errors.OutOfMemoryError):
                    self.banked_pool.exchange(handle, None, stream)
            if handle.cl is None:
                handle.write_host(byte_offset, data)
                return
            handle.awaited_by(stream.queue)
            events = self._write(stream, handle, byte_offset, data.copy() if small else data)
            handle.bank, handle.defined = handle.home, True
        if not small:
            self._wait(events)

    def _download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        stream = self.current_stream()
        handle: BankedBuffer = storage.handle
        data = array.reshape(-1).view(np.uint8)
        with self.lock:
            if handle.cl is None:
                data[:] = 0 if handle.host is None else handle.host[byte_offset:][: data.size]
                return
            handle.awaited_by(stream.queue)
            events = self._read(stream, handle.cl, byte_offset, data)
        self._wait(events)
