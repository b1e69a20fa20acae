"""Text for a terminal: tables, sizes, counts, progress lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from difflib import get_close_matches
from shutil import get_terminal_size
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, TextIO

from . import logs

COLOURS = {"bold": 1, "red": 31, "green": 32}


def table(rows: Sequence[Sequence[object]], indent: str = "  ") -> str:
    """Returns rows of equal length as aligned text, one line per row; numbers align right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join(
        (indent + "  ".join(_pad(*cell) for cell in zip(row, text, widths))).rstrip() for row, text in zip(rows, cells)
    )


def _pad(value: object, text: str, width: int) -> str:
    return text.rjust(width) if isinstance(value, int | float) else text.ljust(width)


def counted(count: int, word: str) -> str:
    """Returns a count with its noun: "1 kernel", "2 kernels", "2 copies", "2 launches"."""
    if count == 1:
        return f"1 {word}"
    if word.endswith("y"):
        return f"{count} {word[:-1]}ies"
    return f"{count} {word}{'es' if word.endswith('ch') else 's'}"


def size(nbytes: int) -> str:
    """Returns a number of bytes as text: "0 B", "3.2 MiB"."""
    value = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def painted(text: str, colour: str, stream: TextIO | None = None) -> str:
    """Returns text with colour codes if `stream` (default: standard output) is a terminal.

    Returns the text unchanged if NO_COLOR is set or TERM is "dumb".
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or not (stream or sys.stdout).isatty():
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


def complain(command: str, problem: object) -> None:
    """Prints "command: problem" to standard error."""
    print(f"{painted(f'{command}:', 'red', sys.stderr)} {problem}", file=sys.stderr)


def note(text: str) -> None:
    """Prints a line about what happens to standard error, unless --quiet was given."""
    if not logs.is_quiet():
        print(text, file=sys.stderr, flush=True)


def guess(word: str, known: Iterable[str]) -> str:
    """Returns a phrase that suggests known words similar to `word`; "" if there are none."""
    near = get_close_matches(word, [w for w in dict.fromkeys(known) if w != word], 3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


EVERY = 1.0  # seconds between two updates


class _Line:
    """A progress line on standard error. Wraps standard output, and is erased before each output."""

    def __init__(self, out: Any, err: Any) -> None:
        self.out, self.err, self.lock = out, err, Lock()
        self.drawn, self.free = False, True

    def draw(self, text: str) -> None:
        """Rewrites the progress line, unless the program has written an incomplete line."""
        with self.lock:
            if self.free:
                self.err.write(f"\r\x1b[K{text[: get_terminal_size().columns - 1]}")
                self.err.flush()
                self.drawn = True

    def erase(self) -> None:
        """Erases the progress line."""
        if self.drawn:
            self.err.write("\r\x1b[K")
            self.err.flush()
            self.drawn = False

    def write(self, text: str) -> int:
        """Erases the progress line and writes to standard output."""
        with self.lock:
            self.erase()
            self.free = text.endswith("\n")
            return self.out.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.out, name)


@contextmanager
def waiting(text: Callable[[], str]) -> Iterator[None]:
    """Context manager that shows a progress line if standard error is a terminal.

    The line shows the seconds since the start and the text that `text()` returns.
    """
    if sys.stderr is None or not sys.stderr.isatty() or logs.is_quiet():
        yield
        return
    line, ended, began = _Line(sys.stdout, sys.stderr), Event(), monotonic()

    def draw() -> None:
        while not ended.wait(EVERY):
            line.draw(f"{monotonic() - began:4.0f} s  {text()}")

    thread = Thread(target=draw, daemon=True)
    thread.start()
    try:
        with redirect_stdout(line):
            yield
    finally:
        ended.set()
        thread.join()
        line.erase()
