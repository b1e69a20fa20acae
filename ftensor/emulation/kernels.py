"""The kernels of a loaded image, and their compute units, each with a thread and registers."""

from __future__ import annotations

import _ctypes
import ctypes
import os
import struct
import threading
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from .calls import mark
from .crash import Run
from .memory import BoardMemory, OutOfRange

# C has several names for one type; their words are sorted before the lookup.
_SCALARS: dict[str, Any] = {
    "bool": ctypes.c_bool, "_Bool": ctypes.c_bool,
    "char": ctypes.c_int8, "signed char": ctypes.c_int8, "unsigned char": ctypes.c_uint8,
    "short": ctypes.c_int16, "unsigned short": ctypes.c_uint16,
    "int": ctypes.c_int32, "signed": ctypes.c_int32, "signed int": ctypes.c_int32,
    "unsigned": ctypes.c_uint32, "unsigned int": ctypes.c_uint32,
    "long": ctypes.c_int64, "unsigned long": ctypes.c_uint64,
    "long long": ctypes.c_int64, "unsigned long long": ctypes.c_uint64,
    "uchar": ctypes.c_uint8, "ushort": ctypes.c_uint16,
    "uint": ctypes.c_uint32, "ulong": ctypes.c_uint64,
    "int8_t": ctypes.c_int8, "uint8_t": ctypes.c_uint8,
    "int16_t": ctypes.c_int16, "uint16_t": ctypes.c_uint16,
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_uint64, "ssize_t": ctypes.c_int64, "ptrdiff_t": ctypes.c_int64,
    "intptr_t": ctypes.c_int64, "uintptr_t": ctypes.c_uint64,
    "float": ctypes.c_float, "double": ctypes.c_double,
}  # fmt: skip
# Format letters of struct, for reading a value from the registers.
_LETTERS = {
    ctypes.c_bool: "?",
    ctypes.c_int8: "b",
    ctypes.c_uint8: "B",
    ctypes.c_int16: "h",
    ctypes.c_uint16: "H",
    ctypes.c_int32: "i",
    ctypes.c_uint32: "I",
    ctypes.c_int64: "q",
    ctypes.c_uint64: "Q",
    ctypes.c_float: "f",
    ctypes.c_double: "d",
}
# Address qualifiers of the metadata; the others are constant and local.
_SCALAR, _GLOBAL, _STREAM = 0, 1, 4
# Suffix of the function that starts a kernel with streams, in a library where the kernels are
# joined (image/manifest.py, which this package does not import).
_JOINED = "_joined"


class ImageProblem(Exception):
    """An image that this device cannot run; carries the message."""


@dataclass(frozen=True)
class RegisterArgument:
    """One argument of a kernel; `offset` is the byte offset of its first register."""

    name: str
    offset: int
    pointer: bool
    type: Any  # ctypes's
    c: str

    def read(self, registers: bytearray) -> Any:
        """Returns the value as a Python number."""
        letter = "Q" if self.pointer else _LETTERS[self.type]
        return struct.unpack_from("<" + letter, registers, self.offset)[0]


@dataclass
class KernelFunction:
    """A kernel: its arguments, the register addresses of its compute units, and its function."""

    name: str
    arguments: list[RegisterArgument]
    units: dict[str, int] = field(default_factory=dict)  # instance -> base address
    call: Any = None
    streams: tuple[str, ...] = ()  # ports that are joined in the library
    stuck: Any = None  # returns, in the calling thread, the deadlock report of its stages
    fifos: Any = None  # returns the report of the last launch's FIFOs, likewise

    @property
    def register_bytes(self) -> int:
        """The minimum number of register bytes for a launch."""
        return max([0x10, *(a.offset + 8 for a in self.arguments)])

    def bind(self, registers: bytearray, memory: BoardMemory) -> tuple[list[Any], str]:
        """Returns the function's arguments from a unit's registers, and a description of the
        launch.

        Raises OutOfRange if a pointer is in no live buffer.
        """
        values: list[Any] = []
        shown: list[str] = []
        for argument in self.arguments:
            value = argument.read(registers)
            if argument.pointer:
                buffer = memory.find(value)
                if buffer is None:
                    raise OutOfRange(
                        f"argument {argument.name!r} of kernel {self.name!r} is the address "
                        f"{value:#x}, which is in no live buffer; {memory.describe()}"
                    )
                # The kernel may write there, so the host's copy is no longer the newest.
                buffer.written = True
                shown.append(f"{argument.name}={value:#x} ({buffer.end - value} bytes)")
                value += buffer.pointer - buffer.address
            else:
                shown.append(f"{argument.name}={value}")
            values.append(value)
        return values, ", ".join(shown)


def scalar_type(c: str, size: int) -> Any:
    """Returns the ctypes type of a C scalar, or None for an unknown type."""
    words = [w for w in c.replace("std::", "").split() if w not in ("const", "volatile")]
    if "int" in words and len(words) > 1:  # "long int", "short unsigned int"
        if {"long", "short"} & set(words):
            words.remove("int")
    if "unsigned" in words:
        words = ["unsigned", *(w for w in words if w != "unsigned")]
    if "signed" in words and words != ["signed"] and "char" not in words:
        words.remove("signed")
    scalar = _SCALARS.get(" ".join(words))
    # The host writes `size` bytes; a larger type would read padding.
    return scalar if scalar is not None and ctypes.sizeof(scalar) <= max(size, 4) else None


def _not_served(name: str, kernel: str) -> ImageProblem:
    return ImageProblem(
        f"argument {name!r} of kernel {kernel!r} is a stream or a local memory; this device serves "
        "pointers to global memory and scalars"
    )


def _argument(kernel: str, element: ET.Element) -> RegisterArgument:
    name, c = element.get("name", ""), element.get("type", "").strip()
    where = f"argument {name!r} of kernel {kernel!r}"
    try:
        qualifier = int(element.get("addressQualifier", "-1"), 0)
        offset = int(element.get("offset", ""), 0)
        size = int(element.get("size", ""), 0)
    except ValueError:
        raise ImageProblem(f"the metadata has no usable place for {where}") from None
    if qualifier == _GLOBAL:
        return RegisterArgument(name, offset, True, ctypes.c_void_p, c)
    if qualifier != _SCALAR:
        raise _not_served(name, kernel)
    scalar = scalar_type(c, size)
    if scalar is None:
        raise ImageProblem(
            f"{where} has the type {c!r} and {size} bytes; a scalar must be one of C's own types, "
            "such as int, uint64_t or float"
        )
    return RegisterArgument(name, offset, False, scalar, c)


def describe(metadata: bytes) -> dict[str, KernelFunction]:
    """Returns the kernels in an image's EMBEDDED_METADATA."""
    try:
        root = ET.fromstring(metadata)
    except ET.ParseError as failure:
        raise ImageProblem(f"the image's metadata is no XML: {failure}") from None
    kernels = {}
    for element in root.iter("kernel"):
        name = element.get("name", "")
        if element.get("hwControlProtocol") == "ap_ctrl_none":
            continue  # free-running: the library runs it
        rows = sorted(element.iter("arg"), key=lambda a: int(a.get("id") or -1))
        streams = [a for a in rows if a.get("addressQualifier") == str(_STREAM)]
        arguments = [_argument(name, a) for a in rows if a not in streams]
        kernel = KernelFunction(name, arguments, streams=tuple(a.get("name", "") for a in streams))
        for instance in element.iter("instance"):
            remap = instance.find("addrRemap")
            if remap is None:
                raise ImageProblem(f"compute unit {instance.get('name')!r} has no address")
            kernel.units[instance.get("name", "")] = int(remap.get("base", "0"), 0)
        kernels[name] = kernel
    return kernels


class Library:
    """The shared object of an image, loaded from a copy of the file.

    XRT may rewrite its own file, and the loader treats one path as one library.
    """

    def __init__(self, path: Path, kernels: dict[str, KernelFunction]) -> None:
        try:
            self._library = ctypes.CDLL(str(path), mode=os.RTLD_NOW)
        except OSError as failure:
            raise ImageProblem(
                "the image's kernels are no shared object that loads here: " + str(failure).removeprefix(f"{path}: ")
            ) from None
        for kernel in kernels.values():
            try:
                call = self._library[kernel.name + _JOINED * bool(kernel.streams)]
            except AttributeError:
                if kernel.streams:
                    raise _not_served(kernel.streams[0], kernel.name) from None
                raise ImageProblem(
                    f'the image\'s shared object has no function {kernel.name!r}; is it declared extern "C"?'
                ) from None
            call.restype = None
            call.argtypes = [argument.type for argument in kernel.arguments]
            kernel.call = call
            with suppress(AttributeError):  # only in libraries whose kernels have stages
                kernel.stuck = self._library.ft_stuck
                kernel.stuck.restype = ctypes.c_char_p
            with suppress(AttributeError):  # only with DATAFLOW regions (hls/standin/fifos.h)
                kernel.fifos = self._library.ft_fifos_report
                kernel.fifos.restype = ctypes.c_char_p

    def close(self) -> None:
        """Unloads the library. None of its kernels may be running."""
        _ctypes.dlclose(self._library._handle)


START, DONE, IDLE = 1, 2, 4  # bits of the control register at offset 0
WINDOW = 0x10000  # bytes of addresses that belong to a unit
STACK = 256 << 20  # bytes; kernels keep their local memories on the stack
_libc = ctypes.CDLL(None)
_starts: Counter[str] = Counter()  # launches of each kernel, whatever image it was in


class Completions:
    """Signals the end of launches, and delays answers about running units.

    The host polls the running units in turn. A delayed answer lets the host sleep instead. Only one
    unit per round is delayed, and at most until any unit ends, so that the host learns of it at
    once.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._held: EmulatedUnit | None = None

    def add(self) -> None:
        """Signals that a launch has ended."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def hold(self, unit: EmulatedUnit, seconds: float) -> None:
        """Waits until a launch has ended, for at most `seconds`. Returns at once if `unit` is idle
        or another unit's answer is already delayed."""
        if not unit.running or self._held not in (None, unit):
            self._held = None if self._held is unit else self._held
            return
        self._held = unit
        with self._changed:
            count = self._count
            if unit.running:
                self._changed.wait_for(lambda: self._count != count, seconds)
            if self._count != count or not unit.running:
                self._held = None


class EmulatedUnit:
    """One compute unit of a kernel. `run` calls a function under a description. `checked` gets the
    kernel's name and the report of its FIFOs after a launch."""

    def __init__(
        self,
        kernel: KernelFunction,
        name: str,
        completions: Completions,
        run: Run,
        checked: Callable[[str, str], None] = lambda kernel, report: None,
    ) -> None:
        self._checked = checked
        self.kernel, self.name, self.running = kernel, name, False
        self.mark = ""  # of the last launch
        self.stuck = ""  # what stages that all waited for each other waited for
        self._registers = bytearray(kernel.register_bytes)
        self._finished = False  # and the host has not read it yet
        self._completions, self._run = completions, run
        self._work: SimpleQueue[tuple[list[Any], str] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def write(self, offset: int, data: memoryview, memory: BoardMemory) -> None:
        """Writes registers; a START bit at offset 0 launches the kernel."""
        if offset + len(data) > len(self._registers):
            self._registers += bytes(offset + len(data) - len(self._registers))
        self._registers[offset : offset + len(data)] = data
        # A single word with the CONTINUE bit acknowledges DONE; it starts nothing.
        if offset or not len(data) or not data[0] & START:
            return
        self.mark = mark(self.kernel.name, _starts[self.kernel.name])
        _starts[self.kernel.name] += 1
        values, shown = self.kernel.bind(self._registers, memory)
        if self._thread is None:
            threading.stack_size(STACK)
            self._thread = threading.Thread(target=self._serve, daemon=True)
            self._thread.start()
        self.running = True
        self._work.put((values, f"kernel {self.kernel.name}, compute unit {self.name}: {shown}{self.mark}"))

    def read(self, offset: int) -> bytes:
        """Returns a register's four bytes. DONE is returned once; then the unit is idle."""
        if offset:
            return bytes(self._registers[offset : offset + 4]).ljust(4, b"\0")
        if self.running:
            return struct.pack("<I", START)
        finished, self._finished = self._finished, False
        return struct.pack("<I", DONE | IDLE if finished else IDLE)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            values, shown = work
            self._run(shown, partial(self._call, values))
            self._finished = True
            self.running = False
            self._completions.add()

    def _call(self, values: list[Any]) -> None:
        self.kernel.call(*values)
        if self.kernel.stuck is not None:
            self.stuck = (self.kernel.stuck() or b"").decode()
        if self.kernel.fifos is not None:
            self._checked(self.kernel.name, (self.kernel.fifos() or b"").decode())
        _libc.fflush(None)  # prints the kernel's output before the host continues

    def close(self) -> None:
        """Ends the thread after its current launch."""
        self._work.put(None)
        if self._thread is not None:
            self._thread.join()
