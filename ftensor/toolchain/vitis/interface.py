"""The interface of an HLS kernel: ports, pragmas, and the memory of each port."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...boards import Board
from ...errors.build import bad_bank
from ...kernels.channels import channels, nearest_channels
from ...kernels.inventory_terms import KernelArgument
from ...kernels.source import width
from ...kernels.workload import COMPACT, MEMORY_LATENCY, requests
from ...terminal import counted
from ..group import BANKS, KernelGroup, arguments
from .text import describe

# A kernel reads the few numbers of a geometry buffer once: two bursts of 256 bytes.
GEOMETRY_BURST, GEOMETRY_OUTSTANDING = 256, 2


def title(group: KernelGroup) -> list[str]:
    """Returns the comment at the top of a file: the kernel, and the member of each opcode."""
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
            serves = [m.entry for m in group.members if group.body_of(m) == of]
            lines += [f"// opcode {opcode}:"] if group.shares_ports else []
            lines += [f"//   serves {entry}" for entry in serves]
    return lines


def structure(group: KernelGroup) -> str:
    """Returns how the kernel moves data: "dataflow" if its skeleton has stages, else its
    structure."""
    if group.kind.staged:
        return "dataflow"
    return group.kind.structure(group.lanes, group.structure)


def parameter(a: KernelArgument) -> str:
    """Returns an argument as a parameter of the kernel function."""
    c = a.c.replace("ft_half", "uint16_t").replace("<ft_cfloat,", "<uint64_t,")
    return f"{c}{a.name}" if c.endswith("*") else f"{c} {a.name}"


def parameter_list(group: KernelGroup) -> str:
    """Returns the kernel's parameters, each kind on its own line."""
    lines: list[tuple[str, list[str]]] = []
    for a in arguments(group):
        kind = "pointer" if a.what == "*" else a.name.rstrip("0123456789").split("_")[-1]
        if not lines or lines[-1][0] != kind:
            lines.append((kind, []))
        lines[-1][1].append(parameter(a))
    return ",\n    ".join(", ".join(names) for _, names in lines)


class Bundle(NamedTuple):
    """A memory port and the pointers that share it.

    `bits` is the port's width. `reads` and `writes` are (beats of a burst, outstanding bursts);
    zeros for a direction that the port does not use.
    """

    name: str
    pointers: tuple[str, ...]
    bits: int
    reads: tuple[int, int]
    writes: tuple[int, int] = (0, 0)


def bundles(group: KernelGroup) -> tuple[Bundle, ...]:
    """Returns the ports of a kernel in the order of its pointers: one port per pointer, so that all
    operands are accessed in parallel.

    The geometry buffer shares the port of the first read-only operand of its width, since the
    kernel reads it once, before the loops. In dataflow kernels it has its own port, because there
    only one process may use a port (UG1399, M_AXI Channels).

    In compact kernels all pointers of one width share a port: one process reads through it, one
    writes. `bad` is written by the process that reads, so it keeps its own.
    """
    ports: list[Bundle] = []
    for a in arguments(group):
        if a.what != "*":
            continue
        bits = 8 * width(a.c)
        if a.name == "geometry":
            compact = structure(group) == COMPACT
            input_port = next(
                (b for b in ports if b.bits == bits and "bad" not in b.pointers and (compact or not any(b.writes))),
                None,
            )
            if input_port is not None and structure(group) != "dataflow":
                ports[ports.index(input_port)] = input_port._replace(pointers=(*input_port.pointers, a.name))
                continue
            under_way = (GEOMETRY_BURST // width(a.c), GEOMETRY_OUTSTANDING)
        else:
            short = group.kind.short_bursts("hls::vector" in a.c, not a.c.startswith("const "))
            under_way = requests(width(a.c), short)
        one = Bundle(f"gmem{len(ports)}", (a.name,), bits, under_way)
        if not a.c.startswith("const "):
            one = one._replace(writes=under_way)
        shared = next((b for b in ports if b.bits == bits and "bad" not in b.pointers), None)
        if shared is None or structure(group) != COMPACT or a.name == "bad":
            ports.append(one)
        else:
            writes = max(shared.writes, one.writes)
            ports[ports.index(shared)] = shared._replace(pointers=(*shared.pointers, a.name), writes=writes)
    return tuple(ports)


def reads_through_a_port(group: KernelGroup) -> int:
    """Returns the most operands that a step reads through one port: the initiation interval of a loop
    that reads an element of each."""
    operands = {a.name for a in arguments(group) if a.what == "*" and a.name.startswith("in_")}
    return max((len(operands.intersection(bundle.pointers)) for bundle in bundles(group)), default=1) or 1


def interfaces(group: KernelGroup) -> list[str]:
    """Returns the interface pragmas: a memory port for each pointer, registers for the other
    arguments."""
    lines, bundle_of = [], {name: bundle for bundle in bundles(group) for name in bundle.pointers}
    for name in [a.name for a in arguments(group) if a.what == "*"]:
        limits = " ".join(
            f"max_{direction}_burst_length={beats} num_{direction}_outstanding={bursts}"
            for direction, (beats, bursts) in {"read": bundle_of[name].reads, "write": bundle_of[name].writes}.items()
            if beats
        )
        lines.append(
            f"#pragma HLS INTERFACE m_axi port={name} bundle={bundle_of[name].name} offset=slave"
            f" latency={MEMORY_LATENCY} {limits} max_widen_bitwidth=512"
        )
    lines += [f"#pragma HLS INTERFACE s_axilite port={a.name}" for a in arguments(group)]
    return [*lines, "#pragma HLS INTERFACE s_axilite port=return"]


HBM_BANKS = 32
_RANGE = re.compile(r"(\w+)\[(\d+):(\d+)\]")


class PortPlacement(NamedTuple):
    """The memory of a port, as a manifest names it, and the bank at which the port enters."""

    memory: str
    entry: str

    @property
    def words(self) -> str:
        """The memory as an `sp=` line names it."""
        if not self.memory.startswith("HBM") or not _RANGE.fullmatch(self.memory):
            return self.memory
        return f"{self.memory}.{re.sub(r'[^0-9]', '', self.entry)}"


# The placement of each port, by compute unit and bundle.
Placement = Mapping[tuple[str, str], PortPlacement]


def compute_unit_names(group: KernelGroup) -> tuple[str, ...]:
    """Returns the names of a kernel's compute units, equal to v++'s default names."""
    return tuple(f"{group.name}_{k + 1}" for k in range(group.units))


def place_ports(groups: Sequence[KernelGroup], board: Board | None = None) -> Placement:
    """Assigns memories to the ports of all kernels.

    If a kernel names no memory, the board decides; without a board the kernel is omitted and the
    platform decides.

    All HBM channels are one memory for every port, so the next op can read an op's result in place.
    Ports enter the channels in turn. With several compute units, a unit's ports enter near the
    slabs that the runtime assigns to the unit (`kernels.channels`). With several DDR banks, a whole
    kernel uses one bank.

    Raises BuildError for an invalid memory.
    """
    placement_by_port: dict[tuple[str, str], PortPlacement] = {}
    charged: Counter[str] = Counter()
    for group in groups:
        ports = bundles(group)
        memory, entries = _requested_memory(group, len(ports), board, charged)
        apart = group.units > 1 and bool(channels(memory))
        for number, unit in enumerate(compute_unit_names(group) if entries else ()):
            here = [entries[k] for k in nearest_channels(number, len(entries))] if apart else entries
            for port in ports:
                sibling = _sibling_port(group, port, memory)
                placement = placement_by_port.get(sibling) if sibling else None
                if placement is None:
                    entry = min(here, key=lambda e: charged[e])
                    placement = PortPlacement(memory or entry, entry)
                placement_by_port[unit, port.name] = placement
                charged[placement.entry] += 1
    return placement_by_port


def _requested_memory(
    group: KernelGroup, ports: int, board: Board | None, charged: Mapping[str, int]
) -> tuple[str, Sequence[str]]:
    """Returns the memory of a kernel's ports, and the banks at which they may enter.

    The memory is "" if each port reaches only the bank at which it enters.
    """
    memory = group.banks
    if not memory and board is not None:
        memories = board.memories()
        if board.one_memory:
            memory = board.one_memory
        elif memories[0].startswith("HP"):
            return "", memories  # several ports into one memory
        else:
            room = board.masters.value - group.units * ports
            fits = [bank for bank in memories if charged[bank] <= room]
            memory = fits[0] if fits else min(memories, key=lambda bank: charged[bank])
    if not memory:
        return "", ()
    if not BANKS.fullmatch(memory):
        raise bad_bank(group.name, memory)
    if memory == "HBM[*]":
        return "", [f"HBM[{k}]" for k in range(HBM_BANKS)]
    ranged = _RANGE.fullmatch(memory)
    if ranged is None:
        return memory, (memory,)
    first, last = int(ranged[2]), int(ranged[3])
    channels = [f"{ranged[1]}[{k}]" for k in range(first, last + 1)]
    return memory, channels if ranged[1] == "HBM" else channels[:1]


def _sibling_port(group: KernelGroup, port: Bundle, memory: str) -> tuple[str, str] | None:
    """Returns the port that accesses the same buffers, if each port has its own memory ("HBM[*]").

    That is the equal port of the first compute unit, or the other port to the same operand.
    """
    if memory or group.banks != "HBM[*]":
        return None
    operand_of = {a.name: a.of for a in arguments(group) if a.what == "*"}[port.pointers[0]]
    name = next((p.name for p in bundles(group) if operand_of in p.pointers), "") if operand_of else port.name
    return compute_unit_names(group)[0], name


def memories(group: KernelGroup, placement: Placement) -> dict[str, str]:
    """Returns the memory of each of a kernel's pointers by name; empty if the platform chooses."""
    unit = compute_unit_names(group)[0]
    return {
        name: placement[unit, port.name].memory
        for port in bundles(group)
        for name in port.pointers
        if (unit, port.name) in placement
    }


def masters(placement: Placement) -> Counter[str]:
    """Returns the number of ports that enter at each memory."""
    return Counter(port_placement.entry for port_placement in placement.values())
