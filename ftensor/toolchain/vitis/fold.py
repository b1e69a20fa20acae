"""The loops of reductions along a row: the skeleton as HLS C++, over whatever an opcode folds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...kernels.key import LINEAR, SINGLE
from ...kernels.parameters import NAMES
from ..group import Group, is_wide, pointers, values
from .text import Word, expand, fill
from .words import element, port_words

# A loop over what lies side by side; its body begins in the same line or in the next.
_SIDE_BY_SIDE = re.compile(r"( *)(for \(int (?:v|lane|l|half) = [^;]+; [^;]+; [^)]+\)) ?(.*)")


def operands(group: Group) -> tuple[dict[str, str], list[str], list[str], list[str]]:
    """Element types by pointer, the outputs, the inputs, and the scalars' slots."""
    of = {name: element(c) for name, c in port_words(group).items()}
    outs = [n for n in of if n.startswith("out")]
    count = max(len(values(key)) for key in group.keys)
    return of, outs, [n for n in of if n not in outs], [f"value{i}" for i in range(count)]


def signature(group: Group) -> tuple[list[str], list[str]]:
    """What the loops take: the pointers, and then the scalars but those of the unit."""
    of, outs, _, scalars = operands(group)
    pointers_ = []
    for n, c in of.items():
        wide = f"hls::vector<{c}, LANES>" if is_wide(group, n) else c
        pointers_.append(f"{wide} *{n}" if n in outs else f"const {wide} *{n}")
    return pointers_, [*(f"long {n}_offset" for n in of), "int opcode", *(f"long {v}" for v in scalars)]


def operand_count(group: Group) -> str:
    """How many pointers the opcode at hand has."""
    everyone = all(len(pointers(key)) == len(operands(group)[0]) for key in group.keys)
    return "OPERANDS" if everyone else "HAS[opcode]"


def inner_loops(group: Group, turned: Sequence[str] = ()) -> list[str]:
    """The skeleton with its holes filled: its comment, and the function `run` over any fold.

    `turned`: lines behind those that read the geometry, `g`.
    """
    text = group.kind.text()
    text = re.sub(r"#if FT_VECTORS > 1\n(.*?)#endif\n", _several(group), text, flags=re.S)
    text = text.replace("at[FT_OPERANDS]", "at[OPERANDS]")
    comment, body = text.split("FT_KERNEL", 1)
    macros = _skeleton_words(group, turned)
    lines = []
    for line in body[body.index("{") :].splitlines():
        inner = line.lstrip()
        if inner == "FT_SETUP":
            lines.append(f"    const int operands = {operand_count(group)};")
        for new in expand(inner, macros).split("\n"):
            if new or not inner:
                new = new.strip() if new.startswith(" const") else new
                lines.append(new if new.startswith("#") else line[: -len(inner) or None] + new)
    pointers_, scalars = signature(group)
    values_: dict[str, str | list[str]] = {
        "comment": expand(comment, macros).rstrip(),
        "pointers": ", ".join(pointers_),
        "scalars": ", ".join(scalars),
        "body": unrolled(lines),
    }
    return fill("reduce_inner.cpp", values_).splitlines()


def unrolled(lines: list[str]) -> list[str]:
    """The lines with every loop over lanes and vectors in braces and told to be unrolled: what is
    folded side by side is not left to what a compiler infers."""
    rewritten: list[str] = []
    waiting = iter(lines)
    for line in waiting:
        loop = _SIDE_BY_SIDE.fullmatch(line)
        if loop is None:
            rewritten.append(line)
            continue
        indent, head, body = loop.groups()
        rewritten += [f"{indent}{head} {{", "#pragma HLS UNROLL"]
        if not body:
            body = next(waiting).strip()
        if body != "{":
            inner = f"{indent}    {body.removeprefix('{ ').removesuffix(' }')}"
            rewritten += [*unrolled([inner]), indent + "}"]
    return rewritten


def _read(group: Group, index: str, lanes: str) -> str:
    """Lines that read `lanes` lanes of every input from element `index` on."""
    of, _, ins, _ = operands(group)
    lines = []
    for n in ins:
        k = list(of).index(n)
        users = [key for key in group.keys if n in pointers(key)]
        run = all(key.ins[NAMES.index(n[3:])].kind == LINEAR for key in users)
        at = f"at[{k}] + {index}" if run else f"at[{k}] + {index} * step[{k}]"
        call = f"ft_read_lanes(w_{n}, {n} + {at}, {'1' if run else f'step[{k}]'}, {lanes});"
        if is_wide(group, n):
            call = f"ft_unpack_lanes(w_{n}, {n}[{n}_beat++], {lanes});"
        everyone = len(users) == len(group.keys)
        if all(key.ins[NAMES.index(n[3:])].kind == SINGLE for key in users):
            call = f"ft_same_lanes(w_{n}, {n}_one);"
        lines.append(f"{of[n]} w_{n}[LANES]{'' if everyone else ' = {}'};")
        lines.append(f"#pragma HLS ARRAY_PARTITION variable=w_{n} complete")
        lines.append(call if everyone else f"if ({k} < operands) {call}")
    return "\n".join(lines)


def _beats(group: Group, index: str) -> str:
    """Lines that say in which beat element `index` of every vector port lies, and read what all
    lanes share.

    Reads then count up from there: steps that a compiler sees, and makes a burst of.
    """
    of, _, ins, _ = operands(group)
    lines = []
    for n in ins:
        k, users = list(of).index(n), [key for key in group.keys if n in pointers(key)]
        if all(key.ins[NAMES.index(n[3:])].kind == SINGLE for key in users):
            lines += [f"{of[n]} {n}_one{{}};", f"if ({k} < operands) {n}_one = {n}[at[{k}]];"]
    for n in [n for n in ins if is_wide(group, n)]:
        k = list(of).index(n)
        beat = f"({n}_offset + at[{k}] + {index}) / LANES"
        everyone = all(n in pointers(key) for key in group.keys)
        lines.append(f"long {n}_beat = {beat if everyone else f'{k} < operands ? {beat} : 0'};")
    return "\n".join(lines)


def _write(group: Group) -> str:
    """Lines that write the result of every output, which the first lane has."""
    outs = operands(group)[1]
    return "\n".join(f"{n}[at[{k}]] = w_{n}[0];" for k, n in enumerate(outs))


def _skeleton_words(group: Group, turned: Sequence[str]) -> dict[str, Word]:
    """What the skeleton's words stand for in HLS C++, its holes included."""
    of, outs, ins, scalars = operands(group)
    passed = "".join(f", {v}" for v in scalars)
    lifted = "".join(f", w_{n}[lane]" for n in ins)
    finished = "".join(f", w_{n}[lane]" for n in outs)
    setup = [f"{n} += {n}_offset;" for n in of if not is_wide(group, n)]
    setup += [
        "int g[MAX_GEOMETRY];",
        "const int size = G_SIZE(geometry, operands);",
        "read_geometry:",
        "for (int k = 0; k < size; k++) {",
        "#pragma HLS LOOP_TRIPCOUNT min=11 max=64",
        "    g[k] = geometry[k];",
        "}",
        *turned,
    ]
    each_lane = "for (int lane = 0; lane < LANES; lane++)"
    each_vector = "for (int v = 0; v < VECTORS; v++)"
    return {
        "FT_PORTS": "",
        "FT_GLOBAL": "",
        "FT_SETUP": "\n".join(setup),
        "FT_S": "typename fold::state",
        "FT_LANES": "LANES",
        "FT_VECTORS": "VECTORS",
        "FT_OUTPUTS": "OUTPUTS",
        "FT_OPERANDS": "operands",
        "FT_MAX_DIMS": "MAX_DIMS",
        "FT_I": "int",
        "FT_LOOP": lambda name: f"{name}:",
        "FT_PIPELINE": "#pragma HLS PIPELINE",
        "FT_EACH_LANE": each_lane,
        "FT_EACH_VECTOR": each_vector,
        "FT_LANE": lambda v: f"{v}[lane]",
        "FT_INDEX": lambda i: f"{i} + lane",
        "FT_LANES_BELOW": lambda m: f"lane < {m}",
        "FT_STATE": lambda s: (
            f"FT_S {s}[LANES];\n#pragma HLS ARRAY_PARTITION variable={s} complete\n"
            f"{each_lane} {s}[lane] = ft_identity();"
        ),
        "FT_STATES": lambda s: (
            f"FT_S {s}[VECTORS][LANES];\n#pragma HLS ARRAY_PARTITION variable={s} complete dim=0\n"
            f"{each_vector}\n{each_lane} {s}[v][lane] = ft_identity();"
        ),
        "FT_ACROSS": lambda s: (
            "for (int half = LANES / 2; half > 0; half /= 2) {\n"
            f"    for (int l = 0; l < half; l++) {s}[l] = ft_combine({s}[l], {s}[l + half]);\n}}"
        ),
        "ft_identity": lambda _: "fold::identity(opcode)",
        "ft_combine": lambda p, q: f"fold::combine(opcode, {p}, {q})",
        "ft_choose": lambda m, p, q: f"ft_either({m}, {p}, {q})",
        "FT_BEATS": lambda i: _beats(group, i),
        "FT_READ": lambda i: _read(group, i, "LANES"),
        "FT_READ_PART": lambda i, m: _read(group, i, m),
        "FT_LIFT": lambda p: f"const FT_S lifted = fold::lift(opcode{lifted}, {p}{passed});",
        "FT_RESULT": "\n".join(
            f"{of[n]} w_{n}[LANES];\n#pragma HLS ARRAY_PARTITION variable=w_{n} complete" for n in outs
        ),
        "FT_FINISH": lambda s: f"fold::finish(opcode, {s}{finished}{passed});",
        "FT_WRITE": lambda i, m: _write(group),
        "FT_FOR_SLAB": lambda i, n: (
            f"const int {i}_end = ft_slab({n}, ft_unit + 1, ft_units);\n{i}s:\n"
            f"for (int {i} = ft_slab({n}, ft_unit, ft_units); {i} < {i}_end; {i}++)"
        ),
    }


def _several(group: Group) -> str:
    """Whether the loop over several vectors is in the text."""
    r = group.keys[0].reduction
    assert r is not None
    return r"\1" if r.vectors > 1 else ""
