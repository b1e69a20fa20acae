"""Changes to the text of users' kernels for simulation: marks of processes, and tensors as streams.

The processes of DATAFLOW regions are marked in a kernel's preprocessed C++, for hls/standin/fifos.h:

    #pragma HLS DATAFLOW             a `region` begins here, up to the end of the block
        load(in, s, n);              each statement of the block is a process: `region.next(...)`
        if (last) drain(s);          and so is each under a condition, in braces if it has none
        for (...) { #pragma UNROLL   each statement of an unrolled loop, in each turn: `region.turn(...)`
    #pragma HLS STREAM variable=s depth=8        `set_depth(s, 8)`
    static hls::stream<int> s;       each compute unit has its own: `static thread_local`

The marks are inserted without new lines, so the compiler's messages keep their line numbers.

Tensors at the ends of AXI streams, as a DMA of PYNQ provides them, need a second function of a kernel.
It takes a pointer and a size in bytes for each stream. It writes the tensors into the input streams,
with TLAST in the last beat, runs the kernel, and reads the output streams.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

from ..image.contents import BYTES, ENDS, ArgumentDescription, KernelDescription

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
    lines = _Lines(text)
    regions = 0
    for pragma in _PRAGMA.finditer(text):
        word, rest = pragma[1].lower(), pragma[2]
        if word == "dataflow":
            regions += 1
            marks += _Region(text, pragma.end(), regions, lines, macros or {}).marks()
        elif word == "stream":
            marks += _depths(_to_token(text, pragma.end()), rest, macros or {})
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


class _Lines:
    """Finds the file and line of a place in preprocessed text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.marks = [(m.end() + 1, int(m[1]), PurePath(m[2]).name) for m in _LINE.finditer(text)]

    def at(self, place: int) -> str:
        """Returns "file:line" for a position in the text."""
        before = [mark for mark in self.marks if mark[0] <= place]
        begin, line, name = before[-1] if before else (0, 1, "")
        return f"{name}:{line + self.text.count(chr(10), begin, place)}"


class _Region:
    """The block after a DATAFLOW pragma. `begin` is the position after the pragma."""

    def __init__(self, text: str, begin: int, number: int, lines: _Lines, macros: Mapping[str, str]) -> None:
        self._text, self._lines, self._macros = text, lines, macros
        self._begin, self._name = begin, f"ft_region_{number}"
        self._processes = self._loops = 0

    def marks(self) -> Iterator[tuple[int, str]]:
        """Yields (position, text) of the marks to insert, in the order of the source."""
        start = _to_token(self._text, self._begin)
        yield start, f'::ft_fifos::region {self._name}("{self._lines.at(self._begin)}"); '
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
        title = _quoted(f"{label_} ({self._lines.at(begin)})")
        yield begin, f"{self._name}.next({self._processes}, {title}{loop and ', ' + loop}); "
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


_HEADER = """
#include <cstdio>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>
#include <hls_stream.h>
namespace ft_ends {
namespace {

template <typename F> struct parameters;
template <typename... A> struct parameters<void(A...)> {
    template <std::size_t N>
    using at = typename std::remove_reference<typename std::tuple_element<N, std::tuple<A...>>::type>::type;
};
template <typename T, typename = void> struct bits {
    static const std::size_t value = 8 * sizeof(T);
};
template <typename T> struct bits<T, decltype((void)T::width)> {
    static const std::size_t value = T::width;
};
// The data of a beat, and its side channels.
template <typename T, typename = void> struct beat {
    typedef T data_type;
    static T &data(T &x) { return x; }
    static void side(T &, std::size_t, bool) {}
};
template <typename T> struct beat<T, decltype((void)T::has_last)> {
    typedef decltype(std::declval<T &>().data) data_type;
    static data_type &data(T &x) { return x.data; }
    template <typename U> static void last(U &x, bool is_last, std::true_type) { x.last = is_last; }
    template <typename U> static void last(U &, bool, std::false_type) {}
    template <typename U> static void keep(U &x, std::size_t bytes, std::true_type)
    {
        x.keep = 0;
        for (std::size_t k = 0; k < bytes; k++) x.keep[k] = 1;
    }
    template <typename U> static void keep(U &, std::size_t, std::false_type) {}
    template <typename U> static void strb(U &x, std::size_t bytes, std::true_type)
    {
        x.strb = 0;
        for (std::size_t k = 0; k < bytes; k++) x.strb[k] = 1;
    }
    template <typename U> static void strb(U &, std::size_t, std::false_type) {}
    static void side(T &x, std::size_t bytes, bool is_last)
    {
        last(x, is_last, std::integral_constant<bool, T::has_last>());
        keep(x, bytes, std::integral_constant<bool, T::has_keep>());
        strb(x, bytes, std::integral_constant<bool, T::has_strb>());
    }
};
#ifdef FT_FIFOS
// The ends are of no kernel: their FIFOs are not checked.
struct unrecorded {
    const bool before = ft_fifos::trace().records;
    unrecorded() { ft_fifos::trace().records = false; }
    ~unrecorded() { ft_fifos::trace().records = before; }
};
template <typename S> void without_limit(S &stream) { ft_fifos::set_depth(stream, std::size_t(1) << 30); }
#else
struct unrecorded {
    ~unrecorded() {}
};
template <typename S> void without_limit(S &) {}
#endif

template <typename S> class end
{
    typedef decltype(std::declval<S &>().read()) T;
    typedef typename beat<T>::data_type D;
    static_assert(bits<D>::value == 8 * sizeof(D), "a beat has whole bytes, a power of two of them");
    static const std::size_t each = sizeof(D);
    const char *const name;
    char *const at;
    const std::size_t bytes, filled;

  public:
    S stream;
    end(const char *name, void *at, std::size_t bytes)
        : name(name), at((char *)at), bytes(bytes), filled((bytes + each - 1) / each), stream(name)
    {
        const unrecorded now;
        without_limit(stream);
        for (std::size_t k = 0; k < filled; k++) {
            const std::size_t left = bytes - k * each, size = left < each ? left : each;
            T x = T();
            std::memcpy((void *)&beat<T>::data(x), this->at + k * each, size);
            beat<T>::side(x, size, k + 1 == filled);
            stream.write(x);
        }
    }
    std::size_t held() const { return stream.size(); }
    bool is_input() const { return held() < filled; }
    ~end()
    {
        const unrecorded now;
        if (is_input()) return;  // the stream reports beats that nobody has read
        const std::size_t written = held() - filled, most = (bytes + each - 1) / each;
        for (std::size_t k = 0; k < filled; k++) stream.read();
        for (std::size_t k = 0; k < written; k++) {
            T x = stream.read();
            const std::size_t left = k < most ? bytes - k * each : 0;
            std::memcpy(at + k * each, (const void *)&beat<T>::data(x), left < each ? left : each);
        }
        if (written > most) {
            const char *text = "stream '%s': the kernel has sent %zu beats, and the tensor holds %zu\\n";
            std::fprintf(stderr, text, name, written, most);
        }
        if (!written && filled) std::fprintf(stderr, "stream '%s' is neither read nor written\\n", name);
    }
};

}  // namespace
}  // namespace ft_ends
"""


def with_streams(kernels: Sequence[KernelDescription]) -> list[KernelDescription]:
    """Returns the kernels that have streams among their arguments."""
    return [k for k in kernels if any(_is_stream(a) for a in k.arguments)]


def _is_stream(a: ArgumentDescription) -> bool:
    return a.is_stream and a.c.endswith("&")


def text(source: str, kernels: Sequence[KernelDescription]) -> str:
    """Returns a source that includes a file, given by its path, and a second function for each of
    `kernels`."""
    return f'#include "{source}"\n' + _HEADER + "".join(map(_function, kernels))


def _function(kernel: KernelDescription) -> str:
    name, parameters, ends, values = kernel.name, list[str](), list[str](), list[str]()
    for k, a in enumerate(kernel.arguments):
        if _is_stream(a):
            parameters += [f"void *{a.name}", f"unsigned long {BYTES}{a.name}"]
            ends.append(end_of(kernel, k))
            values.append(f"ft_end_{k}.stream")
        else:
            parameters.append(f"ft_ends::parameters<decltype({name})>::at<{k}> {a.name}")
            values.append(a.name)
    call = f"    {name}({', '.join(values)});\n"
    if len(ends) == len(kernel.arguments):  # it is free-running: it runs while beats arrive
        left = "".join(f" + (ft_end_{k}.is_input() ? ft_end_{k}.held() : 0)" for k in range(len(ends)))
        call = (
            f"    for (std::size_t before = 0, left = 1; left && left != before;) {{\n    {call}"
            f"        before = left, left = 0{left};\n    }}\n"
        )
    return f'extern "C" void {name}{ENDS}({", ".join(parameters)})\n{{\n{"".join(ends)}{call}}}\n'


def end_of(kernel: KernelDescription, k: int) -> str:
    """Returns the declaration of the end of the stream of number `k`, `ft_end_K.stream`."""
    name, of = kernel.arguments[k].name, f"ft_ends::parameters<decltype({kernel.name})>::at<{k}>"
    return f'    ft_ends::end<{of}> ft_end_{k}("{name}", {name}, {BYTES}{name});\n'


def joined(kernels: Sequence[KernelDescription]) -> tuple[KernelDescription, ...]:
    """Returns the kernels of a library; a kernel with a second function gets that function's
    arguments."""
    seconds = {k.name.removesuffix(ENDS): k for k in kernels if k.name.endswith(ENDS)}
    names = {k.name for k in kernels}
    seconds = {name: k for name, k in seconds.items() if name in names}
    taken = {k.name for k in seconds.values()}
    return tuple(
        replace(k, arguments=seconds[k.name].arguments) if k.name in seconds else k
        for k in kernels
        if k.name not in taken
    )
