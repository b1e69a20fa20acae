"""The loops of reductions in HLS C++: along rows, across rows, and along short rows."""

from __future__ import annotations

from ...kernels.key import LINEAR, SINGLE
from ...kernels.skeletons.reduce import MAX_INTERLEAVED_ROW
from ...kernels.source import OPERAND_NAMES, constant
from ..group import KernelGroup, is_wide, pointers
from .text import beat_type, element, fifos, fill, port_words


def operands(group: KernelGroup) -> tuple[dict[str, str], list[str], list[str]]:
    """Returns the operands of the loops: element types by pointer, the outputs, and the inputs."""
    element_types = {name: element(c) for name, c in port_words(group).items()}
    outs = [n for n in element_types if n.startswith("out")]
    return element_types, outs, [n for n in element_types if n not in outs]


def signature(group: KernelGroup) -> tuple[list[str], list[str]]:
    """Returns the loops' parameters: pointers, and the operands' offsets."""
    element_types, outs, _ = operands(group)
    beats = {n: f"{beat_type(group, n)} *{n}" for n in element_types}
    return [p if n in outs else f"const {p}" for n, p in beats.items()], [f"long {n}_offset" for n in element_types]


def operand_count(group: KernelGroup) -> str:
    """Returns the C expression for the number of pointers of the current opcode."""
    all_members = all(len(pointers(key)) == len(operands(group)[0]) for key in group.keys)
    return "OPERANDS" if all_members else "HAS[opcode]"


def inner_loops(group: KernelGroup) -> list[str]:
    """Returns the text of the loops along rows over any fold: the function `run`, and the stages for
    short rows if the group has them."""
    element_types, outs, ins = operands(group)
    pointers_, offsets = signature(group)
    short = interleaves_short_rows(group)

    def read(index: str, lanes: str) -> str:
        return "".join(f", {_vector(group, n, index, lanes)}" for n in ins)

    values: dict[str, str | list[str]] = {
        "pointers": ", ".join(pointers_),
        "offsets": ", ".join(offsets),
        "operand_count": operand_count(group).replace("opcode", "of.opcode"),
        "advance": [f"{n} += {n}_offset;" for n in element_types if not is_wide(group, n)],
        "short_rows": short_row_dispatch(group) if short else [],
        "beats": _beats(group),
        "read_aside": read("j", "LANES"),
        "read_whole": read("i", "LANES"),
        "read_part": read("i", "stop - i"),
        "result": [f"{element_types[n]} result_{n};" for n in outs],
        "finished": "".join(f", result_{n}" for n in outs),
        "write": [f"{n}[at[{k}]] = result_{n};" for k, n in enumerate(outs)],
    }
    return [*([*short_rows(group), ""] if short else []), *fill("reduce_inner.cpp", values).splitlines()]


def _vector(group: KernelGroup, name: str, index: str, lanes: str) -> str:
    """Returns an expression that reads the vector of an input from element `index` on; `lanes` is how
    many lanes have elements."""
    k = _slot(group, name)
    if _has_kind(group, name, SINGLE):
        return f"{name}_one"
    if is_wide(group, name):
        text = f"{name}[{name}_beat++]"
    elif _has_kind(group, name, LINEAR):
        text = f"ft_gather_lanes<LANES>({name} + at[{k}] + {index}, 0, 1, {lanes})"
    else:
        stride = f"inner_strides[{k}]"
        text = f"ft_gather_lanes<LANES>({name} + at[{k}] + {index} * {stride}, 0, {stride}, {lanes})"
    empty = f"hls::vector<{operands(group)[0][name]}, LANES>()"
    return text if _all_members(group, name) else f"{k} < operands ? {text} : {empty}"


def _beats(group: KernelGroup) -> list[str]:
    """Returns lines that compute the beat of element `i` in every vector port, and read the elements
    that all lanes share.

    Reads then increment the beat: the compiler sees consecutive accesses, and infers a burst.
    """
    element_types, _, ins = operands(group)
    lines = []
    for n in ins:
        k, there = _slot(group, n), _operand_condition(group, n, "")
        if _has_kind(group, n, SINGLE):
            lines += [f"{element_types[n]} {n}_one{{}};", f"if ({k} < operands) {n}_one = {n}[at[{k}]];"]
        if is_wide(group, n):
            beat = f"({n}_offset + at[{k}] + i) / LANES"
            lines.append(f"long {n}_beat = {f'{there} ? {beat} : 0' if there else beat};")
    return lines


def outer_loops(group: KernelGroup) -> list[str]:
    """Returns the text of the dataflow stages over any fold: the function `run` and its callees."""
    element_types, outs, ins = operands(group)
    r = group.keys[0].reduction
    assert r is not None
    pointer_parameters, offsets = signature(group)

    def listed(form: str, names: list[str]) -> str:
        return ", ".join(form.format(n) for n in names)

    def taken(names: list[str]) -> list[str]:
        return [p for p in pointer_parameters if p.rpartition("*")[2] in names]

    values: dict[str, str | list[str]] = {
        "vectors": str(r.vectors),
        "operand_count": operand_count(group).replace("opcode", "of.opcode"),
        "beats": [f"typedef hls::vector<{element_types[n]}, LANES> {n}_beat;" for n in ins],
        "pointers": ", ".join(pointer_parameters),
        "offsets": ", ".join(offsets),
        "arguments": ", ".join([*element_types, *(f"{n}_offset" for n in element_types), "of"]),
        "in_pointers": ", ".join(taken(ins)),
        "in_offsets": listed("long {}_offset", ins),
        "streams_to": listed("hls::stream<{0}_beat> &{0}_to", ins),
        "streams_from": listed("hls::stream<{0}_beat> &{0}_from", ins),
        "fetched": ", ".join([*ins, *(f"{n}_fifo" for n in ins), *(f"{n}_offset" for n in ins)]),
        "out_pointers": ", ".join(taken(outs)),
        "out_offsets": listed("long {}_offset", outs),
        "folded": ", ".join([*outs, *(f"{n}_fifo" for n in ins), *(f"{n}_offset" for n in outs), "of"]),
        "places": [line for n in ins for line in _first_beat(group, n)],
        "read_whole": [_read_outer(group, n, "LANES") for n in ins],
        "read_edge": [_read_outer(group, n, "m") for n in ins],
        "receive": [line for n in ins for line in _receive(group, n)],
        "lift": f"of.lift({''.join(f'{n}[lane], ' for n in ins)}p.begin + row)",
        "result": [f"{element_types[n]} result_{n};" for n in outs],
        "finish": f"of.finish(all{''.join(f', result_{n}' for n in outs)});",
        "write": [
            f"{n}[{n}_offset + at[{k}] + (p.first + i) * inner_strides[{k}]] = result_{n};" for k, n in enumerate(outs)
        ],
        "fifos": fifos({f"{n}_fifo": f"{n}_beat" for n in ins}),
    }
    return fill("reduce_outer.cpp", values).splitlines()


def _slot(group: KernelGroup, name: str) -> int:
    return list(operands(group)[0]).index(name)


def _has_kind(group: KernelGroup, name: str, kind: str) -> bool:
    """True if an input is of a kind in every member that has it."""
    users = [key for key in group.keys if name in pointers(key)]
    return all(key.ins[OPERAND_NAMES.index(name[3:])].kind == kind for key in users)


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
        stride = "1" if _has_kind(group, name, LINEAR) else f"inner_strides[{k}]"
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
    _, _, (first_input, *other_inputs) = operands(group)
    return is_wide(group, first_input) and all(_has_kind(group, n, SINGLE) for n in other_inputs)


def short_rows(group: KernelGroup) -> list[str]:
    """Returns the text of the stages for short rows: `run_rows` and its callees."""
    element_types, outs, (first_input, *other_inputs) = operands(group)
    beat = f"hls::vector<{element_types[first_input]}, LANES>"
    types = element_types | {first_input: beat}
    ins = [first_input, *other_inputs]
    receive = [f"{beat} {first_input}{{}};", f"if (here) {first_input} = {first_input}_from.read();"]
    for n in other_inputs:
        receive += [
            f"{element_types[n]} {n} = {n}_held[at.row];",
            f"if (here && at.piece == 0{_operand_condition(group, n, ' && ')}) {n} = {n}_from.read();",
            f"{n}_held[at.row] = {n};",
        ]
    row_range = f"{first_input}_offset, {first_input}_stride, length, rows"
    values: dict[str, str | list[str]] = {
        "turns": str(constant("vitis/interleaved_rows.h", "FT_INTERLEAVED_ROWS")),
        "streams": ", ".join(
            [f"hls::stream<{types[n]}> &{n}_from" for n in ins]
            + [f"hls::stream<{element_types[n]}> &{n}_to" for n in outs]
        ),
        "kept": [f"{element_types[n]} {n}_held[FT_INTERLEAVED_ROWS] = {{}};" for n in other_inputs],
        "receive": receive,
        "lift": f"of.lift({first_input}[lane]{''.join(f', {n}' for n in other_inputs)}, at.piece * LANES + lane)",
        "results": [f"{element_types[n]} result_{n};" for n in outs],
        "finished": "".join(f", result_{n}" for n in outs),
        "send": [f"{n}_to.write(result_{n});" for n in outs],
        "pointers": ", ".join(signature(group)[0]),
        "numbers": ", ".join([f"long {first_input}_offset", *(f"int {n}_stride" for n in element_types)]),
        "fifos": fifos({f"{first_input}_beats": beat} | {f"{n}_fifo": types[n] for n in [*ins, *outs]}),
        "fetch": [
            f"ft_read_interleaved<LANES>({first_input}, {first_input}_beats, {row_range});",
            f"ft_align_interleaved<LANES>({first_input}_beats, {first_input}_fifo, {row_range});",
            *(f"ft_read_strided({n}, {n}_fifo, {n}_stride, {_rows(group, n)});" for n in other_inputs),
        ],
        "passed": ", ".join([*(f"{n}_fifo" for n in [*ins, *outs]), "of"]),
        "leave": [f"ft_write_strided({n}, {n}_fifo, {n}_stride, rows);" for n in outs],
    }
    return fill("reduce_rows.cpp", values).splitlines()


def short_row_dispatch(group: KernelGroup) -> list[str]:
    """Returns lines that dispatch short rows from the kernel's loops to `run_rows`."""
    element_types, _, (first_input, *_) = operands(group)
    strides = {n: f"G_KEPT_STRIDES(g)[{k}]" for k, n in enumerate(element_types)}
    strides = {
        n: f"({_operand_condition(group, n, '')} ? {s} : 0)" if _operand_condition(group, n, "") else s
        for n, s in strides.items()
    }
    args = [n if n == first_input else f"{n} + (long)begin * {strides[n]}" for n in element_types]
    args += [f"{first_input}_offset + (long)begin * {strides[first_input]}", *strides.values()]
    args += ["of", "operands", "G_INNER(g)"]
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
