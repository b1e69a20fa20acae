"""Text of HLS sources: substitutions, types, conversions, templates."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence

from ...dtypes import dtype
from ...kernels import element_function, source
from ...kernels.key import KernelKey, Key, Port, describe_operands
from ...kernels.source import OPERAND_NAMES
from ..group import KernelGroup, element_word, is_wide, port_slots, slot_type, values

# The replacement of a macro: a text, or for a macro with parameters a function that returns one.
Word = str | Callable[..., str]
# Beats in a FIFO between two dataflow stages: enough to absorb different latencies.
FIFO_DEPTH = 32
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def expand(text: str, words: Mapping[str, Word]) -> str:
    """Replaces every macro of `words` in `text`, also macros within replacements and arguments.

    The result is that of the C preprocessor, in readable form. No replacement may contain its own
    macro.
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
    """Returns the arguments of the call whose parenthesis opens at `at`, and the end of the
    call."""
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


def file_settings(group: KernelGroup, key: Key) -> list[str]:
    """Returns the settings of a file with the HLS C++ of `key`, whose loops have no stride of a grid."""
    settings = source.settings(group.kind.compute(key), key.lanes, True, "slab")
    return [line for line in settings if line.split()[1] != "FT_GRID_STRIDE"]


def fill(template: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """Returns the file `template` of hls/vitis/ with each `$name` replaced."""
    return source.fill(f"vitis/{template}", values)


def indented(lines: Sequence[str]) -> list[str]:
    """Returns the lines indented by four columns; pragmas and empty lines stay."""
    return [line if line.startswith("#") or not line else f"    {line}" for line in lines]


def identifiers(text: str) -> set[str]:
    """Returns the C identifiers in a text."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


def substituted(text: str, named: Mapping[str, str]) -> str:
    """Replaces the names in a text by their values."""
    return _IDENTIFIER.sub(lambda m: named.get(m[0], m[0]), text)


_NAMED = re.compile(r"const (\w+) (\w+) = (.*);")


def tidy(lines: Sequence[str], result: str = "", parameters: Sequence[tuple[str, str]] = ()) -> list[str]:
    """Removes variables that no line reads, and variables that only copy another of equal type.
    `result` is the function's return type, `parameters` are its parameters as (type, name)."""
    kept = list(lines)
    for k in reversed(range(len(kept))):
        named = _NAMED.fullmatch(kept[k])
        if named is None or " = " in named.group(3):
            continue
        c_type, name, value = named.groups()
        uses = [i for i in range(k + 1, len(kept)) if name in identifiers(kept[i])]
        if not uses:
            del kept[k]
            continue
        alias = re.fullmatch(rf"const {c_type} (\w+) = (?:\({c_type}\))?\(?{name}\)?;", kept[uses[0]])
        if len(uses) == 1 and alias is not None:
            kept[uses[0]] = f"const {c_type} {alias.group(1)} = {value};"
            del kept[k]
        elif (c_type, value) in parameters:
            kept[k:] = [re.sub(rf"\b{name}\b", value, line) for line in kept[k + 1 :]]
        elif len(uses) == 1 and c_type == result and kept[uses[0]] == f"return {name};":
            kept[uses[0]] = f"return {value};"
            del kept[k]
    return kept


def table(c_type: str, name: str, values: Sequence[str]) -> list[str]:
    """Returns a constant array, wrapped to readable lines."""
    whole = f"static const {c_type} {name}[{len(values)}] = {{{', '.join(values)}}};"
    return textwrap.wrap(whole, 98, subsequent_indent="    ", break_long_words=False)


def switch(statements: Mapping[str, Sequence[int]], opcode: str = "opcode") -> list[str]:
    """Returns a switch over the opcode; `statements` maps each statement to its opcodes."""
    *first, last = statements
    if not first:
        return [last]
    lines = [f"switch ({opcode}) {{"]
    for text in first:
        case = " ".join(f"case_{k}:" for k in statements[text]) + f" {text}" + " break;" * ("return " not in text)
        case = textwrap.fill(case, 94, subsequent_indent="    ", break_long_words=False)
        lines += re.sub(r"\bcase_(?=\d+:)", "case ", case).split("\n")
    return [*lines, f"default: {last}", "}"]


def masks(name: str, rows: Sequence[Sequence[bool]], comment: str) -> tuple[list[str], str]:
    """Returns a table of bit masks by opcode with a comment, and the expression of the current
    opcode's mask. There is no table if all opcodes have the same mask."""
    numbers = [f"{sum(flag << k for k, flag in enumerate(row)):#x}" for row in rows]
    if len(set(numbers)) == 1:
        return [], numbers[0]
    return [f"// {comment}", *table(f"ap_uint<{len(rows[0])}>", name, numbers)], f"{name}[opcode]"


def fifos(types: Mapping[str, str]) -> list[str]:
    """Returns declarations of FIFOs between dataflow stages; `types` maps names to element types."""
    return [f'hls::stream<{c_type}, {FIFO_DEPTH}> {name}("{name}");' for name, c_type in types.items()]


def function(head: str, lines: Sequence[str]) -> list[str]:
    """Returns the text of a function, on one line if it is short."""
    if len(lines) == 1 and len(head) + len(lines[0]) < 94:
        return [f"{head} {{ {lines[0]} }}"]
    return [head, "{", *indented(lines), "}"]


# C types in memory: float16 and bfloat16 are 16 bits, whatever a compiler calls them.
PORT_TYPES = {"ft_half": "uint16_t", "ushort": "uint16_t", "uchar": "uint8_t", "uint": "uint32_t", "ulong": "uint64_t"}
# Suffixes of the conversion functions for half and pairs of halves, which have no operators.
HALVES = {"float16": "half", "complex32": "half_pair"}


def words(compute: dtype) -> dict[str, Word]:
    """Returns the macros of expressions as C++ of one lane, computed in `compute`."""
    c = source.scalar(compute)
    return {
        "FT_V": c,
        "FT_T": c,
        "FT_M": "bool",
        "FT_I": "int",
        "FT_C": f"ft_c{c}",
        "FT_VEC": lambda t: t,
        "K": lambda x: f"{c}({x})",
        "FT_PAIR": lambda t, re, im: f"ft_c{t}{{{re}, {im}}}",
        "FT_CONVERT": lambda t, v: f"{t}({v})",
        "FT_BITS": lambda t, v: f"ft_bits<{t}>({v})",
        "FT_MASK_VALUE": lambda t, m: f"{t}(({m}) ? 1 : 0)",
        "FT_VALUE_MASK": lambda v: f"({v} != 0)",
        "FT_ANY": lambda m: f"({m})",
        "FT_INDEX_MASK": lambda m: f"({m})",
        "FT_MASK_INDEX": lambda m: f"({m})",
        "FT_POSITION": "position",
    }


def element(c: str) -> str:
    """Returns the C type of a port's element as the sources spell it."""
    return "uint16_t" if c == "ft_half" else c


def beat_type(group: KernelGroup, name: str) -> str:
    """Returns the C type of a beat of the pointer `name`: a vector, or an element."""
    c = element(port_words(group)[name])
    return f"hls::vector<{c}, {group.lanes}>" if is_wide(group, name) else c


def loaded(text: str, port: Port, value_type: str) -> str:
    """Converts a port's element to the member's value; reinterprets bits if the port type
    differs."""
    port_type = element_word(port)
    if PORT_TYPES.get(port_type, port_type) != PORT_TYPES.get(value_type, value_type):
        text = f"ft_bits<{port_type}>({text})"
    return f"ft_from_{HALVES[port.dtype.name]}({text})" if port.dtype.name in HALVES else text


def stored(text: str, port: Port, value_type: str) -> str:
    """Converts a member's value to the port's element."""
    port_type = element_word(port)
    if port.dtype.name in HALVES:
        text = f"ft_to_{HALVES[port.dtype.name]}({text})"
    if PORT_TYPES.get(port_type, port_type) != PORT_TYPES.get(value_type, value_type):
        text = f"ft_bits<{value_type}>({text})"
    return text


def text_of(key: KernelKey) -> str:
    """Returns all expressions of a kernel as one text."""
    expressions = [*key.body, *(t for _, t in key.lets)]
    if key.reduction is not None:
        r = key.reduction
        expressions += [r.lift, r.combine, r.identity, r.beats]
    return " ".join(expressions)


def dropped_bits(key: KernelKey) -> int:
    """Returns the bits that a narrow output rounds away between steps; 0 if no expression uses
    them."""
    return max(source.dropped_bits(key), default=0)


def space_of(key: KernelKey) -> str:
    """Returns the namespace of the helpers that a member's expressions call."""
    return f"compute_{element_function.helper_space(key)}"


def describe(key: KernelKey) -> str:
    """Describes a member: op, dtypes and layout."""
    return f"{key.name}: {describe_operands(key)}"


def value_lines(key: KernelKey, used_text: str) -> tuple[list[str], list[str]]:
    """Returns lines that declare the by-value scalars used in the text `used_text`, and their
    slots."""
    lines, slots_ = [], []
    for i, (name, c) in enumerate(values(key)):
        if f"{name}" not in identifiers(used_text):
            continue
        lines.append(f"const {c} {name} = {scalar(f'value{i}', c)};")
        slots_.append(f"value{i}")
    return lines, slots_


def scalar(bits: str, c: str) -> str:
    """Returns the C expression of a scalar of type `c` from the 64 bits of the `long` variable
    `bits`."""
    if c == "float":
        return f"ft_bits<float>((int){bits})"
    return f"ft_bits<double>({bits})" if c == "double" else f"({c}){bits}"


def port_words(group: KernelGroup) -> dict[str, str]:
    """Returns the C type of an element by pointer, outputs first.

    In a vector a complex64 element is a `uint64_t`: a port's beat is an aggregate of plain numbers.
    """
    types = {name: slot_type(users) for name, users in port_slots(group)}
    return {n: "uint64_t" if c == "ft_cfloat" and is_wide(group, n) else c for n, c in types.items()}


def lane_words(element_types: Mapping[str, str], key: KernelKey) -> dict[str, Word]:
    """Returns the macros of an element function on a board. FT_LANE(w_in_a) is the current lane's
    element of the vector w_in_a, converted from the port's type.

    `element_types` has the C type of each port's elements.
    """

    def lane(vector: str) -> str:
        name = vector.removeprefix("w_")
        port = key.ins[OPERAND_NAMES.index(name.removeprefix("in_"))]
        return loaded(name, port, element_types[name])

    return words(key.compute) | {"FT_LANE": lane}
