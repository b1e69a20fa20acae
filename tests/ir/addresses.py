"""Where a kernel's loads and stores go: to which memory, and whether two may meet."""

from __future__ import annotations

import re
from collections import Counter

from .loops import Loop, incoming
from .module import Function, Instruction, bytes_of, value

PORT = "port "  # begins the name of a port among memories


class Addresses:
    """Of one function whose pointers are the ports that it is given."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.values = function.values
        self.ports = set(function.parameters)

    def root(self, name: str) -> str:
        """What memory a pointer leads into: a port or a local memory's name; "" for another."""
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            made = self.values.get(name)
            if made is None:
                return PORT + name if name in self.ports else ""
            if made.op == "alloca":
                return re.sub(r"\..*", "", name.lstrip("%"))
            if made.op == "getelementptr":
                ways = [value(made.parts[1])]
            elif made.op in ("bitcast", "addrspacecast"):
                ways = [value(made.text.rpartition(" to ")[0])]
            elif made.op == "phi":
                ways = [way for way, _ in incoming(made)]
            else:
                ways = [value(part) for part in made.parts[1:]] if made.op == "select" else []
            name = next((way for way in ways if way not in seen), name)
        return ""

    def may_meet(self, load: Instruction, store: Instruction, loop: Loop) -> bool:
        """Whether a load may read what a store wrote in a turn before: not where both go along the
        loop by the same steps, and lie no whole number of these apart."""
        (a, first), (b, second) = (self._sum(pointer(one), 1) for one in (load, store))
        if a != b:
            return True
        steps = [abs(times) for leaf, times in a.items() if self._counts(leaf, loop)]
        if any(self._moves(leaf, loop) for leaf in a if not self._counts(leaf, loop)):
            return first != second  # along, in steps that are known when it runs
        if len(steps) != 1:
            return not steps or first != second
        return first != second and (first - second) % steps[0] == 0

    def _counts(self, leaf: object, loop: Loop) -> bool:
        made = self.values.get(leaf) if isinstance(leaf, str) else None
        return made is not None and made.op == "phi" and made.block.name == loop.header

    def _sum(self, name: str, times: int) -> tuple[Counter[object], int]:
        """A value, so many times, as a sum: how often each of its terms, and a constant."""
        found: Counter[object] = Counter()
        if re.fullmatch(r"-?\d+", name):
            return found, times * int(name)
        made, parts = self.values.get(name), []
        if made is not None and made.op in ("bitcast", "sext", "zext", "trunc", "freeze"):
            return self._sum(value(made.text.rpartition(" to ")[0] or made.text), times)
        if made is not None and made.op == "ashr":  # of what was shifted up: a product, extended
            up, down = self.values.get(value(made.parts[0])), value(made.parts[1])
            if up is not None and up.op == "shl" and down.isdigit():
                by = value(up.parts[1])
                if by.isdigit() and int(by) >= int(down):
                    return self._sum(value(up.parts[0]), times << int(by) - int(down))
        if made is not None and made.op in ("add", "sub", "or", "mul", "shl"):
            a, b = (value(part) for part in made.parts)
            if made.op in ("mul", "shl"):
                if re.fullmatch(r"\d+", b):
                    return self._sum(a, times * (int(b) if made.op == "mul" else 1 << int(b)))
            elif made.op != "or" or b.isdigit():
                parts = [(a, times), (b, -times if made.op == "sub" else times)]
        elif made is not None and made.op == "getelementptr" and len(made.parts) == 3:
            size = bytes_of(made.parts[0].removeprefix("inbounds ")) or 0
            if size:
                parts = [(value(made.parts[1]), times), (value(made.parts[2]), times * size)]
        if not parts:
            leaf = self.address(name, 0)
            found[leaf if made is not None and not isinstance(leaf, str) else name] = times
            return found, 0
        constant = 0
        for part, by in parts:
            more, rest = self._sum(part, by)
            constant += rest
            for leaf, count in more.items():
                found[leaf] += count
        return Counter({leaf: count for leaf, count in found.items() if count}), constant

    def address(self, name: str, depth: int) -> object:
        """A value as an expression, equal where it is computed in the same way."""
        made = self.values.get(name)
        if made is None or depth > 12 or made.op in ("phi", "load", "call", "alloca"):
            return name
        if made.op in ("bitcast", "sext", "zext", "trunc", "freeze"):
            return self.address(value(made.text.rpartition(" to ")[0]), depth)
        return made.op, *(self.address(value(part), depth + 1) for part in made.parts)

    def _moves(self, name: object, loop: Loop) -> bool:
        """Whether an address is another one in each turn: a sum in which a counter of the loop
        stands."""
        if isinstance(name, tuple):  # an expression
            return any(self._moves(part, loop) for part in name[1:])
        if not isinstance(name, str):
            return False
        made = self.values.get(name)
        if made is None:
            return False
        if made.op == "phi":
            return made.block.name == loop.header
        if made.op in ("bitcast", "sext", "zext", "trunc"):
            return self._moves(value(made.text.rpartition(" to ")[0]), loop)
        if made.op in ("getelementptr", "add", "sub", "mul", "shl", "or"):
            return any(self._moves(value(part), loop) for part in made.parts)
        return False


def pointer(one: Instruction) -> str:
    """Where a load or a store goes."""
    return value(one.parts[1])
