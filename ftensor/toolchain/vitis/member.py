"""Function units: each member's op as a function, and the conversion of an element around it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...kernels import source
from ...kernels.element_function import END_OF_SPACE, namespace, with_vector_operands
from ...kernels.holes import inputs, output
from ...kernels.key import BY_VALUE, COMPLEX, INDEX, MASK, POSITION, REAL, KernelKey
from ...kernels.source import OPERAND_NAMES
from ..group import KernelGroup, port_slots, values
from .text import (
    arguments,
    beat_type,
    describe,
    element,
    expand,
    function,
    identifiers,
    indented,
    lane_words,
    port_words,
    space_of,
    stored,
    substituted,
    switch,
    text_of,
    tidy,
    value_lines,
    words,
)


@dataclass
class MemberText:
    """A member's source text: its functions, and how elements are passed to them."""

    opcode: int
    key: KernelKey
    space: str  # the namespace of the compute type
    name: str  # the function that converts and computes one element
    parameters: list[str]  # its parameters by name: in_a, value0, position
    head: str  # the signature of the function
    lines: list[str]  # the lines of the function's body
    op: str = ""  # the op's own function, which this function calls; "" for several ops
    shared: bool = False  # True if an earlier opcode already defines the function

    @property
    def text(self) -> list[str]:
        """The whole function, with a comment."""
        comment = describe(self.key) if self.op else "Operands, op and result, each by the opcode."
        return [f"// {comment}", *function(self.head, self.lines)]


def result_type(key: KernelKey, k: int) -> str:
    """Returns the C type of expression `k` of a key."""
    c = source.scalar(key.compute)
    kinds = {MASK: "bool", POSITION: "int", REAL: c, COMPLEX: f"ft_c{c}"}
    return kinds.get(key.outs[k].sees, f"ft_c{c}" if key.compute.is_complex else c)


def _operand_types(key: KernelKey) -> list[tuple[str, str]]:
    """Returns (C type, name) of the expression's operands: inputs, then parameters."""
    c = source.scalar(key.compute)
    value = f"ft_c{c}" if key.compute.is_complex else c
    kinds = {MASK: "bool", POSITION: "int"}
    types = [(kinds.get(p.sees, value), OPERAND_NAMES[k]) for k, p in enumerate(key.ins) if p.sees != INDEX]
    return types + [(value, name) for name in key.params]


def op_function(key: KernelKey, name: str) -> list[str]:
    """Returns the op's function: its expression on values of the compute type."""
    macros = words(key.compute)
    parameters = _operand_types(key)
    used = identifiers(" ".join([*key.body, *(t for _, t in key.lets)]))
    if "FT_POSITION" in used:
        parameters = [*parameters, ("long", "position")]
    c = source.scalar(key.compute)
    lets = [f"const {c} {n} = {expand(t, macros)};" for n, t in key.lets]
    head = f"static inline {result_type(key, 0)} {name}({', '.join(f'{t} {n}' for t, n in parameters)})"
    return function(head, [*lets, f"return {expand(key.body[0], macros)};"])


def pointwise_member(group: KernelGroup, opcode: int, op_name: str, element_types: Mapping[str, str]) -> MemberText:
    """Returns the function unit of a pointwise member: from input elements to an output element.

    Raises ValueError if the member has several outputs.
    """
    key = group.keys[opcode]
    if len(key.outs) != 1:
        raise ValueError(f"kernel {group.name}: {key.name} has {len(key.outs)} outputs, not one")
    macros = lane_words(element_types, key)
    position = "FT_POSITION" in text_of(key)
    call = [name for _, name in _operand_types(key)] + (["position"] if position else [])
    flat = with_vector_operands(key)
    *lines, last = output(flat, 0, key.outs[0], f"{op_name}({', '.join(call)})")
    raw = [*inputs(flat), *lines]
    named, value_slots = value_lines(key, " ".join(raw))
    value = expand(last.split(" = ", 1)[1].removesuffix(";"), macros)
    body = [*named, *(expand(line, macros) for line in raw)]
    body.append(f"return {stored(value, key.outs[0], element_types['out0'])};")
    taken = [f"in_{OPERAND_NAMES[k]}" for k, p in enumerate(key.ins) if p.kind != BY_VALUE and p.sees != INDEX]
    parameter_types = [(element(element_types[name]), name) for name in taken]
    parameter_types += [("long", name) for name in value_slots]
    parameter_types += [("long", "position")] if position else []
    name = f"opcode_{opcode}_{key.name}"
    parameters = ", ".join(f"{t} {n}" for t, n in parameter_types)
    head = f"static inline {element(element_types['out0'])} {name}({parameters})"
    lines_ = tidy(body, element(element_types["out0"]), parameter_types)
    return MemberText(opcode, key, space_of(key), name, [n for _, n in parameter_types], head, lines_, op_name)


def sections(members: Sequence[MemberText], ops: dict[str, dict[str, list[str]]]) -> list[str]:
    """Returns the namespaces of the compute types: settings, helpers, op functions, function
    units."""
    lines: list[str] = []
    for space in dict.fromkeys(u.space for u in members):
        space_members = [u for u in members if u.space == space]
        keys = [u.key for u in space_members]
        lines += [*namespace(space, keys), ""]
        for text in ops[space].values():
            lines += [*text, ""]
        for u in space_members:
            lines += [] if u.shared else [*u.text, ""]
        lines += ["}", END_OF_SPACE, ""]
    return lines


def members_of(group: KernelGroup) -> tuple[list[MemberText], dict[str, dict[str, list[str]]]]:
    """Returns the function units of a pointwise group, and the op functions by namespace and
    name."""
    ops: dict[str, dict[str, list[str]]] = {}
    members: list[MemberText] = []
    names: dict[tuple[str, tuple[str, ...], tuple[str, ...]], str] = {}  # names of functions, by their text
    element_types = port_words(group)
    for opcode, key in enumerate(group.keys):
        space_ops = ops.setdefault(space_of(key), {})
        stem = f"{key.name}_{key.compute.name}"
        name, number = stem, 1
        while space_ops.setdefault(name, text := op_function(key, name)) != text:
            number += 1
            name = f"{stem}_{number}"
        member = pointwise_member(group, opcode, name, element_types)
        earlier = names.setdefault((member.space, tuple(member.lines), tuple(member.parameters)), member.name)
        members.append(member if earlier == member.name else replace(member, name=earlier, shared=True))
    return merge_members(members, element_types), ops


def merge_members(members: Sequence[MemberText], element_types: Mapping[str, str]) -> list[MemberText]:
    """Merges function units of one compute type and result type into one function of three steps.

    The steps convert the operands to the compute type, apply the op, and convert the result to the
    stored type. So the hardware contains each conversion and each op once, shared by all opcodes.
    """
    merged = list(members)
    members_by_type: dict[tuple[str, str], list[int]] = {}
    for k, u in enumerate(members):
        if _steps(u) is not None:
            members_by_type.setdefault((u.space, result_type(u.key, 0)), []).append(k)
    for (_, result), indices in members_by_type.items():
        same_type = [members[k] for k in indices]
        if len({u.name for u in same_type}) > 1:
            merged_member = _merge_functions(same_type, result, element_types)
            for k in indices:
                one = replace(merged_member, opcode=members[k].opcode, key=members[k].key)
                merged[k] = replace(one, shared=k != indices[0])
    return merged


def _steps(member: MemberText) -> tuple[list[str], list[str]] | None:
    """Returns the arguments of a unit's call of its op, and the lines that store the result
    `r_out0`. Returns None if the call is not on a line of its own."""
    for k, line in enumerate(member.lines):
        call = re.fullmatch(r"(return|const \w+ r_out0 =) (\w+)(\(.*\));", line)
        if call is not None and call[2] == member.op:
            after = ["return r_out0;"] if call[1] == "return" else member.lines[k + 1 :]
            named: dict[str, str] = {}
            for before in member.lines[:k]:
                one = re.fullmatch(r"const \w+ (\w+) = (.*);", before)
                if one is None:
                    return None
                named[one[1]] = substituted(one[2], named)
            return [substituted(text, named) for text in arguments(call[3], 0)[0]], after
    return None


def _merge_functions(members: Sequence[MemberText], result: str, element_types: Mapping[str, str]) -> MemberText:
    """Returns one function for units of one compute type and result type."""
    operands: dict[tuple[str, str], dict[str, list[int]]] = {}
    calls: dict[str, list[int]] = {}
    ends: dict[str, list[int]] = {}
    for u in members:
        steps = _steps(u)
        assert steps is not None, u.lines
        arguments, after = steps
        operand_types = _operand_types(u.key) + [("long", "position")]
        for (c, name), text in zip(operand_types, arguments):
            operands.setdefault((c, name), {}).setdefault(text, []).append(u.opcode)
        args = ", ".join(_slot(c, name) for (c, name), _ in zip(operand_types, arguments))
        calls.setdefault(f"r_out0 = {u.op}({args});", []).append(u.opcode)
        ends.setdefault(" ".join(after), []).append(u.opcode)
    lines = []
    for (c, name), texts in operands.items():
        slot = _slot(c, name)
        if len(texts) == 1:
            lines.append(f"const {c} {slot} = {next(iter(texts))};")
        else:
            lines += [f"{c} {slot};", *switch({f"{slot} = {t};": k for t, k in texts.items()})]
    lines += [f"{result} r_out0;", *switch(calls), *switch(ends)]
    parameters = dict.fromkeys(n for u in members for n in u.parameters)
    types = {n: element(c) for n, c in element_types.items()}
    head = ", ".join(["int opcode", *(f"{types.get(n, 'long')} {n}" for n in parameters)])
    name, first = f"{result}_by_opcode", members[0]
    return MemberText(
        first.opcode,
        first.key,
        first.space,
        name,
        ["opcode", *parameters],
        f"static inline {element(element_types['out0'])} {name}({head})",
        lines,
    )


def _slot(c: str, name: str) -> str:
    """Returns the name of an operand variable; a mask and a value of the same name get separate
    variables."""
    return f"{c}_{name}"


def inputs_used(group: KernelGroup, members: Sequence[MemberText]) -> list[str]:
    """Returns the names of the inputs with a port that an opcode's function takes."""
    used = {n for u in members for n in u.parameters}
    return [name for name, _ in port_slots(group) if name in used]


def scalars(group: KernelGroup) -> list[str]:
    """Returns the names of the arguments that hold scalars."""
    return [f"value{i}" for i in range(max(len(values(key)) for key in group.keys))]


def members_text(group: KernelGroup, members: Sequence[MemberText], ops: dict[str, dict[str, list[str]]]) -> list[str]:
    """Returns the members' functions, and `struct members`, for which hls/vitis/map.h has templates:
    an opcode with its scalars, and `apply`, which calls the opcode's function."""
    element_types, fields = port_words(group), scalars(group)
    ins = "".join(f"{element(element_types[n])} {n}, " for n in inputs_used(group, members))
    opcodes: dict[str, list[int]] = {}
    for u in members:
        call = f"return {u.space}::{u.name}({', '.join(u.parameters)});"
        opcodes.setdefault(call, []).append(u.opcode)
    return [
        *sections(members, ops),
        "// An opcode and its scalars. `apply` computes one element; `position` is its index in the result.",
        "namespace {  // other kernels of an image have a struct of this name",
        "struct members {",
        f"    static const int lanes = {group.lanes};",
        f"    typedef {beat_type(group, 'out0')} beat;",
        "    int opcode;",
        *[f"    long {', '.join(fields)};"] * bool(fields),
        f"    {element(element_types['out0'])} apply({ins}long position) const",
        "    {",
        "#pragma HLS INLINE",
        *indented(indented(switch(opcodes))),
        "    }",
        "};",
        "}  // namespace",
    ]
