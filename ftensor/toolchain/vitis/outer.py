"""The loops of reductions across rows: every lane folds an output of its own, in two stages."""

from __future__ import annotations

from ...kernels.key import LINEAR
from ...kernels.parameters import NAMES
from ..group import Group, is_wide, pointers
from .fold import operand_count, operands, signature
from .map import FIFO_DEPTH
from .text import expand, fill


def outer_loops(group: Group) -> list[str]:
    """The text of the stages over any fold: the function `run` and what it calls."""
    of, outs, ins, scalars = operands(group)
    r = group.keys[0].reduction
    assert r is not None
    comment = group.kind.text().split("FT_KERNEL", 1)[0]
    whole, declared = signature(group)

    def listed(form: str, names: list[str]) -> str:
        return ", ".join(form.format(n) for n in names)

    def taken(names: list[str]) -> list[str]:
        return [p for p in whole if p.rpartition("*")[2] in names]

    passed = "".join(f", {v}" for v in scalars)
    values: dict[str, str | list[str]] = {
        "comment": expand(comment, {"FT_VECTORS": "VECTORS"}).rstrip(),
        "vectors": str(r.vectors),
        "operand_count": operand_count(group),
        "beats": [f"typedef hls::vector<{of[n]}, LANES> {n}_beat;" for n in ins],
        "pointers": ", ".join(whole),
        "scalars": ", ".join(declared),
        "arguments": ", ".join([*of, *(f"{n}_offset" for n in of), "opcode", *scalars]),
        "in_pointers": ", ".join(taken(ins)),
        "in_offsets": listed("long {}_offset", ins),
        "streams_to": listed("hls::stream<{0}_beat> &{0}_to", ins),
        "streams_from": listed("hls::stream<{0}_beat> &{0}_from", ins),
        "fetched": ", ".join([*ins, *(f"{n}_fifo" for n in ins), *(f"{n}_offset" for n in ins)]),
        "out_pointers": ", ".join(taken(outs)),
        "out_scalars": ", ".join([p for p in declared if not p.startswith("long in_")]),
        "folded": ", ".join([*outs, *(f"{n}_fifo" for n in ins), *(f"{n}_offset" for n in outs), "opcode", *scalars]),
        "places": [line for n in ins for line in _place(group, n)],
        "read_whole": [_read(group, n, "LANES") for n in ins],
        "read_edge": [_read(group, n, "m") for n in ins],
        "receive": [line for n in ins for line in _receive(group, n)],
        "lift": f"fold::lift(opcode{''.join(f', {n}[lane]' for n in ins)}, p.begin + row{passed})",
        "result": [f"{of[n]} result_{n};" for n in outs],
        "finish": f"fold::finish(opcode, all{''.join(f', result_{n}' for n in outs)}{passed});",
        "write": [f"{n}[{n}_offset + at[{k}] + (p.first + i) * step[{k}]] = result_{n};" for k, n in enumerate(outs)],
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


def _slot(group: Group, name: str) -> int:
    return list(operands(group)[0]).index(name)


def _everyone(group: Group, name: str) -> bool:
    return all(name in pointers(key) for key in group.keys)


def _place(group: Group, name: str) -> list[str]:
    """A row's first beat: reads count up from there, so that a compiler sees a burst."""
    if not is_wide(group, name):
        return []
    return [f"const long {name}_first = ({name}_offset + at[{_slot(group, name)}] + p.first) / LANES;"]


def _read(group: Group, name: str, lanes: str) -> str:
    """The line that reads vector v of a row, of which `lanes` lanes are wanted."""
    k = _slot(group, name)
    text = f"{name}[{name}_first + v]"
    if is_wide(group, name):
        text = text if lanes == "LANES" else f"{lanes} > 0 ? {text} : {name}_beat()"
    else:
        users = [key for key in group.keys if name in pointers(key)]
        run = all(key.ins[NAMES.index(name[3:])].kind == LINEAR for key in users)
        stride = "1" if run else f"step[{k}]"
        at = f"{name}_offset + at[{k}] + p.first * {stride}".replace(" * 1", "")
        width = "VECTORS * LANES" if lanes == "LANES" else "p.width"
        text = f"ft_gather<LANES>({name} + {at}, v * LANES, {stride}, {width})"
    line = f"{name}_to.write({text});"
    return line if _everyone(group, name) else f"if ({k} < operands) {line}"


def _receive(group: Group, name: str) -> list[str]:
    """Lines that give a vector of an input its name."""
    if _everyone(group, name):
        return [f"const {name}_beat {name} = {name}_from.read();"]
    return [f"{name}_beat {name}{{}};", f"if ({_slot(group, name)} < operands) {name} = {name}_from.read();"]
