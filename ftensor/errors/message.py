"""Messages as lines of text files, an exception class and an f-string each; and the user's line that
made a call, for warnings and deferred errors."""

from __future__ import annotations

import linecache
import math
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, NamedTuple, ParamSpec, TypeVar

from ..terminal import counted, guess

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


def commas(items: Iterable[object]) -> str:
    """Returns the items, separated by commas."""
    return ", ".join(map(str, items))


def kind_of(value: object) -> str:
    """Returns the name of a value's class."""
    return type(value).__name__


class Message:
    """A factory of exceptions of one class, from a line such as

        negative(op, name, value) = RuntimeError: {op}(): {name} must not be negative, but is {value}

    The text is an f-string, and the class before it a name or a conditional expression. Both read the
    parameters, the names of the line's module, and `HELPERS`. A text that begins with an op's name
    shows the op that the user called.
    """

    __slots__ = ("filled",)
    LINE = re.compile(r"(\w+)\((.*?)\) = (.+?): (.*)")
    HELPERS: ClassVar = {
        "commas": commas,
        "counted": counted,
        "guess": guess,
        "kind_of": kind_of,
        "math": math,
        "os": os,
    }

    def __init__(self, line: str, scope: dict[str, Any]) -> None:
        match = self.LINE.fullmatch(line)
        assert match is not None, f"this line is no message: {line}"
        name, parameters, kind, text = match.groups()
        text = f"lambda {parameters}: ({kind}, f'''{text}\n'''[:-1])"  # the text may end with a quote
        self.filled: Callable[..., tuple[Callable[[str], Any], str]] = eval(text, self.HELPERS | scope)
        self.filled.__qualname__ = name

    def __call__(self, *values: object, kind: Callable[[str], Any] | None = None, **named: object) -> Any:
        """Returns the exception, or the text if the class is `str`; `kind` is another class of it.
        Raises TypeError for missing or surplus values."""
        own_kind, text = self.filled(*values, **named)
        return (kind or own_kind)(naming_called(text))


def lines_of(path: Path) -> dict[str, str]:
    """Returns the lines of a file of messages, by the messages' names."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line and line[0] != "#"]
    return {line.partition("(")[0]: line for line in lines}


def messages(module: str) -> Callable[[str], Any]:
    """Returns the `__getattr__` of a module, which makes the messages of the text file beside it
    when they are first read."""
    scope = vars(sys.modules[module])
    lines = lines_of(Path(scope["__file__"]).with_suffix(".txt"))

    def read(name: str) -> Any:
        if name not in lines:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return scope.setdefault(name, Message(lines[name], scope))

    return read


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
