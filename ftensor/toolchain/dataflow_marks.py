"""Marks of the processes of users' kernels, for the check of FIFO depths.

The processes of DATAFLOW regions are marked in a kernel's preprocessed C++, for hls/standin/fifos.h:

    #pragma HLS DATAFLOW             a `region` begins here, up to the end of the block
        load(in, s, n);              each statement of the block is a process: `region.next(...)`
        if (last) drain(s);          and so is each under a condition, in braces if it has none
        for (...) { #pragma UNROLL   each statement of an unrolled loop, in each turn: `region.turn(...)`
    #pragma HLS INLINE               the statements of a function that a region calls are processes of the region
    #pragma HLS STREAM variable=s depth=8        `set_depth(s, 8)`
    static hls::stream<int> s;       each compute unit has its own: `static thread_local`

The marks are inserted without new lines, so the compiler's messages keep their line numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

# A word that only preprocessed text with fifos.h contains.
RECORDED = "ft_fifos"
OPTION = "-DFT_FIFOS"
TASKS = "struct ft_tasks;"  # of hls_task.h: their accesses are recorded without a region
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+HLS[ \t]+(\w+)(.*)$", re.MULTILINE | re.IGNORECASE)
_LINE = re.compile(r'^#[ \t]+(\d+)[ \t]+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_SETTING = re.compile(r"(\w+)\s*=\s*([^=]*?)(?=\s+\w+\s*=|\s*$)")
_CALL = re.compile(r"(?:[\w:&*\s]+=\s*)?((?:\w+\s*::\s*)*\w+)\s*(?:<[^;{}()]*>\s*)?\(")
_TASK = re.compile(r"(?:::\s*)?(?:hls\s*::\s*)?task\s+\w+\s*[({]\s*([\w:]+)")
_CHANNEL = re.compile(r"(?:::\s*)?(?:hls\s*::\s*)?(?:split|merge)\s*::\s*\w+\s*<[^;]*>\s*(\w+)")
_STREAM = re.compile(r"(?:(?:static|const)\s+)*(?:::\s*)?(?:hls\s*::\s*)?stream\s*<")
_WORD = re.compile(r"\w+")
_STATIC = re.compile(r"\bstatic\s+(?=(?:::\s*)?(?:hls\s*::\s*)?stream\s*<)")
_NAMED = re.compile(r"\s*\w+\s*(?:[;,\[{]|\(\s*\")")
_LABEL = re.compile(r"(?:case\b(?:[^:;?]|::)*|\w+\s*):(?!:)")
_COUNTED = re.compile(r"\(\s*[\w\s]*=\s*(\d+)\s*;\s*\w+\s*(<=?)\s*(\d+)\s*;")
_LOOPS = ("for", "while", "do")
_CONTROLS = ("if", "for", "while", "switch")
# Statements that end with a semicolon although they contain braces.
_DECLARES = ("struct", "class", "union", "enum", "typedef", "using", "auto")


class Statement(NamedTuple):
    """A statement of a block: text[begin:end]."""

    begin: int
    end: int


def marked(text: str, macros: Mapping[str, str] | None = None, always: bool = False) -> str | None:
    """Returns the text with marks; None without a DATAFLOW region or hls::task, unless `always`.

    `macros` replace names in the depths of pragmas, which a compiler does not expand.
    """
    marks: list[tuple[int, str]] = []
    source = _Source(text, macros or {})
    regions = 0
    for pragma in _PRAGMA.finditer(text):
        word, rest = pragma[1].lower(), pragma[2]
        if word == "dataflow":
            regions += 1
            marks += _Region(source, pragma.end()).marks()
        elif word == "stream":
            marks += _depths(_to_token(text, pragma.end()), rest, macros or {})
    while found := source.called & source.inlined.keys():
        for name in found:
            marks += [mark for begin in source.inlined.pop(name) for mark in _Region(source, begin, name).marks()]
    if not regions and TASKS not in text and not always:
        return None
    if TASKS not in text:
        marks += [(m.end(), "thread_local ") for m in _STATIC.finditer(text) if _variable(text, m.end())]
    pieces, at = [], 0
    for place, mark in sorted(marks, key=lambda m: m[0]):
        pieces += [text[at:place], mark]
        at = place
    return "".join([*pieces, text[at:]])


def names_in_depths(text: str) -> set[str]:
    """Returns the names in the depths and factors of the text's pragmas, which may be macros."""
    said = (_settings(p[2]) for p in _PRAGMA.finditer(text) if p[1].lower() in ("stream", "unroll"))
    numbers = (one.get(name, "") for one in said for name in ("depth", "factor"))
    return {name for number in numbers for name in _WORD.findall(number) if not name[0].isdigit()}


class _Source:
    """Preprocessed text, the macros for its depths, and its INLINE functions that have no marks yet."""

    def __init__(self, text: str, macros: Mapping[str, str]) -> None:
        self.text, self.macros = text, macros
        self._lines = [(m.end() + 1, int(m[1]), PurePath(m[2]).name) for m in _LINE.finditer(text)]
        self.called: set[str] = set()  # the functions that statements of regions call
        self.inlined: dict[str, list[int]] = {}  # the positions after the pragmas, by function
        for pragma in _PRAGMA.finditer(text):
            if pragma[1].lower() == "inline" and not re.search(r"\boff\b", pragma[2]):
                self.inlined.setdefault(_function_around(text, pragma.start()), []).append(pragma.end())
        for pragma in _PRAGMA.finditer(text):
            if pragma[1].lower() == "dataflow":  # its statements are processes wherever it is called
                self.inlined.pop(_function_around(text, pragma.start()), None)

    def line(self, place: int) -> str:
        """Returns "file:line" for a position in the text."""
        before = [mark for mark in self._lines if mark[0] <= place]
        begin, line, name = before[-1] if before else (0, 1, "")
        return f"{name}:{line + self.text.count(chr(10), begin, place)}"


def _function_around(text: str, at: int) -> str:
    """Returns the name of the function whose outermost block contains the position, "" if there is none."""
    closing = {"(": ")", "{": "}"}
    for bracket in "{(":  # backwards: the block's begin, then that of the parameters
        depth = 1
        while at > 0 and depth:
            at -= 1
            depth += (text[at] == closing[bracket]) - (text[at] == bracket)
        if bracket == "{":
            at = len(text[:at].rstrip()) - 1
            if depth or text[at : at + 1] != ")":
                return ""
    name = re.search(r"(\w+)\s*$", text[:at])
    return name[1] if name and name[1] not in _CONTROLS else ""


class _Region:
    """The block after a pragma. `begin` is the position after the pragma, `function` the name of an INLINE function."""

    def __init__(self, source: _Source, begin: int, function: str = "") -> None:
        self._source, self._text, self._macros = source, source.text, source.macros
        self._begin, self._name, self._function = begin, f"ft_region_{begin}", function
        self._processes = self._loops = 0

    def marks(self) -> Iterator[tuple[int, str]]:
        """Yields (position, text) of the marks to insert, in the order of the source."""
        start = _to_token(self._text, self._begin)
        function = f', "{self._function}"' if self._function else ""
        yield start, f'::ft_fifos::region {self._name}("{self._source.line(self._begin)}"{function}); '
        yield from self._block(start, "")

    def _block(self, begin: int, loop: str) -> Iterator[tuple[int, str]]:
        """Yields the marks of the statements from `begin` to the end of their block. `loop` is the
        index of the unrolled loop around them, "" if there is none."""
        for statement in _statements(self._text, begin):
            yield from self._statement(statement, loop)

    def _statement(self, statement: Statement, loop: str) -> Iterator[tuple[int, str]]:
        text, (begin, end) = self._text, statement
        while label := _LABEL.match(text, begin):
            begin = _to_token(text, label.end())
        if begin >= end:  # a label before the end of a block
            return
        first = _WORD.match(text, begin)
        word = first[0] if first else ""
        if text[begin] == "{":
            yield from self._block(begin + 1, loop)
            return
        call = next((m for m in (kind.match(text, begin, end) for kind in (_TASK, _CHANNEL, _CALL)) if m), None)
        name = re.sub(r"\s", "", call[1]) if call else ""
        label_ = "a loop" if word in _LOOPS or name in _LOOPS else name or word or "a statement"
        title = _quoted(f"{label_} ({self._source.line(begin)})")
        yield begin, f"{self._name}.next({self._processes}, {title}{loop and ', ' + loop}); "
        if name and word not in _CONTROLS + _LOOPS:
            callee = name.rpartition("::")[2]
            self._source.called.add(callee)
            yield begin, f'{self._name}.calls("{callee}"); '
        self._processes += 1
        if word in ("if", "switch"):  # the condition is a process, too
            body = _behind_brackets(text, begin)
            then = Statement(body, _end_of_statement(text, body))
            yield from self._body(then, loop)
            other = _to_token(text, then.end)
            if word == "if" and _is_else(text, other):
                yield from self._body(Statement(_to_token(text, other + len("else")), end), loop)
        elif word == "for" and self._unrolled(body := _behind_brackets(text, begin), begin):
            turn = f"{self._name}.turn({self._loops}); "
            inner, self._loops = str(self._loops), self._loops + 1
            yield from self._body(Statement(body, end), inner, turn)
        else:
            for variable in _declared(text[begin:end]):
                yield end, f' ::ft_fifos::set_name({variable}, "{variable}"); '

    def _body(self, statement: Statement, loop: str, before: str = "") -> Iterator[tuple[int, str]]:
        """Yields the marks of the statement that a condition or loop controls, in braces."""
        begin, end = statement
        if self._text[begin : begin + 1] == "{":
            yield begin + 1, before
            yield from self._block(begin + 1, loop)
            return
        yield begin, "{ " + before
        yield from self._statement(statement, loop)
        yield end, " }"

    def _unrolled(self, body: int, begin: int) -> bool:
        """True if the loop whose body begins at `begin` is unrolled, so that its body is repeated."""
        text = self._text
        if text[body : body + 1] == "{":
            spans = [(body + 1, _to_token(text, body + 1))]
            spans += [(one.end, _to_token(text, one.end)) for one in _statements(text, body + 1)]
        else:
            spans = [(text.rfind(")", begin, body), body)]
        for start, stop in spans:
            for pragma in _PRAGMA.finditer(text, start, stop):
                if pragma[1].lower() != "unroll" or re.search(r"\boff\b", pragma[2]):
                    continue
                factor = _expanded(_settings(pragma[2]).get("factor", ""), self._macros)
                counted = _COUNTED.match(text, text.index("(", begin))
                turns = int(counted[3]) - int(counted[1]) + (counted[2] == "<=") if counted else 0
                return not factor or (factor.isdigit() and turns > 0 and int(factor) >= turns)
        return False


def _behind_brackets(text: str, at: int) -> int:
    """Returns the position of the first token after a condition in brackets."""
    at, depth = text.index("(", at), 0
    while (at := _to_token(text, at)) < len(text):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            break
        at = _behind(text, at)
    return _to_token(text, at + 1)


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
    while label := _LABEL.match(text, begin):
        begin = _to_token(text, label.end())
    word = _WORD.match(text, begin)
    first = word[0] if word else ""
    if first in ("if", "for", "while", "switch"):
        end = _end_of_statement(text, _behind_brackets(text, begin))
        other = _to_token(text, end)
        is_else = first == "if" and _is_else(text, other)
        return _end_of_statement(text, _to_token(text, other + len("else"))) if is_else else end
    if first == "do":
        begin = _end_of_statement(text, _to_token(text, begin + len("do")))  # the `while (...);` that follows
    depth, at = 0, begin
    while at < len(text):
        at = _to_token(text, at)
        c = text[at : at + 1]
        if c in ("(", "[", "{"):
            depth += 1
        elif c in (")", "]", "}"):
            depth -= 1
            if depth < 0:  # the end of the enclosing block
                return at
            if depth == 0 and c == "}" and (text[begin] == "{" or not (first in _DECLARES or _goes_on(text, at + 1))):
                return at + 1
        elif c == ";" and depth == 0:
            return at + 1
        at = _behind(text, at)
    return at


def _goes_on(text: str, at: int) -> bool:
    """True if the statement continues after the brace that ends before `at`, such as an initializer
    or a lambda in a call."""
    at = _to_token(text, at)
    return text[at : at + 1] in (";", ",", ".", ")", "=", "(")


def _is_else(text: str, at: int) -> bool:
    word = _WORD.match(text, at)
    return word is not None and word[0] == "else"


def _to_token(text: str, at: int) -> int:
    """Returns the position of the next token: skips white space and preprocessor lines."""
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
    """Returns the position after the token at `at`, which is a character or a literal."""
    quote = text[at : at + 1]
    if quote not in ('"', "'") or (quote == "'" and text[at - 1 : at].isalnum()):  # 1'000 is a number
        return at + 1
    at += 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return at + 1


def _declared(source: str) -> Sequence[str]:
    """Returns the names of the variables that a declaration of streams declares."""
    match = _STREAM.match(source)
    if match is None:
        return ()
    at = _behind_angles(source, match.end())
    names, depth, start = [], 0, at
    for k in range(at, len(source)):
        c = source[k]
        depth += (c in "([{") - (c in ")]}")
        if c in ",;" and depth == 0:
            if word := _WORD.match(source[start:k].strip()):
                names.append(word[0])
            start = k + 1
    return names


def _behind_angles(text: str, at: int) -> int:
    """Returns the position after the template arguments that begin at `at`."""
    depth = 1
    while at < len(text) and depth:
        depth += (text[at] == "<") - (text[at] == ">")
        at += 1
    return at


def _variable(text: str, at: int) -> bool:
    """True if the text declares a static stream, rather than a function that returns a stream."""
    stream = _STREAM.match(text, at)
    return stream is not None and bool(_NAMED.match(text, _behind_angles(text, stream.end())))


def _settings(rest: str) -> dict[str, str]:
    return {name.lower(): value.strip() for name, value in _SETTING.findall(rest.strip())}


def _depths(place: int, rest: str, macros: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    said = _settings(rest)
    variable, depth = said.get("variable", ""), said.get("depth", "")
    if not variable or not depth:
        return
    depth = _expanded(depth, macros)
    for one in variable.split(","):
        name = one.strip()
        yield place, f'::ft_fifos::set_name({name}, "{name}"); ::ft_fifos::set_depth({name}, {depth}); '


def _expanded(text: str, macros: Mapping[str, str]) -> str:
    for _ in range(8):  # macros of macros
        text = _WORD.sub(lambda word: macros.get(word[0], word[0]), text)
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
