"""Compute units: a thread and a set of registers each, and the control register's protocol."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections import Counter
from functools import partial
from queue import SimpleQueue
from typing import Any

from .calls import mark
from .crash import Run
from .kernels import KernelFunction
from .memory import Memory

START, DONE, IDLE = 1, 2, 4  # bits of the control register at offset 0
WINDOW = 0x10000  # bytes of addresses that belong to a unit
STACK = 256 << 20  # bytes; kernels keep their local memories on the stack
_libc = ctypes.CDLL(None)
_starts: Counter[str] = Counter()  # launches of each kernel, whatever image it was in


class Completions:
    """Where units say that a launch has ended, and the answer about a running one is held back.

    The host asks one running unit after the other, again and again. An answer that waits a little
    lets the host sleep instead; but only for one unit in a round, and not longer than until any
    unit ends, which the host shall hear of at once.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0
        self._held: ComputeUnit | None = None

    def add(self) -> None:
        """Say that a launch has ended."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def hold(self, unit: ComputeUnit, seconds: float) -> None:
        """Return when something has ended, at the latest after that time."""
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


class ComputeUnit:
    """One instance of a kernel. `run` calls what it is given, under a name."""

    def __init__(self, kernel: KernelFunction, name: str, completions: Completions, run: Run) -> None:
        self.kernel, self.name, self.running = kernel, name, False
        self.mark = ""  # of the last launch
        self.stuck = ""  # what stages that all waited for each other waited for
        self._registers = bytearray(kernel.register_bytes)
        self._finished = False  # and nobody has seen it yet
        self._completions, self._run = completions, run
        self._work: SimpleQueue[tuple[list[Any], str] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def write(self, offset: int, data: memoryview, memory: Memory) -> None:
        """Write registers; a START bit at offset 0 launches the kernel."""
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
        """A register's four bytes. DONE is shown once, then the unit is idle."""
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
        _libc.fflush(None)  # what the kernel printed, before the host goes on

    def close(self) -> None:
        """End the thread, after the launch that it is at."""
        self._work.put(None)
        if self._thread is not None:
            self._thread.join()
