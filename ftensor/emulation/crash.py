"""Memory for the report of a crashed device: a table that survives the worker process; and the user's
line of a launch.

The supervisor creates the table before it forks the worker, so both share the memory. The worker
records what each compute unit runs. If a signal ends the worker, the supervisor reads the running
launches, and which of them caused the fault.

A file in the run's folder has one line of text for each of the last launches: kernel, number of the
first command among the kernel's commands, number of commands, stream, file, line, test. Other host
programs write no such file.
"""

from __future__ import annotations

import ctypes
import faulthandler
import linecache
import mmap
import os
import re
import signal
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

MARK = "\0"  # precedes a kernel's name and the number of its launch in a text of the device


def mark(kernel: str, number: int) -> str:
    """Returns the suffix that identifies a launch in a text; `with_call_site` replaces it."""
    return f"{MARK}{kernel}{MARK}{number}{MARK}"


def with_call_site(text: str, notes: Path | None) -> str:
    """Returns a text of the device; a launch marked at its end is replaced by the user's line."""
    text, *launch = text.split(MARK)
    is_complete = len(launch) == 3  # a text that is too long was cut
    lines = _call_sites(notes, launch[0], int(launch[1])) if is_complete and notes is not None else []
    if not lines:
        return text
    return text + "\n    launched at " + ("" if len(lines) == 1 else "one of\n      ") + "\n      ".join(lines)


def _call_sites(notes: Path, kernel: str, number: int) -> list[str]:
    """Returns the user's lines of a launch. Several are possible if streams ran concurrently, since
    the device may have begun their launches in another order."""
    try:
        lines = notes.read_text(errors="surrogateescape").split("\n")
    except OSError:
        return []
    noted = [words for line in lines if (words := line.rstrip().split("\t"))[0] == kernel and len(words) >= 6]
    if not any(int(first) <= number < int(first) + int(count) for _, first, count, *_ in noted):
        return []
    if len({words[3] for words in noted}) == 1:
        noted = [words for words in noted if int(words[1]) <= number < int(words[1]) + int(words[2])]
    else:
        noted = [words for words in noted if abs(int(words[1]) - number) < _BESIDE]
    return list(dict.fromkeys(_shown(*words[4:]) for words in noted))


_BESIDE = 64  # launches by which streams may overtake each other


def _shown(file: str, line: str, test: str = "") -> str:
    text = linecache.getline(file, int(line)).strip()
    return f"{file}:{line}" + (f": {text}" if text else "") + (f" (in the test {test})" if test else "")


SLOTS, SLOT, HEAD = 1024, 2048, 4096
_ENTRY = struct.Struct("<I")  # length of the text; 0 for an idle slot
_TEXT = struct.Struct("<I")
# The running call has a frame whose file name is the slot's name.
_FRAME = """
def run(text, call):
    note(text)
    call()
    note(None)
"""
Run = Callable[[str, Callable[[], None]], None]


class CrashRecord:
    """The worker's message, and the launch that each of its compute units is running."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, HEAD + SLOTS * SLOT)
        # faulthandler writes here from within the signal handler.
        self._trace = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the table
        self._used = 0

    def slot(self) -> Run:
        """Returns a function `run(text, call)` for one unit, which records `text` during the
        call."""
        at = HEAD + self._used % SLOTS * SLOT
        self._used += 1

        def note(text: str | None) -> None:
            data = (text or "").encode()[: SLOT - _ENTRY.size]
            self._memory[at + _ENTRY.size : at + _ENTRY.size + len(data)] = data
            _ENTRY.pack_into(self._memory, at, len(data))

        scope: dict[str, Any] = {"note": note}
        exec(compile(_FRAME, f"slot {at}", "exec"), scope)
        return scope["run"]

    def reset(self) -> None:
        """Clears the slots of an image that was unloaded."""
        size = min(self._used, SLOTS) * SLOT
        self._memory[HEAD : HEAD + size] = bytes(size)
        self._used = 0

    def say(self, text: str) -> None:
        """Records the worker's reason for ending."""
        data = text.encode(errors="replace")[: HEAD - _TEXT.size]
        self._memory[_TEXT.size : _TEXT.size + len(data)] = data
        _TEXT.pack_into(self._memory, 0, len(data))

    @property
    def said(self) -> str:
        """The last text that `say` recorded."""
        size = _TEXT.unpack_from(self._memory, 0)[0]
        return self._memory[_TEXT.size : _TEXT.size + size].decode(errors="replace")

    def watch_faults(self, explain: Callable[[int], str]) -> None:
        """Called in the worker: records the stack of a fault and, for a bad access,
        `explain(address)`."""
        # Only the faulting thread: other threads' frames change while they are read, which may
        # fault.
        faulthandler.enable(self._trace.fileno(), all_threads=False)
        for number in (signal.SIGSEGV, signal.SIGBUS):
            _explain_once(number, lambda address: self.say(explain(address)))

    def running(self) -> list[str]:
        """Returns the launches that ran when the worker ended; only the faulty one if known."""
        slots = {}
        for at in range(HEAD, HEAD + SLOTS * SLOT, SLOT):
            (size,) = _ENTRY.unpack_from(self._memory, at)
            if size:
                text = self._memory[at + _ENTRY.size : at + _ENTRY.size + size]
                slots[at] = text.decode(errors="replace")
        self._trace.seek(0)
        named = re.search(rb'File "slot (\d+)"', self._trace.read())
        guilty = slots.get(int(named[1])) if named is not None else None
        return [guilty] if guilty is not None else list(slots.values())


class _SigAction(ctypes.Structure):
    """glibc's struct sigaction on Linux."""

    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_uint8 * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]


_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_SA_SIGINFO = 4
_FAULT_ADDRESS = 16  # offset of si_addr in siginfo_t with 64-bit pointers
_kept: list[object] = []  # keeps C functions alive that the kernel's signal tables point to


def _explain_once(number: int, explain: Callable[[int], None]) -> None:
    """Calls `explain` with the address of a fault, then restores the previous handler.

    The handler is Python code. This works because the fault comes from a kernel's code, at an
    instruction, in a thread that does not hold the interpreter lock.
    """
    libc = ctypes.CDLL(None)
    action, before = _SigAction(), _SigAction()

    def handler(_number: int, info: int, _context: int) -> None:
        libc.sigaction(number, ctypes.byref(before), None)
        explain(ctypes.c_uint64.from_address(info + _FAULT_ADDRESS).value)
        # Returning repeats the instruction, which faults again into the previous handler.

    function = _HANDLER(handler)
    action.handler = ctypes.cast(function, ctypes.c_void_p)
    action.flags = _SA_SIGINFO
    _kept.extend((function, action, before))
    if libc.sigaction(number, ctypes.byref(action), ctypes.byref(before)):
        raise OSError("sigaction failed for " + signal.strsignal(number))  # type: ignore[operator]


def _argument(said: str, running: list[str]) -> str:
    """Returns a description of the argument whose buffer `said` names; "" if it is unknown."""
    buffer = re.search(r"the buffer (0x[0-9a-f]+)\.\.", said)
    if buffer is None:
        return ""
    names = [name for text in running for name in re.findall(rf"(\w+)={buffer[1]} \(", text)]
    return f", of argument {' and '.join(map(repr, dict.fromkeys(names)))}" if names else ""


def describe_end(status: int, table: CrashRecord, notes: Path | None = None) -> str:
    """Returns the report: how the worker ended (its wait status), why, and its running launches.
    `notes` is the file with the user's lines of the launches."""
    message, running = with_call_site(table.said, notes), [with_call_site(text, notes) for text in table.running()]
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number == signal.SIGKILL and message:  # the worker's own decision, not a kernel's fault
        return message
    if number:
        how = f"was ended by {signal.Signals(number).name} ({signal.strsignal(number)})"
        if number == signal.SIGKILL:  # another process killed it
            how += "; if nobody sent it, the machine was out of memory"
    else:
        how = f"called exit({os.WEXITSTATUS(status)})"
    if not running:
        return f"the device process {how}, with no kernel running. {message}".rstrip()
    subject = "a kernel" if len(running) == 1 else f"one of {len(running)} running kernels"
    lines = [f"{subject} {how}", *running, *([message + _argument(message, running)] if message else [])]
    return "\n  ".join(lines)
