"""Marks the processes of DATAFLOW regions in a kernel's preprocessed C++, for hls/standin/fifos.h.

    #pragma HLS DATAFLOW             a `region` begins here, up to the end of the block
        load(in, s, n);              each statement of the block is a process: `region.next(...)`
        for (...) { #pragma UNROLL   each turn of an unrolled loop is a process: `region.again(...)`
    #pragma HLS STREAM variable=s depth=8        `set_depth(s, 8)`

The marks are inserted without new lines, so the compiler's messages keep their line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

# Preprocessed text with fifos.h has this word.
RECORDED = "ft_fifos"
OPTION = "-DFT_FIFOS"
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+HLS[ \t]+(\w+)(.*)$", re.MULTILINE | re.IGNORECASE)
_LINE = re.compile(r'^#[ \t]+(\d+)[ \t]+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_SETTING = re.compile(r"(\w+)\s*=\s*([^=]*?)(?=\s+\w+\s*=|\s*$)")
_CALL = re.compile(r"(?:(?:\w+\s*:(?!:)\s*))?(?:[\w:&*\s]+=\s*)?((?:\w+\s*::\s*)*\w+)\s*(?:<[^;{}()]*>\s*)?\(")
_STREAM = re.compile(r"(?:(?:static|const)\s+)*(?:::\s*)?(?:hls\s*::\s*)?stream\s*<")
_WORD = re.compile(r"\w+")
_LOOPS = ("for", "while", "do")
_BLOCKS = ("if", "else", "switch")
# Statements that end with a semicolon, whatever braces they have.
_DECLARES = ("struct", "class", "union", "enum", "typedef", "using", "auto", "do")


class Statement(NamedTuple):
    """A statement of a block: text[begin:end]."""

    begin: int
    end: int


def marked(text: str, macros: Mapping[str, str] | None = None) -> str | None:
    """Returns the preprocessed text with marks; None if it has no DATAFLOW region.

    `macros` replace names in the depths of pragmas, which a compiler does not expand.
    """
    marks: list[tuple[int, str]] = []
    lines = _Lines(text)
    regions = 0
    for pragma in _PRAGMA.finditer(text):
        word, rest = pragma[1].lower(), pragma[2]
        if word == "dataflow":
            regions += 1
            marks += _region(text, pragma.end(), regions, lines)
        elif word == "stream":
            marks += _depths(_to_token(text, pragma.end()), rest, macros or {})
    if not regions:
        return None
    pieces, at = [], 0
    for place, mark in sorted(marks, key=lambda m: m[0]):
        pieces += [text[at:place], mark]
        at = place
    return "".join([*pieces, text[at:]])


def names_in_depths(text: str) -> set[str]:
    """Returns the names in the depths of the text's pragmas, which may be macros."""
    depths = (_settings(p[2]).get("depth", "") for p in _PRAGMA.finditer(text) if p[1].lower() == "stream")
    return {name for depth in depths for name in _WORD.findall(depth) if not name[0].isdigit()}


class _Lines:
    """Finds the file and line of a place in preprocessed text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.marks = [(m.end() + 1, int(m[1]), PurePath(m[2]).name) for m in _LINE.finditer(text)]

    def at(self, place: int) -> str:
        """Returns "file:line"."""
        before = [mark for mark in self.marks if mark[0] <= place]
        begin, line, name = before[-1] if before else (0, 1, "")
        return f"{name}:{line + self.text.count(chr(10), begin, place)}"


def _region(text: str, begin: int, number: int, lines: _Lines) -> Iterator[tuple[int, str]]:
    """Yields the marks of a region whose pragma ends at `begin`."""
    name = f"ft_region_{number}"
    start = _to_token(text, begin)
    yield start, f'::ft_fifos::region {name}("{lines.at(begin)}"); '
    for k, (statement, label) in enumerate(_processes(text, start)):
        title = _quoted(f"{label} ({lines.at(statement.begin)})")
        yield statement.begin, f"{name}.next({k}, {title}); "
        source = text[statement.begin : statement.end]
        for pragma in _PRAGMA.finditer(source):
            if pragma[1].lower() == "unroll":
                yield _to_token(text, statement.begin + pragma.end()), f"{name}.again({k}, {title}); "
        for variable in _declared(source):
            yield statement.end, f' ::ft_fifos::set_name({variable}, "{variable}"); '


def _processes(text: str, begin: int) -> Iterator[tuple[Statement, str]]:
    """Yields the statements of a block, and of blocks under its conditions, with their names."""
    for statement in _statements(text, begin):
        source = text[statement.begin : statement.end]
        first = _WORD.match(source)
        word = first[0] if first else ""
        if source.startswith("{") or word in _BLOCKS:
            for inner in _blocks(text, statement):
                yield from _processes(text, inner)
            continue
        call = _CALL.match(source)
        name = re.sub(r"\s", "", call[1]) if call else ""
        yield statement, "a loop" if word in _LOOPS or name in _LOOPS else name or word or "a statement"


def _statements(text: str, at: int) -> Iterator[Statement]:
    """Yields the statements from `at` to the end of the enclosing block."""
    while True:
        at = _to_token(text, at)
        if at >= len(text) or text[at] == "}":
            return
        end = _end_of_statement(text, at)
        yield Statement(at, end)
        at = end


def _end_of_statement(text: str, begin: int) -> int:
    word = _WORD.match(text, begin)
    to_semicolon = bool(word) and word[0] in _DECLARES  # type: ignore[index]
    depth, at = 0, begin
    while at < len(text):
        at = _to_token(text, at)
        c = text[at : at + 1]
        if c in ("(", "[", "{"):
            depth += 1
        elif c in (")", "]", "}"):
            depth -= 1
            if depth == 0 and c == "}" and not to_semicolon and not _goes_on(text, at + 1):
                return at + 1
        elif c == ";" and depth == 0:
            if not _is_else(text, _to_token(text, at + 1)):
                return at + 1
        at = _behind(text, at)
    return at


def _goes_on(text: str, at: int) -> bool:
    """True if the statement does not end with the brace before `at`."""
    at = _to_token(text, at)
    return text[at : at + 1] in (";", ",", ".", ")", "=", "(") or _is_else(text, at)


def _is_else(text: str, at: int) -> bool:
    word = _WORD.match(text, at)
    return word is not None and word[0] == "else"


def _blocks(text: str, statement: Statement) -> Iterator[int]:
    """Yields the beginnings of the blocks of a condition or block: behind each outermost brace."""
    round_, braces, at = 0, 0, statement.begin
    while at < statement.end:
        at = _to_token(text, at)
        c = text[at : at + 1]
        round_ += (c == "(") - (c == ")")
        if c == "{":
            if not round_ and not braces:
                yield at + 1
            braces += 1
        braces -= c == "}"
        at = _behind(text, at)


def _to_token(text: str, at: int) -> int:
    """Skips white space and the lines of the preprocessor."""
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == "#" and not text[text.rfind("\n", 0, at) + 1 : at].strip():
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        else:
            break
    return at


def _behind(text: str, at: int) -> int:
    """Returns the place behind a token's character; of a literal, behind the whole."""
    quote = text[at : at + 1]
    if quote not in ('"', "'") or (quote == "'" and text[at - 1 : at].isalnum()):  # 1'000 is a number
        return at + 1
    at += 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _declared(source: str) -> Sequence[str]:
    """Returns the variables of a declaration of streams."""
    match = _STREAM.match(source)
    if match is None:
        return ()
    depth, at = 1, match.end()
    while at < len(source) and depth:
        depth += (source[at] == "<") - (source[at] == ">")
        at += 1
    names, depth, start = [], 0, at
    for k in range(at, len(source)):
        c = source[k]
        depth += (c in "([{") - (c in ")]}")
        if c in ",;" and depth == 0:
            if word := _WORD.match(source[start:k].strip()):
                names.append(word[0])
            start = k + 1
    return names


def _settings(rest: str) -> dict[str, str]:
    return {name.lower(): value.strip() for name, value in _SETTING.findall(rest.strip())}


def _depths(place: int, rest: str, macros: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    said = _settings(rest)
    variable, depth = said.get("variable", ""), said.get("depth", "")
    if not variable or not depth:
        return
    for _ in range(8):  # macros of macros
        depth = _WORD.sub(lambda word: macros.get(word[0], word[0]), depth)
    for one in variable.split(","):
        name = one.strip()
        yield place, f'::ft_fifos::set_name({name}, "{name}"); ::ft_fifos::set_depth({name}, {depth}); '


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
