"""Build progress: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from ... import logs

BAR = 24  # characters
REDRAW = 0.1  # seconds between two drawings of the bar
QUIET = 15.0  # seconds between two lines without a terminal


class Progress:
    """Receives the events of the job runner; by default prints nothing."""

    def start(self, total: int, done: int) -> None:
        """`total` jobs begin; `done` of them are up to date."""

    def ended(self, name: str, result: str, seconds: float) -> None:
        """Called when a job ended."""

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """`running` jobs run now; all jobs may take `remaining` more seconds, None if unknown."""

    def close(self) -> None:
        """Called after all jobs ended."""


class Bar(Progress):
    """Progress on a terminal: one line that is redrawn in place."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.began = self.drawn = 0.0
        self.total = self.done = self.failed = 0

    def start(self, total: int, done: int) -> None:
        """Starts the clock; `done` of the `total` jobs are up to date."""
        self.began, self.total, self.done = time.monotonic(), total, done

    def ended(self, name: str, result: str, seconds: float) -> None:
        """Counts the job, and prints a failure above the bar immediately."""
        self.done += 1
        if result == "failed":
            self.failed += 1
            self._write(f"{name}: failed after {clock(seconds)}\n")
        self.drawn = 0.0

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """Draws the bar, at most once every `REDRAW` seconds."""
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
        """Clears the line."""
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
    """Progress for logs: a line for each failure, and one every `QUIET` seconds."""

    def start(self, total: int, done: int) -> None:
        """Starts the clock; the first line follows after `QUIET` seconds."""
        super().start(total, done)
        self.drawn = self.began

    def ended(self, name: str, result: str, seconds: float) -> None:
        drawn = self.drawn
        super().ended(name, result, seconds)
        self.drawn = drawn

    def show(self, running: Sequence[str], remaining: float | None) -> None:
        """Prints a line if the last one is older than `QUIET` seconds."""
        now = time.monotonic()
        if now - self.drawn >= QUIET:
            self.drawn = now
            self._write(f"{self._counts(remaining)}\n")

    def close(self) -> None:
        """Does nothing: every line is complete."""

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def reporter(stream: TextIO | None = None) -> Progress:
    """Returns a bar if `stream` (default: standard error) is a terminal, else lines; nothing is
    printed under --quiet."""
    if logs.is_quiet():
        return Progress()
    stream = stream or sys.stderr
    return Bar(stream) if stream.isatty() else Lines(stream)


def clock(seconds: float) -> str:
    """Formats a duration: 7 s, 3:05, 2:14:09."""
    whole_seconds = int(seconds)
    if whole_seconds < 60:
        return f"{whole_seconds} s"
    minutes, rest = divmod(whole_seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
