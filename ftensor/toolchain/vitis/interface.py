"""What every HLS kernel has: a title, and the pragmas of its interface."""

from __future__ import annotations

from ...kernels.ports import LATENCY, requests
from ...table import counted
from ..group import Group, arguments
from .words import describe, element

# The few numbers of a geometry are read once: two bursts of 256 bytes.
GEOMETRY_BURST, GEOMETRY_OUTSTANDING = 256, 2
WIDTHS = {"uint8_t": 1, "uchar": 1, "char": 1, "uint16_t": 2, "ushort": 2, "short": 2, "int": 4,
          "float": 4, "uint32_t": 4, "long": 8, "double": 8, "uint64_t": 8, "ft_cfloat": 8,
          "ft_cdouble": 16, "ft_word128": 16}  # fmt: skip


def title(group: Group) -> list[str]:
    """The comment at a file's top: what the kernel is, and which opcode does what."""
    lines = [
        f"// Kernel {group.name}: {group.skeleton}, {counted(group.lanes, 'lane')},"
        f" structure {structure(group)},"
        f" {counted(group.units, 'compute unit')}"
        + (f", memory {group.banks}" if group.banks else "")
        + ".",
        "// Made by `ftensor build` from the catalogue's expressions; v++ and g++ both compile it.",
        "//",
    ]
    for opcode, key in enumerate(group.keys):
        lines += [f"// opcode {opcode}: {describe(key)}", f"//   {'; '.join(key.body)}"]
        lines.append(f"//   serves {key.entry}")
    return lines if group.keys else [*lines, f"//   serves {group.members[0].entry}"]


def structure(group: Group) -> str:
    """How the kernel moves data: in stages where it must, else as its skeleton takes it."""
    if group.kind.staged:
        return "dataflow"
    return group.kind.structure(group.lanes, group.structure)


def parameter_list(group: Group) -> str:
    """The kernel's parameters, a line for each kind of them."""
    lines: list[tuple[str, list[str]]] = []
    for a in arguments(group):
        c = a.c.replace("ft_half", "uint16_t").replace("<ft_cfloat,", "<uint64_t,")
        kind = "pointer" if a.what == "*" else a.name.rstrip("0123456789").split("_")[-1]
        if not lines or lines[-1][0] != kind:
            lines.append((kind, []))
        lines[-1][1].append(f"{c}{a.name}" if c.endswith("*") else f"{c} {a.name}")
    return ",\n    ".join(", ".join(names) for _, names in lines)


def width(c: str) -> int:
    """Bytes of one access of a pointer of C type `c`."""
    of = c.removeprefix("const ").removesuffix("*").strip()
    if of.startswith("hls::vector<"):
        word, lanes = of.removeprefix("hls::vector<").removesuffix(">").split(",")
        return WIDTHS[element(word)] * int(lanes)
    return WIDTHS[element(of)]


def interfaces(group: Group) -> list[str]:
    """Pragmas: for each pointer a memory port with a bundle of its own, for the rest registers."""
    lines, bundle = [], 0
    own = arguments(group)
    for a in own:
        if a.what != "*":
            continue
        if a.name == "geometry":
            beats, bursts = GEOMETRY_BURST // width(a.c), GEOMETRY_OUTSTANDING
        else:
            short = group.kind.short_bursts("hls::vector" in a.c, not a.c.startswith("const "))
            beats, bursts = requests(width(a.c), short)
        reads = f"max_read_burst_length={beats} num_read_outstanding={bursts}"
        writes = f"max_write_burst_length={beats} num_write_outstanding={bursts}"
        both = reads if a.c.startswith("const ") else f"{reads} {writes}"
        lines.append(
            f"#pragma HLS INTERFACE m_axi port={a.name} bundle=gmem{bundle} offset=slave"
            f" latency={LATENCY} {both} max_widen_bitwidth=512"
        )
        bundle += 1
    lines += [f"#pragma HLS INTERFACE s_axilite port={a.name}" for a in own]
    return [*lines, "#pragma HLS INTERFACE s_axilite port=return"]
