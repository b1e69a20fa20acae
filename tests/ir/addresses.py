"""Addresses of a kernel's loads and stores: which memory they access, and whether two may be
equal."""

from __future__ import annotations

import re
from collections import Counter

from .loops import Loop, incoming
from .module import Function, Instruction, bytes_of, value

PORT = "port "  # prefix of a port's name among memories


class Addresses:
    """Address analysis of one function whose pointers are its ports."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.values = function.values
        self.ports = set(function.parameters)

    def root(self, name: str) -> str:
        """Returns the memory of a pointer: the name of a port or local memory; "" for any other."""
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            definition = self.values.get(name)
            if definition is None:
                return PORT + name if name in self.ports else ""
            if definition.op == "alloca":
                return re.sub(r"\..*", "", name.lstrip("%"))
            if definition.op == "getelementptr":
                ways = [value(definition.parts[1])]
            elif definition.op in ("bitcast", "addrspacecast"):
                ways = [value(definition.text.rpartition(" to ")[0])]
            elif definition.op == "phi":
                ways = [way for way, _ in incoming(definition)]
            else:
                ways = [value(part) for part in definition.parts[1:]] if definition.op == "select" else []
            name = next((way for way in ways if way not in seen), name)
        return ""

    def may_alias(self, load: Instruction, store: Instruction, loop: Loop) -> bool:
        """Returns whether a load may read what a store wrote in an earlier iteration. It can't if
        both advance by the same steps and their distance is no multiple of these."""
        (a, first), (b, second) = (self._sum(pointer(one), 1) for one in (load, store))
        if a != b:
            return True
        steps = [abs(times) for leaf, times in a.items() if self._counts(leaf, loop)]
        if any(self._moves(leaf, loop) for leaf in a if not self._counts(leaf, loop)):
            return first != second  # along, in steps that are known at run time
        if len(steps) != 1:
            return not steps or first != second
        return first != second and (first - second) % steps[0] == 0

    def _counts(self, leaf: object, loop: Loop) -> bool:
        definition = self.values.get(leaf) if isinstance(leaf, str) else None
        return definition is not None and definition.op == "phi" and definition.block.name == loop.header

    def _sum(self, name: str, times: int) -> tuple[Counter[object], int]:
        """Returns a value times a factor as a sum: the count of each of its terms, and a
        constant."""
        terms: Counter[object] = Counter()
        if re.fullmatch(r"-?\d+", name):
            return terms, times * int(name)
        definition, parts = self.values.get(name), []
        if definition is not None and definition.op in ("bitcast", "sext", "zext", "trunc", "freeze"):
            return self._sum(value(definition.text.rpartition(" to ")[0] or definition.text), times)
        # of a shifted value: a product, extended
        if definition is not None and definition.op == "ashr":
            up, down = self.values.get(value(definition.parts[0])), value(definition.parts[1])
            if up is not None and up.op == "shl" and down.isdigit():
                by = value(up.parts[1])
                if by.isdigit() and int(by) >= int(down):
                    return self._sum(value(up.parts[0]), times << int(by) - int(down))
        if definition is not None and definition.op in ("add", "sub", "or", "mul", "shl"):
            a, b = (value(part) for part in definition.parts)
            if definition.op in ("mul", "shl"):
                if re.fullmatch(r"\d+", b):
                    return self._sum(a, times * (int(b) if definition.op == "mul" else 1 << int(b)))
            elif definition.op != "or" or b.isdigit():
                parts = [(a, times), (b, -times if definition.op == "sub" else times)]
        elif definition is not None and definition.op == "getelementptr" and len(definition.parts) == 3:
            size = bytes_of(definition.parts[0].removeprefix("inbounds ")) or 0
            if size:
                parts = [(value(definition.parts[1]), times), (value(definition.parts[2]), times * size)]
        if not parts:
            leaf = self.address(name, 0)
            terms[leaf if definition is not None and not isinstance(leaf, str) else name] = times
            return terms, 0
        constant = 0
        for part, by in parts:
            more, rest = self._sum(part, by)
            constant += rest
            for leaf, count in more.items():
                terms[leaf] += count
        return Counter({leaf: count for leaf, count in terms.items() if count}), constant

    def address(self, name: str, depth: int) -> object:
        """Returns a value as an expression, equal for equal computations."""
        definition = self.values.get(name)
        if definition is None or depth > 12 or definition.op in ("phi", "load", "call", "alloca"):
            return name
        if definition.op in ("bitcast", "sext", "zext", "trunc", "freeze"):
            return self.address(value(definition.text.rpartition(" to ")[0]), depth)
        return definition.op, *(self.address(value(part), depth + 1) for part in definition.parts)

    def _moves(self, name: object, loop: Loop) -> bool:
        """Returns whether an address differs in each iteration: it is a sum with a counter of the
        loop."""
        if isinstance(name, tuple):  # an expression
            return any(self._moves(part, loop) for part in name[1:])
        if not isinstance(name, str):
            return False
        definition = self.values.get(name)
        if definition is None:
            return False
        if definition.op == "phi":
            return definition.block.name == loop.header
        if definition.op in ("bitcast", "sext", "zext", "trunc"):
            return self._moves(value(definition.text.rpartition(" to ")[0]), loop)
        if definition.op in ("getelementptr", "add", "sub", "mul", "shl", "or"):
            return any(self._moves(value(part), loop) for part in definition.parts)
        return False


def pointer(one: Instruction) -> str:
    """Returns the address of a load or a store."""
    return value(one.parts[1])
