"""The emulated device: answers the host's requests with memory, compute units and registers."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from . import kernels
from .crash import Run
from .fifos import FifoReports
from .kernels import WINDOW, Completions, EmulatedUnit, ImageProblem
from .memory import BoardMemory, OutOfRange
from .protocol import Api, Fields, HostConnection
from .shuffle import LaunchShuffle

PATIENCE = 3.0  # seconds until kernels that wait are noted; a host may still start another one
HOLD = 0.001  # seconds for which the answer about a running unit is delayed, so that the host sleeps
Answer = dict[int, Any]


class Stop(Exception):
    """The connection ended normally; has the last answer."""


class Fatal(Exception):
    """The device cannot continue, and the host must end; has the message."""


class Device:
    """One board. `slot` returns a `Run` for each compute unit; `warn` prints a warning. `shuffle`
    decides when launches run; None runs them at once. With `p2p`, each buffer for which the host asks
    for a file is one memory of host and board."""

    def __init__(
        self,
        folder: Path,
        slot: Callable[[], Run],
        warn: Callable[[str], None],
        forget: Callable[[], None] = lambda: None,
        shuffle: LaunchShuffle | None = None,
        p2p: bool = False,
    ) -> None:
        self.memory = BoardMemory()
        self._folder, self._slot, self._warn, self._forget = folder, slot, warn, forget
        self._shuffle, self._p2p = shuffle, p2p
        self._files: dict[int, int | Path] = {}  # shared buffers by address
        self._fifos = FifoReports(folder.parent / f"fifos-{folder.name}.json")
        self._noted: set[str] = set()
        self._number = 0  # number of the last file
        self._host = 0  # the process
        self._waits = 0.0, ""  # since when which text is the same
        self._host_memory: list[tuple[int, int]] = []
        self._units: dict[int, EmulatedUnit] = {}
        self._library: kernels.Library | None = None
        self._completions = Completions()
        self._answers: dict[int, Callable[[Fields], Answer]] = {
            Api.CLOSE: self._close,
            Api.LOAD: self._load,
            Api.ALLOCATE: self._allocate,
            Api.FREE: self._free,
            Api.WRITE: self._write,
            Api.READ: self._read,
            Api.WRITE_REGISTERS: self._write_registers,
            Api.READ_REGISTERS: self._read_registers,
            Api.SETUP_INSTANCE: lambda fields: {1: True},
            Api.WRITE_REGISTER: lambda f: self._write_unit(f.number(1) + f.number(2), f.data(3)),
            Api.READ_REGISTER: lambda f: self._read_unit(f.number(1) + f.number(2)),
        }

    def serve(self, connection: HostConnection) -> None:
        """Answers requests until the host closes or ends. Raises Fatal if that is impossible."""
        host = self._host = 0
        while (request := connection.request()) is not None:
            number, fields = request
            host = self._host = host or connection.sender
            if connection.sender != host and number in (Api.CLOSE, Api.FREE):
                # When a forked child of the host ends, XRT in it also closes its parent's objects.
                connection.answer({1: True})
                continue
            answer = self._answers.get(number)
            if answer is None:
                raise Fatal(f"XRT asked for its call number {number}, which this device does not have")
            if self._shuffle is not None and number not in (Api.READ_REGISTERS, Api.READ_REGISTER):
                self._shuffle.note_request()
            try:
                connection.answer(answer(fields))
            except OutOfRange as failure:
                raise Fatal(str(failure)) from failure
            except Stop as stop:
                connection.answer(stop.args[0])
                return

    # one function per call; the fields' numbers are those of XRT's messages

    def _close(self, fields: Fields) -> Answer:
        if fields.number(3):  # 1: closes the device; otherwise only a reset before the next program
            for result in self.memory.unread():
                self._unread(result)
            raise Stop({1: True})
        return {1: True}

    def _load(self, fields: Fields) -> Answer:
        self._unload()
        xml, library = fields.text(1), fields.text(2)
        if not xml:  # the host requests memory only
            return {1: True}
        try:
            metadata = Path(xml).read_bytes()
            descriptions = kernels.describe(metadata)
            self._host_memory = kernels.host_memory(metadata)
            copy = self._new_file("kernels").with_suffix(".so")
            shutil.copyfile(library, copy)
            self._library = kernels.Library(copy, descriptions)
        except (ImageProblem, OSError) as problem:
            self._warn(f"this image cannot be loaded: {problem}")
            return {1: False}
        start = self._shuffle.start if self._shuffle is not None else kernels.at_once
        for kernel in descriptions.values():
            for name, base in kernel.units.items():
                run = self._slot()
                unit = EmulatedUnit(kernel, name, self._completions, run, self._fifos.add, self._note, start)
                self._units[base] = unit
        return {1: True}

    def _note(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self._warn(text)

    def _unread(self, result: str) -> None:
        self._note(
            f"neither the host nor a kernel has read the result in {result}; is a sync from the board missing "
            "(XCL_BO_SYNC_BO_FROM_DEVICE, or clEnqueueReadBuffer)? A buffer of xrt::bo::flags::p2p needs --p2p"
        )

    def _unload(self) -> None:
        if self._shuffle is not None:
            self._shuffle.flush()
        if self._library is not None:
            self._library.stop()
        for unit in self._units.values():
            unit.close()
        self._units.clear()
        self._completions = Completions()
        self._forget()
        if self._library is not None:
            self._library.close()
            self._library = None

    def _allocate(self, fields: Fields) -> Answer:
        address, size = fields.number(1), fields.number(2)
        file = self._anonymous_file() if fields.number(3) else None
        one_memory = file is not None and (self._p2p or self._is_host_memory(address) or self._opencl)
        if not self.memory.allocate(address, size, file if one_memory else None):
            self._warn(f"there is no room for {size} bytes at {address:#x}")
            if file is not None:
                os.close(file)
            return {1: False, 2: b""}
        if not fields.number(3):
            return {1: True, 2: b""}
        if file is None:  # the host makes one
            self._files[address] = path = self._new_file("buffer")
            return {1: True, 2: os.fsencode(path)}
        self._files[address] = file
        return {1: True, 2: f"/proc/{os.getpid()}/fd/{file}".encode()}

    def _anonymous_file(self) -> int | None:
        """Returns a file that the host maps as a buffer's memory in its process; None if too many are
        open.

        The file is anonymous, since each launch in flight has such a buffer, and creating files
        takes long on a busy disk. The file is freed when both processes have closed it.
        """
        try:
            return os.memfd_create("buffer")
        except OSError:
            return None

    def _is_host_memory(self, address: int) -> bool:
        return any(begin <= address < end for begin, end in self._host_memory)

    @cached_property
    def _opencl(self) -> bool:
        """True if the host uses XRT's OpenCL: it asks for a file only for buffers that are one memory
        of host and board (XCL_MEM_EXT_HOST_ONLY, XCL_MEM_EXT_P2P_BUFFER) and for commands. The other
        API, xrt::bo, asks for one for every buffer."""
        try:
            return b"libxilinxopencl" in Path(f"/proc/{self._host}/maps").read_bytes()
        except OSError:
            return False

    def _new_file(self, kind: str) -> Path:
        self._number += 1
        return self._folder / f"{kind}-{self._number}"

    def _free(self, fields: Fields) -> Answer:
        address = fields.number(1)
        buffer = self.memory.find(address)
        if buffer is not None and (result := buffer.settle()):
            self._unread(result)
        self.memory.free(address)
        file = self._files.pop(address, None)
        if isinstance(file, Path):
            file.unlink(missing_ok=True)
        elif file is not None:
            os.close(file)
        return {1: True}

    def _write(self, fields: Fields) -> Answer:
        self.memory.write(fields.number(3), fields.data(4)[: fields.number(5)])
        return {1: fields.number(5)}

    def _read(self, fields: Fields) -> Answer:
        data = self.memory.read(fields.number(4), fields.number(5))
        return {1: len(data), 2: data}

    def _unit(self, address: int) -> tuple[EmulatedUnit, int]:
        unit = self._units.get(address & -WINDOW)
        if unit is None:
            raise Fatal(f"the host uses the register {address:#x}, which is of no compute unit")
        return unit, address % WINDOW

    def _write_registers(self, fields: Fields) -> Answer:
        return self._write_unit(fields.number(2), fields.data(4))

    def _read_registers(self, fields: Fields) -> Answer:
        return self._read_unit(fields.number(2))

    def _write_unit(self, address: int, data: memoryview) -> Answer:
        unit, offset = self._unit(address)
        try:
            unit.write(offset, data, self.memory)
        except OutOfRange as failure:
            raise Fatal(f"{failure}{unit.mark}") from failure
        return {1: True}

    def _note_waits(self, unit: EmulatedUnit) -> None:
        """Notes what kernels wait for if none of them can continue, and the host has only asked for
        PATIENCE seconds whether they have ended."""
        waits = self._library.waits() if self._library is not None and unit.running else ""
        if waits != self._waits[1]:
            self._waits = time.monotonic(), waits
        if waits and time.monotonic() - self._waits[0] > PATIENCE:
            self._note(f"none of the kernels can continue: {waits}. On a board they wait for ever too")

    def _read_unit(self, address: int) -> Answer:
        unit, offset = self._unit(address)
        if not offset:
            if self._shuffle is not None:
                self._shuffle.note_poll()
            self._completions.hold(unit, HOLD)
            self._note_waits(unit)
            if unit.stuck:
                waits = f"the stages of kernel {unit.kernel.name!r} wait for each other, and none can go on"
                raise Fatal(f"{waits}: {unit.stuck}{unit.mark}")
        return {1: True, 2: unit.read(offset)}
