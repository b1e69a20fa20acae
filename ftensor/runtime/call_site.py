"""Which line of a program called: what warnings and late errors name."""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType
from typing import NamedTuple


def levels_to_user() -> int:
    """The `stacklevel`, as seen by the caller, of the innermost frame that is not ours."""
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 1
    # Functions compiled from rows have no module of their own.
    while str(frame.f_globals.get("__name__", package)).partition(".")[0] == package:
        if frame.f_back is None:
            break
        frame, level = frame.f_back, level + 1
    return level


class Caller(NamedTuple):
    """A line of the program, and the test that pytest ran there, if one."""

    file: str
    line: int
    test: str

    def __str__(self) -> str:
        return _line(self.file, self.line) + (f" (in the test {self.test})" if self.test else "")


def caller() -> Caller:
    """The innermost line that is not ours."""
    frame = sys._getframe(levels_to_user() - 1)
    return Caller(frame.f_code.co_filename, frame.f_lineno, os.environ.get("PYTEST_CURRENT_TEST", ""))


def line_of(frame: FrameType) -> str:
    """Where a frame is: the file, the line's number and, where there is one, its text."""
    return _line(frame.f_code.co_filename, frame.f_lineno)


def _line(name: str, number: int) -> str:
    text = linecache.getline(name, number).strip()
    return f"{name}:{number}" + (f": {text}" if text else "")
