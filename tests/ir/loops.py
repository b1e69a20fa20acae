"""Dominators and natural loops of a function's IR, and constant trip counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .module import Function, Instruction, split, value

_INCOMING = re.compile(r"\[ (.+?), (%\S+) \]")


@dataclass(eq=False)
class Loop:
    """A natural loop: its blocks, and the blocks that branch back to its header."""

    header: str
    latches: list[str]
    blocks: set[str]
    number: int | None  # number of the metadata with its source position
    inside: list[Loop] = field(default_factory=list)
    outside: Loop | None = None


class Flow:
    """The control flow of a function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.before: dict[str, list[str]] = {name: [] for name in function.blocks}
        for name, block in function.blocks.items():
            for after in block.successors:
                self.before[after].append(name)
        self.order = self._reverse_postorder()
        self._dominator = self._dominators()
        self.loops = self._loops()
        self.innermost: dict[str, Loop] = {}
        for loop in sorted(self.loops, key=lambda one: -len(one.blocks)):
            loop.outside = self.innermost.get(loop.header)
            if loop.outside:
                loop.outside.inside.append(loop)
            self.innermost.update(dict.fromkeys(loop.blocks, loop))

    def always(self, block: str, loop: Loop | None) -> bool:
        """Returns whether every iteration of a loop (None: every call of the function) passes a
        block."""
        blocks = self.function.blocks
        ends = loop.latches if loop else [n for n in self.order if not blocks[n].successors]
        return all(self._dominates(block, end) for end in ends)

    def dominator(self, block: str) -> str:
        """Returns the immediate dominator of a block."""
        return self._dominator[block]

    def trips(self, loop: Loop) -> int | None:
        """Returns the trip count of a loop of constant length; None for other loops."""
        for name in loop.blocks:
            last = self.function.blocks[name].instructions[-1]
            leaves = any(after not in loop.blocks for after in last.block.successors)
            condition = self.function.values.get(value(last.parts[0])) if leaves else None
            if condition is None or condition.op != "icmp":
                continue
            a, b = (value(part) for part in condition.parts)
            if _number(b) and self._counter(a, loop):
                # From 0 in steps of one, compared before or after the step.
                return max(1, int(b) + (condition.text.split()[0] in ("sle", "ule", "sgt", "ugt")))
        return None

    def _reverse_postorder(self) -> list[str]:
        blocks = self.function.blocks
        first = next(iter(blocks))
        seen, order = {first}, []
        stack = [(first, iter(blocks[first].successors))]
        while stack:
            following = next((n for n in stack[-1][1] if n not in seen), None)
            if following is None:
                order.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, iter(blocks[following].successors)))
        return order[::-1]

    def _dominators(self) -> dict[str, str]:
        """Returns each block's immediate dominator, by Cooper, Harvey and Kennedy's iteration."""
        rank = {name: k for k, name in enumerate(self.order)}
        dominators = {self.order[0]: self.order[0]}

        def common(a: str, b: str) -> str:
            while a != b:
                while rank[a] > rank[b]:
                    a = dominators[a]
                while rank[b] > rank[a]:
                    b = dominators[b]
            return a

        changed = True
        while changed:
            changed = False
            for name in self.order[1:]:
                known = [p for p in self.before[name] if p in dominators]
                one = known[0]
                for other in known[1:]:
                    one = common(one, other)
                if dominators.get(name) != one:
                    dominators[name], changed = one, True
        return dominators

    def _dominates(self, a: str, b: str) -> bool:
        while b != a and self._dominator[b] != b:
            b = self._dominator[b]
        return a == b

    def _loops(self) -> list[Loop]:
        loops: dict[str, Loop] = {}
        for name in self.order:
            block = self.function.blocks[name]
            for header in block.successors:
                if self._dominates(header, name):
                    number = block.instructions[-1].loop
                    loop = loops.setdefault(header, Loop(header, [], {header}, number))
                    loop.latches.append(name)
                    todo = [name]
                    while todo:
                        inner = todo.pop()
                        if inner not in loop.blocks:
                            loop.blocks.add(inner)
                            todo += self.before[inner]
        return list(loops.values())

    def constant(self, loop: Loop) -> bool:
        """Returns whether a loop counts from a constant to a constant, so that it can be
        unrolled."""
        for name in loop.blocks:
            last = self.function.blocks[name].instructions[-1]
            leaves = any(after not in loop.blocks for after in last.block.successors)
            if last.op == "br" and leaves and self._counted(value(last.parts[0]), loop):
                return True
        return False

    def _counted(self, condition: str, loop: Loop) -> bool:
        """Returns whether a comparison compares a counter with a constant."""
        definition = self.function.values.get(condition)
        if definition is None:
            return False
        if definition.op in ("and", "or", "select"):
            return any(self._counted(value(part), loop) for part in definition.parts)
        if definition.op != "icmp":
            return False
        a, b = (value(part) for part in definition.parts)
        return any(_number(end) and self._counter(count, loop) for count, end in ((a, b), (b, a)))

    def _counter(self, name: str, loop: Loop) -> bool:
        """Returns whether a value starts as a constant and grows by a constant in each
        iteration."""
        definition = self.function.values.get(name)
        while definition is not None and definition.op in ("add", "sub", "trunc", "zext", "sext", "shl"):
            parts = definition.parts
            if len(parts) == 2 and not _number(value(parts[1])):
                return False
            name = value(re.sub(r" to \S+$", "", parts[0]))
            definition = self.function.values.get(name)
        if definition is None or definition.op != "phi" or definition.block.name != loop.header:
            return False
        for start, come in incoming(definition):
            if come not in loop.blocks and not _number(start):
                return False
            if come in loop.blocks and not self._step(start, definition.result):
                return False
        return True

    def _step(self, name: str, counter: str) -> bool:
        definition = self.function.values.get(name)
        if definition is None or definition.op not in ("add", "sub"):
            return False
        a, b = (value(part) for part in definition.parts)
        return a == counter and _number(b)


def incoming(phi: Instruction) -> list[tuple[str, str]]:
    """Returns (value, block) pairs of a phi."""
    pairs = [_INCOMING.search(part) for part in split(phi.text)]
    return [(value(match[1]), match[2]) for match in pairs if match]


def _number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+", text))
