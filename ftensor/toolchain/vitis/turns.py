"""Reductions along short rows in HLS C++: rows take turns, one piece in every cycle."""

from __future__ import annotations

from ...kernels.key import SINGLE
from ...kernels.parameters import NAMES
from ...kernels.skeletons.reduce_geometry import TURNED
from ...kernels.source import constant
from ..group import Group, is_wide, pointers
from .fold import operands, signature
from .map import FIFO_DEPTH
from .text import fill


def takes_turns(group: Group) -> bool:
    """Whether the group's kernel has these stages: one input in beats, and no other that moves
    along a row."""
    _, _, (first, *others), _ = operands(group)
    return is_wide(group, first) and all(
        key.ins[NAMES.index(n[3:])].kind == SINGLE for n in others for key in group.keys if n in pointers(key)
    )


def short_rows(group: Group) -> list[str]:
    """The text of the stages: `run_rows` and what it calls."""
    of, outs, (first, *others), scalars = operands(group)
    beat = f"hls::vector<{of[first]}, LANES>"
    types = of | {first: beat}
    passed = "".join(f", {v}" for v in scalars)
    ins = [first, *others]
    receive = [f"{beat} {first}{{}};", f"if (here) {first} = {first}_from.read();"]
    for n in others:
        receive += [
            f"{of[n]} {n} = {n}_held[at.turn];",
            f"if (here && at.piece == 0{_only(group, n, ' && ')}) {n} = {n}_from.read();",
            f"{n}_held[at.turn] = {n};",
        ]
    fifos = [(f"{first}_beats", beat), *((f"{n}_fifo", types[n]) for n in [*ins, *outs])]
    where = f"{first}_offset, {first}_stride, length, rows"
    values: dict[str, str | list[str]] = {
        "turns": str(constant("vitis/turns.h", "FT_TURNS")),
        "streams": ", ".join(
            [f"hls::stream<{types[n]}> &{n}_from" for n in ins] + [f"hls::stream<{of[n]}> &{n}_to" for n in outs]
        ),
        "scalars": ", ".join(["int opcode", *(f"long {v}" for v in scalars)]),
        "kept": [f"{of[n]} {n}_held[FT_TURNS] = {{}};" for n in others],
        "receive": receive,
        "lift": f"fold::lift(opcode, {first}[lane]{''.join(f', {n}' for n in others)}, "
        f"at.piece * LANES + lane{passed})",
        "results": [f"{of[n]} result_{n};" for n in outs],
        "finished": "".join(f", result_{n}" for n in outs) + passed,
        "send": [f"{n}_to.write(result_{n});" for n in outs],
        "pointers": ", ".join(signature(group)[0]),
        "numbers": ", ".join([f"long {first}_offset", *(f"int {n}_stride" for n in of)]),
        "fifos": [
            line
            for name, of_ in fifos
            for line in (
                f'hls::stream<{of_}> {name}("{name}");',
                f"#pragma HLS STREAM variable={name} depth={FIFO_DEPTH}",
            )
        ],
        "fetch": [
            f"ft_fetch_turns<LANES>({first}, {first}_beats, {where});",
            f"ft_align_turns<LANES>({first}_beats, {first}_fifo, {where});",
            *(f"ft_fetch_each({n}, {n}_fifo, {n}_stride, {_rows(group, n)});" for n in others),
        ],
        "passed": ", ".join([f"{n}_fifo" for n in [*ins, *outs]] + ["opcode", *scalars]),
        "leave": [f"ft_leave_each({n}, {n}_fifo, {n}_stride, rows);" for n in outs],
    }
    return fill("reduce_rows.cpp", values).splitlines()


def turned(group: Group) -> list[str]:
    """Lines of the kernel's loops that leave to these stages what they serve."""
    of, _, (first, *_), scalars = operands(group)
    strides = {n: f"G_KEPT_STRIDES(g)[{k}]" for k, n in enumerate(of)}
    strides = {n: f"({_only(group, n, '')} ? {s} : 0)" if _only(group, n, "") else s for n, s in strides.items()}
    passed = [n if n == first else f"{n} + (long)begin * {strides[n]}" for n in of]
    passed += [f"{first}_offset + (long)begin * {strides[first]}", *strides.values()]
    passed += ["opcode", *scalars, "operands", "G_INNER(g)"]
    return [
        "// Short rows at one distance from each other take turns.",
        f"const int limit = LANES * {TURNED} / (VECTORS > 1 ? 2 : 1);",
        "const bool whole = G_SPLITS(g) == 1 && G_CHUNKS(g) == 1 && G_INNER(g) <= limit;",
        "if (whole && G_KEPT(g) == 1 && G_REDUCED(g) == 0 && G_INNER(g) > 0) {",
        "    const int begin = ft_slab(G_ITEMS(g), ft_unit, ft_units);",
        "    const int rows = ft_slab(G_ITEMS(g), ft_unit + 1, ft_units) - begin;",
        f"    run_rows<fold>({', '.join(passed)}, rows);",
        "    return;",
        "}",
    ]


def _only(group: Group, name: str, before: str) -> str:
    """The condition for an operand that not all members have."""
    if all(name in pointers(key) for key in group.keys):
        return ""
    return f"{before}{list(operands(group)[0]).index(name)} < operands"


def _rows(group: Group, name: str) -> str:
    only = _only(group, name, "")
    return f"{only} ? rows : 0" if only else "rows"
