"""Finds the line of the user's program that made a call, for warnings and deferred errors."""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType
from typing import NamedTuple


def levels_to_user() -> int:
    """Returns the caller's `stacklevel` of the innermost frame outside this package."""
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 1
    # Generated functions have no module name.
    while str(frame.f_globals.get("__name__", package)).partition(".")[0] == package:
        if frame.f_back is None:
            break
        frame, level = frame.f_back, level + 1
    return level


class Caller(NamedTuple):
    """A line of the user's program, and the pytest test that was running, if any."""

    file: str
    line: int
    test: str

    def __str__(self) -> str:
        return _line(self.file, self.line) + (f" (in the test {self.test})" if self.test else "")


def caller() -> Caller:
    """Returns the innermost line outside this package."""
    frame = sys._getframe(levels_to_user() - 1)
    return Caller(frame.f_code.co_filename, frame.f_lineno, os.environ.get("PYTEST_CURRENT_TEST", ""))


def line_of(frame: FrameType) -> str:
    """Returns a frame's file, line number and, if available, source line."""
    return _line(frame.f_code.co_filename, frame.f_lineno)


def _line(name: str, number: int) -> str:
    text = linecache.getline(name, number).strip()
    return f"{name}:{number}" + (f": {text}" if text else "")
