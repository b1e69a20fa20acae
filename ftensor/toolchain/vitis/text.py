"""Text of HLS sources: words replaced by what they stand for, and templates filled."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence

from .. import filling

# A word stands for a text, or, where it takes parameters, for what a function makes of them.
Word = str | Callable[..., str]
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def expand(text: str, words: Mapping[str, Word]) -> str:
    """`text` with every word replaced, also those that replacements and parameters bring in.

    As the C preprocessor would, but the result is text for readers. A word never stands for
    something that holds itself.
    """
    out, at = [], 0
    while match := _IDENTIFIER.search(text, at):
        out.append(text[at : match.start()])
        name, at = match.group(), match.end()
        word = words.get(name)
        if word is None:
            out.append(name)
        elif isinstance(word, str):
            out.append(expand(word, words))
        elif text[at : at + 1] == "(":
            inner, at = arguments(text, at)
            out.append(expand(word(*[expand(a, words) for a in inner]), words))
        else:
            out.append(name)
    return "".join(out) + text[at:]


def arguments(text: str, at: int) -> tuple[list[str], int]:
    """The arguments of the call whose parenthesis opens at `at`, and where it has closed."""
    assert text[at] == "(", text[at:]
    parts: list[str] = []
    open_: list[str] = []
    start = at + 1
    for k in range(at, len(text)):
        c = text[k]
        if c in _CLOSING:
            open_.append(_CLOSING[c])
        elif open_ and c == open_[-1]:
            open_.pop()
            if not open_:
                return [p.strip() for p in [*parts, text[start:k]]], k + 1
        elif c == "," and len(open_) == 1:
            parts.append(text[start:k])
            start = k + 1
    raise AssertionError(f"a parenthesis stays open: {text[at:]}")


def fill(template: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """The file `template` of hls/vitis/ with each `$name` replaced."""
    return filling.fill(f"vitis/{template}", values)


def indented(lines: Sequence[str]) -> list[str]:
    """The lines of a block, one step to the right of what encloses it."""
    return [line if line.startswith("#") or not line else f"    {line}" for line in lines]


def identifiers(text: str) -> set[str]:
    """The identifiers in a text."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


def substituted(text: str, named: Mapping[str, str]) -> str:
    """The text with names replaced by what they stand for."""
    return _IDENTIFIER.sub(lambda m: named.get(m[0], m[0]), text)


_NAMED = re.compile(r"const (\w+) (\w+) = (.*);")


def tidy(lines: Sequence[str], result: str = "", takes: Sequence[tuple[str, str]] = ()) -> list[str]:
    """The lines without names that nothing reads, and without second names of equal type.

    `result` is the type of what the function returns, `takes` are its parameters (type, name).
    """
    kept = list(lines)
    for k in reversed(range(len(kept))):
        named = _NAMED.fullmatch(kept[k])
        if named is None or " = " in named.group(3):
            continue
        of, name, value = named.groups()
        uses = [i for i in range(k + 1, len(kept)) if name in identifiers(kept[i])]
        if not uses:
            del kept[k]
            continue
        again = re.fullmatch(rf"const {of} (\w+) = (?:\({of}\))?\(?{name}\)?;", kept[uses[0]])
        if len(uses) == 1 and again is not None:
            kept[uses[0]] = f"const {of} {again.group(1)} = {value};"
            del kept[k]
        elif (of, value) in takes:
            kept[k:] = [re.sub(rf"\b{name}\b", value, line) for line in kept[k + 1 :]]
        elif len(uses) == 1 and of == result and kept[uses[0]] == f"return {name};":
            kept[uses[0]] = f"return {value};"
            del kept[k]
    return kept


def table(of: str, name: str, values: Sequence[str]) -> list[str]:
    """A constant array, in lines of readable length."""
    whole = f"static const {of} {name}[{len(values)}] = {{{', '.join(values)}}};"
    return textwrap.wrap(whole, 98, subsequent_indent="    ", break_long_words=False)


def function(head: str, lines: Sequence[str]) -> list[str]:
    """A function's text, in one line where it is short."""
    if len(lines) == 1 and len(head) + len(lines[0]) < 94:
        return [f"{head} {{ {lines[0]} }}"]
    return [head, "{", *indented(lines), "}"]
