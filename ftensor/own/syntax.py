"""The grammar of kernels that a user writes as C expressions: parses text to trees that keep
positions.

No text of a user reaches a compiler. The parser accepts numbers, names, operators, calls and the
conditional operator; `expression.py` writes new text from the trees.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFuUlL]*|0[xX][\da-fA-F]+)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^!~?:;,=<>()])",
    re.S | re.A,
)
_HEX = re.compile(r"0[xX][\da-fA-F]+")
_LEVELS = (("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
           ("*", "/", "%"))  # fmt: skip
PRECEDENCE = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}
ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
MAX_CHARACTERS, MAX_DEPTH = 20_000, 100  # limit of a tree's depth, since it is visited recursively
Fail = Callable[[int, str], Exception]


@dataclass(frozen=True)
class SyntaxNode:
    """A node of an expression: `kind` is "number", "name", "call", "unary", "binary" or "choose";
    `word` its number, name or operator; `at` its position in the text."""

    kind: str
    word: str
    at: int
    parts: tuple[SyntaxNode, ...] = ()

    @cached_property
    def height(self) -> int:
        """Nodes on the longest path to a leaf."""
        return 1 + max((part.height for part in self.parts), default=0)


@dataclass(frozen=True)
class Assignment:
    """A statement: `name` receives `value`. `declared` is the type of a new variable, else ""."""

    name: str
    value: SyntaxNode
    at: int
    declared: str = ""


@dataclass
class Parser:
    """A parser of one text. `fail(position, problem)` returns the error to raise."""

    text: str
    fail: Fail
    tokens: list[tuple[str, str, int]] = field(default_factory=list)
    at: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        if len(self.text) > MAX_CHARACTERS:
            raise self.fail(0, f"the text has {len(self.text)} characters, more than {MAX_CHARACTERS}")
        place = 0
        while place < len(self.text):
            match = _HEX.match(self.text, place)
            kind = "number"
            if match is None:
                match = _TOKEN.match(self.text, place)
                kind = match.lastgroup or "" if match else ""
            if match is None:
                raise self.fail(place, f"{self.text[place]!r} is no part of an expression")
            if kind != "space":
                self.tokens.append((kind, match[0], place))
            place = match.end()

    def peek(self, ahead: int = 0) -> str:
        k = self.at + ahead
        return self.tokens[k][1] if k < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        k = self.at + ahead
        return self.tokens[k][0] if k < len(self.tokens) else ""

    def place(self) -> int:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)

    def take(self, expected: str = "") -> str:
        """Returns the current token and advances. Raises if `expected` is passed and the token
        differs."""
        token = self.peek()
        if not token or (expected and token != expected):
            wanted = repr(expected) if expected else "an expression"
            raise self.fail(self.place(), f"{wanted} expected, not {repr(token) if token else 'the end'}")
        self.at += 1
        return token

    def statements(self) -> list[Assignment]:
        """Parses assignments, separated by semicolons. Raises for any other statement."""
        found: list[Assignment] = []
        while self.at < len(self.tokens):
            if self.peek() == ";":
                self.at += 1
                continue
            found.append(self._assignment())
            if self.at < len(self.tokens):
                self.take(";")
        if not found:
            raise self.fail(0, "an assignment is missing")
        return found

    def _assignment(self) -> Assignment:
        declared = ""
        if self.peek() == "const":
            self.at += 1
        if self.kind() == "name" and self.kind(1) == "name":
            declared = self.take()
        place = self.place()
        if self.kind() != "name" or self.peek(1) not in ASSIGNMENTS:
            raise self.fail(place, "an assignment such as 'z = x + y' expected")
        name, sign = self.take(), self.take()
        value = self.expression()
        if sign != "=":
            if declared:
                raise self.fail(place, f"a new variable takes '=', not {sign!r}")
            value = self._node("binary", sign[:-1], place, (SyntaxNode("name", name, place), value))
        return Assignment(name, value, place, declared)

    def whole(self) -> SyntaxNode:
        """Parses one expression. Raises if text follows it."""
        tree = self.expression()
        if self.at < len(self.tokens):
            raise self.fail(self.place(), f"{self.peek()!r} follows the expression")
        return tree

    def expression(self) -> SyntaxNode:
        """Parses an expression without assignments and commas."""
        self.depth += 1
        if self.depth > MAX_DEPTH // 2:
            raise self.fail(self.place(), f"the expression has more than {MAX_DEPTH // 2} brackets in one another")
        tree = self._binary(0)
        if self.peek() == "?":
            place = self.place()
            self.at += 1
            yes = self.expression()
            self.take(":")
            tree = self._node("choose", "?", place, (tree, yes, self.expression()))
        self.depth -= 1
        return tree

    def _node(self, kind: str, word: str, place: int, parts: tuple[SyntaxNode, ...]) -> SyntaxNode:
        node = SyntaxNode(kind, word, place, parts)
        if node.height > MAX_DEPTH:
            raise self.fail(place, f"more than {MAX_DEPTH} operations follow one another: use a variable")
        return node

    def _binary(self, least: int) -> SyntaxNode:
        """Parses binary operators of at least this precedence."""
        left = self._unary()
        while (level := PRECEDENCE.get(self.peek(), -1)) >= least:
            place, sign = self.place(), self.take()
            left = self._node("binary", sign, place, (left, self._binary(level + 1)))
        return left

    def _unary(self) -> SyntaxNode:
        signs = []
        while self.peek() in ("-", "+", "!", "~"):
            signs.append((self.place(), self.take()))
        tree = self._primary()
        for place, sign in reversed(signs):
            tree = tree if sign == "+" else self._node("unary", sign, place, (tree,))
        return tree

    def _primary(self) -> SyntaxNode:
        place, kind = self.place(), self.kind()
        token = self.take()
        if token == "(":
            tree = self.expression()
            self.take(")")
            return tree
        if kind == "number":
            return SyntaxNode("number", token, place)
        if kind != "name":
            raise self.fail(place, f"an expression expected, not {token!r}")
        if self.peek() != "(":
            return SyntaxNode("name", token, place)
        self.at += 1
        arguments: list[SyntaxNode] = []
        while self.peek() != ")":
            if arguments:
                self.take(",")
            arguments.append(self.expression())
        self.at += 1
        return self._node("call", token, place, tuple(arguments))
