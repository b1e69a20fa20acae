"""The loops of reductions in HLS C++: along rows, across rows, and along short rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...kernels.key import LINEAR, SINGLE
from ...kernels.skeletons.reduce import MAX_INTERLEAVED_ROW
from ...kernels.source import OPERAND_NAMES, constant
from ..group import KernelGroup, is_wide, pointers, values
from .text import FIFO_DEPTH, Word, element, expand, fill, port_words

# A loop over lanes or vectors; its body starts on the same line or on the next.
_LANE_LOOP = re.compile(r"( *)(for \(int (?:v|lane|l|half) = [^;]+; [^;]+; [^)]+\)) ?(.*)")


def operands(group: KernelGroup) -> tuple[dict[str, str], list[str], list[str], list[str]]:
    """Returns the operands of the loops: element types by pointer, the outputs, the inputs, and the
    arguments that hold scalars."""
    element_types = {name: element(c) for name, c in port_words(group).items()}
    outs = [n for n in element_types if n.startswith("out")]
    count = max(len(values(key)) for key in group.keys)
    return element_types, outs, [n for n in element_types if n not in outs], [f"value{i}" for i in range(count)]


def signature(group: KernelGroup) -> tuple[list[str], list[str]]:
    """Returns the parameters of the loops: pointers, then scalars without the compute unit's
    two."""
    element_types, outs, _, scalars = operands(group)
    pointers_ = []
    for n, c in element_types.items():
        wide = f"hls::vector<{c}, LANES>" if is_wide(group, n) else c
        pointers_.append(f"{wide} *{n}" if n in outs else f"const {wide} *{n}")
    return pointers_, [*(f"long {n}_offset" for n in element_types), "int opcode", *(f"long {v}" for v in scalars)]


def operand_count(group: KernelGroup) -> str:
    """Returns the C expression for the number of pointers of the current opcode."""
    all_members = all(len(pointers(key)) == len(operands(group)[0]) for key in group.keys)
    return "OPERANDS" if all_members else "HAS[opcode]"


def inner_loops(group: KernelGroup, short_row_lines: Sequence[str] = ()) -> list[str]:
    """Returns the skeleton as HLS C++: its comment, and the function `run` over any fold.

    `short_row_lines` are lines to insert after those that read the geometry buffer `g`.
    """
    text = group.kind.text()
    text = re.sub(r"#if FT_VECTORS > 1\n(.*?)#endif\n", _vector_loop(group), text, flags=re.S)
    text = text.replace("at[FT_OPERANDS]", "at[OPERANDS]")
    comment, body = text.split("FT_KERNEL", 1)
    macros = _skeleton_words(group, short_row_lines)
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
    """Returns the lines with braces and an UNROLL pragma for every loop over lanes and vectors.

    So parallel folding does not depend on what a compiler infers.
    """
    rewritten: list[str] = []
    waiting = iter(lines)
    for line in waiting:
        loop = _LANE_LOOP.fullmatch(line)
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


def _read(group: KernelGroup, index: str, lanes: str) -> str:
    """Returns lines that read `lanes` lanes of every input, from element `index`."""
    element_types, _, ins, _ = operands(group)
    lines = []
    for n in ins:
        k = list(element_types).index(n)
        readers = [key for key in group.keys if n in pointers(key)]
        is_contiguous = all(key.ins[OPERAND_NAMES.index(n[3:])].kind == LINEAR for key in readers)
        index_text = f"at[{k}] + {index}" if is_contiguous else f"at[{k}] + {index} * inner_strides[{k}]"
        call = f"ft_read_lanes(w_{n}, {n} + {index_text}, {'1' if is_contiguous else f'inner_strides[{k}]'}, {lanes});"
        if is_wide(group, n):
            call = f"ft_unpack_lanes(w_{n}, {n}[{n}_beat++], {lanes});"
        all_members = len(readers) == len(group.keys)
        if all(key.ins[OPERAND_NAMES.index(n[3:])].kind == SINGLE for key in readers):
            call = f"ft_splat_lanes(w_{n}, {n}_one);"
        lines.append(f"{element_types[n]} w_{n}[LANES]{'' if all_members else ' = {}'};")
        lines.append(f"#pragma HLS ARRAY_PARTITION variable=w_{n} complete")
        lines.append(call if all_members else f"if ({k} < operands) {call}")
    return "\n".join(lines)


def _beats(group: KernelGroup, index: str) -> str:
    """Returns lines that compute the beat of element `index` in every vector port, and read the
    elements that all lanes share.

    Reads then increment the beat: the compiler sees consecutive accesses, and infers a burst.
    """
    element_types, _, ins, _ = operands(group)
    lines = []
    for n in ins:
        k, readers = list(element_types).index(n), [key for key in group.keys if n in pointers(key)]
        if all(key.ins[OPERAND_NAMES.index(n[3:])].kind == SINGLE for key in readers):
            lines += [f"{element_types[n]} {n}_one{{}};", f"if ({k} < operands) {n}_one = {n}[at[{k}]];"]
    for n in [n for n in ins if is_wide(group, n)]:
        k = list(element_types).index(n)
        beat = f"({n}_offset + at[{k}] + {index}) / LANES"
        all_members = all(n in pointers(key) for key in group.keys)
        lines.append(f"long {n}_beat = {beat if all_members else f'{k} < operands ? {beat} : 0'};")
    return "\n".join(lines)


def _write(group: KernelGroup) -> str:
    """Returns lines that write the result of every output, from the first lane."""
    outs = operands(group)[1]
    return "\n".join(f"{n}[at[{k}]] = w_{n}[0];" for k, n in enumerate(outs))


def _skeleton_words(group: KernelGroup, short_row_lines: Sequence[str]) -> dict[str, Word]:
    """Returns the HLS C++ text of the skeleton's macros and holes."""
    element_types, outs, ins, scalars = operands(group)
    args = "".join(f", {v}" for v in scalars)
    lifted = "".join(f", w_{n}[lane]" for n in ins)
    finished = "".join(f", w_{n}[lane]" for n in outs)
    setup = [f"{n} += {n}_offset;" for n in element_types if not is_wide(group, n)]
    setup += [
        "int g[MAX_GEOMETRY];",
        "const int size = G_SIZE(geometry, operands);",
        "read_geometry:",
        "for (int k = 0; k < size; k++) {",
        "#pragma HLS LOOP_TRIPCOUNT min=11 max=64",
        "    g[k] = geometry[k];",
        "}",
        *short_row_lines,
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
        "FT_FOLD_LANES": lambda s: (
            "for (int half = LANES / 2; half > 0; half /= 2) {\n"
            f"    for (int l = 0; l < half; l++) {s}[l] = ft_combine({s}[l], {s}[l + half]);\n}}"
        ),
        "ft_identity": lambda _: "fold::identity(opcode)",
        "ft_combine": lambda p, q: f"fold::combine(opcode, {p}, {q})",
        "ft_choose": lambda m, p, q: f"ft_select({m}, {p}, {q})",
        "FT_BEATS": lambda i: _beats(group, i),
        "FT_READ": lambda i: _read(group, i, "LANES"),
        "FT_READ_PART": lambda i, m: _read(group, i, m),
        "FT_LIFT": lambda p: f"const FT_S lifted = fold::lift(opcode{lifted}, {p}{args});",
        "FT_RESULT": "\n".join(
            f"{element_types[n]} w_{n}[LANES];\n#pragma HLS ARRAY_PARTITION variable=w_{n} complete" for n in outs
        ),
        "FT_FINISH": lambda s: f"fold::finish(opcode, {s}{finished}{args});",
        "FT_WRITE": lambda i, m: _write(group),
        "FT_FOR_SLAB": lambda i, n: (
            f"const int {i}_end = ft_slab({n}, ft_unit + 1, ft_units);\n{i}s:\n"
            f"for (int {i} = ft_slab({n}, ft_unit, ft_units); {i} < {i}_end; {i}++)"
        ),
    }


def _vector_loop(group: KernelGroup) -> str:
    """Returns a replacement for the skeleton's loop over several vectors: the loop itself, or
    nothing if the group folds one vector at a time."""
    r = group.keys[0].reduction
    assert r is not None
    return r"\1" if r.vectors > 1 else ""


def outer_loops(group: KernelGroup) -> list[str]:
    """Returns the text of the dataflow stages over any fold: the function `run` and its callees."""
    element_types, outs, ins, scalars = operands(group)
    r = group.keys[0].reduction
    assert r is not None
    comment = group.kind.text().split("FT_KERNEL", 1)[0]
    pointer_parameters, scalar_parameters = signature(group)

    def listed(form: str, names: list[str]) -> str:
        return ", ".join(form.format(n) for n in names)

    def taken(names: list[str]) -> list[str]:
        return [p for p in pointer_parameters if p.rpartition("*")[2] in names]

    args = "".join(f", {v}" for v in scalars)
    values: dict[str, str | list[str]] = {
        "comment": expand(comment, {"FT_VECTORS": "VECTORS"}).rstrip(),
        "vectors": str(r.vectors),
        "operand_count": operand_count(group),
        "beats": [f"typedef hls::vector<{element_types[n]}, LANES> {n}_beat;" for n in ins],
        "pointers": ", ".join(pointer_parameters),
        "scalars": ", ".join(scalar_parameters),
        "arguments": ", ".join([*element_types, *(f"{n}_offset" for n in element_types), "opcode", *scalars]),
        "in_pointers": ", ".join(taken(ins)),
        "in_offsets": listed("long {}_offset", ins),
        "streams_to": listed("hls::stream<{0}_beat> &{0}_to", ins),
        "streams_from": listed("hls::stream<{0}_beat> &{0}_from", ins),
        "fetched": ", ".join([*ins, *(f"{n}_fifo" for n in ins), *(f"{n}_offset" for n in ins)]),
        "out_pointers": ", ".join(taken(outs)),
        "out_scalars": ", ".join([p for p in scalar_parameters if not p.startswith("long in_")]),
        "folded": ", ".join([*outs, *(f"{n}_fifo" for n in ins), *(f"{n}_offset" for n in outs), "opcode", *scalars]),
        "places": [line for n in ins for line in _first_beat(group, n)],
        "read_whole": [_read_outer(group, n, "LANES") for n in ins],
        "read_edge": [_read_outer(group, n, "m") for n in ins],
        "receive": [line for n in ins for line in _receive(group, n)],
        "lift": f"fold::lift(opcode{''.join(f', {n}[lane]' for n in ins)}, p.begin + row{args})",
        "result": [f"{element_types[n]} result_{n};" for n in outs],
        "finish": f"fold::finish(opcode, all{''.join(f', result_{n}' for n in outs)}{args});",
        "write": [
            f"{n}[{n}_offset + at[{k}] + (p.first + i) * inner_strides[{k}]] = result_{n};" for k, n in enumerate(outs)
        ],
        "fifos": [
            line
            for n in ins
            for line in (
                f'hls::stream<{n}_beat> {n}_fifo("{n}");',
                f"#pragma HLS STREAM variable={n}_fifo depth={FIFO_DEPTH}",
            )
        ],
    }
    return fill("reduce_outer.cpp", values).splitlines()


def _slot(group: KernelGroup, name: str) -> int:
    return list(operands(group)[0]).index(name)


def _all_members(group: KernelGroup, name: str) -> bool:
    return all(name in pointers(key) for key in group.keys)


def _first_beat(group: KernelGroup, name: str) -> list[str]:
    """Returns a line that computes a row's first beat; reads increment it, so the compiler infers a
    burst."""
    if not is_wide(group, name):
        return []
    return [f"const long {name}_first = ({name}_offset + at[{_slot(group, name)}] + p.first) / LANES;"]


def _read_outer(group: KernelGroup, name: str, lanes: str) -> str:
    """Returns the line that reads vector `v` of a row of an input; `lanes` is how many lanes have
    elements."""
    k = _slot(group, name)
    text = f"{name}[{name}_first + v]"
    if is_wide(group, name):
        text = text if lanes == "LANES" else f"{lanes} > 0 ? {text} : {name}_beat()"
    else:
        users = [key for key in group.keys if name in pointers(key)]
        run = all(key.ins[OPERAND_NAMES.index(name[3:])].kind == LINEAR for key in users)
        stride = "1" if run else f"inner_strides[{k}]"
        at = f"{name}_offset + at[{k}] + p.first * {stride}".replace(" * 1", "")
        width = "VECTORS * LANES" if lanes == "LANES" else "p.width"
        text = f"ft_gather_lanes<LANES>({name} + {at}, v * LANES, {stride}, {width})"
    line = f"{name}_to.write({text});"
    return line if _all_members(group, name) else f"if ({k} < operands) {line}"


def _receive(group: KernelGroup, name: str) -> list[str]:
    """Returns lines that read a vector of an input from the FIFO of its stage."""
    if _all_members(group, name):
        return [f"const {name}_beat {name} = {name}_from.read();"]
    return [f"{name}_beat {name}{{}};", f"if ({_slot(group, name)} < operands) {name} = {name}_from.read();"]


def interleaves_short_rows(group: KernelGroup) -> bool:
    """True if the group has dataflow stages that fold several short rows in turns (see
    hls/vitis/interleaved_rows.h). For these, its first input must arrive in beats, and its other inputs must
    be constant along a row."""
    _, _, (first_input, *other_inputs), _ = operands(group)
    return is_wide(group, first_input) and all(
        key.ins[OPERAND_NAMES.index(n[3:])].kind == SINGLE
        for n in other_inputs
        for key in group.keys
        if n in pointers(key)
    )


def short_rows(group: KernelGroup) -> list[str]:
    """Returns the text of the stages for short rows: `run_rows` and its callees."""
    element_types, outs, (first_input, *other_inputs), scalars = operands(group)
    beat = f"hls::vector<{element_types[first_input]}, LANES>"
    types = element_types | {first_input: beat}
    args = "".join(f", {v}" for v in scalars)
    ins = [first_input, *other_inputs]
    receive = [f"{beat} {first_input}{{}};", f"if (here) {first_input} = {first_input}_from.read();"]
    for n in other_inputs:
        receive += [
            f"{element_types[n]} {n} = {n}_held[at.row];",
            f"if (here && at.piece == 0{_operand_condition(group, n, ' && ')}) {n} = {n}_from.read();",
            f"{n}_held[at.row] = {n};",
        ]
    fifos = [(f"{first_input}_beats", beat), *((f"{n}_fifo", types[n]) for n in [*ins, *outs])]
    row_range = f"{first_input}_offset, {first_input}_stride, length, rows"
    values: dict[str, str | list[str]] = {
        "turns": str(constant("vitis/interleaved_rows.h", "FT_INTERLEAVED_ROWS")),
        "streams": ", ".join(
            [f"hls::stream<{types[n]}> &{n}_from" for n in ins]
            + [f"hls::stream<{element_types[n]}> &{n}_to" for n in outs]
        ),
        "scalars": ", ".join(["int opcode", *(f"long {v}" for v in scalars)]),
        "kept": [f"{element_types[n]} {n}_held[FT_INTERLEAVED_ROWS] = {{}};" for n in other_inputs],
        "receive": receive,
        "lift": f"fold::lift(opcode, {first_input}[lane]{''.join(f', {n}' for n in other_inputs)}, "
        f"at.piece * LANES + lane{args})",
        "results": [f"{element_types[n]} result_{n};" for n in outs],
        "finished": "".join(f", result_{n}" for n in outs) + args,
        "send": [f"{n}_to.write(result_{n});" for n in outs],
        "pointers": ", ".join(signature(group)[0]),
        "numbers": ", ".join([f"long {first_input}_offset", *(f"int {n}_stride" for n in element_types)]),
        "fifos": [
            line
            for name, of_ in fifos
            for line in (
                f'hls::stream<{of_}> {name}("{name}");',
                f"#pragma HLS STREAM variable={name} depth={FIFO_DEPTH}",
            )
        ],
        "fetch": [
            f"ft_read_interleaved<LANES>({first_input}, {first_input}_beats, {row_range});",
            f"ft_align_interleaved<LANES>({first_input}_beats, {first_input}_fifo, {row_range});",
            *(f"ft_read_strided({n}, {n}_fifo, {n}_stride, {_rows(group, n)});" for n in other_inputs),
        ],
        "passed": ", ".join([f"{n}_fifo" for n in [*ins, *outs]] + ["opcode", *scalars]),
        "leave": [f"ft_write_strided({n}, {n}_fifo, {n}_stride, rows);" for n in outs],
    }
    return fill("reduce_rows.cpp", values).splitlines()


def short_row_dispatch(group: KernelGroup) -> list[str]:
    """Returns lines that dispatch short rows from the kernel's loops to `run_rows`."""
    element_types, _, (first_input, *_), scalars = operands(group)
    strides = {n: f"G_KEPT_STRIDES(g)[{k}]" for k, n in enumerate(element_types)}
    strides = {
        n: f"({_operand_condition(group, n, '')} ? {s} : 0)" if _operand_condition(group, n, "") else s
        for n, s in strides.items()
    }
    args = [n if n == first_input else f"{n} + (long)begin * {strides[n]}" for n in element_types]
    args += [f"{first_input}_offset + (long)begin * {strides[first_input]}", *strides.values()]
    args += ["opcode", *scalars, "operands", "G_INNER(g)"]
    return [
        "// Short rows at one distance from each other take turns.",
        f"const int limit = LANES * {MAX_INTERLEAVED_ROW} / (VECTORS > 1 ? 2 : 1);",
        "const bool whole = G_SPLITS(g) == 1 && G_CHUNKS(g) == 1 && G_INNER(g) <= limit;",
        "if (whole && G_KEPT(g) == 1 && G_REDUCED(g) == 0 && G_INNER(g) > 0) {",
        "    const int begin = ft_slab(G_ITEMS(g), ft_unit, ft_units);",
        "    const int rows = ft_slab(G_ITEMS(g), ft_unit + 1, ft_units) - begin;",
        f"    run_rows<fold>({', '.join(args)}, rows);",
        "    return;",
        "}",
    ]


def _operand_condition(group: KernelGroup, name: str, before: str) -> str:
    """Returns `before` and the C condition under which the current opcode has the operand `name`;
    "" if all members have that operand."""
    if all(name in pointers(key) for key in group.keys):
        return ""
    return f"{before}{list(operands(group)[0]).index(name)} < operands"


def _rows(group: KernelGroup, name: str) -> str:
    only = _operand_condition(group, name, "")
    return f"{only} ? rows : 0" if only else "rows"
