"""Records the user's line of each launch, for the report of a failing emulated device.

A file in the folder of an emulated run has one line of text for each of the last launches:
kernel, the launch's number among that kernel's launches, number of commands, stream, file,
line, and the pytest test. The device counts a kernel's launches, and its report looks them up.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from pathlib import Path

from ..call_site import Caller, caller

SLOTS, SLOT = 4096, 1024  # launches that are remembered, more than are ever in flight; bytes of each
Kernels = Sequence[tuple[str, int]]  # the kernels of a launch, and their largest number of commands


class Calls:
    """The file; written under the device's lock."""

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
        self.made_by: Caller | None = None  # call site of the launch that was just deferred

    def note(self, kernels: Kernels, units: int, stream: int) -> None:
        """Records the kernels of a launch that is about to be enqueued."""
        if self._memory is None:
            return
        by = self.made_by or caller()
        for k, (name, most) in enumerate(kernels):
            words = (name, self._begun.get(name, 0), min(units, most), stream, by.file, by.line, by.test)
            text = "\t".join([str(word).replace("\t", " ").replace("\n", " ") for word in words])
            data = text.encode(errors="surrogateescape")[: SLOT - 1].ljust(SLOT - 1) + b"\n"
            at = (self._next + k) % SLOTS * SLOT
            self._memory[at : at + SLOT] = data

    def record_enqueued(self, kernels: Kernels, units: int) -> None:
        """Notes that the last recorded launch is enqueued."""
        for name, most in kernels:
            self._begun[name] = self._begun.get(name, 0) + min(units, most)
        self._next += len(kernels)

    def clear(self) -> None:
        """Clears the file, since it is unknown how many commands of a launch were enqueued."""
        if self._memory is not None:
            self._memory[:] = bytes(len(self._memory))
            self._memory = None


def calls() -> Calls | None:
    """Returns the file of this run; None if the device is not emulated or the folder not
    writable."""
    folder = os.environ.get("FTENSOR_EMULATION", "")
    try:
        return Calls(Path(folder)) if os.path.isabs(folder) else None
    except OSError:
        return None
