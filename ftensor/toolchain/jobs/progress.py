"""How far a build is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from typing import Protocol, TextIO

BAR = 24  # characters
REDRAW = 0.1  # seconds between two drawings of the bar
QUIET = 15.0  # seconds between two lines where there is no terminal


class Progress(Protocol):
    """What the runner tells of its jobs."""

    def start(self, total: int, done: int) -> None:
        """There are `total` jobs, of which `done` need nothing."""

    def ended(self, name: str, result: str, seconds: float) -> None:
        """A job ended."""

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """These run now, and all may take so many more seconds, or None when unknown."""

    def close(self) -> None:
        """No more."""


class Quiet:
    """Says nothing."""

    def start(self, total: int, done: int) -> None:
        """Nothing."""

    def ended(self, name: str, result: str, seconds: float) -> None:
        """Nothing."""

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Bar:
    """A line that is drawn again and again."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.began = self.drawn = 0.0
        self.total = self.done = self.failed = 0

    def start(self, total: int, done: int) -> None:
        """Begin to count the time."""
        self.began, self.total, self.done = time.monotonic(), total, done

    def ended(self, name: str, result: str, seconds: float) -> None:
        """Count; a failure is told at once, above the bar."""
        self.done += 1
        if result == "failed":
            self.failed += 1
            self._write(f"{name}: failed after {clock(seconds)}\n")
        self.drawn = 0.0

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """Draw."""
        now = time.monotonic()
        if now - self.drawn < REDRAW:
            return
        self.drawn = now
        full = BAR * self.done // max(self.total, 1)
        text = f"[{'#' * full}{'-' * (BAR - full)}] {self._counts(remaining)}"
        if running:
            text += f"  {', '.join(running)}"
        self._write(text[: shutil.get_terminal_size().columns - 1])

    def close(self) -> None:
        """Leave an empty line."""
        self._write("")

    def _counts(self, remaining: float | None) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        left = "?" if remaining is None else clock(remaining)
        elapsed = clock(time.monotonic() - self.began)
        return f"{self.done}/{self.total}{failed}  {elapsed} elapsed, {left} to go"

    def _write(self, text: str) -> None:
        self.stream.write(f"\r\x1b[K{text}")
        self.stream.flush()


class Lines(Bar):
    """For logs: a line for each failure, and one now and then."""

    def start(self, total: int, done: int) -> None:
        """Begin to count the time; the first line comes after a while."""
        super().start(total, done)
        self.drawn = self.began

    def ended(self, name: str, result: str, seconds: float) -> None:
        """Count; a failure is told at once."""
        drawn = self.drawn
        super().ended(name, result, seconds)
        self.drawn = drawn

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """A line when the last one is old."""
        now = time.monotonic()
        if now - self.drawn >= QUIET:
            self.drawn = now
            self._write(f"{self._counts(remaining)}\n")

    def close(self) -> None:
        """Nothing: each line is whole."""

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def reporter(stream: TextIO | None = None) -> Progress:
    """A bar when `stream` (standard error, if not given) is a terminal, else lines."""
    stream = stream or sys.stderr
    return Bar(stream) if stream.isatty() else Lines(stream)


def clock(seconds: float) -> str:
    """A duration for people: 7 s, 3:05, 2:14:09."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
