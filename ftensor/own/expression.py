"""Kernels that a user writes as C expressions: their grammar, from text to trees with positions; and the
trees written as text of a row, for one kind of dtype.

No text of a user reaches a compiler. The parser accepts numbers, names, operators, calls and the
conditional operator; new text is written from the trees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isinf

from ..errors.image import unknown_name

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


# Functions by name: number of arguments, and the text for floating-point numbers, for integers and
# for complex numbers. None: the kind has no such function.
Form = tuple[int, str | None, str | None, str | None]


def _float(name: str, complex_: str | None = None, text: str = "") -> tuple[str, Form]:
    return name, (1, text or f"{name}({{0}})", None, complex_ and f"{complex_}({{0}})")


FUNCTIONS: dict[str, Form] = dict(
    [
        _float("exp", "ft_cexp"), _float("exp2"), _float("expm1", "ft_cexpm1"), _float("log", "ft_clog"),
        _float("log2"), _float("log10"), _float("log1p", "ft_clog1p"), _float("sqrt", "ft_csqrt"),
        _float("rsqrt", None, "(K(1) / sqrt({0}))"), _float("sin", "ft_csin", "ft_sin({0})"),
        _float("cos", "ft_ccos", "ft_cos({0})"), _float("tan", "ft_ctan", "ft_tan({0})"),
        _float("asin", "ft_casin", "ft_asin({0})"), _float("acos", "ft_cacos", "ft_acos({0})"),
        _float("atan", "ft_catan", "ft_atan({0})"), _float("sinh", "ft_csinh"), _float("cosh", "ft_ccosh"),
        _float("tanh", "ft_ctanh", "ft_tanh({0})"), _float("asinh", "ft_casinh"), _float("acosh", "ft_cacosh"),
        _float("atanh", "ft_catanh"), _float("erf", None, "ft_erf({0})"), _float("erfc"), _float("ceil"),
        _float("floor"), _float("trunc"), _float("rint"), _float("fabs"),
        ("abs", (1, "ft_abs({0})", "ft_abs({0})", None)),
        ("atan2", (2, "ft_atan2({0}, {1})", None, None)),
        ("hypot", (2, "hypot({0}, {1})", None, None)),
        ("copysign", (2, "copysign({0}, {1})", None, None)),
        ("fmod", (2, "ftb_fmod({0}, {1})", None, None)),
        ("fmin", (2, "fmin({0}, {1})", None, None)),
        ("fmax", (2, "fmax({0}, {1})", None, None)),
        ("pow", (2, "ftb_pow({0}, {1})", "ftb_pow({0}, {1})", None)),
        ("min", (2, "ft_min({0}, {1})", "ft_min({0}, {1})", None)),
        ("max", (2, "ft_max({0}, {1})", "ft_max({0}, {1})", None)),
        ("fma", (3, "fma({0}, {1}, {2})", None, None)),
        ("clamp", (3, "ft_min(ft_max({0}, {1}), {2})", "ft_min(ft_max({0}, {1}), {2})", None)),
    ]
)  # fmt: skip
# Functions whose result is a condition, for floating-point numbers.
CONDITIONS = {
    "isnan": "({0} != {0})",
    "isinf": "ft_isinf({0})",
    "isfinite": "ft_isfinite({0})",
    "signbit": "ft_signbit({0})",
}
CONSTANTS = {"true": "1", "false": "0", "M_PI": "3.14159265358979323846", "M_E": "2.7182818284590452354"}
SPECIAL = {"INFINITY": "K(INFINITY)", "NAN": "K(NAN)"}
# The identities of max and min, for `identity` of a reduction.
LIMITS = {"LOWEST": "FT_LOWEST", "HIGHEST": "FT_HIGHEST"}
WORDS = frozenset([*FUNCTIONS, *CONDITIONS, *CONSTANTS, *SPECIAL, *LIMITS, "const", "raw", "auto"])
MAX_TEXT = 20_000  # characters of one expression
_COMPARES = ("==", "!=", "<", ">", "<=", ">=")
_COMPLEX = {"+": "ft_cadd", "-": "ft_csub", "*": "ft_cmul", "/": "ftb_cdiv"}
_INTEGER_CALLS = {"/": "ftb_quotient", "%": "ftb_fmod", "<<": "ftb_shift_left", ">>": "ftb_shift_right"}
_KINDS = {"f": "floating-point numbers", "i": "integers", "c": "complex numbers"}


class Refused(Exception):
    """Raised if an operation does not exist for a kind of dtype; the text names the reason."""


@dataclass(frozen=True)
class Piece:
    """A piece of a row's expression. `mask`: it is a condition. `whole`: it consists of integer
    literals only."""

    text: str
    mask: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Writer:
    """Writes expression trees as C text for a kind of dtype: "f", "i" or "c". `names` are the
    defined names.

    Mistakes in the text itself are raised by `fail`; a kind without the operation raises Refused.
    """

    kind: str
    names: Mapping[str, Piece]
    fail: Fail

    def value(self, node: SyntaxNode) -> str:
        """Returns the C text of a node whose value is a number."""
        return self.as_value(self.text(node))

    def as_value(self, text: Piece) -> str:
        """Returns the C text of a piece as a number: conditions become 1 or 0."""
        if not text.mask:
            return text.text
        if self.kind == "c":
            raise Refused("a condition is no complex number")
        return f"({text.text} ? K(1) : K(0))"

    def mask(self, node: SyntaxNode) -> str:
        """Returns the C text of a node whose value is a condition."""
        text = self.text(node)
        if text.mask:
            return text.text
        if self.kind == "c":
            raise Refused("a complex number is no condition")
        return f"({text.text} != K(0))"

    def text(self, node: SyntaxNode) -> Piece:
        """Returns the C text of a node, with its kind."""
        made: Piece = getattr(self, "_" + node.kind)(node)
        if len(made.text) > MAX_TEXT:
            raise self.fail(node.at, "the expression is too long")
        return made

    def _number(self, node: SyntaxNode) -> Piece:
        word = node.word.rstrip("uUlL") if node.word[:2] in ("0x", "0X") else node.word.rstrip("fFuUlL")
        try:
            value: int | float = int(word, 16 if word[:2] in ("0x", "0X") else 10)
        except ValueError:
            if word.isdigit():
                raise self.fail(node.at, f"{word} is octal in C: write it without the leading 0") from None
            value = float(word)
        else:
            if word[:1] == "0" and word.strip("0") and word[:2] not in ("0x", "0X"):
                raise self.fail(node.at, f"{word} is octal in C: write it without the leading 0")
            if value >= 1 << 64:
                raise self.fail(node.at, f"{word} does not fit 64 bits")
        if isinstance(value, float) and isinf(value):
            raise self.fail(node.at, f"{word} is larger than any number; INFINITY is a word")
        if self.kind == "i":
            if isinstance(value, float):
                raise Refused(f"it holds {node.word}, which is no integer")
            if value >= 1 << 63:
                raise Refused(f"it holds {node.word}, which is above 2**63 - 1")
            return Piece(f"K({value})", whole=True)
        number = f"K({float(value)!r})"
        whole = isinstance(value, int)
        return Piece(f"ft_cmake({number}, K(0))" if self.kind == "c" else number, whole=whole)

    def _name(self, node: SyntaxNode) -> Piece:
        word = node.word
        if word in self.names:
            return self.names[word]
        if word in CONSTANTS:
            return self._number(SyntaxNode("number", CONSTANTS[word], node.at))
        if word in SPECIAL:
            if self.kind == "i":
                raise Refused(f"it holds {word}, which is no integer")
            return Piece(f"ft_cmake({SPECIAL[word]}, K(0))" if self.kind == "c" else SPECIAL[word])
        if word in FUNCTIONS or word in CONDITIONS:
            raise self.fail(node.at, f"{word!r} is a function: call it with its arguments in brackets")
        raise self.fail(node.at, unknown_name(word, [*self.names, *CONSTANTS, *SPECIAL]))

    def _call(self, node: SyntaxNode) -> Piece:
        word = node.word
        if word not in FUNCTIONS and word not in CONDITIONS:
            raise self.fail(node.at, unknown_name(word, [*FUNCTIONS, *CONDITIONS]))
        count = 1 if word in CONDITIONS else FUNCTIONS[word][0]
        if len(node.parts) != count:
            raise self.fail(node.at, f"{word}() takes {count} arguments, not {len(node.parts)}")
        arguments = [self.value(part) for part in node.parts]
        if word in CONDITIONS:
            if self.kind != "f":
                raise Refused(f"{word}() is not defined for {_KINDS[self.kind]}")
            return Piece(CONDITIONS[word].format(*arguments), mask=True)
        _, *forms = FUNCTIONS[word]
        form = forms["fic".index(self.kind)]
        if form is None:
            raise Refused(f"{word}() is not defined for {_KINDS[self.kind]}")
        return Piece(form.format(*arguments))

    def _unary(self, node: SyntaxNode) -> Piece:
        (part,) = node.parts
        if node.word == "!":
            return Piece(f"(!{self.mask(part)})", mask=True)
        inner = self.text(part)
        value = self.as_value(inner)
        if node.word == "-" and self.kind == "i" and part.kind == "number":
            return Piece(value.replace("K(", "K(-"), whole=True)  # the lowest integer has no positive counterpart
        if node.word == "~":
            if self.kind != "i":
                raise Refused(f"~ is not defined for {_KINDS[self.kind]}")
            return Piece(f"K(~{value})", whole=inner.whole)
        if self.kind == "c":
            return Piece(f"ft_cneg({value})", whole=inner.whole)
        return Piece(f"K(-{value})" if self.kind == "i" else f"(-{value})", whole=inner.whole)

    def _choose(self, node: SyntaxNode) -> Piece:
        condition, (yes, no) = self.mask(node.parts[0]), (self.text(part) for part in node.parts[1:])
        if self.kind == "c":
            raise Refused("?: is not defined for complex numbers")
        if yes.mask and no.mask:
            return Piece(f"(({condition} && {yes.text}) || (!{condition} && {no.text}))", mask=True)
        return Piece(f"({condition} ? {self.as_value(yes)} : {self.as_value(no)})")

    def _binary(self, node: SyntaxNode) -> Piece:
        sign, (left, right) = node.word, node.parts
        if sign in ("&&", "||"):
            return Piece(f"({self.mask(left)} {sign} {self.mask(right)})", mask=True)
        x, y = self.text(left), self.text(right)
        if sign in ("&", "|", "^") and x.mask and y.mask:
            if sign == "^":
                return Piece(f"(({x.text} && !{y.text}) || (!{x.text} && {y.text}))", mask=True)
            return Piece(f"({x.text} {sign * 2} {y.text})", mask=True)
        a, b = self.as_value(x), self.as_value(y)
        if self.kind == "c":
            if sign not in _COMPLEX:
                raise Refused(f"{sign} is not defined for complex numbers")
            return Piece(f"{_COMPLEX[sign]}({a}, {b})", whole=x.whole and y.whole)
        if sign in _COMPARES:
            return Piece(f"({a} {sign} {b})", mask=True)
        if sign == "/" and x.whole and y.whole and self.kind == "f":
            raise self.fail(node.at, "this quotient of integers has no fraction in C: write 1.0 / 2")
        if self.kind == "i":
            text = f"{_INTEGER_CALLS[sign]}({a}, {b})" if sign in _INTEGER_CALLS else f"K({a} {sign} {b})"
            return Piece(text, whole=x.whole and y.whole)
        if sign not in "+-*/":
            hint = ": use fmod()" if sign == "%" else ""
            raise Refused(f"{sign} is not defined for floating-point numbers{hint}")
        return Piece(f"({a} {sign} {b})", whole=x.whole and y.whole)
