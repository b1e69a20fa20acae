"""Functions as lines of a text file: names, a signature, and the expression that a call returns.

    # Returns the sum of each matrix's diagonal.
    linalg.trace(x: Tensor, /, *, offset: int = 0) -> Tensor = x.diagonal(offset, -2, -1).sum(-1)

    max:amax min:amin(a, axis=None, keepdims=False) = $(a, axis, keepdims) if axis != ()

`$` stands for the op of each name: the name itself, or what follows its colon. The expression reads the
parameters, the names of a scope, the ops of the catalogue, and Python's names, in this order. If the
condition after it is false, then the function returns NotImplemented. An indented line continues the
line before it. A comment right above a line is its docstring. After a heading such as `[numeric]`,
functions first call `check(name, heading, *tensors)` of the scope with their parameters of type Tensor.
"""

from __future__ import annotations
import __future__

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .catalogue import ENTRIES
from .spelling import named

LINE = re.compile(r"([^(]+)\((.*?)\)( -> .*?)? = (.*)")


class OpNamespace:
    """The ops of a namespace as attributes, such as `linalg.qr`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return ENTRIES[f"{self._name}.{name}"].call


class Line(NamedTuple):
    """A line with its continuations, the comment above it, and its heading."""

    text: str
    doc: str
    heading: str


def read_lines(path: Path) -> Iterator[Line]:
    """Yields the lines of a file."""
    text, heading, doc = "", "", ""
    for row in (*path.read_text("utf-8").splitlines(), ""):
        if row[:1] == " ":
            text += f" {row.strip()}"
            continue
        if text:
            yield Line(text, doc.rstrip(), heading)
            text = doc = ""
        if row[:1] == "#":
            doc += row[2:] + "\n"
        elif row[:1] == "[":
            heading = row.strip("[]")
        else:
            text, doc = row, doc * bool(row)


def body_of(expression: str) -> str:
    """Returns the statement of a line's expression and its condition, if it has one."""
    if " if " in expression:
        try:
            ast.parse(expression, mode="eval")
        except SyntaxError:
            return f"return {expression} else NotImplemented"
    return f"return {expression}"


class Functions(Mapping[str, Callable[..., Any]]):
    """The functions of a file by name. Each is compiled when it is first read."""

    def __init__(self, path: Path, scope: dict[str, Any]) -> None:
        self._path = path
        self._scope: dict[str, Any] = {name: OpNamespace(name) for name in ("fft", "linalg", "nn", "special")} | scope
        self._lines: dict[str, tuple[str, Line]] = {}
        for line in read_lines(path):
            for word in line.text.partition("(")[0].split():
                name, _, op = word.partition(":")
                self._lines[name] = op or name, line
        self._compiled: dict[str, Callable[..., Any]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if name not in self._compiled:
            self._compiled[name] = self._compile(name, *self._lines[name])
        return self._compiled[name]

    def _compile(self, name: str, op: str, line: Line) -> Callable[..., Any]:
        match = LINE.fullmatch(line.text)
        assert match is not None, f"{self._path.name}: this line is no function: {line.text}"
        _, parameters, returned, expression = match.groups()
        last = name.rpartition(".")[2]
        tensors = ", ".join(re.findall(r"(\w+): Tensor\b(?! \|)", parameters))
        check = f"check({last!r}, {line.heading!r}, {tensors}); " * bool(line.heading)
        source = f"def function({parameters}){returned or ''}: {check}{body_of(expression.replace('$', op))}"
        for word in ENTRIES.keys() & set(re.findall(r"\w+", source)):
            if ENTRIES[word].function:
                self._scope.setdefault(word, ENTRIES[word].call)
        # types stay text, as in this module
        code = compile(source, str(self._path), "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
        made: dict[str, Callable[..., Any]] = {}
        exec(code, self._scope, made)
        return named(last, line.doc.replace("$", op) or None)(made["function"])
