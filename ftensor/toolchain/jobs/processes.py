"""Compilers as processes: started without being lost sight of, and ended with all they started."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM wait meanwhile: a process that is started is one that is known."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():  # which alone gets them
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {n: signal.signal(n, lambda number, frame: came.append(number)) for n in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for one in came:
            signal.raise_signal(one)


def end(process: int, number: signal.Signals) -> None:
    """Send a signal that ends to a process and all below it.

    They are stopped first, so that none of them starts another one that nobody sees.
    """
    stopped: list[int] = []
    while new := [p for p in (process, *descendants(process)) if p not in stopped]:
        _send(new, signal.SIGSTOP)
        stopped += new
    _send(stopped, number)
    _send(stopped, signal.SIGCONT)


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def descendants(parent: int) -> list[int]:
    """The processes below one, as /proc tells; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(entry.parent.name))
    below, new = [], [parent]
    while new:
        new = [child for process in new for child in children.get(process, [])]
        below += new
    return below
