"""What every HLS kernel has: a title, and the pragmas of its interface."""

from __future__ import annotations

from typing import NamedTuple

from ...kernels.ctype import width
from ...kernels.ports import LATENCY, requests
from ...kernels.words import Argument
from ...table import counted
from ..group import Group, arguments
from ..joint import hardware
from .words import describe

# The few numbers of a geometry are read once: two bursts of 256 bytes.
GEOMETRY_BURST, GEOMETRY_OUTSTANDING = 256, 2


def title(group: Group) -> list[str]:
    """The comment at a file's top: what the kernel is, and which opcode does what."""
    lines = [
        f"// Kernel {group.name}: {group.skeleton}, {counted(group.lanes, 'lane')},"
        f" structure {structure(group)},"
        f" {counted(group.units, 'compute unit')}" + (f", memory {group.banks}" if group.banks else "") + ".",
        "// Made by `ftensor build` from the catalogue's expressions; v++ and g++ both compile it.",
        "//",
    ]
    for opcode, key in enumerate(group.keys):
        lines += [f"// opcode {opcode}: {describe(key)}", f"//   {'; '.join(key.body)}"]
        lines.append(f"//   serves {key.entry}")
    if not group.keys:
        for opcode, of in enumerate(group.bodies):
            serves = [m.entry for m in group.members if hardware(m) == of]
            lines += [f"// opcode {opcode}:"] if group.joint else []
            lines += [f"//   serves {entry}" for entry in serves]
    return lines


def structure(group: Group) -> str:
    """How the kernel moves data: in stages where it must, else as its skeleton takes it."""
    if group.kind.staged:
        return "dataflow"
    return group.kind.structure(group.lanes, group.structure)


def parameter(a: Argument) -> str:
    """An argument as a function takes it."""
    c = a.c.replace("ft_half", "uint16_t").replace("<ft_cfloat,", "<uint64_t,")
    return f"{c}{a.name}" if c.endswith("*") else f"{c} {a.name}"


def parameter_list(group: Group) -> str:
    """The kernel's parameters, a line for each kind of them."""
    lines: list[tuple[str, list[str]]] = []
    for a in arguments(group):
        kind = "pointer" if a.what == "*" else a.name.rstrip("0123456789").split("_")[-1]
        if not lines or lines[-1][0] != kind:
            lines.append((kind, []))
        lines[-1][1].append(parameter(a))
    return ",\n    ".join(", ".join(names) for _, names in lines)


class Bundle(NamedTuple):
    """A port to memory, and the pointers that share it: its width in bits, and the beats of a burst
    and the bursts under way, of reading and of writing (none where nothing is written)."""

    name: str
    pointers: tuple[str, ...]
    bits: int
    reads: tuple[int, int]
    writes: tuple[int, int] = (0, 0)


def bundles(group: Group) -> tuple[Bundle, ...]:
    """The ports of a kernel, in the order of its pointers: each its own, so that all are read at
    the same time.

    A geometry joins the first operand of its width that is only read: it is read once, before the
    loops begin. Not in kernels of stages, where a port has one process (UG1399, M_AXI Channels).
    """
    ports: list[Bundle] = []
    for a in arguments(group):
        if a.what != "*":
            continue
        bits = 8 * width(a.c)
        if a.name == "geometry":
            twin = next((b for b in ports if b.bits == bits and not any(b.writes)), None)
            if twin is not None and structure(group) != "dataflow":
                ports[ports.index(twin)] = twin._replace(pointers=(*twin.pointers, a.name))
                continue
            under_way = (GEOMETRY_BURST // width(a.c), GEOMETRY_OUTSTANDING)
        else:
            short = group.kind.short_bursts("hls::vector" in a.c, not a.c.startswith("const "))
            under_way = requests(width(a.c), short)
        one = Bundle(f"gmem{len(ports)}", (a.name,), bits, under_way)
        ports.append(one if a.c.startswith("const ") else one._replace(writes=under_way))
    return tuple(ports)


def interfaces(group: Group) -> list[str]:
    """Pragmas: for each pointer its memory port, for the rest registers."""
    lines, of = [], {name: bundle for bundle in bundles(group) for name in bundle.pointers}
    for name in [a.name for a in arguments(group) if a.what == "*"]:
        limits = " ".join(
            f"max_{way}_burst_length={beats} num_{way}_outstanding={bursts}"
            for way, (beats, bursts) in {"read": of[name].reads, "write": of[name].writes}.items()
            if beats
        )
        lines.append(
            f"#pragma HLS INTERFACE m_axi port={name} bundle={of[name].name} offset=slave"
            f" latency={LATENCY} {limits} max_widen_bitwidth=512"
        )
    lines += [f"#pragma HLS INTERFACE s_axilite port={a.name}" for a in arguments(group)]
    return [*lines, "#pragma HLS INTERFACE s_axilite port=return"]
