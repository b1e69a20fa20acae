"""HLS sources of reductions: loops over any fold, and the monoid functions of each opcode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...kernels import holes
from ...kernels.element_function import END_OF_SPACE, namespace, with_vector_operands
from ...kernels.holes import inputs, output, parameter_values
from ...kernels.key import BY_VALUE, KernelKey
from ...kernels.source import MAX_DIMS, OPERAND_NAMES
from ..group import KernelGroup, pointers
from .fold import inner_loops, interleaves_short_rows, operands, outer_loops
from .interface import interfaces, parameter_list, title
from .member import scalars
from .text import (
    describe,
    element,
    expand,
    fill,
    function,
    indented,
    lane_words,
    port_words,
    space_of,
    stored,
    switch,
    table,
    tidy,
    value_lines,
    words,
)


@dataclass(frozen=True)
class MonoidFunction:
    """A function of an opcode's monoid: its role and its text."""

    opcode: int
    space: str
    role: str  # "identity", "combine", "lift" or "finish"
    parameters: tuple[str, ...]  # parameters besides the state(s), by name
    head: str
    lines: tuple[str, ...]
    name: str


def state_name(key: KernelKey) -> str:
    """Returns the C name of the struct that holds a partial result of the kernel's reduction: its
    element, and for argmax and the like its index."""
    field_type = expand(holes.state_fields(key)[0][0], words(key.compute))
    assert key.reduction is not None
    return f"state_{field_type.removeprefix('ft_')}" + ("_at" if key.reduction.arg else "")


def source(group: KernelGroup) -> str:
    """Returns the text of a reduction group's kernel.

    Members with different state types get separate loops. Raises ValueError if members differ in
    the number of outputs or of parallel states, or have a scalar operand.
    """
    keys = group.keys
    first = keys[0]
    for key in keys:
        r, s = key.reduction, first.reduction
        assert r is not None and s is not None
        if (len(key.outs), r.vectors) != (len(first.outs), s.vectors):
            raise ValueError(
                f"kernel {group.name}: {key.name} and {first.name} differ in outputs, or in states folded side by side"
            )
        if not r.identity:
            raise ValueError(f"kernel {group.name}: {key.name} has no identity, by which a fold begins")
        if any(p.kind == BY_VALUE for p in key.ins):
            raise ValueError(f"kernel {group.name}: {key.name} folds a value that is no tensor")
    states = {state_name(key): key for key in keys}
    element_types = port_words(group)
    parts = monoid_functions(group)
    assert first.reduction is not None
    outer = group.skeleton == "reduce_outer"
    return fill(
        "reduce.cpp",
        {
            "title": title(group),
            "lanes": str(group.lanes),
            "vectors": str(first.reduction.vectors),
            "outputs": str(len(first.outs)),
            "operands": str(len(element_types)),
            "max_dims": str(MAX_DIMS),
            "words": group.kind.geometry_words(),
            "tables": _tables(group),
            "states": [_state(key, name) for name, key in states.items()],
            "units": _sections(parts, keys),
            "folds": [line for name in states for line in _fold(group, name, parts)],
            "loops": outer_loops(group) if outer else inner_loops(group),
            "streams": "#include <hls_stream.h>" if outer or interleaves_short_rows(group) else "",
            "turns": []
            if outer or not interleaves_short_rows(group)
            else '#include "ftensor/vitis/interleaved_rows.h"',
            "name": group.name,
            "parameters": parameter_list(group),
            "interfaces": interfaces(group),
            "dispatch": _dispatch(group, list(states)),
        },
    )


def monoid_functions(group: KernelGroup) -> list[MonoidFunction]:
    """Returns the monoid functions of all members."""
    element_types = port_words(group)
    return [part for opcode in range(len(group.keys)) for part in _member_functions(group, opcode, element_types)]


def state_fields(key: KernelKey) -> Mapping[str, str]:
    """Returns the fields of a member's state: C types by name."""
    return {n: str(expand(t, words(key.compute))) for t, n in holes.state_fields(key)}


def _tables(group: KernelGroup) -> list[str]:
    counts = [len(pointers(key)) for key in group.keys]
    if len(set(counts)) == 1:
        return []
    return [
        "// How many of the pointers each opcode has: its geometry lists these and no others.",
        *table("int", "HAS", [str(c) for c in counts]),
    ]


def _state(key: KernelKey, name: str) -> str:
    fields = " ".join(f"{t} {n};" for t, n in holes.state_fields(key))
    return f"struct {name} {{ {expand(fields, words(key.compute))} }};"


def _member_functions(group: KernelGroup, opcode: int, element_types: Mapping[str, str]) -> list[MonoidFunction]:
    """Returns the monoid functions of a member."""
    key = group.keys[opcode]
    state = state_name(key)
    macros = lane_words(element_types, key) | {"FT_S": state}
    parts = []

    def part(what: str, result: str, parameters: list[tuple[str, str]], lines: list[str]) -> None:
        name = f"opcode_{opcode}_{key.name}_{what}"
        head = f"({', '.join(f'{t} {n}' for t, n in parameters)})"
        text = tuple(tidy([expand(line, macros) for line in lines], result, parameters))
        outer = tuple(n for _, n in parameters)
        parts.append(MonoidFunction(opcode, space_of(key), what, outer, f"static inline {result} @{head}", text, name))

    part("identity", state, [], ["FT_S r;", *holes.identity(key), "return r;"])
    both = [(state, "p"), (state, "q")]
    part("combine", state, both, ["FT_S r;", *holes.combine(key), "return r;"])

    flat = with_vector_operands(key)
    lets = [f"const FT_V {name} = {text};" for name, text in key.lets]
    lines = [*inputs(flat), *lets, *holes.lift(key)]
    named, slots_ = value_lines(key, " ".join(lines))
    parameters = [
        (element(element_types[f"in_{OPERAND_NAMES[k]}"]), f"in_{OPERAND_NAMES[k]}") for k in range(len(key.ins))
    ]
    parameters += [("int", "position"), *(("long", v) for v in slots_)]
    part("lift", state, parameters, [*named, *lines, "return lifted;"])

    lines = [*holes.state_outputs(key), *parameter_values(key)]
    for k, p in enumerate(key.outs):
        *head, last = output(flat, k, p, key.body[k])
        value = last.split(" = ", 1)[1].removesuffix(";")
        lines += [*head, f"out{k} = {stored(value, p, element_types[f'out{k}'])};"]
    named, slots_ = value_lines(key, " ".join(lines))
    parameters = [
        (state, "state"),
        *((f"{element(element_types[f'out{k}'])} &", f"out{k}") for k in range(len(key.outs))),
    ]
    parameters += [("long", v) for v in slots_]
    part("finish", "void", parameters, [*named, *lines])
    return parts


def function_text(part: MonoidFunction) -> list[str]:
    head = part.head.replace("@", part.name).replace("& ", "&")
    return function(head, part.lines)


def shared(parts: list[MonoidFunction]) -> dict[MonoidFunction, MonoidFunction]:
    """Maps each function to the first one with the same text, so that the kernel has each text
    once."""
    firsts: dict[tuple[object, ...], MonoidFunction] = {}
    return {p: firsts.setdefault((p.space, p.head, p.lines), p) for p in parts}


def _sections(parts: list[MonoidFunction], keys: tuple[KernelKey, ...]) -> list[str]:
    lines: list[str] = []
    firsts = shared(parts)
    for space in dict.fromkeys(p.space for p in parts):
        space_keys = [key for key in keys if space_of(key) == space]
        lines += [*namespace(space, space_keys), ""]
        last = None
        for p in parts:
            if p.space != space or firsts[p] is not p:
                continue
            if p.opcode != last:
                lines.append(f"// {describe(keys[p.opcode])}")
                last = p.opcode
            lines += [*function_text(p), ""]
        lines += ["}", END_OF_SPACE, ""]
    return lines


def _choice(parts: list[MonoidFunction], what: str, head: str) -> list[str]:
    """Returns the function of role `what` that calls the monoid function of the current opcode."""
    firsts = shared(parts)
    opcodes: dict[str, list[int]] = {}
    for p in parts:
        if p.role == what:
            one = firsts[p]
            call = f"{one.space}::{one.name}({', '.join(one.parameters)});"
            opcodes.setdefault(call if what == "finish" else f"return {call}", []).append(p.opcode)
    return [head, "{", "#pragma HLS INLINE", *indented(switch(opcodes)), "}"]


def _fold(group: KernelGroup, state: str, parts: list[MonoidFunction]) -> list[str]:
    """Returns the struct with the monoid functions of a state type, for which the loops are
    templates: an opcode with its scalars."""
    state_functions = [p for p in parts if state_name(group.keys[p.opcode]) == state]
    element_types, outs, ins = operands(group)
    fields = scalars(group)
    lift = "".join(f"{element_types[n]} {n}, " for n in ins)
    finish = "".join(f", {element_types[n]} &{n}" for n in outs)
    heads = {
        "identity": "state identity() const",
        "combine": "state combine(state p, state q) const",
        "lift": f"state lift({lift}int position) const",
        "finish": f"void finish({state} state{finish}) const",
    }
    lines = [f"typedef {state} state;", "int opcode;", *[f"long {', '.join(fields)};"] * bool(fields)]
    for what, head in heads.items():
        lines += _choice(state_functions, what, head)
    return [f"struct fold_{state} {{", *indented(lines), "};"]


def _dispatch(group: KernelGroup, states: list[str]) -> list[str]:
    """Returns a switch that runs the loops over the opcode's state type."""
    names = operands(group)[0]
    numbers = ", ".join(["opcode", *scalars(group)])
    calls: dict[str, list[int]] = {}
    for state in states:
        fold = f"fold_{state}"
        args = [*names, *(f"{n}_offset" for n in names), f"{fold}{{{numbers}}}", "geometry", "ft_unit", "ft_units"]
        codes = [k for k, key in enumerate(group.keys) if state_name(key) == state]
        calls[f"run<{fold}>({', '.join(args)});"] = codes
    return switch(calls)
