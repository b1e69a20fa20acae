"""A line on a terminal that says what a command is at, while nothing else is written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from shutil import get_terminal_size
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

EVERY = 1.0  # seconds between two drawings


class _Line:
    """The line, and standard output, before which it is taken away."""

    def __init__(self, out: Any, err: Any) -> None:
        self.out, self.err, self.lock = out, err, Lock()
        self.drawn, self.free = False, True

    def draw(self, text: str) -> None:
        """Write the line anew, unless the program is within one of its own."""
        with self.lock:
            if self.free:
                self.err.write(f"\r\x1b[K{text[: get_terminal_size().columns - 1]}")
                self.err.flush()
                self.drawn = True

    def erase(self) -> None:
        """Take it away."""
        if self.drawn:
            self.err.write("\r\x1b[K")
            self.err.flush()
            self.drawn = False

    def write(self, text: str) -> int:
        """What the program writes to standard output."""
        with self.lock:
            self.erase()
            self.free = text.endswith("\n")
            written: int = self.out.write(text)
            return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self.out, name)


@contextmanager
def waiting(said: Callable[[], str]) -> Iterator[None]:
    """Around what may take long: where standard error is a terminal, a line on it with how many
    seconds have passed and what `said()` gives; it is gone in the end."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    line, ended, began = _Line(sys.stdout, sys.stderr), Event(), monotonic()

    def draw() -> None:
        while not ended.wait(EVERY):
            line.draw(f"{monotonic() - began:4.0f} s  {said()}")

    thread = Thread(target=draw, daemon=True)
    thread.start()
    try:
        with redirect_stdout(line):
            yield
    finally:
        ended.set()
        thread.join()
        line.erase()
