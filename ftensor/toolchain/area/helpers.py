"""The helper headers of hls/ as the area model reads them: preprocessed for one compute type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from ...dtypes import dtype
from ...kernels.source import HELPERS, kernel_file, settings
from ..vitis.text import Word, expand
from ..vitis.words import words
from .count import Counting, constant
from .statements import Function, functions
from .text import Reader, tokens

# All that a function unit may call. Each knows by its #if what of it a compute type has.
FILES = ("vitis/words.h", "convert.h", "math.h", "complex.h", *HELPERS.values())
_DEFINE = re.compile(r"#\s*define\s+(\w+)(\(([^)]*)\))?[ \t]*(.*)")


@dataclass(frozen=True)
class Helpers:
    """What a text may call: functions, macros and words, and second names of types."""

    functions: Mapping[str, Function]
    words: Mapping[str, Word]
    aliases: Mapping[str, str]

    def counting(self, text: str, structs: Mapping[str, Mapping[str, str]]) -> Counting:
        """What counts the operators of the functions in a text."""
        own = functions(expand(text, self.words))
        return Counting({**self.functions, **own}, structs, self.aliases)


@cache
def helpers(compute: dtype, dropped: int) -> Helpers:
    """The helpers for what is computed in `compute`, where a narrow result lacks `dropped` bits."""
    macros: dict[str, Word] = {}
    for line in [*settings(compute, 1, True, "slab"), f"#define FT_DROPPED_BITS {dropped}"]:
        macros[line.split()[1]] = " ".join(line.split()[2:])
    kept = [line for name in FILES for line in _kept(_joined(kernel_file(name)), macros)]
    macros |= words(compute)
    text = expand("\n".join(kept), macros)
    aliases = {new: of for of, new in re.findall(r"typedef (\w+) (\w+);", text)}
    return Helpers(functions(text), macros, aliases)


def _joined(text: str) -> list[str]:
    """The lines without comments, those that go on joined."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"[ \t]*\\\n[ \t]*", " ", text).split("\n")


def _kept(lines: list[str], macros: dict[str, Word]) -> list[str]:
    """The lines that the conditions let through; definitions become words."""
    kept: list[str] = []
    open_: list[tuple[bool, bool]] = []  # whether this part holds, and whether one before it did
    for line in lines:
        inner = line.strip()
        holds = all(now for now, _ in open_)
        if directive := re.match(r"#\s*(if|ifdef|ifndef)\b\s*(.*)", inner):
            now = holds and _asked(directive[1], directive[2], macros)
            open_.append((now, now))
        elif directive := re.match(r"#\s*(elif|else)\b\s*(.*)", inner):
            _, before = open_.pop()
            now = not before and (directive[1] == "else" or _asked("if", directive[2], macros))
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


def _asked(word: str, condition: str, macros: Mapping[str, Word]) -> bool:
    if word != "if":
        return (condition.split()[0] in macros) == (word == "ifdef")
    condition = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda m: str(int(m[1] in macros)), condition)
    condition = re.sub(r"[A-Za-z_]\w*", "0", expand(condition, macros))
    return bool(constant(Reader(tokens(condition)).expression()))


def _macro(takes: str, body: str) -> Word:
    """A macro with parameters."""
    names = [name.strip() for name in takes.split(",")]

    def filled(*arguments: str) -> str:
        values = dict(zip(names, arguments))
        text = re.sub(r"[A-Za-z_]\w*", lambda m: values.get(m[0], m[0]), body)
        return re.sub(r"\s*##\s*", "", text)

    return filled
