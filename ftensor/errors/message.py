"""Messages as lines: an exception class and a text with fields, which the caller fills; and the
user's line that made a call, for warnings and deferred errors."""

from __future__ import annotations

import linecache
import os
import re
import string
import sys
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

E = TypeVar("E", bound=BaseException)
P = ParamSpec("P")
R = TypeVar("R", bound="BaseException | str")
T = TypeVar("T")

# The op that a text begins with: `mm(): `, `mm() takes`, `norm: ` or `"mm" not implemented`.
_LEADING_OP = re.compile(r'(?:(?<=^)|(?<=^"))[A-Za-z_][\w.]*(?=\(\)|: |" not implemented)')

# Gives the op that the user called for the op that found the mistake. The catalogue of ops sets it.
name_called: Callable[[str], str] = str


def naming_called(text: str) -> str:
    """Returns the text of an error. If it begins with the name of an op, then it begins with the
    name of the op that the user called."""
    return _LEADING_OP.sub(lambda found: name_called(found[0]), text, count=1)


def call_named(call: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Calls a function for another one. If Python refuses the arguments, then its TypeError names
    the op that the user called."""
    try:
        return call(*args, **kwargs)
    except TypeError as error:
        error.args = (naming_called(str(error)),)
        raise


def names_called_op(make: Callable[P, R]) -> Callable[P, R]:
    """Returns a function like `make`, which makes an error or a warning's text about an op. The op
    that the user called is the one that is named."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        result = make(*args, **kwargs)
        if isinstance(result, BaseException):
            result.args = (naming_called(str(result)), *result.args[1:])
            return result
        return naming_called(result)  # type: ignore[return-value]

    return made


class Filling(string.Formatter):
    """`str.format` with further conversions: !t formats a tuple, !l a list, !c its items separated
    by commas, !n its length, !k the name of a type."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion in ("t", "l"):
            return tuple(value) if conversion == "t" else list(value)
        if conversion == "c":
            return ", ".join(map(str, value))
        if conversion == "n":
            return len(value)
        if conversion == "k":
            return type(value).__name__
        return super().convert_field(value, conversion)


FILLING = Filling()


class Message(Generic[E]):
    """A factory of exceptions of one class. Call it with the values of the text's fields, by name
    or in the order of `names` (by default the order of their first occurrence). A text that begins
    with an op's name shows the op that the user called.
    """

    __slots__ = ("_names", "kind", "text")

    def __init__(self, kind: Callable[[str], E], text: str, names: str = "") -> None:
        self.kind, self.text, self._names = kind, text, names

    @property
    def names(self) -> list[str]:
        """Returns the names of its arguments."""
        if self._names:
            return self._names.split()
        fields = (name for _, name, _, _ in FILLING.parse(self.text) if name)
        return list(dict.fromkeys(name.partition(".")[0] for name in fields))

    def __call__(self, *values: object, kind: Callable[[str], BaseException] | None = None, **named: object) -> E:
        """Returns the exception; `kind` is another class of it. Raises TypeError for missing or
        surplus values."""
        fields = dict(zip(self.names, values, strict=False)) | named
        if len(values) + len(named) != len(self.names) or fields.keys() != set(self.names):
            raise TypeError(f"this message takes {self.names}, not {len(values)} values, {named}")
        return (kind or self.kind)(naming_called(FILLING.vformat(self.text, (), fields)))  # type: ignore[return-value]


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


def program_line() -> str:
    """Returns the innermost line of the program that runs as `__main__`; of another module outside
    this package if the thread has none."""
    frame: FrameType | None = sys._getframe(levels_to_user() - 1)
    found = frame
    while frame is not None and frame.f_globals.get("__name__") != "__main__":
        frame = frame.f_back
    if frame is None or frame.f_globals.get("__package__") == __name__.partition(".")[0]:
        frame = found
    assert frame is not None
    return line_of(frame)


def line_of_code(function: Any) -> str:
    """Returns the file and the line at which a function begins; its name if it has no code."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return repr(function) if code is None else _line(code.co_filename, code.co_firstlineno)


def line_of(frame: FrameType) -> str:
    """Returns a frame's file, line number and, if available, source line."""
    return _line(frame.f_code.co_filename, frame.f_lineno)


def _line(name: str, number: int) -> str:
    text = linecache.getline(name, number).strip()
    return f"{name}:{number}" + (f": {text}" if text else "")
