"""What must not be interrupted: foreign code, launches of kernels that wait for each other."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_SIGNALS = frozenset(signal.valid_signals())  # asked for once: that takes longer than all else here


@contextmanager
def deferred() -> Iterator[None]:
    """Inside the block no handler of a signal runs; those that were asked for run behind it.

    pyopencl's compiled part ends the process where an exception comes out of Python code that it
    calls while it is imported, and cannot be imported again: Ctrl-C would be such an exception.
    Python runs handlers in the main thread alone, so in others nothing is to be done.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    noted: list[int] = []
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    mine = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in mine:
            signal.signal(number, lambda number, _: noted.append(number))
        yield
    finally:
        for number, handler in mine.items():
            signal.signal(number, handler)
        with ExitStack() as each:  # also behind one that raises
            for late in reversed(noted):
                each.callback(signal.raise_signal, late)
