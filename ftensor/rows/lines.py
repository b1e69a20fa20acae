"""Functions as lines of a text file: names, a signature, and the expression that a call returns.

    trapezoid(y, x=None, dx=1.0, axis=-1) = trapezoid(y, dx=dx, dim=axis) if x is None
    max:amax min:amin(a, axis=None, keepdims=False) = $(a, axis, keepdims)

`$` stands for the op of each name: the name itself, or what follows its colon. The expression reads the
parameters, the names of `scope`, the ops of the catalogue, and Python's names, in this order. If the
condition after it is false, then the function returns NotImplemented. An indented line continues the
line before it, and `#` begins a comment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .catalogue import ENTRIES

LINE = re.compile(r"([^(]+)\((.*?)\) = (.*)")


class Namespace:
    """The ops of a namespace as attributes, such as `linalg.qr`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return ENTRIES[f"{self._name}.{name}"].call


def read_lines(path: Path) -> Iterator[str]:
    """Yields the lines of a file, each joined with its continuations."""
    text = re.sub(r"\n[ ]+", " ", re.sub(r"(?m)^#.*\n", "", path.read_text("utf-8")))
    return filter(None, text.splitlines())


def body_of(expression: str) -> str:
    """Returns the statements of a line's expression and its condition, if it has one."""
    try:
        ast.parse(expression, mode="eval")
    except SyntaxError:
        expression, _, condition = expression.rpartition(" if ")
        return f"return {expression} if {condition} else NotImplemented"
    return f"return {expression}"


def functions(path: Path, scope: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Compiles the lines of a file, and returns their functions by name."""
    words, sources = [], []
    for line in read_lines(path):
        match = LINE.fullmatch(line)
        assert match is not None, f"{path.name}: this line is no function: {line}"
        for word in match[1].split():
            name, _, op = word.partition(":")
            words.append(name)
            sources.append(
                f"def function({match[2]}): {body_of(match[3].replace('$', op or name))}\n_all.append(function)"
            )
    tree = ast.parse("\n".join(sources))
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    ops = {name: ENTRIES[name].call for name in read & ENTRIES.keys() if ENTRIES[name].function}
    namespaces = {name: Namespace(name) for name in ("fft", "linalg", "nn", "special")}
    made: list[Callable[..., Any]] = []
    exec(compile(tree, str(path), "exec"), ops | namespaces | scope | {"_all": made})
    for name, function in zip(words, made, strict=True):
        function.__name__ = function.__qualname__ = name
    return dict(zip(words, made))
