"""Which line of the program made each launch, for the report of a software device that fails.

A file in the folder of an emulated run has a line of text for each of the last launches: the kernel,
which of its launches it was, how many commands, the stream, the file, the line's number, the test
that pytest runs. The device counts a kernel's launches, and its report finds them there.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from pathlib import Path

from ..call_site import Caller, caller

SLOTS, SLOT = 4096, 1024  # launches that are remembered, more than are ever in flight; bytes of each
Kernels = Sequence[tuple[str, int]]  # what a launch starts, and in how many commands at most


class Calls:
    """The file, written under the device's lock."""

    def __init__(self, folder: Path) -> None:
        path = folder / f"calls-{os.getpid()}"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.ftruncate(file, SLOTS * SLOT)
            self._memory: mmap.mmap | None = mmap.mmap(file, SLOTS * SLOT)
        finally:
            os.close(file)
        self._begun: dict[str, int] = {}
        self._next = 0
        self.made_by: Caller | None = None  # where what is launched just now was put off

    def note(self, kernels: Kernels, units: int, stream: int) -> None:
        """These are launched now."""
        if self._memory is None:
            return
        by = self.made_by or caller()
        for k, (name, most) in enumerate(kernels):
            words = (name, self._begun.get(name, 0), min(units, most), stream, by.file, by.line, by.test)
            text = "\t".join([str(word).replace("\t", " ").replace("\n", " ") for word in words])
            data = text.encode(errors="surrogateescape")[: SLOT - 1].ljust(SLOT - 1) + b"\n"
            at = (self._next + k) % SLOTS * SLOT
            self._memory[at : at + SLOT] = data

    def made(self, kernels: Kernels, units: int) -> None:
        """What was noted last is enqueued."""
        for name, most in kernels:
            self._begun[name] = self._begun.get(name, 0) + min(units, most)
        self._next += len(kernels)

    def lose(self) -> None:
        """Nobody knows how much of a launch was enqueued, so none is told any more."""
        if self._memory is not None:
            self._memory[:] = bytes(len(self._memory))
            self._memory = None


def calls() -> Calls | None:
    """The file of this run; None where the device is no emulated one, or its folder takes none."""
    folder = os.environ.get("FTENSOR_EMULATION", "")
    try:
        return Calls(Path(folder)) if os.path.isabs(folder) else None
    except OSError:
        return None
