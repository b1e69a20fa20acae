"""The two moments when all opened devices matter: the interpreter's exit, and a fork."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from pathlib import Path
from traceback import walk_stack
from typing import TYPE_CHECKING

from .pool import LostPool, wait_unless_exiting

if TYPE_CHECKING:
    from .backend import Backend

EXIT_PATIENCE = 10.0  # seconds in which other threads come back from a runtime
# The files of ftensor's code, and of the functions that it writes.
_OURS = (os.path.join(Path(__file__).parents[1], ""), "<launch ", "<ftensor ")

_opened: list[Backend] = []


def begin(backend: Backend) -> None:
    """A device was opened."""
    _opened.append(backend)


def opened() -> tuple[Backend, ...]:
    """The devices opened so far."""
    return tuple(_opened)


@atexit.register
def _finish_all() -> None:
    # A daemon thread that comes back from a runtime's C++ code after the interpreter is gone takes
    # the process down with it. So other threads stop at the next launch, before they enter any.
    for backend in _opened:
        backend.close()
    # Work in flight writes into memory that the exiting interpreter is about to free.
    for backend in _opened:
        backend.synchronize()
    deadline = time.monotonic() + EXIT_PATIENCE
    while _threads_inside() and time.monotonic() < deadline:
        time.sleep(0.001)


def _threads_inside() -> bool:
    """Whether another thread is within a call of ours, and not stopped by `close`."""
    for thread, frame in sys._current_frames().items():
        stack = [] if thread == threading.get_ident() else [f.f_code for f, _ in walk_stack(frame)]
        if wait_unless_exiting.__code__ not in stack:
            if any(code.co_filename.startswith(_OURS) for code in stack):
                return True
    return False


def _before_fork() -> None:
    # A runtime waits for its work when the process exits, also in a child, where no thread is
    # left to do it (Intel's, which then never returns). So nothing is in flight when forking.
    for backend in _opened:
        backend.synchronize()


def _after_fork() -> None:
    # Nothing may run here that could wait for a lock another thread of the parent held.
    for backend in _opened:
        backend.forked()
    _opened[:] = [backend for backend in _opened if not isinstance(backend.pool, LostPool)]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
