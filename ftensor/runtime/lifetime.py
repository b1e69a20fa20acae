"""Process events: signals during foreign code, the interpreter's exit, forks."""

from __future__ import annotations

import atexit

# logging holds its lock from the start of a fork. Hooks that are registered later run earlier, so
# the hooks here may wait for threads that log. Otherwise pyopencl would import logging, maybe
# during a fork.
import logging  # noqa: F401
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from traceback import walk_stack
from typing import TYPE_CHECKING

from .pool import LostPool, wait_unless_exiting

if TYPE_CHECKING:
    from .backend import Backend


_SIGNALS = frozenset(signal.valid_signals())  # once, since it takes longer than the rest of this code


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Inside the block no signal handler runs; deferred signals are raised after the block.

    pyopencl's compiled part ends the process if Python code that it calls during its import raises
    an exception, and it cannot be imported again. Ctrl-C would be such an exception. Python runs
    handlers only in the main thread, so in other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    handled = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in handled:
            signal.signal(number, lambda number, _: noted.append(number))
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        with ExitStack() as each:  # runs all callbacks, even if one raises
            for late in reversed(noted):
                each.callback(signal.raise_signal, late)


EXIT_PATIENCE = 10.0  # seconds for other threads to return from a runtime
FORK_PATIENCE = 60.0  # seconds for other threads to finish work that a child could not
# File names of ftensor's modules and of its generated functions.
_OURS = (os.path.join(Path(__file__).parents[1], ""), "<launch ", "<ftensor ")

_opened: list[Backend] = []
_exiting = False


def register_backend(backend: Backend) -> None:
    """Registers an opened device."""
    _opened.append(backend)
    if _exiting:
        backend.close()


def open_backends() -> tuple[Backend, ...]:
    """Returns the devices opened so far."""
    return tuple(_opened)


@atexit.register
def _finish_all() -> None:
    # A daemon thread that returns from a runtime's C++ code after the interpreter has ended crashes
    # the process. So other threads stop at the next launch, before they enter such code.
    global _exiting
    _exiting = True
    for backend in _opened:
        backend.close()
    # Work in flight writes into memory that the exiting interpreter is about to free.
    for backend in _opened:
        backend.synchronize()
    deadline = time.monotonic() + EXIT_PATIENCE
    while _threads_inside() and time.monotonic() < deadline:
        time.sleep(0.001)


def _threads_inside() -> bool:
    for thread, frame in sys._current_frames().items():
        stack = [] if thread == threading.get_ident() else [f.f_code for f, _ in walk_stack(frame)]
        if wait_unless_exiting.__code__ not in stack:
            if any(code.co_filename.startswith(_OURS) for code in stack):
                return True
    return False


class Gate:
    """Keeps forks out of device searches, the opening of devices, and of the creation of kernels.

    These import modules. In a child, an import that another thread had begun never ends, and
    neither does a wait for a lock in foreign code. So a fork waits for the threads inside, and
    other threads wait at the gate until the fork ends. A thread inside may enter again and may
    fork, as a signal handler does.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._inside: Counter[int] = Counter()
        self._forking: Counter[int] = Counter()

    def _others(self, threads: Counter[int]) -> bool:
        me = threading.get_ident()
        return any(count > 0 for thread, count in threads.items() if thread != me)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Encloses work that no fork may interrupt."""
        me, changed = threading.get_ident(), self._changed
        with changed:
            while self._others(self._forking) and not self._inside[me]:
                changed.wait()
            self._inside[me] += 1
        try:
            yield
        finally:
            changed = self._changed  # a forked child has another one
            with changed:
                self._inside[me] -= 1
                changed.notify_all()

    def close(self) -> None:
        """Called before a fork: keeps other threads out and waits for those inside."""
        with self._changed:
            self._forking[threading.get_ident()] += 1
            # With a limit, because a thread inside may wait for a lock that this thread holds.
            self._changed.wait_for(lambda: not self._others(self._inside), FORK_PATIENCE)

    def open(self) -> None:
        """Called in the parent after a fork: lets the waiting threads in."""
        with self._changed:
            self._forking[threading.get_ident()] -= 1
            self._changed.notify_all()


gate = Gate()


def _before_fork() -> None:
    gate.close()
    # At its exit a process waits for its runtime's work. In a child no thread is left to do that
    # work (Intel's runtime then never returns), so nothing may be in flight at a fork.
    for backend in _opened:
        backend.synchronize()


def _after_fork() -> None:
    # This code must not wait for a lock that another thread of the parent held.
    gate.__init__()  # type: ignore[misc]
    for backend in _opened:
        backend.forked()
    _opened[:] = [backend for backend in _opened if not isinstance(backend.pool, LostPool)]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=gate.open, after_in_child=_after_fork)
