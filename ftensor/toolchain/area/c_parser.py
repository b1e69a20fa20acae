"""A parser for the C subset of the area model: expressions, statements, functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# A tree is a tuple of a kind and parts: ("number", 3.0), ("name", "a"), ("call", "f", [x]),
# ("unary", "-", x), ("binary", "+", x, y), ("choose", c, x, y), ("member", x, "re"),
# ("index", x, i).
Tree = tuple[Any, ...]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][\da-fA-F.]+(?:[pP][+-]?\d+)?[fFuUlL]*"
    r"|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFuUlL]*)"
    r"|(?P<name>[A-Za-z_]\w*(?:::\w+)*(?:<\w+>(?=\())?)"
    r"|(?P<sign><<=|>>=|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^!~?:;,.=<>(){}\[\]]))"
)
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
TYPES = {
    "float": "float", "double": "double", "bool": "bool", "char": "int8", "uchar": "int8",
    "int8_t": "int8", "uint8_t": "int8", "short": "int16", "ushort": "int16", "int16_t": "int16",
    "uint16_t": "int16", "int": "int32", "uint": "int32", "unsigned": "int32", "int32_t": "int32",
    "uint32_t": "int32", "long": "int64", "ulong": "int64", "int64_t": "int64",
    "uint64_t": "int64", "ft_cfloat": "pair float", "ft_cdouble": "pair double",
}  # fmt: skip


def tokens(text: str) -> list[str]:
    """Returns the tokens of a text without comments. Raises ValueError for text that is not C."""
    lexemes, at, text = [], 0, text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"no C that the area model reads: {text[at : at + 40]!r}")
        lexemes.append(match.group().strip())
        at = match.end()
    return lexemes


class TokenReader:
    """A cursor over tokens."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self, ahead: int = 0) -> str:
        """Returns the current token, or the one `ahead` tokens later; "" at the end."""
        k = self.at + ahead
        return self.tokens[k] if k < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        """Returns the current token and advances. Raises ValueError if the token is not
        `expected`."""
        token = self.peek()
        if expected and token != expected:
            raise ValueError(f"{expected!r} expected, not {token!r}, in {self._near()}")
        self.at += 1
        return token

    def _near(self) -> str:
        return repr(" ".join(self.tokens[max(0, self.at - 5) :][:12]))

    def passed(self, token: str) -> bool:
        """If the current token is `token`, advances and returns True; else returns False."""
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def expression(self) -> Tree:
        """Parses an expression without assignments and commas."""
        condition = self._level(0)
        if not self.passed("?"):
            return condition
        yes = self.expression()
        self.take(":")
        return ("choose", condition, yes, self.expression())

    def _level(self, k: int) -> Tree:
        if k == len(_LEVELS):
            return self._unary()
        left = self._level(k + 1)
        while self.peek() in _LEVELS[k]:
            sign = self.take()
            left = ("binary", sign, left, self._level(k + 1))
        return left

    def _unary(self) -> Tree:
        if self.peek() in ("-", "!", "~", "+", "++", "--", "*", "&"):
            return ("unary", self.take(), self._unary())
        if self.peek() == "(" and self.peek(1) in TYPES and self.peek(2) == ")":
            self.at += 3
            return ("call", self.tokens[self.at - 2], [self._unary()])
        return self._postfix(self._primary())

    def _primary(self) -> Tree:
        token = self.take()
        if token == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if token == "{":
            return ("call", "", self.listed("}"))
        if token[:1].isdigit() or token[:1] == ".":
            return ("number", number(token))
        if self.passed("(") or (token in TYPES and self.passed("{")):
            closing = ")" if self.tokens[self.at - 1] == "(" else "}"
            return ("call", token, self.listed(closing))
        if re.match(r"\w", token):
            return ("name", token)
        raise ValueError(f"an expression expected in {self._near()}")

    def _postfix(self, tree: Tree) -> Tree:
        while True:
            if self.passed("."):
                tree = ("member", tree, self.take())
            elif self.passed("["):
                tree = ("index", tree, self.expression())
                self.take("]")
            elif self.peek() in ("++", "--"):
                tree = ("unary", self.take(), tree)
            else:
                return tree

    def listed(self, closing: str) -> list[Tree]:
        """Parses expressions up to the closing bracket."""
        expressions: list[Tree] = []
        while not self.passed(closing):
            expressions.append(self.expression())
            self.passed(",")
        return expressions


def number(token: str) -> float:
    """Returns the value of a C number."""
    text = token.lower()
    if text.startswith("0x"):
        text = re.sub(r"(?<=\d)f$" if "p" in text else r"[ul]+$", "", text)
        return float.fromhex(text)
    return float(text.rstrip("ful"))


_FUNCTION = re.compile(r"(?:FT_FN_ONCE|FT_FN|static inline|static)\s+(?:const\s+)?(\w+)\s+(\w+)\(([^()]*)\)\s*\{")


@dataclass(frozen=True)
class Function:
    """A C function: its result type, its parameters as (type, name), and its body."""

    result: str
    parameters: tuple[tuple[str, str], ...]
    text: str

    @cached_property
    def body(self) -> tuple[Tree, ...]:
        """The parsed statements. Raises ValueError for C outside the subset."""
        return tuple(statements(TokenReader(tokens(self.text))))


def functions(text: str) -> dict[str, Function]:
    """Returns the functions in a text by name; skips templates and other declarations."""
    definitions: dict[str, Function] = {}
    for match in _FUNCTION.finditer(text):
        result, name, parameters = match.groups()
        end = _closing(text, match.end() - 1)
        takes = []
        for one in filter(None, (p.strip() for p in parameters.split(","))):
            c_type, _, of_name = one.replace("const ", "").rpartition(" ")
            takes.append((c_type.strip(" &*"), of_name.strip(" &*")))
        body = re.sub(r"^\s*#.*$", "", text[match.end() : end], flags=re.M)
        definitions[name] = Function(result, tuple(takes), body)
    return definitions


def _closing(text: str, at: int) -> int:
    """Returns the position of the brace that closes the one at `at`."""
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] == "{") - (text[k] == "}")
        if depth == 0:
            return k
    raise ValueError(f"a brace stays open: {text[at : at + 60]!r}")


def statements(reader: TokenReader) -> list[Tree]:
    """Parses all statements up to a closing brace or the end."""
    trees = []
    while reader.peek() not in ("", "}"):
        trees += _statement(reader)
    return trees


def _statement(reader: TokenReader) -> list[Tree]:
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


def _declared(reader: TokenReader) -> list[Tree]:
    c_type, trees = reader.take(), []
    while reader.peek() in TYPES:  # unsigned int
        c_type = reader.take()
    while True:
        name, value = reader.take(), None
        if reader.passed("["):
            reader.expression()
            reader.take("]")
        if reader.passed("="):
            value = reader.expression()
        trees.append(("declare", c_type, name, value))
        if not reader.passed(","):
            reader.take(";")
            return trees


def _assigned(reader: TokenReader, end: str) -> Tree:
    place = reader.expression()
    sign = reader.peek()
    if sign == "=" or (len(sign) > 1 and sign[-1] == "=" and sign not in ("==", "<=", ">=", "!=")):
        reader.take()
        value = reader.expression()
        reader.take(end)
        return ("assign", place, sign[:-1], value)
    reader.take(end)
    return ("do", place)


def _choice(reader: TokenReader) -> Tree:
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


def _loop(reader: TokenReader) -> Tree:
    reader.take("(")
    (first,) = _declared(reader)
    condition = reader.expression()
    reader.take(";")
    step = _assigned(reader, ")")
    return ("for", first, condition, step, _statement(reader))
