"""HLS sources of rows groups: strided operands, and operands located by index tensors."""

from __future__ import annotations

from ...kernels.key import LOCATED, KernelKey
from ...kernels.source import MAX_DIMS, OPERAND_NAMES, indices
from ..group import KernelGroup, arguments, pointers, values
from .interface import interfaces, parameter, parameter_list, reads_through_a_port, title
from .member import inputs_used, members_of, members_text, scalars
from .text import element, fill, loaded, masks, port_words, switch, text_of

# A step that reads elements which the previous step may write can't overlap it.
IN_ORDER = ["// A step may read what the one before it has written, so they don't overlap.", "#pragma HLS PIPELINE off"]
# Arguments of a walk besides operands.
WALK = "uses, shape, strides, inner_strides, dims, inner"
# The addresses of a compute unit's results, as runs. The unit's rows are computed all at once or,
# if ordered, one by one.
LEAVING = [
    "ft_runs<MAX_DIMS> runs;",
    "ft_element_runs(runs, shape, strides[0], dims, inner, inner_strides[0]);",
    "// Rows that may read what those before them have written go one after the other.",
    "const int each = G_ORDERED(g) ? inner : count;",
    "in_order:",
    "for (int done = 0; done < count; done += each) {",
    "#pragma HLS LOOP_TRIPCOUNT min=1 max=1",
    "    const int n = count - done < each ? count - done : each;",
]
# Bad indices are kept in registers, and stored after the last iteration, so that no iteration waits
# for that port.
NOTED = ["long noted[4] = {0, 0, 0, 0};", "#pragma HLS ARRAY_PARTITION variable=noted complete"]
NOTE = [
    "if (noted[0]) {",
    "tell:",
    "    for (int k = 3; k >= 0; k--) {",
    "#pragma HLS PIPELINE II=1",
    "        bad[k] = noted[k];",
    "    }",
    "}",
]


def source(group: KernelGroup) -> str:
    """Returns the text of a rows kernel of one lane: any strides, one element per step."""
    for opcode, key in enumerate(group.keys):
        if "FT_POSITION" in text_of(key):
            raise ValueError(
                f"kernel {group.name}: opcode {opcode}, {key.name}, uses positions, which rows do not count"
            )
    members, ops = members_of(group)
    reads = inputs_used(group, members)
    names = list(port_words(group))
    everywhere = [[_located(key, name) for name in names] for key in group.keys]
    uses, used = use_masks(group, names)
    locating = any(indices(k) for k in group.keys)
    plain = [n for n in reads if not any(_located(key, n) for key in group.keys)]
    lines = [_read(group, n) for n in plain]
    if locating:
        lines += ["long there = 0;", *_locate(group)]
    lines += [_read(group, n) for n in reads if n not in plain]
    call = f"of.apply({', '.join([*(f'{n}_now' for n in reads), '0'])})"
    scatters = any(row[0] for row in everywhere)
    if scatters:
        write = f"if (there >= 0) out0[out0_offset + {_element_index(group, 'out0', 'there')}] = {call};"
    else:
        write = f"results.write({call});"
    ordered = any(_located(k, "out0") and any(p.kind == LOCATED for p in k.ins) for k in group.keys)
    return fill(
        "rows.cpp",
        {
            "title": title(group),
            "header": "common.h" if scatters else "beat_runs.h",
            "includes": '#include "ftensor/locate.h"' if locating else [],
            "operands": str(len(names)),
            "max_dims": str(MAX_DIMS),
            "words": group.kind.geometry_words(),
            "uses": uses,
            "used": used,
            "located": masks("LOCATED", everywhere, "Which operands lie where the index operands lead to.")[0],
            "members": members_text(group, members, ops),
            "name": group.name,
            "parameters": parameter_list(group),
            "interfaces": interfaces(group),
            "pipeline": IN_ORDER if ordered else f"#pragma HLS PIPELINE II={reads_through_a_port(group)}",
            "step": [*lines, write],
            "noted": NOTED if locating else [],
            "note": NOTE if locating else [],
            **_walked(group, scatters),
        },
    )


def _walked(group: KernelGroup, scatters: bool) -> dict[str, str | list[str]]:
    """Returns the parameters of `walk`, and the code that calls it.

    Without scatter, `walk` runs in a dataflow region with a process that writes the results.
    """
    rest = ("geometry", "ft_unit", "ft_units", *([] if scatters else ["out0", "out0_offset"]))
    taken = [a for a in arguments(group) if a.name not in rest]
    numbers = ("opcode", *scalars(group))
    taken = [a for a in taken if a.name not in numbers]
    names = ", ".join(["of", *(a.name for a in taken)])
    values = {
        "walk_takes": ", ".join(["members of", *map(parameter, taken)]),
        "walk_names": names,
        "scalars": ", ".join(numbers),
    }
    if scatters:
        return {**values, "results": "", "run": [], "call": [f"walk({names}, {WALK}, first, count);"]}
    element_type = element(port_words(group)["out0"])
    values |= {"results": f"hls::stream<{element_type}> &results, ", "element": element_type, "walk": WALK}
    run = fill("rows_leave.cpp", values).splitlines()
    args = f"{names}, {WALK}, first + done, n, runs, inner_strides[0]"
    return {**values, "run": [*run, ""], "call": [*LEAVING, f"    run(out0, out0_offset, {args});", "}"]}


def use_masks(group: KernelGroup, names: list[str]) -> tuple[list[str], str]:
    """Returns a table of the operands that each opcode reads or writes, and the current opcode's
    mask."""
    legend = ", ".join(f"bit {k}: {n}" for k, n in enumerate(names))
    comment = f"The operands of each opcode ({legend}): the geometry lists only these."
    return masks("USES", [[n in pointers(key) for n in names] for key in group.keys], comment)


def _located(key: KernelKey, name: str) -> bool:
    ports = {f"out{k}": p for k, p in enumerate(key.outs)}
    ports |= {f"in_{OPERAND_NAMES[k]}": p for k, p in enumerate(key.ins)}
    return name in ports and ports[name].kind == LOCATED


def _read(group: KernelGroup, name: str) -> str:
    """Returns a line that reads an operand's element; a bad index reads the operand's first
    element."""
    words = port_words(group)
    element_type, slot = element(words[name]), list(words).index(name)
    text = f"{name}[{name}_offset + {_element_index(group, name, '(there < 0 ? 0 : there)')}]"
    if not all(name in pointers(key) for key in group.keys):
        text = f"uses[{slot}] ? {text} : {element_type}{{}}"
    return f"const {element_type} {name}_now = {text};"


def _element_index(group: KernelGroup, name: str, located_index: str) -> str:
    """Returns the index of an operand's element in this step, relative to the operand's first
    element."""
    slot = list(port_words(group)).index(name)
    base = f"at[{slot}] + i * inner_strides[{slot}]"
    located = {_located(key, name) for key in group.keys}
    if located == {False}:
        return base
    if located != {True}:
        located_index = f"(LOCATED[of.opcode][{slot}] ? {located_index} : 0)"
    return f"{base} + {located_index}"


def _locate(group: KernelGroup) -> list[str]:
    """Returns lines of C++ that compute `there`, the offset of the row that the index operands of
    each op name. It is negative for an index out of range."""
    words = port_words(group)
    names = list(words)
    opcodes: dict[str, list[int]] = {}
    for opcode, key in enumerate(group.keys):
        numbers = [n for n, _ in values(key)]
        steps = []
        for which, name in enumerate(indices(key)):
            slot = names.index(f"in_{name}")
            at = f"in_{name}[in_{name}_offset + at[{slot}] + i * inner_strides[{slot}]]"
            index = loaded(at, key.ins[OPERAND_NAMES.index(name)], words[f"in_{name}"])
            size, stride = (f"of.value{numbers.index(f'{name}_{w}')}" for w in ("size", "stride"))
            steps.append(f"there = ft_locate(there, (long){index}, {size}, {stride}, noted, {which});")
        opcodes.setdefault(" ".join(steps), []).append(opcode)
    return switch(opcodes, "of.opcode")
