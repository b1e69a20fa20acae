"""HLS sources of map groups: whole beats of contiguous operands, in one of three structures."""

from __future__ import annotations

from collections.abc import Sequence

from ...kernels.key import BY_VALUE, SINGLE, KernelKey, Port
from ...kernels.source import OPERAND_NAMES
from ...kernels.workload import PORT_BYTES, block_beats
from ..group import KernelGroup, port_slots
from .interface import interfaces, parameter_list, structure, title
from .member import inputs_used, members_of, members_text, scalars
from .text import beat_type, fifos, fill, masks

# The text of a kernel by the template's names.
Values = dict[str, str | list[str]]


def source(group: KernelGroup) -> str:
    """Returns the text of a map group's kernel. Raises ValueError for a beat above 512 bits."""
    names, values = map_values(group)
    ins = names[1:]
    legend = ", ".join(f"bit {k}: {n}" for k, n in enumerate(ins))
    reads, mask = masks("READS", _uses(group, ins, ""), f"Which inputs each opcode reads ({legend}).")
    single = f"Which inputs are a single element that all lanes share ({legend})."
    singles, single_mask = masks("SINGLES", _uses(group, ins, SINGLE), single)
    values |= {"tables": [*reads, *singles], "masks": f"{mask}, {single_mask}"}
    values |= {"dataflow": _dataflow, "loop": _loop, "burst": _burst}[structure(group)](group, names)
    return "\n".join(fill(part, values) for part in ("map_head.cpp", "map.cpp"))


def map_values(group: KernelGroup) -> tuple[list[str], Values]:
    """Returns the names of the pointers, the result first, and the texts that do not depend on the
    structure."""
    for name, users in port_slots(group):
        width = users[0][1].dtype.itemsize * group.lanes
        if width > PORT_BYTES:
            raise ValueError(
                f"kernel {group.name}: {group.lanes} lanes of {name} are {8 * width} bits, "
                f"and a port is at most {8 * PORT_BYTES} bits wide"
            )
    members, ops = members_of(group)
    names = ["out0", *inputs_used(group, members)]
    return names, {
        "title": title(group),
        "headers": [],
        "lanes": str(group.lanes),
        "beats": [f"typedef {beat_type(group, n)} {n}_beat;" for n in names],
        "members": members_text(group, members, ops),
        "scalars": ", ".join(["opcode", *scalars(group)]),
        "inputs": str(max(1, len(names) - 1)),
        "name": group.name,
        "parameters": parameter_list(group),
        "interfaces": interfaces(group),
    }


def dataflow(group: KernelGroup, names: Sequence[str]) -> Values:
    """Returns the texts of a dataflow region around the arithmetic, but its reads and writes."""
    ins = names[1:]
    call = ", ".join(["out0_fifo, of, inputs, out0_offset, first, total", *(f"{n}_fifo" for n in ins)])
    return {
        "inputs": str(max(1, len(ins))),
        "run_pointers": ", ".join(["out0_beat *out0", *(f"const {n}_beat *{n}" for n in ins)]),
        "run_offsets": ", ".join(f"long {n}_offset" for n in names),
        "fifos": fifos({f"{n}_fifo": f"{n}_beat" for n in names}),
        "compute": f"ft_map_compute<{_numbered(ins)}>({call});",
    }


def _dataflow(group: KernelGroup, names: Sequence[str]) -> Values:
    stages = {
        "run_slab": "int first, int count, int rest, int total",
        "reads": [
            f"ft_read_port<LANES, {k}>({n}, {n}_fifo, inputs, {n}_offset, first, total);"
            for k, n in enumerate(names[1:])
        ],
        "writes": "ft_write_port<LANES>(out0, out0_fifo, out0_offset, first, count, rest);",
    }
    passed = [*names, *(f"{n}_offset" for n in names), "of, inputs, slab.first, slab.count, slab.rest, slab.total"]
    run = fill("map_dataflow.cpp", dataflow(group, names) | stages)
    return {"run": run, "body": f"run({', '.join(passed)});"}


def _loop(group: KernelGroup, names: Sequence[str]) -> Values:
    offsets = ", ".join(f"{n}_offset" for n in names)
    call = ", ".join(["out0, of, inputs, slab, offsets", *names[1:]])
    return {
        "run": [],
        "body": [f"const long offsets[] = {{{offsets}}};", f"ft_map_loop<{_numbered(names[1:])}>({call});"],
    }


def _burst(group: KernelGroup, names: Sequence[str]) -> Values:
    widest = max(users[0][1].dtype.itemsize for _, users in port_slots(group))
    values: Values = {
        "block": str(block_beats(widest, group.lanes)),
        "buffers": [f"{n}_beat {n}_block[BLOCK];" for n in names],
        "reads": [
            f"ft_read_port<LANES, {k}>({n}, {n}_block, inputs, {n}_offset, first, total);"
            for k, n in enumerate(names[1:])
        ],
        "blocks": "".join(f", {n}_block" for n in names[1:]),
    }
    return {"run": [], "body": fill("map_burst.cpp", values).splitlines()}


def _numbered(ins: Sequence[str]) -> str:
    """Returns the template arguments of a loop over beats: the members, and each input's number."""
    return ", ".join(["members", *map(str, range(len(ins)))])


def _uses(group: KernelGroup, ins: Sequence[str], kind: str) -> list[list[bool]]:
    """Returns for each opcode which inputs it reads, or has as operands of `kind`."""
    ports = [[_port(key, name) for name in ins] for key in group.keys]
    return [[p is not None and p.kind in (kind or p.kind) for p in row] for row in ports]


def _port(key: KernelKey, name: str) -> Port | None:
    """Returns an operand of a key that has a port; None if it has none of that name."""
    k = OPERAND_NAMES.index(name.removeprefix("in_"))
    return key.ins[k] if k < len(key.ins) and key.ins[k].kind != BY_VALUE else None
