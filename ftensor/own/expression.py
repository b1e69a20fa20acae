"""Translates a parsed expression to the text of a row, for one kind of dtype."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf

from ..errors.image import unknown_name
from .syntax import Fail, SyntaxNode

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
