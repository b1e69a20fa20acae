"""Words of the expressions in HLS C++: types, conversions, and the namespace of a compute type."""

from __future__ import annotations

from collections.abc import Mapping

from ...dtypes import dtype
from ...kernels import ctype, source, spaces
from ...kernels.key import KIND_WORDS, KernelKey, Port
from ...kernels.parameters import NAMES
from ..group import Group, is_wide, slot_word, slots, values, word
from .text import Word, identifiers

# In memory float16 and bfloat16 are 16 bits, whatever a compiler may call them.
STORED = {"ft_half": "uint16_t", "ushort": "uint16_t", "uchar": "uint8_t", "uint": "uint32_t", "ulong": "uint64_t"}
# What converts halves, which no operator takes, and pairs of them.
HALVES = {"float16": "half", "complex32": "half_pair"}


def words(compute: dtype) -> dict[str, Word]:
    """The words of the expressions as one lane's C++, computed in `compute`."""
    c = ctype.scalar(compute)
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
    """The C type of a port's element as the sources write it."""
    return "uint16_t" if c == "ft_half" else c


def loaded(text: str, port: Port, of: str) -> str:
    """A port's element as the member's value; its bits where the port serves several dtypes."""
    mine = word(port)
    if STORED.get(mine, mine) != STORED.get(of, of):
        text = f"ft_bits<{mine}>({text})"
    return f"ft_from_{HALVES[port.dtype.name]}({text})" if port.dtype.name in HALVES else text


def stored(text: str, port: Port, of: str) -> str:
    """A member's value as the port's element."""
    mine = word(port)
    if port.dtype.name in HALVES:
        text = f"ft_to_{HALVES[port.dtype.name]}({text})"
    if STORED.get(mine, mine) != STORED.get(of, of):
        text = f"ft_bits<{of}>({text})"
    return text


def text_of(key: KernelKey) -> str:
    """All expressions of a kernel."""
    expressions = [*key.body, *(t for _, t in key.lets)]
    if key.reduction is not None:
        r = key.reduction
        expressions += [r.lift, r.combine, r.identity, r.beats]
    return " ".join(expressions)


def dropped_bits(key: KernelKey) -> int:
    """What a narrow output rounds away between steps; 0 where no expression asks."""
    return max(source.dropped_bits(key), default=0)


def space_of(key: KernelKey) -> str:
    """The namespace whose helpers a member's expressions call."""
    return f"compute_{spaces.space(key)}"


def describe(key: KernelKey) -> str:
    """A member in words: op, dtypes and layout."""
    ins = ", ".join(f"{p.dtype.name} {KIND_WORDS[p.kind]}" for p in key.ins)
    outs = ", ".join(f"{p.dtype.name} {KIND_WORDS[p.kind]}" for p in key.outs)
    return f"{key.name}: ({ins}) -> {outs}, computed in {key.compute.name}"


def value_lines(key: KernelKey, wanted: str) -> tuple[list[str], list[str]]:
    """Lines that name the by-value scalars that the text `wanted` speaks of; and their slots."""
    lines, slots_ = [], []
    for i, (name, c) in enumerate(values(key)):
        if f"{name}" not in identifiers(wanted):
            continue
        lines.append(f"const {c} {name} = {scalar(f'value{i}', c)};")
        slots_.append(f"value{i}")
    return lines, slots_


def scalar(bits: str, c: str) -> str:
    """A number of C type `c` that comes as the 64 bits of a `long`."""
    if c == "float":
        return f"ft_bits<float>((int){bits})"
    return f"ft_bits<double>({bits})" if c == "double" else f"({c}){bits}"


def port_words(group: Group) -> dict[str, str]:
    """The C type of an element by pointer, outputs first.

    In vectors a complex64 is 64 bits: a port's beat is aggregated from plain numbers.
    """
    types = {name: slot_word(users) for name, users in slots(group)}
    return {n: "uint64_t" if c == "ft_cfloat" and is_wide(group, n) else c for n, c in types.items()}


def lane_words(of: Mapping[str, str], key: KernelKey) -> dict[str, Word]:
    """`words`, with FT_LANE(w_in_a) as the element in_a of a port of type `of`, converted."""

    def lane(vector: str) -> str:
        name = vector.removeprefix("w_")
        port = key.ins[NAMES.index(name.removeprefix("in_"))]
        return loaded(name, port, of[name])

    return words(key.compute) | {"FT_LANE": lane}
