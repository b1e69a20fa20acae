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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .catalogue import ENTRIES

LINE = re.compile(r"([^(]+)\((.*?)\)( -> .*?)? = (.*)")


class Namespace:
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


def functions(path: Path, scope: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Compiles the lines of a file, and returns their functions by name."""
    names, docs, sources = [], [], []
    for line in read_lines(path):
        match = LINE.fullmatch(line.text)
        assert match is not None, f"{path.name}: this line is no function: {line.text}"
        words, parameters, returned, expression = match.groups()
        tensors = ", ".join(re.findall(r"(\w+): Tensor\b(?! \|)", parameters))
        for word in words.split():
            name, _, op = word.partition(":")
            names.append(name)
            docs.append(line.doc.replace("$", op or name))
            check = f"check({name.rpartition('.')[2]!r}, {line.heading!r}, {tensors}); " * bool(line.heading)
            body = check + body_of(expression.replace("$", op or name))
            sources.append(f"def function({parameters}){returned or ''}: {body}\n_all.append(function)")
    source = "\n".join(sources)
    read = ENTRIES.keys() & set(re.findall(r"\w+", source))
    ops = {name: ENTRIES[name].call for name in read if ENTRIES[name].function}
    namespaces = {name: Namespace(name) for name in ("fft", "linalg", "nn", "special")}
    made: list[Callable[..., Any]] = []
    # types stay text, as in this module
    code = compile(source, str(path), "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
    exec(code, ops | namespaces | scope | {"_all": made})
    for name, doc, function in zip(names, docs, made, strict=True):
        function.__name__ = function.__qualname__ = name.rpartition(".")[2]
        function.__doc__ = doc or None
    return dict(zip(names, made))
