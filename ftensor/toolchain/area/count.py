"""Counts the operators of C functions, and the lanes that an op can afford."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ...dtypes import dtype
from ...kernels.element_function import SHARED_HELPERS
from ...kernels.key import KernelKey
from ...kernels.source import HELPERS, kernel_file, settings
from ..vitis.member import op_function
from ..vitis.text import Word, dropped_bits, expand, words
from .c_parser import TYPES, Function, TokenReader, Tree, functions, tokens
from .cores import BITS, LIBRARY, ROMS, Resources, core_resources, function_resources

# (operator or library function, type) -> count.
Counts = Counter[tuple[str, str]]
_FLOATS = ("float", "double")
_SIGNS = {"+": "add", "-": "add", "*": "mul", "/": "div", "%": "div", "&": "logic", "|": "logic",
          "^": "logic", "<<": "shift", ">>": "shift"}  # fmt: skip
_COMPARES = ("==", "!=", "<", ">", "<=", ">=")
_MAX_UNROLLED_TRIPS = 4096  # trip count above which the model does not unroll a loop


class Value(NamedTuple):
    """The type of an expression, and what is known of its value.

    `constant` is True for a constant, `known` is the value if known. `few` marks a selection among
    constants, which is a multiplexer and needs no conversion.
    """

    of: str
    constant: bool = False
    known: float | None = None
    few: bool = False


def resources_of(counts: Mapping[tuple[str, str], int]) -> Resources:
    """Returns the resources of counted operators."""
    total = Resources()
    for (word, c_type), times in counts.items():
        one = function_resources(word, c_type) if word in LIBRARY or word in ROMS else core_resources(word, c_type)
        total += one * times
    return total


class OperatorCounter:
    """Counts the operators of C functions.

    `functions` are the functions that a text may call, `structs` the fields of its types by name,
    `aliases` the type names of its typedefs.
    """

    def __init__(
        self,
        functions: Mapping[str, Function],
        structs: Mapping[str, Mapping[str, str]] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self.functions, self.structs, self.aliases = functions, structs or {}, aliases or {}
        self.counted: dict[str, Counts] = {}

    def operators_of(self, name: str) -> Counts:
        """Returns the operator counts of a function. Raises ValueError for an unknown function."""
        if name not in self.counted:
            one = self.functions.get(name)
            if one is None:
                raise ValueError(f"the area model knows no function {name}")
            counts: Counts = Counter()
            names = {n: Value(self.type(c_type)) for c_type, n in one.parameters}
            self._statements(one.body, names, counts, self.type(one.result))
            self.counted[name] = counts
        return self.counted[name]

    def type(self, c_type: str) -> str:
        """Returns the model's name of a C type, such as "int32"."""
        c_type = self.aliases.get(c_type, c_type)
        return TYPES.get(c_type, c_type)

    # Statements

    def _statements(
        self, body: tuple[Tree, ...] | list[Tree], names: dict[str, Value], counts: Counts, result: str
    ) -> None:
        for tree in body:
            self._statement(tree, names, counts, result)

    def _statement(self, tree: Tree, names: dict[str, Value], counts: Counts, result: str) -> None:
        kind = tree[0]
        if kind == "declare":
            _, c_type, name, value = tree
            declared = Value(self.type(c_type))
            if value is not None:
                declared = self._cast(self._value(value, names, counts), declared.of, counts)
            names[name] = declared
        elif kind == "assign":
            _, place, sign, value = tree
            if sign:
                value = ("binary", sign, place, value)
            to = self._value(place, names, Counter())
            self._cast(self._value(value, names, counts), to.of, counts)
            if place[0] == "name":
                names[place[1]] = Value(to.of)
        elif kind == "return":
            if tree[1] is not None and result != "void":
                self._cast(self._value(tree[1], names, counts), result, counts)
        elif kind == "if":
            condition = self._value(tree[1], names, counts)
            for branch_value, body in ((0, tree[2]), (1, tree[3])):
                if condition.known is None or bool(condition.known) != bool(branch_value):
                    self._statements(body, names, counts, result)
            if condition.known is None and result in BITS:
                counts["choose", result] += 1
        elif kind == "switch":
            self._switch(tree, names, counts, result)
        elif kind == "for":
            self._loop(tree, names, counts, result)
        else:
            self._value(tree[1], names, counts)

    def _switch(self, tree: Tree, names: dict[str, Value], counts: Counts, result: str) -> None:
        """Counts the operators of all branches, as all are in hardware; an expression that several
        branches share counts once."""
        seen: set[str] = set()
        for k, branch in enumerate(tree[2]):
            for one in branch:
                if repr(one[-1]) not in seen:
                    self._statement(one, names, counts, result)
                seen.add(repr(one[-1]))
                c_type = result if one[0] == "return" else ""
                if one[0] == "assign":
                    c_type = self._value(one[1], names, Counter()).of
                if k and c_type.removeprefix("pair ") in BITS:
                    counts["choose", c_type.removeprefix("pair ")] += 1 + c_type.startswith("pair ")

    def _loop(self, tree: Tree, names: dict[str, Value], counts: Counts, result: str) -> None:
        _, first, condition, step, body = tree
        trips = self._trips(first, condition, step, names)
        inner = dict(names) | {first[2]: Value("int32", True)}
        once: Counts = Counter()
        self._value(condition, inner, once)
        self._statements(body, inner, once, result)
        for word, times in once.items():
            counts[word] += times * trips

    def _trips(self, first: Tree, condition: Tree, step: Tree, names: dict[str, Value]) -> int:
        """Returns the trip count of an unrolled loop, 1 for a loop above `_MAX_UNROLLED_TRIPS`
        iterations.

        Raises ValueError if the trip count is unknown.
        """
        k = self._value(first[3], names, Counter()).known
        by = {"++": 1, "--": -1}.get(step[1][1]) if step[0] == "do" else None
        if k is None or by is None:
            raise ValueError("the area model can't tell how often a loop turns")
        while condition[0] == "binary" and condition[1] == "&&":
            condition = condition[2]
        trips = 0
        while trips < _MAX_UNROLLED_TRIPS:
            now = names | {first[2]: Value("int32", True, k)}
            going = self._value(condition, now, Counter()).known
            if going is None:
                raise ValueError("the area model can't tell how often a loop turns")
            if not going:
                return trips
            k, trips = k + by, trips + 1
        return 1

    # Expressions

    def _value(self, tree: Tree, names: Mapping[str, Value], counts: Counts) -> Value:
        kind = tree[0]
        if kind == "number":
            is_integer = tree[1] == tree[1] // 1
            return Value("int32" if is_integer else "double", True, tree[1])
        if kind == "name":
            # An undeclared name is a constant of the headers, such as INFINITY.
            return names.get(tree[1], Value("float", True))
        if kind == "member":
            return self._member(tree, names, counts)
        if kind == "index":
            return self._value(tree[1], names, counts)
        if kind == "unary":
            return self._unary(tree, names, counts)
        if kind == "choose":
            return self._choose(tree, names, counts)
        if kind == "binary":
            return self._binary(tree, names, counts)
        return self._call(tree, names, counts)

    def _member(self, tree: Tree, names: Mapping[str, Value], counts: Counts) -> Value:
        c_type = self._value(tree[1], names, counts).of
        if c_type.startswith("pair "):
            return Value(c_type.removeprefix("pair "))
        return Value(self.type(self.structs[c_type][tree[2]]))

    def _unary(self, tree: Tree, names: Mapping[str, Value], counts: Counts) -> Value:
        x = self._value(tree[2], names, counts)
        if tree[1] == "!":
            return Value("bool", x.constant, None if x.known is None else float(not x.known))
        if x.constant or x.of not in BITS:
            return x._replace(known=-x.known) if tree[1] == "-" and x.known is not None else x
        if tree[1] == "-":
            counts["sign", x.of] += 1
        return Value(x.of)

    def _choose(self, tree: Tree, names: Mapping[str, Value], counts: Counts) -> Value:
        condition = self._value(tree[1], names, counts)
        if condition.known is not None:
            return self._value(tree[2] if condition.known else tree[3], names, counts)
        x, y = (self._value(t, names, counts) for t in tree[2:])
        c_type = _common(x, y)
        if c_type not in BITS:
            counts["choose", c_type.removeprefix("pair ")] += 2
        elif not (x.constant and y.constant):
            counts["choose", c_type] += 1
        return Value(c_type, few=x.constant and y.constant)

    def _binary(self, tree: Tree, names: Mapping[str, Value], counts: Counts) -> Value:
        _, sign, left, right = tree
        x, y = self._value(left, names, counts), self._value(right, names, counts)
        c_type = _common(x, y)
        if sign in ("&&", "||"):
            known_value = x.known if x.known is not None else y.known
            settled = known_value is not None and bool(known_value) == (sign == "||")
            both = x.known is not None and y.known is not None
            answer = float(bool(x.known and y.known) if sign == "&&" else bool(x.known or y.known))
            if settled or both:
                return Value("bool", True, float(sign == "||") if settled else answer)
            return Value("bool", x.constant and y.constant)
        if x.constant and y.constant:
            known_value = None if x.known is None or y.known is None else _fold_constants(sign, x.known, y.known)
            return Value("bool" if sign in _COMPARES else c_type, True, known_value)
        if sign in _COMPARES:
            counts["compare", c_type] += 1
            return Value("bool")
        if c_type == "bool":
            c_type = "int32" if sign in "+-*/%" else c_type
        if c_type not in _FLOATS and y.constant and sign in ("<<", ">>", "*", "/", "%"):
            power = y.known is not None and y.known > 0 and float(y.known).hex().startswith("0x1.0")
            if sign in ("<<", ">>") or power:
                return Value(c_type)  # wires only
        counts[_SIGNS[sign], "int8" if c_type == "bool" else c_type] += 1
        return Value(c_type)

    def _call(self, tree: Tree, names: Mapping[str, Value], counts: Counts) -> Value:
        _, name, arguments = tree
        name = name.rpartition("::")[2]
        values = [self._value(one, names, counts) for one in arguments]
        c_type = self.type(name)
        if name.startswith("ft_bits<"):
            return Value(self.type(name[8:-1]), values[0].constant)
        if c_type in BITS:
            return self._cast(values[0], c_type, counts) if values else Value(c_type, True)
        if c_type.startswith("pair ") or name == "":
            return Value(c_type if name else "braces")
        if name in ROMS:
            counts[name, "float"] += 1
            return Value("float")
        if name in self.functions:
            for x, (parameter_types, _) in zip(values, self.functions[name].parameters):
                self._cast(x, self.type(parameter_types), counts)
            counts.update(self.operators_of(name))
            return Value(self.type(self.functions[name].result))
        if name not in LIBRARY:
            raise ValueError(f"the area model knows no function {name}")
        floats = [x.of for x in values if x.of in _FLOATS and not x.constant]
        if not floats:
            constant = bool(values) and all(x.constant for x in values)
            if constant:
                return Value("float", True)
            floats = ["double"]
        c_type = "double" if "double" in floats else "float"
        counts[name, c_type] += 1
        return Value(c_type)

    def _cast(self, x: Value, to: str, counts: Counts) -> Value:
        if to not in BITS or x.of not in BITS or x.constant or x.few or x.of == to:
            return Value(to, x.constant, x.known) if to in BITS else Value(to)
        if to in _FLOATS:
            if x.of in _FLOATS:
                counts["resize", to] += 1
            elif x.of != "bool":
                counts["to_float", to] += 1
        elif x.of in _FLOATS:
            counts["compare" if to == "bool" else "to_int", x.of] += 1
        return Value(to)


def constant(tree: Tree) -> float | None:
    """Returns the value of a constant expression; None for any other."""
    return OperatorCounter({})._value(tree, {}, Counter()).known


def _common(x: Value, y: Value) -> str:
    """Returns the common type of two operands; a constant takes the other operand's type."""
    if x.constant != y.constant and not (x.of in BITS and y.of in BITS and _float_constant(x, y)):
        return y.of if x.constant else x.of
    if x.of not in BITS or y.of not in BITS:
        return x.of if x.of not in BITS else y.of
    rank = list(BITS)
    return max(x.of, y.of, key=rank.index)


def _float_constant(x: Value, y: Value) -> bool:
    """True if one operand is a floating-point constant and the other an integer."""
    constant, variable = (x, y) if x.constant else (y, x)
    return constant.of in _FLOATS and variable.of not in _FLOATS


def _fold_constants(sign: str, x: float, y: float) -> float | None:
    """Returns the value of an operator on two known constants; None for a division by zero."""
    if sign in ("/", "%") and y == 0:
        return None
    are_integers = x == int(x) and y == int(y)
    return {
        "+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y,
        "/": lambda: float(int(x / y)) if are_integers else x / y, "%": lambda: x % y,
        "==": lambda: x == y, "!=": lambda: x != y, "<": lambda: x < y, ">": lambda: x > y,
        "<=": lambda: x <= y, ">=": lambda: x >= y, "<<": lambda: x * 2**y,
        ">>": lambda: x // 2**y, "&": lambda: int(x) & int(y), "|": lambda: int(x) | int(y),
        "^": lambda: int(x) ^ int(y),
    }[sign]()  # fmt: skip


# The files with all helpers of function units; #if lines select the parts for a compute type.
FILES = ("vitis/common.h", "convert.h", *SHARED_HELPERS, "math.h", "complex.h", *HELPERS.values())
_DEFINE = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?[ \t]*(.*)")


@dataclass(frozen=True)
class Helpers:
    """The functions, macros and type aliases of the headers that a kernel's text may use."""

    functions: Mapping[str, Function]
    words: Mapping[str, Word]
    aliases: Mapping[str, str]

    def counting(self, text: str, structs: Mapping[str, Mapping[str, str]]) -> OperatorCounter:
        """Returns a counter for the functions in a text."""
        text_functions = functions(expand(text, self.words))
        return OperatorCounter({**self.functions, **text_functions}, structs, self.aliases)


@cache
def helpers(compute: dtype, dropped: int) -> Helpers:
    """Returns the helpers of compute type `compute`, if a narrow result drops `dropped` bits."""
    macros: dict[str, Word] = {}
    for line in [*settings(compute, 1, True, "slab"), f"#define FT_DROPPED_BITS {dropped}"]:
        macros[line.split()[1]] = " ".join(line.split()[2:])
    kept = [line for name in FILES for line in _preprocessed(_joined(kernel_file(name)), macros)]
    macros |= words(compute)
    text = expand("\n".join(kept), macros)
    aliases = {alias: c_type for c_type, alias in re.findall(r"typedef (\w+) (\w+);", text)}
    return Helpers(functions(text), macros, aliases)


def _joined(text: str) -> list[str]:
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"[ \t]*\\\n[ \t]*", " ", text).split("\n")


def _preprocessed(lines: list[str], macros: dict[str, Word]) -> list[str]:
    """Returns the lines that pass the preprocessor's conditions; adds definitions to `macros`."""
    kept: list[str] = []
    open_: list[tuple[bool, bool]] = []  # per #if: (branch active, a branch was active)
    for line in lines:
        inner = line.strip()
        holds = all(now for now, _ in open_)
        if directive := re.match(r"#\s*(if|ifdef|ifndef)\b\s*(.*)", inner):
            now = holds and _condition_holds(directive[1], directive[2], macros)
            open_.append((now, now))
        elif directive := re.match(r"#\s*(elif|else)\b\s*(.*)", inner):
            _, before = open_.pop()
            now = not before and (directive[1] == "else" or _condition_holds("if", directive[2], macros))
            open_.append((now, before or now))
        elif re.match(r"#\s*endif", inner):
            open_.pop()
        elif not holds:
            continue
        elif directive := _DEFINE.match(inner):
            macros[directive[1]] = directive[4] if directive[2] is None else _macro(directive[3], directive[4])
        elif not inner.startswith("#"):
            kept.append(line)
    return kept


def _condition_holds(word: str, condition: str, macros: Mapping[str, Word]) -> bool:
    if word != "if":
        return (condition.split()[0] in macros) == (word == "ifdef")
    condition = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda m: str(int(m[1] in macros)), condition)
    condition = re.sub(r"[A-Za-z_]\w*", "0", expand(condition, macros))
    return bool(constant(TokenReader(tokens(condition)).expression()))


def _macro(parameters: str, body: str) -> Word:
    names = [name.strip() for name in parameters.split(",")]

    def filled(*arguments: str) -> str:
        values = dict(zip(names, arguments))
        text = re.sub(r"[A-Za-z_]\w*", lambda m: values.get(m[0], m[0]), body)
        return re.sub(r"\s*##\s*", "", text)

    return filled


# The most LUTs of a cheap operator, which every lane may have: sums, products, comparisons, logic.
# Quotients, roots, functions built from them, and integer divisions exceed it.
CHEAP_LUTS = 400
# (LUTs of an element's expensive operators, lanes): four lanes for a quotient and an exponential,
# one lane for anything larger.
STEPS = ((0, 16), (2500, 4))
LEAST = 1


def affordable_lanes(key: KernelKey) -> int:
    """Returns the largest number of lanes for a pointwise op, by the cost of its expression's
    operators."""
    return _lanes(key.compute, dropped_bits(key), "\n".join(op_function(key, "op")))


@cache
def _lanes(compute: dtype, dropped: int, text: str) -> int:
    counts = helpers(compute, dropped).counting(text, {}).operators_of("op")
    luts_per_lane = 0.0
    for word, times in counts.items():
        each = resources_of({word: 1}).lut
        luts_per_lane += each * times if each > CHEAP_LUTS else 0
    return next((lanes for most, lanes in STEPS if luts_per_lane <= most), LEAST)
