"""Words for a terminal: tables, sizes, counts, progress lines."""

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

COLOURS = {"bold": 1, "red": 31, "green": 32}


def table(rows: Sequence[Sequence[object]], indent: str = "  ") -> str:
    """Rows of equally many cells, one line each; numbers are aligned to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "\n".join(
        (indent + "  ".join(_pad(*cell) for cell in zip(row, text, widths))).rstrip() for row, text in zip(rows, cells)
    )


def _pad(value: object, text: str, width: int) -> str:
    return text.rjust(width) if isinstance(value, int | float) else text.ljust(width)


def counted(count: int, word: str) -> str:
    """A count with its noun: "1 kernel", "2 kernels", "2 copies", "2 launches"."""
    if count == 1:
        return f"1 {word}"
    if word.endswith("y"):
        return f"{count} {word[:-1]}ies"
    return f"{count} {word}{'es' if word.endswith('ch') else 's'}"


def size(nbytes: int) -> str:
    """A number of bytes for reading: "0 B", "3.2 MiB"."""
    value = float(nbytes)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def painted(text: str, colour: str, stream: TextIO | None = None) -> str:
    """A text in a colour where `stream` (standard output, if not given) is a terminal and the
    variable NO_COLOR is not set."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or not (stream or sys.stdout).isatty():
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


def complain(command: str, problem: object) -> None:
    """What went wrong, on standard error, behind the name of the command."""
    print(f"{painted(f'{command}:', 'red', sys.stderr)} {problem}", file=sys.stderr)


def guess(word: str, known: Iterable[str]) -> str:
    """What somebody who wrote `word` may have meant, to end a message with; "" for no idea."""
    near = get_close_matches(word, [w for w in dict.fromkeys(known) if w != word], 3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


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
