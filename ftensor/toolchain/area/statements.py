"""C's statements as trees, and functions: enough for the helpers and the function units."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .text import TYPES, Reader, Tree, tokens

_FUNCTION = re.compile(r"(?:FT_FN_ONCE|FT_FN|static inline|static)\s+(?:const\s+)?(\w+)\s+(\w+)\(([^()]*)\)\s*\{")


@dataclass(frozen=True)
class Function:
    """A function's text: what it returns, its parameters as (type, name), and its body."""

    result: str
    takes: tuple[tuple[str, str], ...]
    text: str

    @cached_property
    def body(self) -> tuple[Tree, ...]:
        """Its statements. ValueError for what is no C of this kind."""
        return tuple(statements(Reader(tokens(self.text))))


def functions(text: str) -> dict[str, Function]:
    """The functions in a text, by name; templates and anything else are passed over."""
    definitions: dict[str, Function] = {}
    for match in _FUNCTION.finditer(text):
        result, name, parameters = match.groups()
        end = _closing(text, match.end() - 1)
        takes = []
        for one in filter(None, (p.strip() for p in parameters.split(","))):
            of, _, of_name = one.replace("const ", "").rpartition(" ")
            takes.append((of.strip(" &*"), of_name.strip(" &*")))
        body = re.sub(r"^\s*#.*$", "", text[match.end() : end], flags=re.M)
        definitions[name] = Function(result, tuple(takes), body)
    return definitions


def _closing(text: str, at: int) -> int:
    """Where the brace that opens at `at` closes."""
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] == "{") - (text[k] == "}")
        if depth == 0:
            return k
    raise ValueError(f"a brace stays open: {text[at : at + 60]!r}")


def statements(reader: Reader) -> list[Tree]:
    """All statements up to a closing brace or the end."""
    trees = []
    while reader.peek() not in ("", "}"):
        trees += _statement(reader)
    return trees


def _statement(reader: Reader) -> list[Tree]:
    token = reader.peek()
    if reader.passed(";") or reader.passed("FT_UNROLL"):
        return []
    if reader.passed("{"):
        inner = statements(reader)
        reader.take("}")
        return inner
    if reader.passed("return"):
        value = None if reader.peek() == ";" else reader.expression()
        reader.take(";")
        return [("return", value)]
    if reader.passed("if"):
        reader.take("(")
        condition = reader.expression()
        reader.take(")")
        yes = _statement(reader)
        return [("if", condition, yes, _statement(reader) if reader.passed("else") else [])]
    if reader.passed("switch"):
        return [_choice(reader)]
    if reader.passed("for"):
        return [_loop(reader)]
    if token == "const" or (re.match(r"[A-Za-z_]", token) and re.match(r"[A-Za-z_]", reader.peek(1))):
        reader.passed("const")
        return _declared(reader)
    return [_assigned(reader, ";")]


def _declared(reader: Reader) -> list[Tree]:
    of, trees = reader.take(), []
    while reader.peek() in TYPES:  # unsigned int
        of = reader.take()
    while True:
        name, value = reader.take(), None
        if reader.passed("["):
            reader.expression()
            reader.take("]")
        if reader.passed("="):
            value = reader.expression()
        trees.append(("declare", of, name, value))
        if not reader.passed(","):
            reader.take(";")
            return trees


def _assigned(reader: Reader, end: str) -> Tree:
    place = reader.expression()
    sign = reader.peek()
    if sign == "=" or (len(sign) > 1 and sign[-1] == "=" and sign not in ("==", "<=", ">=", "!=")):
        reader.take()
        value = reader.expression()
        reader.take(end)
        return ("assign", place, sign[:-1], value)
    reader.take(end)
    return ("do", place)


def _choice(reader: Reader) -> Tree:
    reader.take("(")
    by = reader.expression()
    reader.take(")")
    reader.take("{")
    branches: list[list[Tree]] = []
    while not reader.passed("}"):
        while reader.peek() in ("case", "default"):
            if reader.take() == "case":
                reader.expression()
            reader.take(":")
        branch: list[Tree] = []
        while reader.peek() not in ("case", "default", "}", "break"):
            branch += _statement(reader)
        if reader.passed("break"):
            reader.take(";")
        branches.append(branch)
    return ("switch", by, branches)


def _loop(reader: Reader) -> Tree:
    reader.take("(")
    (first,) = _declared(reader)
    condition = reader.expression()
    reader.take(";")
    step = _assigned(reader, ")")
    return ("for", first, condition, step, _statement(reader))
