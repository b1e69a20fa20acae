"""Parses LLVM IR from its text: functions, blocks, instructions and their source positions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

STANDINS = str(Path(__file__).parent / "include")
_NAME = r'(?:"[^"]*"|[-\w.$]+)'
_DEFINE = re.compile(rf"define .*?@({_NAME})\((.*)\)[^()]*\{{$")
_LABEL = re.compile(rf"({_NAME}):")
_RESULT = re.compile(rf"  (%{_NAME}) = ")
_CALLEE = re.compile(rf"([@%]{_NAME})\(")
_LOCAL = re.compile(rf"%{_NAME}")
_GLOBAL = re.compile(rf"@({_NAME})")
_METADATA = re.compile(r", !(dbg|llvm\.loop) !(\d+)")
_ENDS = re.compile(r", !\w|, align \d+(?:, !|$)| #\d+(?:, !|$)")
_BITS = re.compile(r"i(\d+)$")
_MANY = re.compile(r"[<\[](\d+) x (.*)[>\]]$")
_FLOATS = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8}


@dataclass(slots=True)
class Instruction:
    """One instruction. `text` is the rest after the opcode, without its metadata."""

    result: str  # %7, or "" if it has no result
    op: str
    text: str
    block: Block
    line: int | None  # the number of its DILocation
    loop: int | None  # of the loop whose back edge the branch is

    @property
    def parts(self) -> list[str]:
        """Returns the operands, each with its type."""
        return split(self.text)


@dataclass(slots=True)
class Block:
    """A basic block."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def successors(self) -> list[str]:
        """Returns the possible next blocks."""
        last = self.instructions[-1]
        return re.findall(rf"label (%{_NAME})", last.text)


@dataclass
class Function:
    """A function with a body."""

    name: str
    parameters: list[str]
    blocks: dict[str, Block] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Instruction]:
        return (one for block in self.blocks.values() for one in block.instructions)

    @cached_property
    def values(self) -> dict[str, Instruction]:
        """Returns the instructions by their results."""
        return {one.result: one for one in self if one.result}

    def calls(self) -> Iterator[tuple[Instruction, str]]:
        """Yields each call with its callee: @name, %register, or "" for inline assembly."""
        for one in self:
            if one.op == "call":
                yield one, callee(one)


@dataclass
class Module:
    """A file of IR."""

    functions: dict[str, Function] = field(default_factory=dict)
    declared: list[str] = field(default_factory=list)
    globals: dict[str, str] = field(default_factory=dict)  # name -> the rest of the line
    metadata: dict[int, str] = field(default_factory=dict)

    def place(self, number: int | None) -> tuple[str, int]:
        """Returns file and line of a DILocation; for a stand-in header those of its use; ("", 0) if
        there is none."""
        text = self.metadata.get(-1 if number is None else number, "")
        fields = dict(re.findall(r"(line|scope|inlinedAt): !?(\d+)", text))
        if "line" not in fields or "scope" not in fields:
            return "", 0
        file = self._file(int(fields["scope"]))
        if file.startswith(STANDINS) and "inlinedAt" in fields:
            return self.place(int(fields["inlinedAt"]))
        return file, int(fields["line"])

    def _file(self, scope: int) -> str:
        match = re.search(r"file: !(\d+)", self.metadata[scope])
        assert match is not None, self.metadata[scope]
        name = re.search(r'filename: "([^"]*)"', self.metadata[int(match[1])])
        assert name is not None
        return name[1]

    def loop_place(self, number: int | None) -> tuple[str, int]:
        """Returns file and line of the `for` of a branch's !llvm.loop."""
        parts = re.findall(r"!(\d+)", self.metadata.get(-1 if number is None else number, ""))
        numbers = (int(part) for part in parts[1:])
        return next((self.place(n) for n in numbers if "DILocation" in self.metadata[n]), ("", 0))


def parse(text: str) -> Module:
    """Returns the module of a file in text form."""
    module = Module()
    function: Function | None = None
    block = Block("")
    for line in text.splitlines():
        if function is not None:
            if line.startswith("  "):
                if line.startswith("   "):  # a switch continues, line by line
                    block.instructions[-1].text += line
                    continue
                if line.startswith("  ]"):
                    continue
                block.instructions.append(_instruction(line, block))
            elif line == "}":
                function = None
            elif match := _LABEL.match(line):
                if not block.instructions:  # the first one has a name
                    del function.blocks[block.name]
                block = function.blocks[f"%{match[1]}"] = Block(f"%{match[1]}")
        elif line.startswith("define "):
            match = _DEFINE.match(line.partition(" !dbg ")[0].rstrip(" {") + " {")
            assert match is not None, line
            names = [part.split()[-1] for part in split(match[2]) if part != "..."]
            function = module.functions[match[1]] = Function(match[1], names)
            # Without a name, the first block is numbered after the parameters.
            block = Block(f"%{len(names)}")
            function.blocks[block.name] = block
        elif line.startswith("declare "):
            module.declared += _GLOBAL.findall(line)[:1]
        elif line.startswith("@"):
            name, _, rest = line[1:].partition(" = ")
            module.globals[name] = rest
        elif line.startswith("!") and line[1:2].isdigit():
            number, _, rest = line[1:].partition(" = ")
            module.metadata[int(number)] = rest
    return module


def _instruction(line: str, block: Block) -> Instruction:
    metadata = dict(_METADATA.findall(line))
    result = _RESULT.match(line)
    text = line[result.end() if result else 2 :]
    ends = _ENDS.search(text)
    op, _, rest = (text[: ends.start()] if ends else text).partition(" ")
    if op in ("tail", "musttail", "notail"):
        op, _, rest = rest.partition(" ")
    where, loop = (int(metadata[k]) if k in metadata else None for k in ("dbg", "llvm.loop"))
    return Instruction(result[1] if result else "", op, rest, block, where, loop)


def split(text: str) -> list[str]:
    """Returns the parts between commas outside brackets."""
    parts, depth, start, quoted = [], 0, 0, False
    for k, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:k].strip())
            start = k + 1
    return [*parts, text[start:].strip()] if text[start:].strip() else parts


def callee(call: Instruction) -> str:
    """Returns the callee: @name, %register, or "" for inline assembly."""
    match = _CALLEE.search(call.text)
    return match[1] if match else ""


def call_arguments(call: Instruction) -> list[str]:
    """Returns a call's arguments, each with its type."""
    match = _CALLEE.search(call.text)
    if match is None:
        return []
    return split(call.text[match.end() : call.text.rindex(")")])


def value(part: str) -> str:
    """Returns the name in a part of an instruction, without its type: %7, @table, 16, or "" if
    there is none."""
    word = part.split()[-1] if part else ""
    if word.endswith(")"):  # a constant expression: the global in it
        match = _GLOBAL.search(part)
        return f"@{match[1]}" if match else ""
    return word


def is_pointer(kind: str) -> bool:
    """True for a pointer type."""
    return kind.endswith("*") or kind == "ptr" or kind.startswith("ptr ")


def bytes_of(kind: str) -> int | None:
    """Returns the bytes of a type; None for a struct."""
    if is_pointer(kind):
        return 8
    if match := _BITS.match(kind):
        return (int(match[1]) + 7) // 8
    if match := _MANY.match(kind):
        one = bytes_of(match[2])
        return None if one is None else int(match[1]) * one
    return _FLOATS.get(kind)
